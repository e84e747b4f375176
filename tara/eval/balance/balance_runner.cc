#include "tara/eval/balance/balance_runner.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_facts.h"
#include "tara/eval/balance/first_actions.h"

namespace tara::eval {
namespace {

class Run {
 public:
  Run(const BalancePlan& plan, const BalanceStudyKey& key,
      BalanceDriver& driver, BalanceStore& store,
      const BalanceProgressCallback& on_progress)
      : plan_(plan),
        key_(key),
        driver_(driver),
        store_(store),
        on_progress_(on_progress) {
    study_.options = key.options;
    study_.player = key.player;
    study_.num_first_games = plan.first_games;
    progress_.games = MostGames(plan, key.options);
  }

  absl::StatusOr<BalanceStudy> Play() {
    TARA_ASSIGN_OR_RETURN(number_, store_.StudyFor(key_));
    if (!store_.start(number_).has_value()) {
      StartOpinion start;
      TARA_RETURN_IF_ERROR(AskForStart(key_.options, driver_.player(), start));
      TARA_RETURN_IF_ERROR(store_.SetStart(number_, start));
    }
    study_.start = store_.start(number_);
    go_on_ = !on_progress_ || on_progress_(progress_);
    TARA_RETURN_IF_ERROR(PlayMainGames());
    TARA_RETURN_IF_ERROR(PlayFirstGames());
    TARA_RETURN_IF_ERROR(PlayPieGames());
    return std::move(study_);
  }

 private:
  bool Precise() const {
    const Interval score = FirstSideScore(study_.games);
    return plan_.precision.has_value() &&
           (score.high - score.low) / 2 <= *plan_.precision;
  }

  absl::Status PlayMainGames() {
    const int block = plan_.precision.has_value() ? kBalanceBlock : plan_.games;
    for (int begin = 0; begin < plan_.games && !(begin > 0 && Precise());
         begin += block) {
      const int end = std::min(plan_.games, begin + block);
      std::vector<BalanceGameId> wanted;
      for (int i = begin; i < end; ++i) wanted.push_back({.index = i});
      TARA_RETURN_IF_ERROR(PlayMissing(wanted));
      TARA_RETURN_IF_ERROR(Take(begin, end, std::nullopt, study_.games));
      if (!go_on_) break;
      progress_.score = FirstSideScore(study_.games);
    }
    // What a reached precision has saved.
    progress_.games -= plan_.games - static_cast<int>(study_.games.size());
    return absl::OkStatus();
  }

  absl::Status PlayFirstGames() {
    const auto classes = FirstActionClasses(key_.options);
    std::vector<BalanceGameId> wanted;
    // By turns, so that a study broken off has some of each.
    for (int i = 0; i < plan_.first_games; ++i) {
      for (const std::vector<Action>& members : classes) {
        wanted.push_back({.index = i, .first = members[0]});
      }
    }
    TARA_RETURN_IF_ERROR(PlayMissing(wanted));
    for (const std::vector<Action>& members : classes) {
      if (plan_.first_games == 0) break;
      std::vector<GameFacts>& games = study_.first_games[members[0]];
      TARA_RETURN_IF_ERROR(Take(0, plan_.first_games, members[0], games));
    }
    return absl::OkStatus();
  }

  absl::Status PlayPieGames() {
    if (!go_on_ || plan_.pie_games == 0) return absl::OkStatus();
    const std::optional<Action> fairest = FairestFirstAction(study_);
    if (!fairest.has_value()) return absl::OkStatus();
    const int begin = plan_.first_games;
    const int end = begin + plan_.pie_games;
    std::vector<BalanceGameId> wanted;
    for (int i = begin; i < end; ++i) {
      wanted.push_back({.index = i, .first = fairest});
    }
    TARA_RETURN_IF_ERROR(PlayMissing(wanted));
    return Take(begin, end, fairest, study_.first_games[*fairest]);
  }

  // Plays those of the games that the store lacks, until told to stop.
  absl::Status PlayMissing(const std::vector<BalanceGameId>& wanted) {
    std::vector<BalanceGameId> missing;
    for (const BalanceGameId& id : wanted) {
      if (!store_.games(number_).contains(id)) missing.push_back(id);
    }
    if (!go_on_) return absl::OkStatus();
    progress_.games_done += static_cast<int>(wanted.size() - missing.size());
    return driver_.Play(key_.options, missing,
                        [&](const BalanceGame& game) -> absl::StatusOr<bool> {
                          TARA_RETURN_IF_ERROR(store_.AddGame(number_, game));
                          ++progress_.games_done;
                          go_on_ = !on_progress_ || on_progress_(progress_);
                          return go_on_;
                        });
  }

  // Adds the facts of games begin ... end - 1, up to the first that is missing.
  absl::Status Take(int begin, int end, std::optional<Action> first,
                    std::vector<GameFacts>& facts) {
    const std::map<BalanceGameId, BalanceGame>& games = store_.games(number_);
    for (int i = begin; i < end; ++i) {
      const auto game = games.find({.index = i, .first = first});
      if (game == games.end()) break;
      TARA_ASSIGN_OR_RETURN(facts.emplace_back(),
                            FactsOf(key_.options.variant,
                                    key_.options.rule_options, game->second));
    }
    return absl::OkStatus();
  }

  const BalancePlan& plan_;
  const BalanceStudyKey& key_;
  BalanceDriver& driver_;
  BalanceStore& store_;
  const BalanceProgressCallback& on_progress_;
  int number_ = 0;  // of the study in the store
  bool go_on_ = true;
  BalanceProgress progress_;
  BalanceStudy study_;
};

}  // namespace

int MostGames(const BalancePlan& plan, const BalanceGameOptions& options) {
  const auto classes = static_cast<int>(FirstActionClasses(options).size());
  return plan.games + plan.first_games * classes +
         (plan.first_games > 0 ? plan.pie_games : 0);
}

absl::StatusOr<BalanceStudy> RunBalanceStudy(
    const BalancePlan& plan, const BalanceStudyKey& key, BalanceDriver& driver,
    BalanceStore& store, const BalanceProgressCallback& on_progress) {
  return Run(plan, key, driver, store, on_progress).Play();
}

}  // namespace tara::eval
