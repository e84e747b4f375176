// Training a light network: it learns, goes on exactly, and says what it
// cannot do.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/files.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/base/temporary_folder.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

constexpr NetworkShape kShape = {
    .channels = kLightChannels, .blocks = 2, .kind = NetworkKind::kLight};
constexpr TrainerOptions kOptions = {
    .loss_weights = LossWeights({{Head::kOwner, 0.5f}}),
    .ema_decay = 0.9f,
    .threads = 2};

std::unique_ptr<Trainer> NewTrainerOf(const TrainerOptions& options) {
  return MakeLightTrainer("new", NewLightCheckpoint(kShape, 1), options)
      .value();
}

std::string BytesOf(Trainer& trainer) {
  const TemporaryFolder folder;
  EXPECT_THAT(trainer.Save(folder.At("light"), {}), IsOk());
  return ReadWholeFile(folder.At("light")).value();
}

// The share of the units after ReLUs that are 0 wherever ranges were measured.
double ShareOfUnitsOff(const Checkpoint& checkpoint) {
  const LightRanges ranges =
      ReadLightRanges(checkpoint, checkpoint.shape.blocks).value().value();
  int units = 0, off = 0;
  const auto count = [&](const auto& channels) {
    units += static_cast<int>(channels.size());
    off += static_cast<int>(std::count(channels.begin(), channels.end(), 0.0f));
  };
  for (const auto& channels : ranges.hills) count(channels);
  for (const auto& channels : ranges.mixed) count(channels);
  count(ranges.policy);
  return static_cast<double>(off) / units;
}

TEST(LightTrainerTest, LearnsABatchByHeart) {
  std::vector<Sample> samples = MakeSamples(8, 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i].result = {0, 0, 0};
    samples[i].result[i % 3] = 1;
  }
  const auto trainer = NewTrainerOf(kOptions);
  const Losses before = trainer->Measure(samples).value();
  for (int step = 0; step < 250; ++step) {
    ASSERT_TRUE(trainer->Step(samples, 2e-3).ok());
  }
  const Losses after = trainer->Measure(samples).value();
  for (const Head head : {Head::kPolicy, Head::kValue, Head::kMargin}) {
    EXPECT_LT(after.heads[head], 0.5 * before.heads[head])
        << kHeads[static_cast<size_t>(head)].name;
  }
  EXPECT_LT(after.heads[Head::kOwner], before.heads[Head::kOwner]);
  EXPECT_GT(after.policy_accuracy, 0.8);

  // The integers have learned it too.
  const TemporaryFolder folder;
  const std::string path = folder.At("light");
  std::vector<State> states;
  for (const Sample& sample : samples) states.push_back(sample.state);
  ASSERT_THAT(trainer->Save(path, {}, states), IsOk());
  const Checkpoint checkpoint = ReadCheckpoint(path).value();
  EXPECT_LE(ShareOfUnitsOff(checkpoint), 0.05);
  const auto integers =
      EvaluationsBy(*NewLightEvaluator(checkpoint).value(), states);
  const auto floats = EvaluationsBy(*trainer, states);
  double error = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    error += std::abs(integers[i].value() - floats[i].value());
  }
  EXPECT_LT(error / static_cast<double>(states.size()), 0.05);
}

TEST(LightTrainerTest, GoesOnExactlyAndOnAnyNumberOfThreads) {
  const std::vector<Sample> samples = MakeSamples(10, 2);
  const auto learn = [&](Trainer& trainer, int steps) {
    for (int step = 0; step < steps; ++step) {
      ASSERT_THAT(trainer.Step(samples, 1e-3), IsOk());
    }
  };
  const auto straight = NewTrainerOf(kOptions);
  learn(*straight, 6);
  TrainerOptions one_thread = kOptions;
  one_thread.threads = 1;
  const auto first = NewTrainerOf(one_thread);
  learn(*first, 3);
  const auto second =
      MakeLightTrainer(
          "half", DecodeCheckpoint("half", BytesOf(*first)).value(), one_thread)
          .value();
  learn(*second, 3);
  EXPECT_EQ(BytesOf(*straight), BytesOf(*second));
}

TEST(LightTrainerTest, AStepThatIsNotFiniteIsNotMade) {
  std::vector<Sample> samples = MakeSamples(2, 3);
  const auto trainer = NewTrainerOf(kOptions);
  const std::string before = BytesOf(*trainer);
  samples[0].weight = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(trainer->Step(samples, 1e-3).value().skipped);
  EXPECT_EQ(BytesOf(*trainer), before);
}

TEST(LightTrainerTest, SaysWhatItDoesNotDo) {
  const auto error = [](TrainerOptions options) {
    return std::string(CheckLightTraining(options).message());
  };
  EXPECT_EQ(error(kOptions), "");
  TrainerOptions options = kOptions;
  options.optimizer = OptimizerKind::kMuon;
  EXPECT_THAT(error(options), HasSubstr("learner.optimizer: adamw"));
  options = kOptions;
  options.autocast = true;
  EXPECT_THAT(error(options), HasSubstr("learner.autocast: off"));
  options = kOptions;
  options.loss_weights[Head::kReply] = 0.1f;
  EXPECT_THAT(error(options), HasSubstr("learner.reply_loss_weight: 0"));
}

}  // namespace
}  // namespace tara::nn
