// The evaluation cache, and symmetric positions shared by it, change no game.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/play/self_play.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

class SelfPlayCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path = ::testing::TempDir() + "/self_play_cache.ckpt";
    ASSERT_TRUE(nn::NewTrainer({.channels = 4, .blocks = 1}, {}, 1)
                    ->Save(path, {})
                    .ok());
    auto network = nn::LoadNetworkEvaluator(path);
    ASSERT_TRUE(network.ok()) << network.status();
    network_ = *std::move(network);
    std::filesystem::remove(path);
  }

  // Returns the records of a game of each variant, by index.
  static std::map<uint64_t, std::string> Play(const SelfPlayOptions& options,
                                              mcts::Evaluator& evaluator) {
    std::vector<uint64_t> indices;
    for (size_t i = 0; i < 2 * kVariants.size(); ++i) indices.push_back(i);
    absl::Mutex mutex;
    std::map<uint64_t, std::string> games;
    SelfPlayStats stats;
    const absl::Status status = PlayGames(
        options, indices, evaluator,
        [&](const proto::GameRecord& game) {
          absl::MutexLock lock(&mutex);
          games[game.game_index()] = game.SerializeAsString();
          return absl::OkStatus();
        },
        [] { return false; }, stats);
    EXPECT_TRUE(status.ok()) << status;
    return games;
  }

  static SelfPlayOptions Options(int threads, int games_per_thread) {
    SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
    options.starts.clear();
    for (const VariantInfo& info : kVariants) {
      options.starts.push_back(InitialState(info.variant));
    }
    options.search.simulations = 12;
    options.search.dirichlet_fraction = 0.25f;
    options.threads = threads;
    options.games_per_thread = games_per_thread;
    return options;
  }

  std::unique_ptr<mcts::Evaluator> network_;
};

TEST_F(SelfPlayCacheTest, GamesAreTheSameBitForBitHoweverEvaluationsAreKept) {
  const auto expected = Play(Options(1, 3), *network_);
  ASSERT_EQ(expected.size(), 2 * kVariants.size());
  for (const bool symmetric : {false, true}) {
    for (const int64_t positions : {0, 200, 1 << 15}) {
      for (const int threads : {1, 2}) {
        mcts::CachingEvaluator cache(
            network_.get(), mcts::CachingOptions{.positions = positions,
                                                 .symmetric = symmetric,
                                                 .margins = false});
        EXPECT_EQ(Play(Options(threads, 5), cache), expected)
            << positions << " positions, symmetric: " << symmetric;
        EXPECT_EQ(cache.hits() > 0, positions > 0);
      }
    }
  }
}

TEST_F(SelfPlayCacheTest, SymmetricPositionsAreAskedForOnce) {
  mcts::CachingEvaluator plain(network_.get(), 1 << 15);
  mcts::CachingEvaluator symmetric(
      network_.get(),
      mcts::CachingOptions{
          .positions = 1 << 15, .symmetric = true, .margins = true});
  EXPECT_EQ(Play(Options(1, 8), plain), Play(Options(1, 8), symmetric));
  EXPECT_EQ(symmetric.requests(), plain.requests());
  EXPECT_GT(symmetric.hits(), plain.hits());
}

}  // namespace
}  // namespace tara::train
