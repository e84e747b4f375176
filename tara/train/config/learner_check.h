#ifndef TARA_TRAIN_CONFIG_LEARNER_CHECK_H_
#define TARA_TRAIN_CONFIG_LEARNER_CHECK_H_

#include "absl/status/status.h"
#include "proto/config.pb.h"

namespace tara::train {

// Returns INVALID_ARGUMENT naming the field whose value means nothing to the
// learner. Ranges of single numbers are those of the table of fields.
// REQUIRES: the config is resolved.
absl::Status CheckLearner(const proto::LearnerConfig& learner);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_LEARNER_CHECK_H_
