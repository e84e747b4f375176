#ifndef TARA_TRAIN_CONFIG_SEARCH_CONFIG_H_
#define TARA_TRAIN_CONFIG_SEARCH_CONFIG_H_

// The options of search and inference from a config.

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/choice/resignation.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/inference_options.h"

namespace tara::train {

// Returns the options of a full search. REQUIRES: the config is resolved.
// Returns INVALID_ARGUMENT for an option that is no "name=value", unknown, ill
// valued, given twice, the same as a field of its own, or without effect.
// Messages begin with "option: ".
absl::StatusOr<mcts::SearchOptions> SearchOptionsOf(
    const proto::SearchConfig& config);

mcts::TemperatureSchedule TemperatureOf(const proto::SearchConfig& config);

// Returns INVALID_ARGUMENT for an unknown value. Messages begin with the name
// of the field. REQUIRES: the config is resolved.
absl::StatusOr<nn::InferenceOptions> InferenceOptionsOf(
    const proto::InferenceConfig& config);

mcts::ResignationOptions ResignationOf(const proto::ResignationConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_SEARCH_CONFIG_H_
