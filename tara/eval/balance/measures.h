#ifndef TARA_EVAL_BALANCE_MEASURES_H_
#define TARA_EVAL_BALANCE_MEASURES_H_

// Measures of a study: figures that are computed from samples of games. Games
// that are the same up to symmetry are one cluster for every interval.

#include <array>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/action_type.h"
#include "tara/eval/balance/game_facts.h"
#include "tara/eval/balance/study.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Fewer different games than this are no ground for a verdict.
inline constexpr int kFewestForVerdict = 20;
// Scores within this of 1/2 are even.
inline constexpr double kEvenBand = 0.05;
// A doubling of simulations that gains less Elo than this ends the curve of the
// depth of skill.
inline constexpr double kLeastGain = 20;

// Scores, shares and margins are the first side's (Red's).
struct Scores {
  int games = 0;
  int distinct = 0;  // up to symmetry
  Interval score = {};
  Interval draws = {};
  Interval margin = {};  // as scored, without compensation
  double p_even = 1;     // EvenScoreTest

  bool enough() const { return distinct >= kFewestForVerdict; }
};

Scores ScoresOf(absl::Span<const GameFacts> games);

// Returns the score of A over pairs of games, in which A is Red and Blue in
// turn (GameRecord.place). Pairs of the same games count as one.
Interval ScoreOfA(absl::Span<const GameFacts> games);

// Returns an interval of scores in Elo; infinite at 0 and 1.
Interval EloOf(const Interval& score);

// Returns how often a game of the sample has an action of the type.
double Occurrence(const Sample& sample, ActionType type);

// A compensation is found by the games with an even place and confirmed by
// those with an odd one.
std::vector<GameFacts> HalfOf(absl::Span<const GameFacts> games, int half);

// Whether the first side scores 1/2 or more in the half of the first `openings`
// games by which a compensation is found.
bool IsFirstAhead(absl::Span<const GameFacts> games, int openings);

// Returns the compensation by the ladder of these samples, of which the first
// is without one; their games begin with the same `openings` openings of
// `plies` actions. None with fewer than two steps that have games.
std::optional<Compensation> FindCompensation(
    absl::Span<const Sample* const> steps, int openings, int plies);

// Returns the effective number of openings of so many actions: exp of the
// entropy of the lines, up to symmetry. The high end is infinite if most lines
// were seen once: then the games do not bound it.
Interval EffectiveOpenings(Variant variant, absl::Span<const GameFacts> games,
                           int plies);

// The course of games.
struct Course {
  Interval length = {};     // actions
  Interval branching = {};  // legal actions an action
  // By the player's own values, of games with values and a winner.
  std::optional<Interval> lead_changes = {};
  std::optional<Interval> decided = {};              // share of the game
  std::optional<Interval> comebacks = {};            // winners once below 25 %
  std::array<Interval, kNumActionTypes> types = {};  // actions a game
  Interval double_captures = {};  // share of games that end so
};

Course CourseOf(absl::Span<const GameFacts> games);

struct SeatFigures {
  Interval actions = {};    // a game
  Interval branching = {};  // legal actions an action
  Interval captures = {};   // a game
  Interval first_out = {};  // share of games that the seat ended by being out
};

SeatFigures SeatOf(absl::Span<const GameFacts> games, int seat);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_MEASURES_H_
