#include "tara/train/config/learn_config.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/light/light.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"

namespace tara::train {
namespace {

// Makes a network of the least size: number types do not go by it.
absl::Status CheckNumberType(const proto::TrainConfig& config) {
  const proto::InferenceConfig& inference = config.inference();
  TARA_ASSIGN_OR_RETURN(const nn::InferenceOptions options,
                        ToInferenceOptions(inference));
  const bool light = IsLight(config);
  TARA_ASSIGN_OR_RETURN(
      const nn::Checkpoint checkpoint,
      train::NewCheckpoint(light ? ToNetworkShape(config)
                                 : nn::NetworkShape{.channels = 8, .blocks = 1},
                           /*seed=*/1));
  return Prefixed(
      absl::StrCat("inference.precision: ", inference.precision(),
                   " with inference.backend: ", inference.backend(),
                   " and inference.device: ", inference.device(), ": "),
      nn::MakeNetwork("a new network", checkpoint, options).status());
}

}  // namespace

absl::Status CheckDevices(const proto::TrainConfig& config) {
  TARA_RETURN_IF_ERROR(
      Prefixed("inference.device: ",
               nn::CheckInferenceDevice(config.inference().device())));
  TARA_RETURN_IF_ERROR(Prefixed(
      "learner.device: ", nn::CheckInferenceDevice(config.learner().device())));
  if (IsLight(config)) {
    for (const absl::Status& status :
         {nn::CheckLightShape(ToNetworkShape(config)),
          nn::CheckLightTraining(ToTrainerOptions(config))}) {
      TARA_RETURN_IF_ERROR(Prefixed("network.kind: light: ", status));
    }
  }
  return CheckNumberType(config);
}

nn::NetworkShape ToNetworkShape(const proto::TrainConfig& config) {
  return {.channels = static_cast<int>(config.network().channels()),
          .blocks = static_cast<int>(config.network().blocks()),
          .kind = IsLight(config) ? nn::NetworkKind::kLight
                                  : nn::NetworkKind::kTower};
}

namespace {

nn::PerHead<float> LossWeightsOf(const proto::LearnerConfig& learner) {
  nn::PerHead<float> weights = nn::LossWeights();
  for (const nn::HeadInfo& info : nn::kHeads) {
    if (info.weight_field.empty()) continue;
    const auto* const field = learner.GetDescriptor()->FindFieldByName(
        std::string(info.weight_field));
    TARA_CHECK(field != nullptr, "a head's weight is not a field of learner");
    weights[info.head] = learner.GetReflection()->GetFloat(learner, field);
  }
  return weights;
}

}  // namespace

nn::TrainerOptions ToTrainerOptions(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  const auto device = nn::ParseDevice(learner.device());
  TARA_CHECK(device.ok(), "a config was not checked");
  return {.optimizer = learner.optimizer() == "muon"
                           ? nn::OptimizerKind::kMuon
                           : nn::OptimizerKind::kAdamW,
          .weight_decay = learner.weight_decay(),
          .loss_weights = LossWeightsOf(learner),
          .ema_decay = learner.ema_decay(),
          .max_gradient_norm = learner.max_gradient_norm(),
          .threads = static_cast<int>(learner.threads()),
          .cuda_device = device->is_cpu ? nn::TrainerOptions::kNoCudaDevice
                                        : device->index,
          .autocast = learner.autocast() == "bfloat16"};
}

LearnOptions ToLearnOptions(const proto::TrainConfig& config, int generations) {
  const proto::LearnerConfig& learner = config.learner();
  return {
      .schedule = {.peak = learner.learning_rate(),
                   .warmup_steps = learner.warmup_steps(),
                   .total_steps =
                       int64_t{generations} * learner.steps_per_generation(),
                   .final_fraction = learner.final_learning_rate_fraction()},
      .batch_size = static_cast<int>(learner.batch_size()),
      .steps = static_cast<int>(learner.steps_per_generation()),
      .prepare_threads = static_cast<int>(learner.prepare_threads()),
      .steps_per_read = static_cast<int>(learner.steps_per_read())};
}

}  // namespace tara::train
