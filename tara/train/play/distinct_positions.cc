#include "tara/train/play/distinct_positions.h"

#include <algorithm>
#include <vector>

#include "tara/base/status_macros.h"
#include "tara/core/representative.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/state_hash.h"
#include "tara/record/game_record.h"

namespace tara::train {

absl::Status DistinctPositions::Add(const proto::GameRecord& game) {
  TARA_ASSIGN_OR_RETURN(const record::ReplayedGame replayed,
                        record::Replay(game));
  std::vector<uint64_t> hashes;
  for (int ply = 0; ply < game.steps_size(); ++ply) {
    if (!record::IsChosenBySearch(game, ply)) continue;
    const State& state = replayed.states[ply];
    hashes.push_back(
        mcts::HashState(TransformState(RepresentativeSymmetry(state), state)));
  }
  const absl::MutexLock lock(&mutex_);
  hashes_.insert(hashes.begin(), hashes.end());
  positions_ += static_cast<int64_t>(hashes.size());
  return absl::OkStatus();
}

double DistinctPositions::share() const {
  const absl::MutexLock lock(&mutex_);
  return static_cast<double>(hashes_.size()) /
         static_cast<double>(std::max<int64_t>(positions_, 1));
}

}  // namespace tara::train
