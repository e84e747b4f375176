#ifndef TARA_TRAIN_CONFIG_CONFIG_CHECK_H_
#define TARA_TRAIN_CONFIG_CONFIG_CHECK_H_

#include "absl/status/status.h"
#include "proto/config.pb.h"

namespace tara::train {

// Checks what fields say together: that a run can work as they want. Ranges of
// single fields are in the table of config_fields.h. Returns INVALID_ARGUMENT
// with the field, its value, the reason and what was expected.
// REQUIRES: every field is filled in and in its range, variants are known.
absl::Status CheckConfig(const proto::TrainConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_CONFIG_CHECK_H_
