#ifndef TARA_TRAIN_CONFIG_CONFIG_FIELDS_H_
#define TARA_TRAIN_CONFIG_CONFIG_FIELDS_H_

// The one table of the config's fields: defaults, ranges, help.

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tara::train {

struct ConfigField {
  absl::string_view path;
  // As in an override; empty: none, or computed by config.cc.
  absl::string_view default_value;
  // Of numbers, both inclusive.
  double min_value = 0;
  double max_value = 0;
  // Whether a run that goes on must keep it: its games and weights depend on
  // it.
  bool is_fixed = false;
  absl::string_view help;
};

// Returns all fields of proto::TrainConfig, in its order.
absl::Span<const ConfigField> ConfigFields();

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_CONFIG_FIELDS_H_
