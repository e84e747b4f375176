#ifndef TESTS_TRAIN_TINY_TRAINING_H_
#define TESTS_TRAIN_TINY_TRAINING_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"

namespace tara::train {

// Returns configs/tiny.textproto for a run in the folder `run_dir`, changed by
// overrides ("field=value").
absl::StatusOr<proto::TrainConfig> TinyConfig(
    absl::string_view run_dir, std::vector<std::string> overrides = {});

}  // namespace tara::train

#endif  // TESTS_TRAIN_TINY_TRAINING_H_
