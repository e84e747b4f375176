#ifndef TARA_EVAL_ARENA_ARENA_RESULT_H_
#define TARA_EVAL_ARENA_ARENA_RESULT_H_

// What games of two players came to.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/eval/players/game_loop.h"
#include "tara/eval/statistics/sprt.h"

namespace tara::eval {

// Points that a player loses a game by whose time runs out, or that cannot go
// on with it, whatever the board says: a small loss, so that margins stay those
// of games played out.
inline constexpr int kForfeitMargin = 2;

enum class Forfeit : uint8_t { kNone, kByA, kByB };

// What a finished game of player A against player B came to.
struct ArenaGame {
  int pair = 0;    // which opening
  int match = -1;  // 2 m and 2 m + 1 have the same openings; -1: of no match
  bool a_is_red = false;
  // Points of A minus those of B, with the compensation.
  double margin = 0;
  int length = 0;  // actions, those of the opening included
  // Who lost by kForfeitMargin, on time or by a fault.
  Forfeit forfeit = Forfeit::kNone;
  // Why it ended before its end, as GameResult.adjudication; empty: by the
  // rules or by a forfeit.
  std::string adjudication = {};
  TimeUse time_a = {};
  TimeUse time_b = {};
  // What the player did that could not go on (Turn::forfeit); empty: nothing,
  // so that a forfeit is on time.
  std::string fault = {};
  uint64_t same_game = 0;  // record::SameGameKey
};

// Returns what the record of a game of A against B came to.
ArenaGame ArenaGameOf(const proto::GameRecord& record);

// How A or B did by its clock.
struct ClockResult {
  int forfeits = 0;  // games lost on time; among the losses, too
  TimeUse use;       // of all games
  // Mean time of a move; 0 without moves.
  absl::Duration MeanMove() const {
    return use.moves == 0 ? absl::ZeroDuration() : use.time / use.moves;
  }
};

// Result of player A against player B over pairs of matches: where the games
// of one have A as Red, those of the other have B, with the same openings.
// Intervals are at 95 %, over the pairs.
struct MatchResult {
  int matches = 0;
  int wins = 0;  // of A, by the sum of points; so are the others
  int draws = 0;
  int losses = 0;
  // Mean of 1 for a match won, 1/2 for a draw, 0 for a loss.
  double score = 0.5, score_low = 0, score_high = 1;
  double elo = 0, elo_low = 0, elo_high = 0;
  // Points of A minus those of B over a match.
  double mean_lead = 0, mean_lead_low = 0, mean_lead_high = 0;
};

// Result of player A against player B over pairs of games. Intervals are at
// 95 %, over what does not depend on each other (statistics.h says how they are
// computed): pairs, as the two games of one share an opening; pairs of matches,
// as the games of one depend on each other by the score; with teams that are
// seated in several ways, all pairs of one opening. Of those that are the same
// games over again, up to symmetry, all count as one.
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
  // Of score and its ends: infinite at 0 and 1.
  double elo = 0, elo_low = 0, elo_high = 0;
  // Points; the ends are infinite with fewer than two pairs.
  double mean_margin = 0, mean_margin_low = 0, mean_margin_high = 0;
  double mean_length = 0;
  MatchResult matches;  // with ArenaOptions::by_match
  ClockResult clock_a;  // with ArenaOptions::clocks
  ClockResult clock_b;
  int adjudicated = 0;  // games that were not played to their end
  // Games that players lost by faults (ArenaGame::fault); among the losses.
  int faults_a = 0;
  int faults_b = 0;
  int pairs_per_opening = 1;
  std::optional<Sprt> sprt = {};  // with ArenaOptions::sprt
  // All games, by pair, A as Red first.
  std::vector<ArenaGame> played;
};

// Returns the result of all games, given pair by pair (two games of one
// `pair` in succession, pairs of one match in succession); used for totals
// over several results as well. So many pairs in succession, of games or of
// matches, share their openings.
// REQUIRES: as said; as many games as Red as as Blue in each pair; whole
// openings.
ArenaResult SummarizeGames(absl::Span<const ArenaGame> games,
                           int pairs_per_opening = 1);

// Returns what games of A and B have in common with others that are, game by
// game, the same up to symmetry (record::SameGameKey); 0 if that is not known.
uint64_t SameGamesKey(absl::Span<const ArenaGame> games);

// Returns the half points of A, 0 to 4, of a pair of games or of matches.
// REQUIRES: `games` are all games of one pair.
int HalfPointsOfPair(absl::Span<const ArenaGame> games);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_RESULT_H_
