#include "tara/train/config/learner_config.h"

#include <cstdint>

#include "tara/base/check.h"
#include "tara/train/config/learner_device.h"

namespace tara::train {

nn::TrainerOptions TrainerOptionsOf(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  const auto device = LearnerDeviceOf(learner);
  TARA_CHECK(device.ok(), "a config was not checked");
  return {.optimizer = learner.optimizer() == "sgd" ? nn::OptimizerKind::kSgd
                                                    : nn::OptimizerKind::kAdamW,
          .momentum = learner.momentum(),
          .weight_decay = learner.weight_decay(),
          .margin_loss_weight = learner.margin_loss_weight(),
          .owner_loss_weight = learner.owner_loss_weight(),
          .kingdoms_loss_weight = learner.kingdoms_loss_weight(),
          .reply_loss_weight = learner.reply_loss_weight(),
          .ema_decay = learner.ema_decay(),
          .max_gradient_norm = learner.max_gradient_norm(),
          .threads = static_cast<int>(learner.threads()),
          .cuda_device = device->cuda_device,
          .autocast = device->autocast};
}

LearnOptions LearnOptionsOf(const proto::TrainConfig& config,
                            double rate_factor, int generations) {
  const proto::LearnerConfig& learner = config.learner();
  return {
      .schedule = {.peak = learner.learning_rate() * rate_factor,
                   .warmup_steps = learner.warmup_steps(),
                   .total_steps =
                       int64_t{generations} * learner.steps_per_generation(),
                   .shape = learner.schedule() == "steps" ? RateShape::kSteps
                                                          : RateShape::kCosine,
                   .final_fraction = learner.final_learning_rate_fraction(),
                   .milestones = {learner.milestones().begin(),
                                  learner.milestones().end()}},
      .batch_size = static_cast<int>(learner.batch_size()),
      .steps = static_cast<int>(learner.steps_per_generation()),
      .max_skipped_steps = static_cast<int>(learner.max_skipped_steps())};
}

SamplerOptions SamplerOptionsOf(const proto::LearnerConfig& config) {
  return {.window = {.max_games = static_cast<int>(config.window_games()),
                     .growth = config.window_growth(),
                     .growth_rate = config.window_growth_rate(),
                     .min_games = static_cast<int>(config.window_min_games())},
          .targets = {.value = {.search_share = config.value_search_share(),
                                .horizon = config.value_horizon()},
                      .policy_surprise = config.policy_surprise()},
          .held_out_share = config.held_out_share(),
          .variant_balance = config.variant_balance()};
}

}  // namespace tara::train
