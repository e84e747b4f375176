#ifndef TESTS_TRAIN_TRAIN_TESTING_H_
#define TESTS_TRAIN_TRAIN_TESTING_H_

// What the tests of training share.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/state_hash.h"
#include "tara/train/play/self_play.h"
#include "tests/base/temporary_folder.h"

namespace tara::train {

// Returns options of a quick self-play of one variant.
inline SelfPlayOptions QuickSelfPlay(Variant variant) {
  SelfPlayOptions options;
  options.starts = {InitialState(variant)};
  options.search.simulations = 6;
  options.search.dirichlet_fraction = 0.25f;
  options.temperature = mcts::TemperatureSchedule::FirstPlies(1, 10);
  options.run_seed = 7;
  options.model_id = "uniform";
  options.games_per_thread = 3;
  return options;
}

// Says of each position something else, but always the same: as a network
// does, and unlike it at once.
class HashingEvaluator : public mcts::Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    for (size_t i = 0; i < states.size(); ++i) {
      Random random(mcts::HashState(states[i]));
      mcts::Evaluation& result = results[i];
      result.priors.assign(LegalActions(states[i]).Count(), 0);
      float total = 0;
      for (float& prior : result.priors) {
        prior = 0.05f + static_cast<float>(random.Uniform());
        total += prior;
      }
      for (float& prior : result.priors) prior /= total;
      result.win = static_cast<float>(random.Uniform());
      result.draw = 0;
      result.loss = 1 - result.win;
      result.margin = 8 * (result.win - result.loss);
      result.margins.clear();
    }
    return absl::OkStatus();
  }
};

// Plays games; returns them by increasing index.
inline std::vector<proto::GameRecord> PlayGamesWith(
    mcts::Evaluator& evaluator, const SelfPlayOptions& options,
    const std::vector<uint64_t>& indices, SelfPlayStats& stats) {
  std::vector<proto::GameRecord> games;
  absl::Mutex mutex;
  const absl::Status status = PlayGames(
      options, indices, evaluator,
      [&](const proto::GameRecord& game) {
        absl::MutexLock lock(&mutex);
        games.push_back(game);
        return absl::OkStatus();
      },
      [] { return false; }, stats);
  EXPECT_TRUE(status.ok()) << status.message();
  std::sort(games.begin(), games.end(), [](const auto& a, const auto& b) {
    return a.game_index() < b.game_index();
  });
  return games;
}

// The same with the uniform evaluator.
inline std::vector<proto::GameRecord> PlayUniformGames(
    const SelfPlayOptions& options, const std::vector<uint64_t>& indices) {
  mcts::UniformEvaluator evaluator;
  SelfPlayStats stats;
  return PlayGamesWith(evaluator, options, indices, stats);
}

// Names the tests of a suite over kVariants.
inline std::string VariantName(
    const ::testing::TestParamInfo<VariantInfo>& info) {
  return std::string(info.param.id);
}

}  // namespace tara::train

#endif  // TESTS_TRAIN_TRAIN_TESTING_H_
