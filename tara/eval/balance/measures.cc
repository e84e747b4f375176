#include "tara/eval/balance/measures.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/eval/statistics/combinations.h"
#include "tara/record/different_games.h"

namespace tara::eval {
namespace {

using Games = absl::Span<const GameFacts>;

// The first actions of a game, up to symmetry.
std::vector<Action> LineOf(Variant variant, const GameFacts& game, int plies) {
  const size_t length =
      std::min(static_cast<size_t>(plies), game.actions.size());
  return record::CanonicalLine(variant,
                               absl::MakeConstSpan(game.actions).first(length));
}

}  // namespace

std::vector<int> ClustersOf(Games games) {
  std::vector<uint64_t> keys;
  for (const GameFacts& game : games) keys.push_back(game.same_game);
  return MakeClusters(keys);
}

Scores ScoresOf(Games games) {
  const std::vector<int> clusters = ClustersOf(games);
  const std::vector<double> scores =
      ValuesOf(games, [](const GameFacts& game) { return game.score(); });
  return {.games = static_cast<int>(games.size()),
          .distinct = DifferentIn(clusters),
          .effective = EffectiveCount(games.size(), clusters),
          .score = ScoreInterval(scores, clusters),
          .draws = ShareOf(
              games, [](const GameFacts& game) { return game.result == 0; }),
          .margin = BoundedMeanInterval(
              ValuesOf(games,
                       [](const GameFacts& game) { return game.red_margin; }),
              clusters),
          .p_even = EvenScoreTest(scores, clusters)};
}

Interval ScoreOfA(Games games) {
  struct Pair {
    double score = 0;
    int games = 0;
    uint64_t key = 0;
  };
  std::map<uint64_t, Pair> pairs;
  for (const GameFacts& game : games) {
    const bool a_is_red = game.place % 2 == 0;
    Pair& pair = pairs[game.place / 2];
    pair.score += a_is_red ? game.score() : 1 - game.score();
    pair.key = MixBits(pair.key + a_is_red) ^ game.same_game;
    ++pair.games;
  }
  std::vector<double> scores;
  std::vector<uint64_t> keys;
  for (const auto& [place, pair] : pairs) {
    if (pair.games < 2) continue;
    scores.push_back(pair.score / 2);
    keys.push_back(pair.key);
  }
  return ScoreInterval(scores, MakeClusters(keys));
}

Interval EloOf(const Interval& score) {
  return {EloDifference(score.mean), EloDifference(score.low),
          EloDifference(score.high)};
}

std::vector<GameFacts> HalfOf(Games games, int half) {
  std::vector<GameFacts> of_half;
  for (const GameFacts& game : games) {
    if (static_cast<int>(game.place % 2) == half) of_half.push_back(game);
  }
  return of_half;
}

std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies) {
  std::vector<LadderGame> games, half;
  std::map<std::vector<Action>, int> numbers;  // of openings
  for (const Sample* step : steps) {
    if (step->games.empty()) return std::nullopt;
    for (const GameFacts& game : step->games) {
      if (game.place >= static_cast<uint64_t>(openings)) break;
      const int opening =
          numbers
              .try_emplace(LineOf(step->variant, game, plies), numbers.size())
              .first->second;
      games.push_back({.points = step->rules.compensation_halves / 2.0,
                       .score = game.score(),
                       .cluster = opening});
      if (game.place % 2 == 0) half.push_back(games.back());
    }
  }
  return Compensation{
      .fit = FitLadder(games),
      .halves = static_cast<int>(2 * FitLadder(half).Nearest().points)};
}

std::vector<std::vector<Action>> ActionsByClass(const State& state) {
  std::vector<Symmetry> kept;
  for (const Symmetry& symmetry : GameSymmetries(state.variant)) {
    if (TransformState(symmetry, state) == state) kept.push_back(symmetry);
  }
  std::array<size_t, kNumActions> class_of;
  class_of.fill(kNumActions);
  std::vector<std::vector<Action>> classes;
  LegalActions(state).ForEach([&](Action action) {
    if (class_of[Index(action)] == kNumActions) {
      for (const Symmetry& symmetry : kept) {
        class_of[Index(TransformAction(symmetry, action))] = classes.size();
      }
      classes.emplace_back();
    }
    classes[class_of[Index(action)]].push_back(action);
  });
  return classes;
}

Interval EffectiveOpenings(Variant variant, Games games, int plies) {
  std::map<std::vector<Action>, int64_t> lines;
  for (const GameFacts& game : games) ++lines[LineOf(variant, game, plies)];
  std::vector<int64_t> counts;
  size_t seen_once = 0;
  for (const auto& [line, count] : lines) {
    counts.push_back(count);
    seen_once += count == 1;
  }
  if (counts.empty()) return {0, 0, 0};
  Interval openings = EquivalentChoices(EntropyOfCounts(counts));
  if (2 * seen_once > games.size()) {
    openings.high = std::numeric_limits<double>::infinity();
  }
  return openings;
}

Interval BranchingOf(Games games) {
  const std::vector<int> clusters = ClustersOf(games);
  std::map<int, std::pair<double, double>> sums_by_cluster;
  for (size_t i = 0; i < games.size(); ++i) {
    auto& [legal, actions] = sums_by_cluster[clusters[i]];
    legal += games[i].legal;
    actions += games[i].length;
  }
  RatioSums sums;
  for (const auto& [cluster, of] : sums_by_cluster) {
    sums.Add(of.first, of.second);
  }
  return RatioInterval(sums);
}

}  // namespace tara::eval
