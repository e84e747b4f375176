#ifndef TESTS_TRAIN_TINY_TRAINING_H_
#define TESTS_TRAIN_TINY_TRAINING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/train/config/config.h"

namespace tara::train {

// Returns configs/tiny.textproto for a run in the folder `run_dir`, changed by
// overrides ("field=value").
inline absl::StatusOr<proto::TrainConfig> TinyConfig(
    const std::string& run_dir, std::vector<std::string> overrides = {}) {
  overrides.push_back("run_dir=" + run_dir);
  return LoadTrainConfig("configs/tiny.textproto", overrides);
}

}  // namespace tara::train

#endif  // TESTS_TRAIN_TINY_TRAINING_H_
