#ifndef TESTS_TRAIN_TRAIN_TESTING_H_
#define TESTS_TRAIN_TRAIN_TESTING_H_

// What the tests of training share.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/uniform_evaluator.h"
#include "tara/train/self_play.h"

namespace tara {

// Returns an empty folder for the running test.
inline std::string TestFolder(absl::string_view name) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

// Returns options of a quick self-play of one variant.
inline SelfPlayOptions QuickSelfPlay(Variant variant) {
  SelfPlayOptions options;
  options.starts = {InitialState(variant)};
  options.search.simulations = 6;
  options.search.dirichlet_fraction = 0.25f;
  options.temperature_plies = 10;
  options.run_seed = 7;
  options.model_id = "uniform";
  options.games_per_thread = 3;
  return options;
}

// Plays games with the uniform evaluator; returns them by increasing index.
inline std::vector<proto::GameRecord> PlayUniformGames(
    const SelfPlayOptions& options, const std::vector<uint64_t>& indices) {
  std::vector<proto::GameRecord> games;
  absl::Mutex mutex;
  UniformEvaluator evaluator;
  SelfPlayStats stats;
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

// Names the tests of a suite over kVariants.
inline std::string VariantName(
    const ::testing::TestParamInfo<VariantInfo>& info) {
  return std::string(info.param.id);
}

}  // namespace tara

#endif  // TESTS_TRAIN_TRAIN_TESTING_H_
