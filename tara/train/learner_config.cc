#include "tara/train/learner_config.h"

namespace tara {

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

}  // namespace tara
