#include "tests/train/tiny_training.h"

#include "absl/strings/str_cat.h"
#include "tara/train/config/config.h"

namespace tara::train {

absl::StatusOr<proto::TrainConfig> TinyConfig(
    absl::string_view run_dir, std::vector<std::string> overrides) {
  overrides.push_back(absl::StrCat("run_dir=", run_dir));
  return LoadTrainConfig("configs/tiny.textproto", overrides);
}

}  // namespace tara::train
