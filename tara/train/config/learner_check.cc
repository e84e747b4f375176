#include "tara/train/config/learner_check.h"

#include "absl/strings/str_cat.h"

namespace tara::train {

absl::Status CheckLearner(const proto::LearnerConfig& learner) {
  if (learner.optimizer() != "adamw" && learner.optimizer() != "sgd") {
    return absl::InvalidArgumentError(absl::StrCat(
        "learner.optimizer: ", learner.optimizer(), "; expected adamw or sgd"));
  }
  if (learner.schedule() != "cosine" && learner.schedule() != "steps") {
    return absl::InvalidArgumentError(
        absl::StrCat("learner.schedule: ", learner.schedule(),
                     "; expected cosine or steps"));
  }
  float last = 0;
  for (const float milestone : learner.milestones()) {
    // Written so that NaN fails too.
    if (!(milestone > last && milestone < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("learner.milestones: ", milestone,
                       "; expected parts of the run, more than 0 and less "
                       "than 1, each more than the one before"));
    }
    last = milestone;
  }
  return absl::OkStatus();
}

}  // namespace tara::train
