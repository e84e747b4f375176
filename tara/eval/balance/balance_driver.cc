#include "tara/eval/balance/balance_driver.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/first_actions.h"

namespace tara::eval {
namespace {

// What the threads of one call share: games to begin, and finished ones on
// their way to the caller.
class Exchange {
 public:
  Exchange(absl::Span<const BalanceGameId> games, int threads)
      : games_(games), working_(threads) {}

  // Takes the next game to begin, as its place among all; none: nothing left.
  std::optional<size_t> Take() {
    absl::MutexLock lock(&mutex_);
    if (stopped_ || next_ == games_.size()) return std::nullopt;
    return next_++;
  }

  bool stopped() {
    absl::MutexLock lock(&mutex_);
    return stopped_;
  }

  void Stop() {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }

  void Deliver(const BalanceGame& game) {
    absl::MutexLock lock(&mutex_);
    finished_.push_back(game);
  }

  void NoteForfeit(const std::string& forfeit) {
    absl::MutexLock lock(&mutex_);
    forfeits_.push_back(forfeit);
  }
  std::vector<std::string> forfeits() {
    absl::MutexLock lock(&mutex_);
    return forfeits_;
  }

  // A thread has no more to do.
  void Leave(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    error_.Update(status);
    if (!status.ok()) stopped_ = true;
    --working_;
  }

  // Waits for finished games; none: all threads have left.
  std::vector<BalanceGame> Collect() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Exchange::HasNews));
    return std::exchange(finished_, {});
  }

  absl::Status error() {
    absl::MutexLock lock(&mutex_);
    return error_;
  }

 private:
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !finished_.empty() || working_ == 0;
  }

  absl::Mutex mutex_;
  const absl::Span<const BalanceGameId> games_;
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int working_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::vector<BalanceGame> finished_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> forfeits_ ABSL_GUARDED_BY(mutex_);
};

// Attempts at a game that the player gives up.
constexpr int kMostAttempts = 3;

struct GameInProgress {
  size_t place;  // among all
  std::unique_ptr<BalanceGameInProgress> game;
  int attempts = 1;
};
using GamesInProgress = std::vector<GameInProgress>;

// Plays one action in each game; those that the player gives up begin anew.
absl::Status PlayOneAction(const BalanceGameOptions& options,
                           absl::Span<const BalanceGameId> ids, Player& player,
                           GamesInProgress& games, Exchange& exchange) {
  std::vector<Turn> turns;
  for (const GameInProgress& each : games) {
    turns.push_back(each.game->NextTurn());
  }
  std::vector<Action> actions(turns.size());
  TARA_RETURN_IF_ERROR(player.ChooseActions(turns, absl::MakeSpan(actions)));
  for (size_t i = 0; i < games.size(); ++i) {
    GameInProgress& each = games[i];
    const std::string forfeit = each.game->forfeit();
    if (forfeit.empty()) {
      each.game->Play(actions[i]);
      continue;
    }
    exchange.NoteForfeit(forfeit);
    const uint64_t number = each.game->number();
    player.EndGame(number);
    if (++each.attempts > kMostAttempts) {
      return absl::AbortedError(absl::StrCat(
          "game ", ids[each.place].index, " of the study was given up ",
          kMostAttempts, " times by its player: ", forfeit));
    }
    each.game = std::make_unique<BalanceGameInProgress>(
        options, ids[each.place], number);
  }
  return absl::OkStatus();
}

// Plays games until there are none left, or the others stop. `first_number` is
// that of the first of all games.
absl::Status Work(const BalanceGameOptions& options,
                  absl::Span<const BalanceGameId> ids, uint64_t first_number,
                  size_t concurrent_games, Player& player, Exchange& exchange) {
  GamesInProgress games;
  while (!exchange.stopped()) {
    while (games.size() < concurrent_games) {
      const std::optional<size_t> place = exchange.Take();
      if (!place.has_value()) break;
      games.push_back({.place = *place,
                       .game = std::make_unique<BalanceGameInProgress>(
                           options, ids[*place], first_number + *place)});
    }
    if (games.empty()) break;
    TARA_RETURN_IF_ERROR(PlayOneAction(options, ids, player, games, exchange));
    for (const GameInProgress& each : games) {
      if (!each.game->finished()) continue;
      player.EndGame(each.game->number());
      exchange.Deliver(each.game->game());
    }
    std::erase_if(games, [](const GameInProgress& each) {
      return each.game->finished();
    });
  }
  for (const GameInProgress& each : games) {
    player.EndGame(each.game->number());
  }
  return absl::OkStatus();
}

// Hands the games on until all threads have left.
absl::Status Receive(const BalanceGameCallback& on_game, Exchange& exchange) {
  absl::Status status;
  bool go_on = true;
  for (;;) {
    const std::vector<BalanceGame> finished = exchange.Collect();
    if (finished.empty()) return status;
    for (const BalanceGame& game : finished) {
      if (!go_on) break;
      const absl::StatusOr<bool> answer = on_game(game);
      status = answer.status();
      go_on = answer.ok() && *answer;
      if (!go_on) exchange.Stop();
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<BalanceDriver>> BalanceDriver::Create(
    const PlayerFactory& make, int threads, int concurrent_games) {
  std::vector<std::unique_ptr<Player>> players;
  for (int i = 0; i < threads; ++i) {
    TARA_ASSIGN_OR_RETURN(std::unique_ptr<Player> player, make());
    players.push_back(std::move(player));
  }
  return std::unique_ptr<BalanceDriver>(
      new BalanceDriver(std::move(players), concurrent_games));
}

absl::Status BalanceDriver::Play(const BalanceGameOptions& options,
                                 absl::Span<const BalanceGameId> games,
                                 const BalanceGameCallback& on_game) {
  const size_t threads = std::min(players_.size(), games.size());
  Exchange exchange(games, static_cast<int>(threads));
  const uint64_t first_number = next_number_;
  next_number_ += games.size();
  std::vector<std::thread> workers;
  for (size_t thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      exchange.Leave(Work(options, games, first_number,
                          static_cast<size_t>(concurrent_games_),
                          *players_[thread], exchange));
    });
  }
  const absl::Status received = Receive(on_game, exchange);
  for (std::thread& worker : workers) worker.join();
  const std::vector<std::string> forfeits = exchange.forfeits();
  if (forfeits_ == 0 && !forfeits.empty()) first_forfeit_ = forfeits[0];
  forfeits_ += static_cast<int>(forfeits.size());
  TARA_RETURN_IF_ERROR(received);
  return exchange.error();
}

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
      StartReport start;
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
