#ifndef TARA_EVAL_PUZZLES_PUZZLES_H_
#define TARA_EVAL_PUZZLES_PUZZLES_H_

// Puzzles for people: endgames in which one action alone keeps the win.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/eval/players/player.h"

namespace tara::eval {

// An endgame in which the side to move wins by one action alone, and so again
// at its next decision or two; then several actions win, or the game is over.
struct Puzzle {
  State state;
  // The actions up to there; the other side plays what is best in points.
  std::vector<Action> line;
  int traps = 0;  // naive players that choose another first action
};

struct PuzzleOptions {
  State start;
  uint64_t seed = 1;
  int games = 2000;            // at most
  int puzzles = 100;           // at most
  int64_t node_limit = 20000;  // of solving a position
  StopCheck stop = {};
};

// Lets a player play games, in which one action of eight is random, and returns
// puzzles from their ends, or from other ends by random actions, in the order
// of the games. No puzzle is there twice up to symmetry. Those with the most
// traps are chosen from up to twice as many. Returns the errors of the players,
// and CANCELLED after a stop.
absl::StatusOr<std::vector<Puzzle>> MakePuzzles(
    const PuzzleOptions& options, Player& player,
    absl::Span<Player* const> naive = {});

// Returns the position and the line as one text, as ParseGameText reads it.
std::string PuzzleToText(const Puzzle& puzzle);

}  // namespace tara::eval

#endif  // TARA_EVAL_PUZZLES_PUZZLES_H_
