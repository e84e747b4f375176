#include "tara/train/learn/learner.h"

#include <atomic>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/record/game_store.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/config/learn_config.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

// Counts what it is given; its losses are 1, 2, 3, ... Steps of `bad` are
// skipped.
class FakeTrainer : public nn::Trainer {
 public:
  absl::StatusOr<nn::Losses> Step(const std::vector<nn::Sample>& batch,
                                  double learning_rate) override {
    batch_sizes.push_back(batch.size());
    for (const nn::Sample& sample : batch) {
      positions.emplace_back(sample.state, sample.symmetry.board);
    }
    learning_rates.push_back(learning_rate);
    const bool skipped = bad.contains(batch_sizes.size());
    return nn::Losses{.total = skipped
                                   ? std::nan("")
                                   : static_cast<double>(batch_sizes.size()),
                      .skipped = skipped};
  }
  absl::StatusOr<nn::Losses> Measure(const std::vector<nn::Sample>&) override {
    return nn::Losses();
  }
  absl::Status Evaluate(absl::Span<const State>,
                        absl::Span<mcts::Evaluation>) override {
    return absl::OkStatus();
  }
  absl::Status Save(const std::string&, const nn::TrainingProgress&,
                    absl::Span<const State>) override {
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<nn::PreparedBatch>> Prepare(
      std::vector<nn::Sample> batch) const override {
    if (++prepared == fails_to_prepare) {
      return absl::ResourceExhaustedError("no memory for a batch");
    }
    return Trainer::Prepare(std::move(batch));
  }
  absl::StatusOr<std::vector<nn::Losses>> FinishSteps() override {
    ++reads;
    return Trainer::FinishSteps();
  }

  std::vector<size_t> batch_sizes;
  std::vector<std::pair<State, int>> positions;  // of all batches, by symmetry
  mutable std::atomic<int> prepared = 0;
  int fails_to_prepare = 0;  // counted from 1
  int reads = 0;
  std::vector<double> learning_rates;
  std::set<size_t> bad;  // counted from 1
};

class LearnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = record::OpenGameStore(TestFolder("learner") + "/games.db",
                                       record::StoreMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.status().message();
    store_ = *std::move(store);
    const auto games =
        PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {0, 1});
    ASSERT_TRUE(store_->AddAll(games).ok());
    sampler_ = std::make_unique<Sampler>(*store_, SamplerOptions(), 1);
    ASSERT_TRUE(sampler_->MoveWindow(2).ok());
  }

  std::unique_ptr<record::GameStore> store_;
  std::unique_ptr<Sampler> sampler_;
  FakeTrainer trainer_;
};

const LearningRateSchedule kSchedule = {
    .peak = 0.1, .warmup_steps = 10, .total_steps = 110, .final_fraction = 0.2};

TEST(LearningRateTest, RisesLinearlyToThePeakDuringWarmUp) {
  EXPECT_DOUBLE_EQ(LearningRate(kSchedule, 0), 0.01);
  EXPECT_DOUBLE_EQ(LearningRate(kSchedule, 4), 0.05);
  EXPECT_DOUBLE_EQ(LearningRate(kSchedule, 9), 0.1);
  EXPECT_DOUBLE_EQ(LearningRate(kSchedule, 10), 0.1);
}

TEST(LearningRateTest, FallsAlongAHalfCosineToItsFinalFraction) {
  // Half way, cos(pi / 2) = 0: 0.1 * (0.2 + 0.8 / 2) = 0.06.
  EXPECT_NEAR(LearningRate(kSchedule, 60), 0.06, 1e-12);
  EXPECT_NEAR(LearningRate(kSchedule, 110), 0.02, 1e-12);
  EXPECT_NEAR(LearningRate(kSchedule, 5000), 0.02, 1e-12);
}

TEST(LearningRateTest, FallsToATenthAtEachMilestone) {
  LearningRateSchedule schedule = kSchedule;
  schedule.shape = RateShape::kSteps;
  schedule.milestones = {0.5, 0.8};  // of 110 steps: 55 and 88
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 4), 0.05);
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 54), 0.1);
  EXPECT_NEAR(LearningRate(schedule, 55), 0.01, 1e-12);
  EXPECT_NEAR(LearningRate(schedule, 87), 0.01, 1e-12);
  EXPECT_NEAR(LearningRate(schedule, 88), 0.001, 1e-12);
  EXPECT_NEAR(LearningRate(schedule, 5000), 0.001, 1e-12);
}

TEST(LearnOptionsOfTest, LetTheRateFallOverTheGenerationsOfTheRun) {
  proto::TrainConfig config;
  config.mutable_learner()->set_steps_per_generation(50);
  EXPECT_EQ(ToLearnOptions(config, 1.0, 24).schedule.total_steps, 1200);
}

TEST(LearningRateTest, ARunShorterThanItsWarmUpHasFiniteRates) {
  const LearningRateSchedule schedule = {
      .peak = 0.1, .warmup_steps = 10, .total_steps = 5, .final_fraction = 0.5};
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 4), 0.05);
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 10), 0.05);
}

