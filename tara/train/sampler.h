#ifndef TARA_TRAIN_SAMPLER_H_
#define TARA_TRAIN_SAMPLER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/game.pb.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/trainer.h"
#include "tara/train/game_store.h"

namespace tara {

// A game as positions and targets, packed for memory: about 70 bytes a
// position and 4 an action of a policy target.
struct SampledGame {
  struct Position {
    State state;
    uint32_t first_target;  // in `targets`
    uint16_t num_targets;   // 0: the position teaches no policy
    int8_t result;          // +1, 0, -1 for the side to move
    int8_t margin;          // own points minus the opponent's
  };
  // One action of a policy target; its share is in proportion to the weight.
  struct Target {
    uint16_t action;
    uint16_t weight;
  };

  uint64_t game_index = 0;
  std::vector<Position> positions;
  std::vector<Target> targets;
  bool has_margin = true;  // not of resigned games
};

// Replays a record into positions and targets. Errors as Replay
// (tara/record/game_record.h).
absl::StatusOr<SampledGame> UnpackGame(const proto::GameRecord& record);

// Returns the symmetries of positions of the variant that take `seat` to
// seat 0: what the network may be shown instead of the position. Not empty.
std::vector<Symmetry> SymmetriesToSeatZero(Variant variant, Seat seat);

// Returns a position as a training sample, seen through the symmetry.
Sample MakeSample(const SampledGame& game, int ply, const Symmetry& symmetry);

// Draws training samples from a sliding window of the newest games of a store.
// Games are decoded and replayed once, as they enter the window. Thread-safety:
// one owner.
class Sampler {
 public:
  // `store` must outlive the sampler. REQUIRES: window_games > 0.
  Sampler(GameStore& store, int window_games, uint64_t run_seed);

  // Moves the window to the newest games with an index below `end_index`.
  // REQUIRES: `end_index` never falls.
  // Errors as the store's and UnpackGame's.
  absl::Status MoveWindow(uint64_t end_index);

  // Returns the batch of a step: positions drawn uniformly over the plies of
  // the window, each with a uniformly drawn symmetry. Depends only on the run's
  // seed, the step and the window. REQUIRES: positions() > 0.
  std::vector<Sample> Batch(int64_t step, int size) const;

  int64_t games() const { return static_cast<int64_t>(games_.size()); }
  int64_t positions() const { return positions_; }

 private:
  GameStore& store_;
  const int window_games_;
  const uint64_t run_seed_;
  // [variant, seat]: what SymmetriesToSeatZero returns.
  std::array<std::array<std::vector<Symmetry>, 4>, kNumVariants> symmetries_;
  std::deque<SampledGame> games_;        // by increasing index
  std::vector<int64_t> last_positions_;  // of games_[0..i], positions in total
  int64_t positions_ = 0;
};

}  // namespace tara

#endif  // TARA_TRAIN_SAMPLER_H_
