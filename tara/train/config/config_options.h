#ifndef TARA_TRAIN_CONFIG_CONFIG_OPTIONS_H_
#define TARA_TRAIN_CONFIG_CONFIG_OPTIONS_H_

// The options of self-play, search, inference and sampling from a config.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/config.pb.h"
#include "proto/fleet.pb.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/inference_options.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/play/self_play.h"

namespace tara::train {

// Whether the network is of kind light. REQUIRES: the config is resolved.
bool IsLight(const proto::TrainConfig& config);

// Whether the run plays the games that it learns from, rather than to read them
// from another store (games_from). REQUIRES: the config is resolved.
bool PlaysGames(const proto::TrainConfig& config);

// Returns the options of a full search. REQUIRES: the config is resolved.
// Returns INVALID_ARGUMENT for an option that is malformed (not "name=value"),
// unknown, invalid, repeated, a duplicate of a field, or without effect.
// Messages begin with "option: ".
absl::StatusOr<mcts::SearchOptions> ToSearchOptions(
    const proto::SearchConfig& config);

// Returns INVALID_ARGUMENT for an unknown value. Messages begin with the name
// of the field. REQUIRES: the config is resolved.
absl::StatusOr<nn::InferenceOptions> ToInferenceOptions(
    const proto::InferenceConfig& config);

// Returns the options of self-play of a config, without a generation's options,
// with the starts of the config's variants in its order. REQUIRES: the config
// is resolved. Errors of ToSearchOptions and RulesOf.
absl::StatusOr<SelfPlayOptions> ToSelfPlayOptions(
    const proto::TrainConfig& config);

// Returns the options of the games that a request asks for. Errors as above.
absl::StatusOr<SelfPlayOptions> ToSelfPlayOptions(
    const proto::PlayRequest& request);

// Returns the evaluator that replaces the network in games of a warm start
// (self_play.warm_start): one random game per position, from the config's seed
// and the position. Null for other games.
std::unique_ptr<mcts::Evaluator> WarmStartEvaluator(
    const proto::PlayRequest& request);

// Returns the request for games of a plan. Records name `model_id`, or a warm
// start, as their player.
proto::PlayRequest PlayRequestFor(const proto::TrainConfig& config,
                                  const GamePlan& plan,
                                  absl::string_view model_id);

// The window, the targets, the share that is held out.
SamplerOptions ToSamplerOptions(const proto::LearnerConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_CONFIG_CONFIG_OPTIONS_H_
