#include "tara/eval/balance/fair_study.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"

namespace tara::eval {
namespace {

constexpr std::array kTemperatures = {0.1, 0.18, 0.25, 0.35, 0.5, 0.7,
                                      1.0, 1.4,  2.0,  2.8,  4.0};
// Lengths of the drawn part that are tried, each twice the one before.
constexpr int kLengths = 3;
// Games of a pilot after which it may be seen to fail.
constexpr int kPilotBlock = 32;

std::vector<BalanceGameId> Ids(int begin, int games) {
  std::vector<BalanceGameId> ids;
  for (int i = 0; i < games; ++i) ids.push_back({.index = begin + i});
  return ids;
}

// Of the games that differ.
std::vector<int> MarginsOf(absl::Span<const GameFacts> games) {
  std::vector<int> margins;
  const std::vector<int> clusters = ClustersOfGames(games);
  for (size_t i = 0; i < games.size(); ++i) {
    if (static_cast<size_t>(clusters[i]) < margins.size()) continue;
    margins.push_back(games[i].red_margin);
  }
  return margins;
}

// Plays games under several rules, with one progress.
class Session {
 public:
  Session(const BalanceStudyKey& key, BalanceDriver& driver,
          record::GameStore& store, int most_games,
          const BalanceProgressCallback& on_progress)
      : key_(key),
        driver_(driver),
        store_(store),
        on_progress_(on_progress),
        progress_({.games = most_games}) {}

  bool go_on() const { return go_on_; }

  // The games under these options will not be played, or not all.
  void Save(int games) { progress_.games -= games; }

  // Plays the games, unless it was stopped, and adds to `facts` those up to the
  // first that is missing.
  absl::Status Play(const BalanceGameOptions& options, std::string stage,
                    absl::Span<const BalanceGameId> ids,
                    std::vector<GameFacts>& facts) {
    TARA_ASSIGN_OR_RETURN(StudyGames* const games, GamesOf(options));
    progress_.stage = std::move(stage);
    if (go_on_) {
      progress_.games_done +=
          static_cast<int>(ids.size() - games->Missing(ids).size());
      go_on_ = Report();
    }
    if (go_on_) {
      TARA_RETURN_IF_ERROR(games->Play(ids, [&] {
        ++progress_.games_done;
        if (!Report()) go_on_ = false;
        return go_on_;
      }));
      go_on_ = go_on_ && !driver_.stopped();
    }
    for (const BalanceGameId& id : ids) {
      const GameFacts* const game = games->Find(id);
      if (game == nullptr) break;
      facts.push_back(*game);
    }
    return absl::OkStatus();
  }

 private:
  bool Report() { return !on_progress_ || on_progress_(progress_); }

  absl::StatusOr<StudyGames*> GamesOf(const BalanceGameOptions& options) {
    BalanceStudyKey key = key_;
    key.options = options;
    std::unique_ptr<StudyGames>& games = games_[ContestOf(key).conditions()];
    if (games == nullptr) {
      games = std::make_unique<StudyGames>(key, driver_, store_);
      TARA_RETURN_IF_ERROR(games->Load());
    }
    return games.get();
  }

