#ifndef TARA_EVAL_ARENA_H_
#define TARA_EVAL_ARENA_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/player.h"
#include "tara/mcts/time_control.h"
#include "tara/mcts/time_manager.h"

namespace tara {

// Points that a player loses a game by whose time runs out, whatever the board
// says: a small loss, so that margins stay those of games played out.
inline constexpr int kForfeitMargin = 2;

// Clocks for the players of each game. A move is an action, also where a turn
// has two of them; partners share a clock.
struct ArenaClocks {
  TimeControl control;
  TimeOptions options = {};
  // What time is measured by.
  std::function<absl::Time()> now = [] { return absl::Now(); };
};

struct ArenaOptions {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions rule_options = {};
  // Plays matches (docs/rules.md section 9): as many games in succession as
  // there are seats, of which each seat's player starts one, so that the teams
  // are Red in turn; their points add up, and players are told how the match
  // stands. Otherwise every game stands by itself.
  bool by_match = false;
  int games = 200;  // rounded up to whole pairs, of games or of matches
  // The pairs are numbered from here on: with the same seed, different pairs
  // are different games (parallel_arena.h divides an arena so).
  int first_pair = 0;
  // Uniformly random actions that begin two games of each pair; without them
  // players that never draw would play one game over and over.
  int opening_plies = 2;
  uint64_t seed = 1;
  // Games, or matches, in progress at a time: more make larger batches. The
  // result does not depend on it.
  int concurrent_games = 64;
  // With clocks, players are told the time for each move, may ponder, and lose
  // games on time. Games are then played one at a time, and results are
  // reproducible no more.
  std::optional<ArenaClocks> clocks = {};
};

// What a player's moves of a game took, openings not counted; by clock alone.
struct TimeUse {
  int moves = 0;
  absl::Duration time = absl::ZeroDuration();
};

enum class Forfeit : uint8_t { kNone, kByA, kByB };

// A finished game of player A against player B.
struct ArenaGame {
  int pair = 0;    // which opening
  int match = -1;  // 2 m and 2 m + 1 have the same openings; -1: of no match
  bool a_is_red = false;
  int margin = 0;                    // points of A minus those of B
  int length = 0;                    // actions, those of the opening included
  Forfeit forfeit = Forfeit::kNone;  // who lost on time, by kForfeitMargin
  TimeUse time_a = {};
  TimeUse time_b = {};
};

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
// 95 %, over pairs: the two games of a pair share an opening, so they are not
// independent (statistics.h says how they are computed). In matches the games
// of several pairs depend on each other by the score, which the intervals of
// games leave out: those of `matches` are the ones to read.
struct ArenaResult {
  int games = 0;
  int wins = 0;  // of A, as are draws, losses, score, elo and margin
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
  // All games, by pair, A as Red first.
  std::vector<ArenaGame> played;
};

struct ArenaProgress {
  int games_done = 0;
  int games = 0;       // that will be played
  double score = 0.5;  // of A in the games done
};

// Told of progress each time all games have gone on by an action or two;
// returns false to stop early.
using ArenaProgressCallback = std::function<bool(const ArenaProgress&)>;

// Plays pairs of games: each random opening once with A as Red (in doubles as
// both seats of Red) and once with B. With by_match, pairs of matches: A starts
// one and B the other, and each game of the one has an opening in common with
// that of the other. Stopped early, the result is of the pairs finished by
// then. Without clocks reproducible from options.seed.
// Returns INVALID_ARGUMENT for options out of range, or a player's error.
absl::StatusOr<ArenaResult> PlayArena(
    const ArenaOptions& options, Player& a, Player& b,
    const ArenaProgressCallback& on_progress = {});

// Returns how many games a pair has: two, or those of two matches.
int GamesPerPair(const ArenaOptions& options);

// Returns the result of all games, given pair by pair (two games of one
// `pair` in succession, pairs of one match in succession); used for totals
// over several results as well.
// REQUIRES: as said; as many games as Red as as Blue in each pair.
ArenaResult SummarizeGames(absl::Span<const ArenaGame> games);

}  // namespace tara

#endif  // TARA_EVAL_ARENA_H_
