#ifndef TARA_EVAL_ARENA_ARENA_RESULT_H_
#define TARA_EVAL_ARENA_ARENA_RESULT_H_

// Results of games of two players.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/eval/players/game_loop.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Margin of a game that a player loses on time or by a fault, on any board. It
// is small, so that margins stay close to the margins of finished games.
inline constexpr int kForfeitMargin = 2;

enum class Forfeit : uint8_t { kNone, kByA, kByB };

// Result of a finished game of player A against player B.
struct ArenaGame {
  int pair = 0;    // which opening
  int match = -1;  // 2 m and 2 m + 1 have the same openings; -1: of no match
  bool a_is_red = false;
  // Points of A minus points of B, including the compensation.
  double margin = 0;
  int length = 0;  // actions, opening included
  // Who lost by kForfeitMargin, on time or by a fault.
  Forfeit forfeit = Forfeit::kNone;
  // Why the game ended early, as GameResult.adjudication; empty: it ended by
  // the rules or by a forfeit.
  std::string adjudication = {};
  TimeUse time_a = {};
  TimeUse time_b = {};
  // The fault of the player (Turn::forfeit); empty: none, so a forfeit is on
  // time.
  std::string fault = {};
  uint64_t same_game = 0;  // record::SameGameKey
};

// Returns the result of a recorded game of A against B.
ArenaGame ArenaGameOf(const proto::GameRecord& record);

// Clock statistics of one player.
struct ClockResult {
  int forfeits = 0;  // games lost on time; among the losses, too
  TimeUse use;       // of all games
  // Mean time of a move; 0 without moves.
  absl::Duration MeanMove() const {
    return use.moves == 0 ? absl::ZeroDuration() : use.time / use.moves;
  }
};

// Result of player A against player B over pairs of matches. The two matches of
// a pair have the same openings with exchanged sides. 95 % intervals, over the
// pairs.
struct MatchResult {
  int matches = 0;
  int wins = 0;  // of A, by the sum of points; so are the others
  int draws = 0;
  int losses = 0;
  // Mean of 1 for a match won, 1/2 for a draw, 0 for a loss.
  double score = 0.5, score_low = 0, score_high = 1;
  double elo = 0, elo_low = 0, elo_high = 0;
  // Points of A minus points of B per match.
  double mean_lead = 0, mean_lead_low = 0, mean_lead_high = 0;
};

// Result of player A against player B over pairs of games. The 95 % intervals
// treat dependent games as one unit (statistics.h has the methods): a
// pair, because its two games share an opening; a pair of matches, because its
// games depend on the score; with several seatings of a team, all pairs of one
// opening; and units with the same games up to symmetry.
struct ArenaResult {
  int games = 0;
  int distinct_games = 0;  // up to symmetry, by who of A and B was Red
  int wins = 0;            // of A, as are draws, losses, score, elo and margin
  int draws = 0;
  int losses = 0;
  int games_as_red = 0;
  int wins_as_red = 0;
  int draws_as_red = 0;
  // Mean of 1 for a win, 1/2 for a draw, 0 for a loss.
  double score = 0.5, score_low = 0, score_high = 1;
  double score_as_red = 0.5;
  double score_as_blue = 0.5;
  // Derived from the score and its interval; infinite at 0 and 1.
  double elo = 0, elo_low = 0, elo_high = 0;
  // Points. The interval is infinite with fewer than two pairs.
  double mean_margin = 0, mean_margin_low = 0, mean_margin_high = 0;
  double mean_length = 0;
  MatchResult matches;  // with ArenaOptions::by_match
  ClockResult clock_a;  // with ArenaOptions::clocks
  ClockResult clock_b;
  int adjudicated = 0;  // games that were not played to their end
  // Games lost by faults (ArenaGame::fault), which are among the losses.
  int faults_a = 0;
  int faults_b = 0;
  int pairs_per_opening = 1;
  std::optional<Sprt> sprt = {};  // with ArenaOptions::sprt
  // All games by pair, with A as Red first.
  std::vector<ArenaGame> played;
};

// Returns the result of all games, ordered by pair: the two games of a `pair`
// are adjacent, and so are the pairs of a match. Also serves for totals over
// several results. `pairs_per_opening` adjacent pairs, of games or of matches,
// share their openings. REQUIRES: this order; equally many games as Red and as
// Blue in each pair; whole openings.
ArenaResult SummarizeGames(absl::Span<const ArenaGame> games,
                           int pairs_per_opening = 1);

// Returns a key that is equal for lists of games that are the same game by
// game, up to symmetry (record::SameGameKey); 0 if unknown.
uint64_t SameGamesKey(absl::Span<const ArenaGame> games);

// Returns the half points of A, 0 to 4, of a pair of games or of matches.
// REQUIRES: `games` are all games of one pair.
int HalfPointsOfPair(absl::Span<const ArenaGame> games);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_RESULT_H_
