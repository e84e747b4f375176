#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tara/mcts/choice/resignation.h"
#include "tara/record/game_store.h"
#include "tara/train/play/self_play.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

constexpr int kIndex = 20;  // of the threshold -0.2

// Games with values that are noise, some of them resigned.
std::unique_ptr<record::GameStore> StoreWithGames(
    const SelfPlayOptions& options, uint64_t count, SelfPlayStats& stats) {
  auto store = record::OpenGameStore(TestFolder("resigned") + "/games.db",
                                     record::StoreMode::kReadWrite);
  EXPECT_TRUE(store.ok()) << store.status().message();
  std::vector<uint64_t> indices;
  for (uint64_t i = 0; i < count; ++i) indices.push_back(i);
  HashingEvaluator evaluator;
  const auto games = PlayGamesWith(evaluator, options, indices, stats);
  EXPECT_TRUE((*store)->AddAll(games).ok());
  return *std::move(store);
}

SelfPlayOptions Resigning() {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.resignation = {
      .threshold = -0.2f, .turns = 2, .played_on_share = 0.5f};
  return options;
}

TEST(ResignationHistoryTest, TellsOfStoredGamesWhatWasCountedAsTheyWerePlayed) {
  const SelfPlayOptions options = Resigning();
  SelfPlayStats stats;
  const auto store = StoreWithGames(options, 24, stats);
  ASSERT_GT(stats.resigned, 0);
  ASSERT_GT(stats.resignable, 0);
  const auto counts = CountResignations(*store, options.resignation,
                                        options.run_seed, 24, 1000);
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  EXPECT_EQ(counts->games(), stats.played_on);
  EXPECT_EQ(counts->resigned(kIndex), stats.resignable);
  EXPECT_EQ(counts->wrong(kIndex), stats.resignable_not_lost);
  // The store can be asked for them.
  const auto statistics = store->Statistics({});
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->at(0).ended_by.at("resigned"), stats.resigned);
}

TEST(ResignationHistoryTest, NobodyThoughtAnythingOfActionsDrawnAtRandom) {
  SelfPlayOptions options = Resigning();
  options.opening = {.share = 1, .max_plies = 6};
  options.search.proof = true;
  options.search.solver_vacant_hills = 6;
  options.end_when_proved = true;
  // A threshold that a value of 0 would meet.
  options.resignation.threshold = 0;
  SelfPlayStats stats;
  const auto store = StoreWithGames(options, 24, stats);
  const auto counts = CountResignations(*store, options.resignation,
                                        options.run_seed, 24, 1000);
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  EXPECT_EQ(counts->games(), stats.played_on);
  EXPECT_EQ(counts->resigned(0), stats.resignable);
  EXPECT_EQ(counts->wrong(0), stats.resignable_not_lost);
}

TEST(ResignationHistoryTest, CountsTheNewestGamesBelowTheEnd) {
  const SelfPlayOptions options = Resigning();
  SelfPlayStats stats;
  const auto store = StoreWithGames(options, 24, stats);
  int64_t expected = 0;
  for (uint64_t index = 6; index < 16; ++index) {
    expected += mcts::IsPlayedOn(
        options.resignation,
        DeriveSeed(options.run_seed, index, StreamPurpose::kResignation));
  }
  ASSERT_GT(expected, 0);
  const auto counts =
      CountResignations(*store, options.resignation, options.run_seed, 16, 10);
  ASSERT_TRUE(counts.ok()) << counts.status().message();
  EXPECT_EQ(counts->games(), expected);
  const auto none =
      CountResignations(*store, options.resignation, options.run_seed, 0, 10);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->games(), 0);
}

}  // namespace
}  // namespace tara::train
