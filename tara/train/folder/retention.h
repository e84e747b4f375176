#ifndef TARA_TRAIN_FOLDER_RETENTION_H_
#define TARA_TRAIN_FOLDER_RETENTION_H_

#include <set>
#include <vector>

#include "proto/config.pb.h"

namespace tara::train {

// Returns which of the checkpoints `there` (their numbers, ascending) are to be
// removed. Kept are the first (0, and 1, which the player at the end is
// compared with), those that are `needed`, and what the config says: with 300
// generations, 10 newest and each 10th, that is some 42.
// Pure: asked again about what it left, it removes nothing more.
std::vector<int> CheckpointsToRemove(const std::vector<int>& there,
                                     const proto::RetentionConfig& config,
                                     const std::set<int>& needed);

}  // namespace tara::train

#endif  // TARA_TRAIN_FOLDER_RETENTION_H_
