#ifndef TESTS_TRAIN_TRAIN_TESTING_H_
#define TESTS_TRAIN_TRAIN_TESTING_H_

// What the tests of training share.

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tara/train/play/self_play.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"

namespace tara::train {

inline constexpr auto kNeverStop = [] { return false; };

// Returns 0 to `end` - 1.
inline std::vector<uint64_t> IndicesTo(uint64_t end) {
  std::vector<uint64_t> indices(end);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
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

// Plays games; returns them by increasing index.
inline std::vector<proto::GameRecord> PlayGamesWith(
    mcts::Evaluator& evaluator, const SelfPlayOptions& options,
    const std::vector<uint64_t>& indices, SelfPlayStats& stats) {
  std::vector<proto::GameRecord> games;
  absl::Mutex mutex;
  EXPECT_THAT(PlayGames(
                  options, indices, evaluator,
                  [&](const proto::GameRecord& game) {
                    absl::MutexLock lock(&mutex);
                    games.push_back(game);
                    return absl::OkStatus();
                  },
                  kNeverStop, stats),
              IsOk());
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

// The games 0 to `count` - 1 with the hashing evaluator.
inline std::vector<proto::GameRecord> PlayHashedGames(
    const SelfPlayOptions& options, uint64_t count, SelfPlayStats& stats) {
  mcts::HashEvaluator evaluator;
  return PlayGamesWith(evaluator, options, IndicesTo(count), stats);
}
inline std::vector<proto::GameRecord> PlayHashedGames(
    const SelfPlayOptions& options, uint64_t count) {
  SelfPlayStats stats;
  return PlayHashedGames(options, count, stats);
}

inline record::ReplayedGame Replayed(const proto::GameRecord& game) {
  return record::Replay(game).value();
}

inline void ExpectValid(const std::vector<proto::GameRecord>& games) {
  for (const proto::GameRecord& game : games) {
    EXPECT_THAT(record::ValidateRecord(game), IsOk());
  }
}

// Returns the games as they are stored, to compare them bit for bit.
inline std::vector<std::string> BytesOf(
    const std::vector<proto::GameRecord>& games) {
  std::vector<std::string> bytes;
  for (const proto::GameRecord& game : games) {
    bytes.push_back(game.SerializeAsString());
  }
  return bytes;
}

// Returns a store in memory with these games.
inline std::unique_ptr<record::GameStore> StoreOf(
    const std::vector<proto::GameRecord>& games = {}) {
  auto store =
      record::OpenGameStore(":memory:", record::StoreMode::kReadWrite).value();
  EXPECT_THAT(store->AddAll(games), IsOk());
  return store;
}

// Names the tests of a suite over kVariants.
inline std::string VariantName(
    const ::testing::TestParamInfo<VariantInfo>& info) {
  return std::string(info.param.id);
}

}  // namespace tara::train

#endif  // TESTS_TRAIN_TRAIN_TESTING_H_
