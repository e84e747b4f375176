#ifndef TARA_EVAL_BALANCE_BALANCE_H_
#define TARA_EVAL_BALANCE_BALANCE_H_

// Whether a variant is fair, and what its games are like, read from games of a
// player with itself. The first side is Red. Each game draws its opening anew;
// those that come out as one game over again, up to symmetry, are one cluster
// for the intervals.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/compensation.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// How the games ran, by the player's own values.
struct DramaStatistics {
  int games = 0;  // that had a winner and values
  Interval lead_changes = {};
  Interval decided_ply = {};    // from which on the winner stays ahead
  Interval decided_share = {};  // the same as a share of the game's length
  // How far below 1/2 the winner's expected score fell, in [0, 1/2].
  Interval deficit = {};
  Interval comebacks = {};  // share of winners that were once below 1/4
};

struct SeatStatistics {
  Interval actions = {};    // a game
  Interval branching = {};  // legal actions an action
  Interval captures = {};   // a game
  Interval first_out = {};  // share of games that the seat ended by being out
};

struct BalanceStatistics {
  int games = 0;
  int distinct_games = 0;  // up to symmetry
  // Shares of the games; a draw counts one half in the score.
  Interval score = {}, wins = {}, draws = {}, losses = {};
  double p_even = 1;     // EvenScoreTest
  Interval margin = {};  // the first side's points minus the other's
  double margin_deviation = 0;
  Interval margin_size = {};  // regardless of who won
  std::map<int, int64_t> margins;
  Interval length = {};
  std::array<double, 3> length_quantiles = {};  // 5, 50 and 95 %
  std::map<int, int64_t> lengths;
  Interval branching = {};
  std::map<Ending, int64_t> endings;
  // Actions a game, by ActionType; and kings captured.
  std::array<Interval, kNumActionTypes> types = {};
  Interval kings_captured = {};
  // Equivalent choices of the player at each of the first plies (exp of its
  // policy's mean entropy), up to symmetry; none where it does not say.
  std::vector<std::optional<Interval>> choices;
  // Equivalent choices of what was played, by number of actions from the
  // start, up to symmetry: bias-corrected, but too low where nearly all games
  // differ.
  std::map<int, Interval> lines;
  std::optional<DramaStatistics> drama;
  Compensation compensation;
  std::vector<FirstActionStatistics> first_actions;  // best first
  std::optional<PieRule> pie;
  std::vector<SeatStatistics> seats;  // doubles
};

// Computes the statistics; what is drawn for intervals comes from the study's
// seed. REQUIRES: at least one game.
BalanceStatistics Summarize(const BalanceStudy& study);

// Fewer different games than this are no ground for a verdict.
inline constexpr int kFewestForVerdict = 20;

// Returns clusters of the games that are the same up to symmetry.
std::vector<int> ClustersOfGames(absl::Span<const GameFacts> games);

// Returns the number of different games, up to symmetry.
int DistinctGames(absl::Span<const GameFacts> games);

// Returns the interval that a wished precision is about: of the first side's
// score over the first `games` games.
Interval FirstSideScore(absl::Span<const GameFacts> games);

// What one study says otherwise than another, game i against game i: the
// second's minus the first's.
struct BalanceDifference {
  int games = 0;
  int distinct_games = 0;  // of which one of the two games differs
  Interval score = {}, margin = {}, margin_size = {}, draws = {}, length = {};
  double p_score = 1;  // of no difference in score
};

// Compares the games that both have. As pairs are independent, intervals hold
// however much the games of a pair have in common (a random opening).
// REQUIRES: both have a game.
BalanceDifference Compare(const BalanceStudy& from, const BalanceStudy& to);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_H_
