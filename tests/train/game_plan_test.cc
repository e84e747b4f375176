#include "tara/train/game_plan.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/train/game_store.h"
#include "tests/train/train_testing.h"

namespace tara {
namespace {

class GamePlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store =
        OpenGameStore(TestFolder("plan") + "/games.db", StoreMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.status().message();
    store_ = *std::move(store);
    record_ = PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {0})[0];
  }

  void Add(uint32_t generation, const std::vector<uint64_t>& indices) {
    for (const uint64_t index : indices) {
      record_.set_generation(generation);
      record_.set_game_index(index);
      const absl::Status added = store_->Add(record_);
      ASSERT_TRUE(added.ok()) << added.message();
    }
  }

  GamePlan Plan(int generation, int64_t games) {
    const auto plan = PlanGames(*store_, generation, games);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return *plan;
  }

  std::unique_ptr<GameStore> store_;
  proto::GameRecord record_;
};

using Indices = std::vector<uint64_t>;

TEST_F(GamePlanTest, AnEmptyStoreLacksTheWholeFirstGeneration) {
  EXPECT_EQ(Plan(0, 3).missing, (Indices{0, 1, 2}));
}

TEST_F(GamePlanTest, AResumedGenerationLacksExactlyTheGamesNotStored) {
  Add(0, {3, 1});
  const GamePlan plan = Plan(0, 5);
  EXPECT_EQ(plan.missing, (Indices{0, 2, 4}));
  EXPECT_EQ(plan.kept(), 2);
  EXPECT_EQ(plan.size(), 5);
}

TEST_F(GamePlanTest, AGenerationFollowsTheOneBefore) {
  Add(0, {0, 1, 2});
  Add(1, {4});
  const GamePlan plan = Plan(1, 3);
  EXPECT_EQ(plan.begin, 3u);
  EXPECT_EQ(plan.end, 6u);
  EXPECT_EQ(plan.missing, (Indices{3, 5}));
}

TEST_F(GamePlanTest, GamesPerGenerationMayChangeBetweenStarts) {
  Add(0, {0, 1, 2, 3});
  EXPECT_EQ(Plan(0, 2).end, 4u);  // what is there is kept
  EXPECT_EQ(Plan(1, 2).missing, (Indices{4, 5}));
  EXPECT_EQ(Plan(0, 6).missing, (Indices{4, 5}));
}

TEST_F(GamePlanTest, AStoreWithoutTheGenerationBeforeIsAnError) {
  const auto plan = PlanGames(*store_, 2, 3);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(plan.status().message()).find("generation 1"),
            std::string::npos);
}

TEST(StartPositionsTest, RuleOptionsGoToTheVariantsThatHaveThem) {
  proto::TrainConfig config;
  config.add_variant("four_treasures");
  config.add_variant("high_kings_l1");
  config.set_rule_options("no_progress_limit=12");
  const auto starts = StartPositions(config);
  ASSERT_TRUE(starts.ok()) << starts.status().message();
  EXPECT_EQ((*starts)[0], InitialState(Variant::kFourTreasures));
  EXPECT_EQ((*starts)[1].options.no_progress_limit, 12);
}

TEST(StartPositionsTest, AnOptionThatNoVariantHasIsAnError) {
  proto::TrainConfig config;
  config.add_variant("four_treasures");
  config.set_rule_options("no_progress_limit=12");
  const auto starts = StartPositions(config);
  EXPECT_EQ(starts.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(starts.status().message()).find("no_progress_limit"),
            std::string::npos);
}

TEST(StartPositionsTest, AnUnknownVariantIsAnError) {
  proto::TrainConfig config;
  config.add_variant("chess");
  EXPECT_EQ(StartPositions(config).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tara
