#ifndef TARA_TRAIN_LEARN_SAMPLED_GAME_H_
#define TARA_TRAIN_LEARN_SAMPLED_GAME_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/game.pb.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_record.h"

namespace tara::train {

// Mixes value targets from the outcome of the game and the root values of its
// searches.
struct ValueTargetOptions {
  // The share of the searches, s below; the rest is the outcome's. 0: the
  // outcome alone, which is noisy but right on average.
  float search_share = 0;
  // The searches are averaged over about this many plies after the position;
  // the outcome stands for later ones. At least 1.
  float horizon = 16;
};

// The value target of a position, for the side to move there.
struct ValueTarget {
  float value = 0;  // win minus loss probability
  float draw = 0;   // probability; value + draw and draw - value are at most 1

  // Probabilities of win, draw and loss; sum to 1.
  std::array<float, 3> result() const {
    return {(1 - draw + value) / 2, draw, (1 - draw - value) / 2};
  }
};

// Returns the value targets of the positions before each step of a record.
//
// With z the outcome (1 won, 0 drawn, -1 lost), q_k the root value of the
// search k plies later, both for the side to move at the position (by side,
// never by parity), and n the plies to the end, a target is
//
//   (1 - s) z + s ((1 - a) sum_{k < n} a^k q_k + a^n z),   a = 1 - 1 / horizon.
//
// Where the result is proved it takes the place of everything that comes later:
// such a position has the proved result as its target, and counts as that
// result for the positions before it. Plies without a search are skipped. The
// draws that a search expected are not recorded: draws only have the share of
// the outcome.
//
// Source: the average with a horizon is that of KataGo's short-term value
// targets, docs/KataGoMethods.md; mixing outcome and search, Willemsen, Baier
// and Kaisers 2022, "Value targets in off-policy AlphaZero".
//
// REQUIRES: `game` is the record's; root values are win minus loss (not of
// another utility) where search_share > 0; horizon >= 1.
std::vector<ValueTarget> ValueTargets(const proto::GameRecord& record,
                                      const record::ReplayedGame& game,
                                      const ValueTargetOptions& options);

// What of a game is taught.
struct TargetOptions {
  ValueTargetOptions value = {};
  // Share of the sampling weight of positions that follows the surprise of
  // their searches, in [0, 1]; 0: equal weights.
  float policy_surprise = 0;
};

// A game as positions and targets, packed for memory: about 90 bytes a
// position and 4 an action of a policy target.
struct SampledGame {
  struct Position {
    State state;
    ValueTarget value;
    uint32_t first_target;  // in `targets`
    uint16_t num_targets;   // 0: the position teaches no policy
    int16_t reply;          // the opponent's next position with targets, or -1
    uint16_t weight;        // how often it is drawn, in units of kWeightOne
    int8_t margin;          // own points minus the opponent's
    bool has_margin;
    // Not of actions that were drawn at random, or played by proof alone.
    bool is_taught;
    // Before a swap that has transposed the board: hills were elsewhere.
    bool is_transposed = false;
  };
  // One action of a policy target; its share is in proportion to the weight.
  struct Target {
    uint16_t action;
    uint16_t weight;
  };
  static constexpr int kWeightOne = 256;

  uint64_t game_index = 0;
  Variant variant = Variant::kSacredHillL1;
  std::vector<Position> positions;  // one per step
  std::vector<Target> targets;
  // The end of the game by side, where it was played to its end.
  bool has_final = false;
  std::array<Board, 2> final_hills = {};
  std::array<int, 2> final_kingdoms = {};
};

// Replays a record into positions and targets.
//
// Where the margin is proved exactly, it takes the place of the game's. The
// reply is the policy of the opponent's next turn, at its first action.
//
// With policy_surprise s, a position that teaches policy is drawn with a
// frequency in proportion to
//
//   1 - s + s * D / (mean of D over these positions of the game),
//
// D being Step.policy_surprise; others that teach have 1. So games keep their
// shares of the batches, and the heads learn more where the search disagreed
// with the network. Frequencies rather than weights of the losses: steps and
// memory go where there is something to learn, and no sample has a gradient
// many times that of its batch.
// Source: KataGo, docs/KataGoMethods.md, "Policy Surprise Weighting", with s =
// 0.5.
//
// Errors as Replay (tara/record/game_record.h).
absl::StatusOr<SampledGame> UnpackGame(const proto::GameRecord& record,
                                       const TargetOptions& options = {});

// Returns the symmetries of positions of the variant that map `seat` to seat 0,
// under which the network may see the position. Not empty.
std::vector<Symmetry> SymmetriesToSeatZero(Variant variant, Seat seat);

// Returns a position as a training sample, seen through the symmetry.
nn::Sample MakeSample(const SampledGame& game, int ply,
                      const Symmetry& symmetry);

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_SAMPLED_GAME_H_
