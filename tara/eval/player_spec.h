#ifndef TARA_EVAL_PLAYER_SPEC_H_
#define TARA_EVAL_PLAYER_SPEC_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/mcts/utility.h"

namespace tara {

enum class PlayerKind { kRandom, kGreedy, kAlphaBeta, kMcts, kNet };

// A player as described on a command line; see PlayerSpecHelp.
struct PlayerSpec {
  PlayerKind kind = PlayerKind::kRandom;
  std::string path = {};  // kNet: checkpoint or folder of a run
  int simulations = 100;  // kMcts, kNet; 0 (kNet alone): the policy alone
  float c_puct = 1.5f;    // kMcts (where the parser sets 3), kNet
  int playouts = 1;       // kMcts: random games per leaf
  // kMcts, kNet: what results are worth.
  UtilityKind utility = UtilityKind::kWinLoss;
  // kAlphaBeta: limits; 0 is none. Without any of them the parser sets `nodes`.
  int nodes = 0;    // positions visited
  int depth = 0;    // actions ahead
  int time_ms = 0;  // of a move

  friend bool operator==(const PlayerSpec&, const PlayerSpec&) = default;
};

// Parses a spec such as "greedy" or "net:runs/first,sims=200". Returns
// INVALID_ARGUMENT naming the spec, the offending part and what was expected.
absl::StatusOr<PlayerSpec> ParsePlayerSpec(absl::string_view text);

// Returns the forms of a spec, one line a kind, for --help.
std::string PlayerSpecHelp();

}  // namespace tara

#endif  // TARA_EVAL_PLAYER_SPEC_H_
