#ifndef TARA_EVAL_BALANCE_MEASURES_H_
#define TARA_EVAL_BALANCE_MEASURES_H_

// Measures of a study: figures that are computed from samples of games. Games
// that are the same up to symmetry are one cluster for every interval.

#include <functional>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/game_facts.h"
#include "tara/eval/balance/study.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Scores within this of 1/2 are even.
inline constexpr double kEvenBand = 0.05;
// A doubling of simulations that gains less Elo than this ends the curve of the
// depth of skill.
inline constexpr double kMinGain = 20;

// Returns one cluster per different game.
std::vector<int> ClustersOf(absl::Span<const GameFacts> games);

template <typename Value>
std::vector<double> ValuesOf(absl::Span<const GameFacts> games, Value value) {
  std::vector<double> values;
  for (const GameFacts& game : games) {
    values.push_back(static_cast<double>(std::invoke(value, game)));
  }
  return values;
}

// Returns the mean of a value of games.
template <typename Value>
Interval MeanOf(absl::Span<const GameFacts> games, Value value) {
  return MeanInterval(ValuesOf(games, value), ClustersOf(games));
}

// Returns the share of games for which a condition holds.
template <typename Condition>
Interval ShareOf(absl::Span<const GameFacts> games, Condition condition) {
  if (games.empty()) return {0, 0, 1};
  return ScoreInterval(ValuesOf(games, condition), ClustersOf(games));
}

// Scores, shares and margins are the first side's (Red's).
struct Scores {
  int games = 0;
  int distinct = 0;      // up to symmetry
  double effective = 0;  // EffectiveCount: games that are repeated count less
  Interval score = {};
  Interval draws = {};
  Interval margin = {};  // as scored, without compensation
  double p_even = 1;     // EvenScoreTest

  bool enough() const { return effective >= kMinGamesForVerdict; }
};

Scores ScoresOf(absl::Span<const GameFacts> games);

// Returns the score of A over pairs of games, in which A is Red and Blue in
// turn (GameRecord.place). Pairs of the same games count as one.
Interval ScoreOfA(absl::Span<const GameFacts> games);

// Returns an interval of scores in Elo; infinite at 0 and 1.
Interval EloOf(const Interval& score);

// A compensation is found by the games with an even place and confirmed by
// those with an odd one.
std::vector<GameFacts> HalfOf(absl::Span<const GameFacts> games, int half);

// Returns the compensation by the ladder of these samples; the first one is
// without compensation; their games begin with the same `openings` openings of
// `plies` actions. None where a step has no games.
std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies);

// Returns the legal actions by class, in order of their first members. Two
// actions are in one class if a symmetry that leaves the position as it is maps
// one onto the other: the hills B1 and F7 are one first action of Sacred Hill.
std::vector<std::vector<Action>> ActionsByClass(const State& state);

// Returns the effective number of openings of `plies` actions: exp of the
// entropy of the lines, up to symmetry. The high end is infinite if most lines
// were seen once: then the games do not bound it.
Interval EffectiveOpenings(Variant variant, absl::Span<const GameFacts> games,
                           int plies);

// Returns the legal actions an action. REQUIRES: at least one game.
Interval BranchingOf(absl::Span<const GameFacts> games);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_MEASURES_H_
