#include "tara/eval/balance/first_actions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"

namespace tara::eval {

std::vector<int> ActionClasses(const State& state) {
  std::vector<Symmetry> kept;
  for (const Symmetry& symmetry : GameSymmetries(state.variant)) {
    if (TransformState(symmetry, state) == state) kept.push_back(symmetry);
  }
  std::array<int, kNumActions> class_of;
  class_of.fill(-1);
  std::vector<int> classes;
  int next = 0;
  LegalActions(state).ForEach([&](Action action) {
    if (class_of[Index(action)] < 0) {
      for (const Symmetry& symmetry : kept) {
        class_of[Index(TransformAction(symmetry, action))] = next;
      }
      ++next;
    }
    classes.push_back(class_of[Index(action)]);
  });
  return classes;
}

namespace {

// What a study's bootstrap of first actions is drawn from.
constexpr uint64_t kSpreadStream = 2;

// Games of one class.
using GamesOfClass = std::vector<const GameFacts*>;

// Returns the games by first member of their class, those that were made to
// begin so up to `forced` of each.
std::map<Action, GamesOfClass> ByClass(const BalanceStudy& study, int forced) {
  std::map<Action, Action> first_member;
  std::map<Action, GamesOfClass> games;
  for (const std::vector<Action>& members : FirstActionClasses(study.options)) {
    for (const Action action : members) first_member[action] = members[0];
  }
  for (const GameFacts& game : study.games) {
    games[first_member.at(game.actions[0])].push_back(&game);
  }
  for (const auto& [action, played] : study.first_games) {
    for (const GameFacts& game : played) {
      if (game.id.index < forced) games[action].push_back(&game);
    }
  }
  return games;
}

std::vector<double> ScoresOf(const GamesOfClass& games) {
  std::vector<double> scores;
  for (const GameFacts* game : games) scores.push_back(game->score());
  return scores;
}

// Adds what the player itself thinks of the class.
void AddStartReport(const StartReport& start, FirstActionStatistics& first) {
  double policy = 0;
  double sum = 0;
  int known = 0;
  for (size_t i = 0; i < start.actions.size(); ++i) {
    if (std::find(first.actions.begin(), first.actions.end(),
                  start.actions[i]) == first.actions.end()) {
      continue;
    }
    policy += start.policy[i];
    if (std::isnan(start.values[i])) continue;
    sum += (1 + start.values[i]) / 2;
    ++known;
  }
  if (!start.actions.empty()) first.policy = policy;
  if (known > 0) first.search_score = sum / known;
}

}  // namespace

std::vector<std::vector<Action>> FirstActionClasses(
    const BalanceGameOptions& options) {
  const State start = InitialState(options.variant, options.rule_options);
  const std::vector<int> class_of = ActionClasses(start);
  std::vector<std::vector<Action>> classes;
  size_t place = 0;
  LegalActions(start).ForEach([&](Action action) {
    const auto number = static_cast<size_t>(class_of[place++]);
    if (number == classes.size()) classes.emplace_back();
    classes[number].push_back(action);
  });
  return classes;
}

std::vector<FirstActionGames> GamesByFirstAction(const BalanceStudy& study) {
  const std::map<Action, GamesOfClass> games =
      ByClass(study, study.num_first_games);
  std::vector<FirstActionGames> classes;
  for (const std::vector<Action>& members : FirstActionClasses(study.options)) {
    const auto found = games.find(members[0]);
    if (found == games.end()) continue;
    classes.push_back({.action = members[0],
                       .size = static_cast<int>(members.size()),
                       .scores = ScoresOf(found->second)});
  }
  return classes;
}

namespace {

struct SpreadAndFairest {
  FirstActionSpread spread;
  Action fairest;
};

// None before every first action has had its games.
std::optional<SpreadAndFairest> SpreadOf(const BalanceStudy& study) {
  const std::vector<FirstActionGames> classes = GamesByFirstAction(study);
  if (study.num_first_games == 0 ||
      classes.size() < FirstActionClasses(study.options).size()) {
    return std::nullopt;
  }
  Random random(
      DeriveSeed(study.options.seed, kSpreadStream, StreamPurpose::kArena));
  FirstActionSpread spread = SpreadOfFirstActions(classes, kEvenBand, random);
  const Action fairest = classes[spread.fairest].action;
  return SpreadAndFairest{std::move(spread), fairest};
}

}  // namespace

std::optional<Action> FairestFirstAction(const BalanceStudy& study) {
  const std::optional<SpreadAndFairest> found = SpreadOf(study);
  if (!found.has_value()) return std::nullopt;
  return found->fairest;
}

std::vector<FirstActionStatistics> FirstActionsOf(const BalanceStudy& study) {
  const std::map<Action, GamesOfClass> games =
      ByClass(study, study.num_first_games);
  std::vector<FirstActionStatistics> all;
  for (const std::vector<Action>& members : FirstActionClasses(study.options)) {
    const auto found = games.find(members[0]);
    if (found == games.end()) continue;
    std::vector<double> margins;
    std::vector<uint64_t> keys;
    for (const GameFacts* game : found->second) {
      margins.push_back(game->red_margin);
      keys.push_back(game->same_game);
    }
    const std::vector<int> clusters = ClustersOf(keys);
    FirstActionStatistics& first = all.emplace_back();
    first.actions = members;
    first.games = static_cast<int>(found->second.size());
    first.score = ScoreInterval(ScoresOf(found->second), clusters);
    first.margin = MeanInterval(margins, clusters);
    if (study.start.has_value()) AddStartReport(*study.start, first);
  }
  std::stable_sort(
      all.begin(), all.end(),
      [](const FirstActionStatistics& x, const FirstActionStatistics& y) {
        return x.score.mean > y.score.mean;
      });
  return all;
}

std::optional<PieRule> PieRuleOf(const BalanceStudy& study) {
  const std::optional<SpreadAndFairest> found = SpreadOf(study);
  if (!found.has_value()) return std::nullopt;
  PieRule pie;
  pie.spread = found->spread;
  pie.fairest = found->fairest;
  std::vector<double> scores;
  std::vector<uint64_t> keys;
  const auto played = study.first_games.find(pie.fairest);
  if (played != study.first_games.end()) {
    for (const GameFacts& game : played->second) {
      if (game.id.index < study.num_first_games) continue;
      scores.push_back(game.score());
      keys.push_back(game.same_game);
    }
  }
  pie.games = static_cast<int>(scores.size());
  pie.score = ScoreInterval(scores, ClustersOf(keys));
  pie.chooser_score = ChoosersScore(pie.score);
  return pie;
}

}  // namespace tara::eval