  const BalanceStudyKey& key_;
  BalanceDriver& driver_;
  record::GameStore& store_;
  const BalanceProgressCallback& on_progress_;
  std::map<std::string, std::unique_ptr<StudyGames>> games_;  // by conditions
  BalanceProgress progress_;
  bool go_on_ = true;
};

std::string RulesText(const BalanceGameOptions& options) {
  return FormatRuleOptions(options.rule_options);
}

// Plays fresh games under these options.
absl::StatusOr<FairResult> Confirm(const FairPlan& plan,
                                   const BalanceGameOptions& from,
                                   const BalanceGameOptions& options,
                                   int first_index, Session& session) {
  FairResult result = {
      .from = from, .options = options, .wanted_games = plan.games};
  TARA_RETURN_IF_ERROR(
      session.Play(options, absl::StrCat("fresh games, ", RulesText(options)),
                   Ids(first_index, plan.games), result.games));
  return result;
}

// Searches for the compensation to add to `options` and plays fresh games with
// it. `margins` are of games without.
absl::StatusOr<FairResult> Compensate(const FairPlan& plan,
                                      const BalanceGameOptions& from,
                                      const BalanceGameOptions& options,
                                      absl::Span<const int> margins,
                                      Session& session) {
  FairSearch search(margins, plan.range);
  int played = 0;
  std::set<std::pair<int, uint64_t>> seen;  // games, by compensation
  while (session.go_on()) {
    const std::vector<CompensationBlock> blocks =
        search.Next(plan.games - played);
    if (blocks.empty()) break;
    for (const CompensationBlock& block : blocks) {
      BalanceGameOptions tried = options;
      tried.rule_options.compensation_halves =
          static_cast<int8_t>(block.halves);
      std::vector<GameFacts> games;
      TARA_RETURN_IF_ERROR(
          session.Play(tried, absl::StrCat("search, ", RulesText(tried)),
                       Ids(kSearchIndex + played, block.games), games));
      for (const GameFacts& game : games) {
        const bool is_new = seen.emplace(block.halves, game.same_game).second;
        if (is_new || game.same_game == 0) {
          search.Add(block.halves, game.result);
        }
      }
      played += block.games;
    }
    search.Fit();
  }
  FairResult result = {.from = from, .options = options};
  if (session.go_on()) {
    session.Save(plan.games - played);
    BalanceGameOptions found = options;
    found.rule_options.compensation_halves =
        static_cast<int8_t>(search.estimate().halves);
    TARA_ASSIGN_OR_RETURN(
        result, Confirm(plan, from, found, kFreshCompensationIndex, session));
  }
  result.searched = true;
  result.range = plan.range;
  result.estimate = search.estimate();
  result.tried = search.games();
  result.search_games = played;
  return result;
}

}  // namespace

int MostFairGames(const FairPlan& plan) {
  const bool compensation = plan.range != CompensationRange{0, 0};
  return plan.games * ((compensation ? 2 : 0) + (plan.pie ? 1 : 0) +
                       (plan.pie_with_compensation ? 2 : 0));
}

absl::StatusOr<std::vector<FairResult>> RunFairStudy(
    const FairPlan& plan, const BalanceStudyKey& key, const BalanceStudy& study,
    BalanceDriver& driver, record::GameStore& store,
    const BalanceProgressCallback& on_progress) {
  TARA_CHECK(!study.games.empty(), "fairness of no games");
  Session session(key, driver, store, MostFairGames(plan), on_progress);
  std::vector<FairResult> results;
  const BalanceGameOptions& from = key.options;
  const bool compensation = plan.range != CompensationRange{0, 0};
  if (compensation) {
    TARA_ASSIGN_OR_RETURN(
        results.emplace_back(),
        Compensate(plan, from, from, MarginsOf(study.games), session));
  }
  if (plan.pie && session.go_on()) {
    BalanceGameOptions pie = from;
    pie.rule_options.pie_rule = true;
    TARA_ASSIGN_OR_RETURN(results.emplace_back(),
                          Confirm(plan, from, pie, kFreshIndex, session));
    if (compensation && plan.pie_with_compensation && session.go_on()) {
      const std::vector<int> margins = MarginsOf(results.back().games);
      TARA_ASSIGN_OR_RETURN(results.emplace_back(),
                            Compensate(plan, from, pie, margins, session));
    }
  }
  std::erase_if(results,
                [](const FairResult& each) { return each.games.empty(); });
  return results;
}

int MostPilotGames() {
  int pilots = 0;
  for (size_t left = kTemperatures.size(); left > 0; left /= 2) ++pilots;
  return kLengths * pilots * kPilotGames;
}

absl::StatusOr<std::optional<OpeningChoice>> ChooseOpenings(
    int games, const BalanceStudyKey& key, BalanceDriver& driver,
    record::GameStore& store, const BalanceProgressCallback& on_progress) {
  Session session(key, driver, store, MostPilotGames(), on_progress);
  constexpr double kPairs = kPilotGames * (kPilotGames - 1) / 2;
  // Returns the share that is expected to repeat.
  const auto repeated = [&](int plies,
                            double temperature) -> absl::StatusOr<double> {
    BalanceGameOptions options = key.options;
    options.drawn_plies = plies;
    options.temperature = temperature;
    std::map<uint64_t, int> seen;
    double equal_pairs = 0;
    double share = 0;
    for (int begin = 0; begin < kPilotGames && share <= kMostRepeated;
         begin += kPilotBlock) {
      std::vector<GameFacts> played;
      TARA_RETURN_IF_ERROR(
          session.Play(options,
                       absl::StrFormat("openings, %d plies at temperature %g",
                                       plies, temperature),
                       Ids(kPilotIndex + begin, kPilotBlock), played));
      for (const GameFacts& game : played) {
        equal_pairs += seen[game.same_game]++;
      }
      share = std::min(1.0, equal_pairs / kPairs * (games - 1) / 2);
    }
    return share;
  };
  OpeningChoice choice;
  int plies = key.options.drawn_plies;
  for (int length = 0; length < kLengths; ++length, plies *= 2) {
    // All below `low` repeat too much; from `high` on they do not, or there are
    // no more.
    size_t low = 0;
    size_t high = kTemperatures.size();
    std::map<size_t, double> shares;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      TARA_ASSIGN_OR_RETURN(shares[middle],
                            repeated(plies, kTemperatures[middle]));
      if (!session.go_on()) return std::nullopt;
      if (shares[middle] <= kMostRepeated) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const size_t chosen = std::min(low, kTemperatures.size() - 1);
    choice = {.drawn_plies = plies,
              .temperature = kTemperatures[chosen],
              .repeated = shares[chosen]};
    if (choice.repeated <= kMostRepeated || plies == 0) break;
  }
  return choice;
}

absl::StatusOr<std::optional<std::array<Interval, 2>>> OpeningCost(
    const BalanceStudy& study, Player& player,
    const BalanceProgressCallback& on_progress, const StopCheck& stop) {
  const BalanceGameOptions& options = study.options;
  BalanceProgress progress = {
      .games = std::min(kCostGames, static_cast<int>(study.games.size())),
      .stage = "what openings cost"};
  std::array<std::vector<double>, 2> costs;  // by side, of a game
  uint64_t number = std::numeric_limits<uint64_t>::max() - 1;
  bool drawn = false;
  for (int i = 0; i < progress.games; ++i) {
    if (on_progress && !on_progress(progress)) return std::nullopt;
    const GameFacts& game = study.games[static_cast<size_t>(i)];
    // 1. The positions after the choices (even) and after what was drawn (odd).
    std::vector<State> states;
    std::vector<int> movers;  // by pair
    State state = InitialState(options.variant, options.rule_options);
    for (size_t ply = 0; ply < game.actions.size(); ++ply) {
      State next = state;
      ApplyAction(game.actions[ply], next);
      if (const auto chosen = game.chosen.find(static_cast<int>(ply));
          chosen != game.chosen.end()) {
        states.push_back(state);
        ApplyAction(chosen->second, states.back());
        states.push_back(next);
        movers.push_back(state.side());
      }
      state = next;
    }
    drawn = drawn || !movers.empty();
    // 2. Red's values of them, in [-1, 1].
    std::vector<Random> streams;
    std::vector<SearchReport> reports(states.size());
    streams.reserve(states.size());
    std::vector<Turn> turns;
    for (size_t at = 0; at < states.size(); ++at) {
      streams.emplace_back(DeriveSeed(
          options.seed, static_cast<uint64_t>(kPilotIndex + i) * 64 + at,
          StreamPurpose::kArena));
      if (states[at].finished()) {
        reports[at].value = static_cast<float>(Score(states[at]).result());
        continue;
      }
      turns.push_back({.state = states[at],
                       .random = &streams.back(),
                       .game = number--,
                       .report = &reports[at],
                       .stop = stop ? &stop : nullptr});
    }
    std::vector<Action> choices(turns.size());
    const absl::Status status =
        player.ChooseActions(turns, absl::MakeSpan(choices));
    if (absl::IsCancelled(status)) return std::nullopt;
    TARA_RETURN_IF_ERROR(status);
    for (const Turn& turn : turns) player.EndGame(turn.game);
    const auto red_value = [&](size_t at) -> std::optional<double> {
      if (!reports[at].value.has_value()) return std::nullopt;
      const bool for_red = states[at].finished() || states[at].side() == kRed;
      return for_red ? *reports[at].value : -*reports[at].value;
    };
    // 3. What the mover has lost, as expected score.
    std::array<double, 2> cost = {0, 0};
    bool known = movers.empty();
    for (size_t pair = 0; pair < movers.size(); ++pair) {
      const auto chosen = red_value(2 * pair);
      const auto played = red_value(2 * pair + 1);
      if (!chosen.has_value() || !played.has_value()) continue;
      known = true;
      cost[movers[pair]] +=
          (movers[pair] == kRed ? 1 : -1) * (*chosen - *played) / 2;
    }
    if (known) {
      costs[0].push_back(cost[0]);
      costs[1].push_back(cost[1]);
    }
    ++progress.games_done;
  }
  if (!drawn || costs[0].empty()) return std::nullopt;
  return std::array{MeanInterval(costs[0]), MeanInterval(costs[1])};
}

}  // namespace tara::eval
