#ifndef TARA_TRAIN_PLAY_DISTINCT_POSITIONS_H_
#define TARA_TRAIN_PLAY_DISTINCT_POSITIONS_H_

#include <cstdint>
#include <unordered_set>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/game.pb.h"

namespace tara::train {

// How many of the positions that games were played for are different: self-play
// that repeats itself teaches little. Symmetric positions are one. Positions of
// openings and those played by proof do not count. Thread-safe.
class DistinctPositions {
 public:
  // Errors as Replay (game_record.h).
  absl::Status Add(const proto::GameRecord& game) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the distinct ones' share of all; 0 before the first.
  double share() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  std::unordered_set<uint64_t> hashes_ ABSL_GUARDED_BY(mutex_);
  int64_t positions_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_DISTINCT_POSITIONS_H_
