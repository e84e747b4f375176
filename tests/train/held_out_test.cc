#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/variant.h"
#include "tara/nn/heads.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_store.h"
#include "tara/train/learn/learner.h"
#include "tara/train/learn/sampler.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

// Keeps what it is to measure; its policy loss is the number of the call.
class FakeTrainer : public nn::Trainer {
 public:
  absl::StatusOr<nn::Losses> Step(const std::vector<nn::Sample>&,
                                  double) override {
    ADD_FAILURE() << "measuring learns nothing";
    return nn::Losses();
  }
  absl::StatusOr<nn::Losses> Measure(
      const std::vector<nn::Sample>& batch) override {
    measured.push_back(batch);
    if (fails) return absl::InternalError("broken");
    return nn::Losses{
        .heads = {{nn::Head::kPolicy, static_cast<double>(measured.size())}}};
  }
  absl::Status Evaluate(absl::Span<const State>,
                        absl::Span<mcts::Evaluation>) override {
    return absl::OkStatus();
  }
  absl::Status Save(const std::string&, const nn::TrainingProgress&,
                    absl::Span<const State>) override {
    return absl::OkStatus();
  }

  std::vector<std::vector<nn::Sample>> measured;
  bool fails = false;
};

class HeldOutLossesTest : public ::testing::Test {
 protected:
  // Adds games of a variant until so many of them are held out.
  void AddGames(Variant variant, int held_out) {
    std::vector<uint64_t> indices;
    for (int count = 0; count < held_out; ++next_) {
      indices.push_back(next_);
      count += IsHeldOut(kShare, kSeed, next_) ? 1 : 0;
    }
    const auto games = PlayUniformGames(QuickSelfPlay(variant), indices);
    ASSERT_TRUE(store_->AddAll(games).ok());
  }

  void SetUp() override {
    auto store = record::OpenGameStore(TestFolder("held_out") + "/games.db",
                                       record::StoreMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.status().message();
    store_ = *std::move(store);
  }

  static constexpr double kShare = 0.5;
  static constexpr uint64_t kSeed = 5;
  uint64_t next_ = 0;
  std::unique_ptr<record::GameStore> store_;
  FakeTrainer trainer_;
};

TEST_F(HeldOutLossesTest, AreMeasuredByVariantWhereThereIsEnough) {
  AddGames(Variant::kFourTreasures, 3);
  AddGames(Variant::kSacredHillL1, 1);    // some 45 positions
  AddGames(Variant::kStoneOfDestiny, 6);  // more than 512 positions
  Sampler sampler(*store_, {.held_out_share = kShare}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  const auto losses = MeasureHeldOut(sampler, trainer_);
  ASSERT_TRUE(losses.ok()) << losses.status().message();
  ASSERT_EQ(losses->size(), 2u);
  ASSERT_EQ(trainer_.measured.size(), 2u);
  EXPECT_EQ(losses->at(0).variant, Variant::kFourTreasures);
  EXPECT_EQ(losses->at(1).variant, Variant::kStoneOfDestiny);
  EXPECT_EQ(losses->at(1).positions, kMostHeldOutPositions);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(losses->at(i).losses.heads[nn::Head::kPolicy],
              static_cast<double>(i + 1));
    EXPECT_EQ(losses->at(i).positions,
              static_cast<int64_t>(trainer_.measured[i].size()));
    for (const nn::Sample& sample : trainer_.measured[i]) {
      EXPECT_EQ(sample.state.variant, losses->at(i).variant);
    }
  }
  // Of 1 and 2.
  EXPECT_EQ(MeanLosses(*losses).heads[nn::Head::kPolicy], 1.5);
}

TEST_F(HeldOutLossesTest, WithoutHeldOutGamesThereAreNone) {
  AddGames(Variant::kFourTreasures, 1);
  Sampler sampler(*store_, {.held_out_share = 0}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  const auto losses = MeasureHeldOut(sampler, trainer_);
  ASSERT_TRUE(losses.ok()) << losses.status().message();
  EXPECT_TRUE(losses->empty());
  EXPECT_EQ(MeanLosses(*losses).heads[nn::Head::kPolicy], 0);
}

TEST_F(HeldOutLossesTest, AnErrorOfTheTrainerIsTheirs) {
  AddGames(Variant::kFourTreasures, 3);
  Sampler sampler(*store_, {.held_out_share = kShare}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  trainer_.fails = true;
  EXPECT_EQ(MeasureHeldOut(sampler, trainer_).status().code(),
            absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace tara::train