TEST(LearnerConfigTest, SaysWhichGamesTeachWhat) {
  const auto config = ParseTrainConfig(
      "learner { window_games: 900 window_growth: 0.75 window_growth_rate: 0.3 "
      "window_min_games: 100 value_search_share: 0.4 value_horizon: 6 "
      "policy_surprise: 0.5 held_out_share: 0.1 variant_balance: 0.25 }",
      "x.textproto", {});
  ASSERT_TRUE(config.ok()) << config.status().message();
  const SamplerOptions options = ToSamplerOptions(config->learner());
  EXPECT_EQ(options.window.max_games, 900);
  EXPECT_FLOAT_EQ(options.window.growth, 0.75f);
  EXPECT_FLOAT_EQ(options.window.growth_rate, 0.3f);
  EXPECT_EQ(options.window.min_games, 100);
  EXPECT_FLOAT_EQ(options.targets.value.search_share, 0.4f);
  EXPECT_FLOAT_EQ(options.targets.value.horizon, 6);
  EXPECT_FLOAT_EQ(options.targets.policy_surprise, 0.5f);
  EXPECT_FLOAT_EQ(options.held_out_share, 0.1f);
  EXPECT_FLOAT_EQ(options.variant_balance, 0.25f);
}

TEST(LearnerConfigTest, ByDefaultTheOutcomeIsTaughtAndAFewGamesAreHeldOut) {
  const auto config = ParseTrainConfig("", "x.textproto", {});
  ASSERT_TRUE(config.ok()) << config.status().message();
  const SamplerOptions options = ToSamplerOptions(config->learner());
  EXPECT_EQ(options.window.max_games, 2000);
  EXPECT_EQ(options.window.growth, 0);
  EXPECT_EQ(options.targets.value.search_share, 0);
  EXPECT_EQ(options.targets.policy_surprise, 0);
  EXPECT_FLOAT_EQ(options.held_out_share, 0.05f);
  EXPECT_EQ(options.variant_balance, 0);
}

TEST(NewTrainerTest, ADeviceThatFailsIsAnError) {
  const absl::Status status =
      NewTrainer({.channels = 4, .blocks = 1}, {.cuda_device = 127}, 1)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              testing::StartsWith("LibTorch failed while making a network on "
                                  "learner.device: "));
}

TEST(BucketTest, FewNewPositionsMeanFewSteps) {
  // At most 4 samples for each of 1000 positions: 15 batches of 256 are 3840,
  // 16 would be 4096.
  EXPECT_EQ(StepsToLearn(100, 256, 4, 1000), 15);
  EXPECT_EQ(StepsToLearn(10, 256, 4, 1000), 10);
  EXPECT_EQ(StepsToLearn(100, 256, 0.5, 5120), 10);
  // No limit.
  EXPECT_EQ(StepsToLearn(100, 256, 0, 1000), 100);
  // Something is always learned.
  EXPECT_EQ(StepsToLearn(100, 256, 4, 10), 1);
}

TEST_F(LearnerTest, GoesOnFromTheStepOfTheProgress) {
  nn::TrainingProgress progress{.step = 9, .generation = 1, .samples = 100};
  const auto losses =
      Learn({.schedule = kSchedule, .batch_size = 8, .steps = 3}, *sampler_,
            trainer_, progress, [] { return false; });
  ASSERT_TRUE(losses.ok()) << losses.status().message();
  EXPECT_EQ(trainer_.batch_sizes, (std::vector<size_t>{8, 8, 8}));
  EXPECT_EQ(trainer_.learning_rates,
            (std::vector<double>{LearningRate(kSchedule, 9),
                                 LearningRate(kSchedule, 10),
                                 LearningRate(kSchedule, 11)}));
  EXPECT_EQ(progress.step, 12);
  EXPECT_EQ(progress.samples, 100 + 3 * 8);
  EXPECT_DOUBLE_EQ(losses->losses.total, 2.0);  // mean of 1, 2, 3
  EXPECT_EQ(losses->skipped_steps, 0);
}

TEST_F(LearnerTest, SkippedStepsAreCountedAndLeftOutOfTheMeans) {
  trainer_.bad = {1, 2, 4};
  nn::TrainingProgress progress;
  const auto learned =
      Learn({.schedule = kSchedule,
             .batch_size = 8,
             .steps = 5,
             .max_skipped_steps = 3},
            *sampler_, trainer_, progress, [] { return false; });
  ASSERT_TRUE(learned.ok()) << learned.status();
  EXPECT_EQ(learned->skipped_steps, 3);
  EXPECT_DOUBLE_EQ(learned->losses.total, 4.0);  // mean of 3, 5
  EXPECT_EQ(progress.step, 5);  // the data of a skipped step is gone too
}

TEST_F(LearnerTest, TooManySkippedStepsInARowEndIt) {
  trainer_.bad = {2, 3, 5, 6, 7};
  nn::TrainingProgress progress;
  const auto learned =
      Learn({.schedule = kSchedule,
             .batch_size = 8,
             .steps = 50,
             .max_skipped_steps = 3},
            *sampler_, trainer_, progress, [] { return false; });
  EXPECT_EQ(learned.status().code(), absl::StatusCode::kAborted);
  EXPECT_NE(std::string(learned.status().message())
                .find("3 steps in a row were not finite, up to step 7"),
            std::string::npos)
      << learned.status();
}

