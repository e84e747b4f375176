#ifndef TARA_EVAL_BALANCE_MEASURES_H_
#define TARA_EVAL_BALANCE_MEASURES_H_

// Games of a study, and measures: figures that are computed from samples of
// them. Games that are the same up to symmetry are one cluster for every
// interval.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_openings.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// A side is ahead where its value is above this (win minus loss: an expected
// score of 55 %).
inline constexpr float kAhead = 0.1f;

// The course of a game by its player's own values. Of games with values and a
// winner.
struct GameDrama {
  // Changes of the side that is ahead; even positions are not a change.
  int lead_changes = 0;
  // The ply after which the winner stays ahead; the game's length if it was not
  // ahead at the last evaluation.
  int decided_ply = 0;
  // The winner's lowest expected score, in [0, 1].
  double lowest_score = 0.5;
};

// The actions of a seat in a game.
struct SeatFacts {
  int actions = 0;
  int captures = 0;  // of ringforts
};

// What the measures of a study need of one finished game.
struct GameFacts {
  uint64_t place = 0;  // GameRecord.place
  int red_margin = 0;  // as scored
  int result = 0;      // 1 Red won, 0 a draw, -1 Blue won; with compensation
  int length = 0;
  int legal = 0;  // actions to choose from, over all plies
  Ending ending = Ending::kNone;
  std::array<int, kNumActionTypes> types = {};  // actions, by ActionType
  int kings_captured = 0;
  std::array<SeatFacts, 4> seats = {};
  // Doubles: the seat that was out first, which ended the game; -1: none.
  int first_out = -1;
  std::optional<GameDrama> drama = {};
  std::vector<Action> actions = {};  // all
  uint64_t same_game = 0;            // record::SameGameKey

  // Red's points of a game: 1 won, 1/2 drawn, 0 lost.
  double score() const { return (1 + result) / 2.0; }
};

// Replays a game and returns its facts. Errors as record::Replay's, and
// INVALID_ARGUMENT for a game that was not played to its end.
absl::StatusOr<GameFacts> FactsOf(const proto::GameRecord& game);

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

// Returns the legal actions by class, in order of their first members. Two
// actions are in one class if a symmetry that leaves the position as it is maps
// one onto the other: the hills B1 and F7 are one first action of Sacred Hill.
std::vector<std::vector<Action>> ActionsByClass(const State& state);

// Returns the first actions of a game, up to symmetry.
std::vector<Action> LineOf(Variant variant, const GameFacts& game, int plies);

// Returns the effective number of openings of `plies` actions: exp of the
// entropy of the lines, up to symmetry. The high end is infinite if most lines
// were seen once: then the games do not bound it.
Interval EffectiveOpenings(Variant variant, absl::Span<const GameFacts> games,
                           int plies);

// Returns the legal actions an action. REQUIRES: at least one game.
Interval BranchingOf(absl::Span<const GameFacts> games);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_MEASURES_H_
