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
#include "tests/status_matchers.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::HasSubstr;

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
  // The policy loss is the number of the call.
  absl::StatusOr<nn::Losses> Measure(
      const std::vector<nn::Sample>& batch) override {
    measured.push_back(batch);
    if (fails_to_measure) return absl::InternalError("broken");
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
  std::vector<std::vector<nn::Sample>> measured;
  bool fails_to_measure = false;
};

const LearningRateSchedule kSchedule = {
    .peak = 0.1, .warmup_steps = 10, .total_steps = 110, .final_fraction = 0.2};

class LearnerTest : public ::testing::Test {
 protected:
  LearnerTest() { EXPECT_THAT(sampler_.MoveWindow(2), IsOk()); }

  // Learns with a trainer, until it has made `stop_after` steps.
  absl::StatusOr<LearnResult> LearnWith(FakeTrainer& trainer,
                                        LearnOptions options,
                                        size_t stop_after = 1000) {
    options.batch_size = 8;
    return Learn(
        options, sampler_, trainer, progress_,
        [&] { return trainer.batch_sizes.size() >= stop_after; },
        [&](int steps, const nn::Losses&) { observed_.push_back(steps); });
  }

  const std::unique_ptr<record::GameStore> store_ =
      StoreOf(PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {0, 1}));
  Sampler sampler_{*store_, SamplerOptions(), 1};
  FakeTrainer trainer_;
  nn::TrainingProgress progress_;
  std::vector<int> observed_;
};

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

TEST(LearnOptionsOfTest, LetTheRateFallOverTheGenerationsOfTheRun) {
  proto::TrainConfig config;
  config.mutable_learner()->set_steps_per_generation(50);
  EXPECT_EQ(ToLearnOptions(config, 24).schedule.total_steps, 1200);
}

TEST(LearningRateTest, ARunShorterThanItsWarmUpHasFiniteRates) {
  const LearningRateSchedule schedule = {
      .peak = 0.1, .warmup_steps = 10, .total_steps = 5, .final_fraction = 0.5};
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 4), 0.05);
  EXPECT_DOUBLE_EQ(LearningRate(schedule, 10), 0.05);
}

TEST(LearnerConfigTest, SaysWhichGamesTeachWhat) {
  const auto config =
      ParseTrainConfig(
          "learner { window_games: 900 window_growth: 0.75 window_growth_rate: "
          "0.3 "
          "window_min_games: 100 value_search_share: 0.4 value_horizon: 6 "
          "held_out_share: 0.1 }",
          "x.textproto", {})
          .value();
  const SamplerOptions options = ToSamplerOptions(config.learner());
  EXPECT_EQ(options.window.max_games, 900);
  EXPECT_FLOAT_EQ(options.window.growth, 0.75f);
  EXPECT_FLOAT_EQ(options.window.growth_rate, 0.3f);
  EXPECT_EQ(options.window.min_games, 100);
  EXPECT_FLOAT_EQ(options.value.search_share, 0.4f);
  EXPECT_FLOAT_EQ(options.value.horizon, 6);
  EXPECT_FLOAT_EQ(options.held_out_share, 0.1f);
}

TEST_F(LearnerTest, GoesOnFromTheStepOfTheProgress) {
  progress_ = {.step = 9, .generation = 1, .samples = 100};
  const LearnResult learned =
      LearnWith(trainer_, {.schedule = kSchedule, .steps = 3}).value();
  EXPECT_EQ(trainer_.batch_sizes, (std::vector<size_t>{8, 8, 8}));
  EXPECT_EQ(trainer_.learning_rates,
            (std::vector<double>{LearningRate(kSchedule, 9),
                                 LearningRate(kSchedule, 10),
                                 LearningRate(kSchedule, 11)}));
  EXPECT_EQ(progress_.step, 12);
  EXPECT_EQ(progress_.samples, 100 + 3 * 8);
  EXPECT_DOUBLE_EQ(learned.losses.total, 2.0);  // mean of 1, 2, 3
  EXPECT_EQ(learned.skipped_steps, 0);
}

TEST_F(LearnerTest, SkippedStepsAreCountedAndLeftOutOfTheMeans) {
  trainer_.bad = {1, 2, 4};
  const LearnResult learned =
      LearnWith(trainer_,
                {.schedule = kSchedule, .steps = 5, .max_skipped_steps = 3})
          .value();
  EXPECT_EQ(learned.skipped_steps, 3);
  EXPECT_DOUBLE_EQ(learned.losses.total, 4.0);  // mean of 3, 5
  EXPECT_EQ(progress_.step, 5);  // the data of a skipped step is gone too
}

TEST_F(LearnerTest, TooManySkippedStepsInARowEndIt) {
  trainer_.bad = {2, 3, 5, 6, 7};
  EXPECT_THAT(
      LearnWith(trainer_,
                {.schedule = kSchedule, .steps = 50, .max_skipped_steps = 3}),
      StatusIs(absl::StatusCode::kAborted,
               HasSubstr("3 steps in a row were not finite, up to step 7")));
}

TEST_F(LearnerTest, WhereAllStepsAreSkippedNothingIsLearned) {
  trainer_.bad = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(LearnWith(trainer_, {.schedule = kSchedule, .steps = 4}),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr("all 4 steps were not finite")));
  // Of the next four, one is not.
  EXPECT_EQ(LearnWith(trainer_, {.schedule = kSchedule, .steps = 4})
                .value()
                .skipped_steps,
            3);
}