TEST_F(LearnerTest, WhereAllStepsAreSkippedNothingIsLearned) {
  trainer_.bad = {1, 2, 3, 4};
  nn::TrainingProgress progress;
  const LearnOptions options = {.schedule = kSchedule,
                                .batch_size = 8,
                                .steps = 4,
                                .max_skipped_steps = 10};
  const auto none =
      Learn(options, *sampler_, trainer_, progress, [] { return false; });
  EXPECT_EQ(none.status().code(), absl::StatusCode::kAborted);
  EXPECT_NE(
      std::string(none.status().message()).find("all 4 steps were not finite"),
      std::string::npos)
      << none.status();
  trainer_.bad = {5, 6, 7};  // the next four but one
  const auto one =
      Learn(options, *sampler_, trainer_, progress, [] { return false; });
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->skipped_steps, 3);
}

// With any number of threads.
TEST_F(LearnerTest, TheBatchesDoNotDependOnTheThreadsThatPrepareThem) {
  LearnOptions options = {.schedule = kSchedule, .batch_size = 8, .steps = 40};
  nn::TrainingProgress progress{.step = 9};
  ASSERT_TRUE(
      Learn(options, *sampler_, trainer_, progress, [] { return false; }).ok());
  EXPECT_EQ(trainer_.reads, 1 + 40);
  for (const int threads : {1, 3}) {
    FakeTrainer ahead;
    nn::TrainingProgress next{.step = 9};
    options.prepare_threads = threads;
    options.steps_per_read = 16;
    std::vector<int> observed;
    const auto learned = Learn(
        options, *sampler_, ahead, next, [] { return false; },
        [&](int steps, const nn::Losses&) { observed.push_back(steps); });
    ASSERT_TRUE(learned.ok()) << learned.status();
    EXPECT_EQ(ahead.positions, trainer_.positions) << threads;
    EXPECT_EQ(ahead.learning_rates, trainer_.learning_rates) << threads;
    EXPECT_EQ(learned->losses.total, 20.5);  // mean of 1 to 40
    EXPECT_EQ(next.step, progress.step);
    // At the start, after 16, 32 and 40 steps.
    EXPECT_EQ(ahead.reads, 4);
    ASSERT_EQ(observed.size(), 40u);
    EXPECT_EQ(observed.front(), 1);
    EXPECT_EQ(observed.back(), 40);
    EXPECT_EQ(ahead.prepared, 40);
  }
}

TEST_F(LearnerTest, ABatchThatCannotBePreparedEndsIt) {
  for (const int threads : {0, 1, 3}) {
    FakeTrainer trainer;
    trainer.fails_to_prepare = 5;
    nn::TrainingProgress progress;
    const auto learned =
        Learn({.schedule = kSchedule,
               .batch_size = 8,
               .steps = 1000000,
               .prepare_threads = threads},
              *sampler_, trainer, progress, [] { return false; });
    EXPECT_EQ(learned.status().code(), absl::StatusCode::kResourceExhausted)
        << learned.status();
    // Threads finish in another order than that of the steps.
    EXPECT_LE(trainer.batch_sizes.size(), size_t{4 + 2});
  }
}

TEST_F(LearnerTest, StepsThatAreReadTogetherAreSkippedOneByOne) {
  trainer_.bad = {2, 3, 5, 6, 7};
  nn::TrainingProgress progress;
  LearnOptions options = {.schedule = kSchedule,
                          .batch_size = 8,
                          .steps = 9,
                          .max_skipped_steps = 4,
                          .steps_per_read = 4};
  const auto learned =
      Learn(options, *sampler_, trainer_, progress, [] { return false; });
  ASSERT_TRUE(learned.ok()) << learned.status();
  EXPECT_EQ(learned->skipped_steps, 5);
  EXPECT_DOUBLE_EQ(learned->losses.total, 5.5);  // mean of 1, 4, 8, 9
  FakeTrainer other;
  other.bad = {2, 3, 5, 6, 7};
  options.max_skipped_steps = 3;
  const auto ended =
      Learn(options, *sampler_, other, progress, [] { return false; });
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kAborted);
  EXPECT_NE(std::string(ended.status().message())
                .find("3 steps in a row were not finite, up to step 16"),
            std::string::npos)  // the 7th after the 9 of before
      << ended.status();
}

TEST_F(LearnerTest, IsCancelledWhenToldToStop) {
  nn::TrainingProgress progress;
  const auto losses = Learn(
      {.schedule = kSchedule, .batch_size = 8, .steps = 30}, *sampler_,
      trainer_, progress, [&] { return trainer_.batch_sizes.size() == 4; });
  EXPECT_EQ(losses.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(trainer_.batch_sizes.size(), 4u);
}

}  // namespace
}  // namespace tara::train
