#include "tara/train/play/game_plan.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/record/game_store.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

class GamePlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = record::OpenGameStore(TestFolder("plan") + "/games.db",
                                       record::StoreMode::kReadWrite);
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

  // Plans as a run does: by what is recorded, or anew.
  GamePlan Plan(int generation, int64_t games,
                const proto::GenerationPlan* before = nullptr) {
    recorded_ = Record(generation, games, before);
    const auto plan = ExpandPlan(config_, *store_, recorded_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  proto::GenerationPlan Record(int generation, int64_t games,
                               const proto::GenerationPlan* before) {
    config_.mutable_self_play()->set_games_per_generation(games);
    if (config_.variant_size() == 0) config_.add_variant("four_treasures");
    const std::vector<double> shares(config_.variant_size(),
                                     1.0 / config_.variant_size());
    const auto plan = PlanGeneration(config_, *store_, generation,
                                     /*model=*/generation, before, shares);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *plan;
  }

  proto::TrainConfig config_;
  std::unique_ptr<record::GameStore> store_;
  proto::GameRecord record_;
  proto::GenerationPlan recorded_;
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

TEST_F(GamePlanTest, AGenerationFollowsTheOneThatIsRecorded) {
  const proto::GenerationPlan before = Record(0, 4, nullptr);
  const GamePlan plan = Plan(1, 3, &before);
  EXPECT_EQ(plan.begin, 4u);
  EXPECT_EQ(plan.end, 7u);
  EXPECT_EQ(plan.missing, (Indices{4, 5, 6}));
  EXPECT_EQ(plan.model, 1);
}

TEST_F(GamePlanTest, WithoutARecordAGenerationFollowsTheGamesOfTheStore) {
  Add(0, {0, 1, 2});
  Add(1, {4});
  const GamePlan plan = Plan(1, 3);
  EXPECT_EQ(plan.begin, 3u);
  EXPECT_EQ(plan.end, 6u);
  EXPECT_EQ(plan.missing, (Indices{3, 5}));
}

TEST_F(GamePlanTest, AGenerationThatWasPlannedStaysAsItIs) {
  Plan(0, 4);
  const proto::GenerationPlan planned = recorded_;
  config_.mutable_self_play()->set_games_per_generation(9);
  EXPECT_EQ(ExpandPlan(config_, *store_, planned)->missing,
            (Indices{0, 1, 2, 3}));
  EXPECT_EQ(Plan(1, 2, &planned).missing, (Indices{4, 5}));
}

TEST_F(GamePlanTest, GamesThatAreThereAreKept) {
  Add(0, {0, 1, 2, 3});
  EXPECT_EQ(Plan(0, 2).end, 4u);
  EXPECT_EQ(Plan(0, 6).missing, (Indices{4, 5}));
}

TEST_F(GamePlanTest, WhatAGameStartsFromDoesNotDependOnWhatIsMissing) {
  config_.add_variant("four_treasures");
  config_.add_variant("high_kings_l1");
  config_.add_variant("stone_of_destiny");
  const GamePlan all = Plan(0, 8);
  EXPECT_EQ(all.starts, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1}));
  Add(0, {0, 1, 4, 6});
  const auto rest = ExpandPlan(config_, *store_, recorded_);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->starts, all.starts);
  EXPECT_EQ(rest->start_of(7), 1);
  // The next generation goes on where this one ended.
  const proto::GenerationPlan before = recorded_;
  EXPECT_EQ(Plan(1, 4, &before).starts, (std::vector<int>{2, 0, 1, 2}));
}

TEST_F(GamePlanTest, APlanForOtherVariantsIsRefused) {
  Plan(0, 4);
  config_.set_variant(0, "high_kings_l1");
  const absl::Status status = ExpandPlan(config_, *store_, recorded_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(GamePlanTest, AStoreWithoutTheGenerationBeforeIsAnError) {
  const auto plan = PlanGeneration(config_, *store_, 2, 2, nullptr, {1.0});
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(plan.status().message()).find("generation 1"),
            std::string::npos);
}

// Two generations of three games, of which the store lacks what is not added.
TEST_F(GamePlanTest, LostGamesAreListedByGeneration) {
  proto::RunState state;
  *state.add_plan() = Record(0, 3, nullptr);
  *state.add_plan() = Record(1, 3, &state.plan(0));
  Add(0, {1});
  Add(1, {3, 5});
  const auto lost = LostGames(config_, *store_, state, 0, 6);
  ASSERT_TRUE(lost.ok()) << lost.status();
  ASSERT_EQ(lost->size(), 2u);
  EXPECT_EQ((*lost)[0].generation, 0);
  EXPECT_EQ((*lost)[0].missing, (Indices{0, 2}));
  EXPECT_EQ((*lost)[1].generation, 1);
  EXPECT_EQ((*lost)[1].missing, (Indices{4}));
  // Only those that are asked for.
  const auto some = LostGames(config_, *store_, state, 1, 4);
  ASSERT_TRUE(some.ok()) << some.status();
  ASSERT_EQ(some->size(), 1u);
  EXPECT_EQ((*some)[0].missing, (Indices{2}));
  EXPECT_TRUE(LostGames(config_, *store_, state, 3, 4)->empty());
}

TEST_F(GamePlanTest, LostGamesWithoutAPlanAreAnError) {
  proto::RunState state;
  *state.add_plan() = Record(0, 3, nullptr);
  *state.add_plan() = Record(1, 3, &state.plan(0));
  state.mutable_plan()->DeleteSubrange(0, 1);
  Add(0, {0, 1});
  const absl::Status status = LostGames(config_, *store_, state, 0, 6).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("game 2"), absl::string_view::npos);
}

}  // namespace
}  // namespace tara::train