// With any number of threads.
TEST_F(LearnerTest, TheBatchesDoNotDependOnTheThreadsThatPrepareThem) {
  progress_ = {.step = 9};
  ASSERT_THAT(LearnWith(trainer_, {.schedule = kSchedule, .steps = 40}),
              IsOk());
  EXPECT_EQ(trainer_.reads, 1 + 40);
  for (const int threads : {1, 3}) {
    FakeTrainer ahead;
    progress_ = {.step = 9};
    observed_.clear();
    const LearnResult learned = LearnWith(ahead, {.schedule = kSchedule,
                                                  .steps = 40,
                                                  .prepare_threads = threads,
                                                  .steps_per_read = 16})
                                    .value();
    EXPECT_EQ(ahead.positions, trainer_.positions) << threads;
    EXPECT_EQ(ahead.learning_rates, trainer_.learning_rates) << threads;
    EXPECT_EQ(learned.losses.total, 20.5);  // mean of 1 to 40
    EXPECT_EQ(progress_.step, 9 + 40);
    // At the start, after 16, 32 and 40 steps.
    EXPECT_EQ(ahead.reads, 4);
    ASSERT_EQ(observed_.size(), 40u);
    EXPECT_EQ(observed_.front(), 1);
    EXPECT_EQ(observed_.back(), 40);
    EXPECT_EQ(ahead.prepared, 40);
  }
}

TEST_F(LearnerTest, ABatchThatCannotBePreparedEndsIt) {
  for (const int threads : {0, 1, 3}) {
    FakeTrainer trainer;
    trainer.fails_to_prepare = 5;
    EXPECT_THAT(LearnWith(trainer, {.schedule = kSchedule,
                                    .steps = 1000000,
                                    .prepare_threads = threads}),
                StatusIs(absl::StatusCode::kResourceExhausted));
    // Threads finish in another order than that of the steps.
    EXPECT_LE(trainer.batch_sizes.size(), size_t{4 + 2});
  }
}

TEST_F(LearnerTest, StepsThatAreReadTogetherAreSkippedOneByOne) {
  trainer_.bad = {2, 3, 5, 6, 7};
  LearnOptions options = {.schedule = kSchedule,
                          .steps = 9,
                          .max_skipped_steps = 4,
                          .steps_per_read = 4};
  const LearnResult learned = LearnWith(trainer_, options).value();
  EXPECT_EQ(learned.skipped_steps, 5);
  EXPECT_DOUBLE_EQ(learned.losses.total, 5.5);  // mean of 1, 4, 8, 9
  FakeTrainer other;
  other.bad = {2, 3, 5, 6, 7};
  options.max_skipped_steps = 3;
  // The 7th after the 9 of before.
  EXPECT_THAT(
      LearnWith(other, options),
      StatusIs(absl::StatusCode::kAborted,
               HasSubstr("3 steps in a row were not finite, up to step 16")));
}

TEST_F(LearnerTest, IsCancelledWhenToldToStop) {
  EXPECT_THAT(LearnWith(trainer_, {.schedule = kSchedule, .steps = 30},
                        /*stop_after=*/4),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(trainer_.batch_sizes.size(), 4u);
}

// --- Held out ----------------------------------------------------------------

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

  static constexpr double kShare = 0.5;
  static constexpr uint64_t kSeed = 5;
  uint64_t next_ = 0;
  const std::unique_ptr<record::GameStore> store_ = StoreOf();
  FakeTrainer trainer_;
};

TEST_F(HeldOutLossesTest, AreMeasuredByVariantWhereThereIsEnough) {
  AddGames(Variant::kFourTreasures, 3);
  AddGames(Variant::kSacredHillL1, 1);    // some 45 positions
  AddGames(Variant::kStoneOfDestiny, 6);  // more than 512 positions
  Sampler sampler(*store_, {.held_out_share = kShare}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  const auto losses = MeasureHeldOut(sampler, trainer_).value();
  ASSERT_EQ(losses.size(), 2u);
  ASSERT_EQ(trainer_.measured.size(), 2u);
  EXPECT_EQ(losses.at(0).variant, Variant::kFourTreasures);
  EXPECT_EQ(losses.at(1).variant, Variant::kStoneOfDestiny);
  EXPECT_EQ(losses.at(1).positions, kMaxHeldOutPositions);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(losses.at(i).losses.heads[nn::Head::kPolicy],
              static_cast<double>(i + 1));
    EXPECT_EQ(losses.at(i).positions,
              static_cast<int64_t>(trainer_.measured[i].size()));
    for (const nn::Sample& sample : trainer_.measured[i]) {
      EXPECT_EQ(sample.state.variant, losses.at(i).variant);
    }
  }
  // Of 1 and 2.
  EXPECT_EQ(MeanLosses(losses).heads[nn::Head::kPolicy], 1.5);
}

TEST_F(HeldOutLossesTest, WithoutHeldOutGamesThereAreNone) {
  AddGames(Variant::kFourTreasures, 1);
  Sampler sampler(*store_, {.held_out_share = 0}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  const auto losses = MeasureHeldOut(sampler, trainer_).value();
  EXPECT_TRUE(losses.empty());
  EXPECT_EQ(MeanLosses(losses).heads[nn::Head::kPolicy], 0);
}

TEST_F(HeldOutLossesTest, AnErrorOfTheTrainerIsTheirs) {
  AddGames(Variant::kFourTreasures, 3);
  Sampler sampler(*store_, {.held_out_share = kShare}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  trainer_.fails_to_measure = true;
  EXPECT_EQ(MeasureHeldOut(sampler, trainer_).status().code(),
            absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace tara::train
