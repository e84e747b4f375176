// The forecaster against the network in LibTorch.

#include "tara/nn/inference/final_forecast.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

// Another order of sums makes this much of a difference.
constexpr float kTolerance = 1e-4f;

// A new network, its biases and norms as if it had learned.
Checkpoint LivelyCheckpoint(const NetworkShape& shape) {
  const std::string path = ::testing::TempDir() + "/forecast.checkpoint";
  EXPECT_TRUE(NewTrainer(shape, {.threads = 1}, 1)->Save(path, {}).ok());
  auto checkpoint = ReadCheckpoint(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status();
  std::filesystem::remove(path);
  Random random(DeriveSeed(3, 0, StreamPurpose::kTest));
  for (NamedTensor& tensor : checkpoint->tensors) {
    if (!absl::EndsWith(tensor.name, "bias")) continue;
    for (float& value : tensor.values) {
      value += 0.4f * static_cast<float>(random.Uniform()) - 0.2f;
    }
  }
  return *std::move(checkpoint);
}

// Largest difference of a probability.
float DifferenceTo(const std::vector<float>& expected,
                   absl::Span<const float> got) {
  float difference = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    difference = std::max(difference, std::abs(expected[i] - got[i]));
  }
  return difference;
}

// [size] of row `row` along the first axis of [rows, size] logits.
std::vector<float> Chances(const at::Tensor& logits) {
  const at::Tensor chances = logits.softmax(0).contiguous();
  return {chances.data_ptr<float>(),
          chances.data_ptr<float>() + chances.numel()};
}

TEST(FinalForecastTest, SaysWhatTheNetworkSaysInLibTorch) {
  const Checkpoint checkpoint = LivelyCheckpoint({.channels = 24, .blocks = 3});
  Network network(checkpoint.shape);
  ASSERT_TRUE(LoadWeights(checkpoint, network).ok());
  network.eval();
  const auto forecaster = NewFinalForecaster(checkpoint);
  ASSERT_TRUE(forecaster.ok()) << forecaster.status();
  EXPECT_TRUE((*forecaster)->tells_owners());
  EXPECT_TRUE((*forecaster)->tells_kingdoms());
  const std::vector<State> states = RandomPositionsOfAllVariants(3, 5);
  std::vector<FinalForecast> forecasts(states.size());
  ASSERT_TRUE((*forecaster)->Forecast(states, absl::MakeSpan(forecasts)).ok());

  const c10::InferenceMode inference_mode;
  EncodedBatch batch;
  for (size_t i = 0; i < states.size(); ++i) {
    const State& state = states[i];
    const Symmetry symmetry = RepresentativeSymmetry(state);
    batch.Encode(absl::MakeConstSpan(&state, 1),
                 absl::MakeConstSpan(&symmetry, 1));
    const NetworkOutput output =
        network.forward(PlanesOf(batch), GlobalsOf(batch),
                        {{Head::kOwner, true}, {Head::kKingdoms, true}});
    const bool red = state.side() == kRed;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      const int square = SquareOf(TransformHill(symmetry.board, hill));
      const std::vector<float> chances =
          Chances(output[Head::kOwner][0].flatten(1).select(1, square));
      const FinalForecast& forecast = forecasts[i];
      const float got[] = {red ? forecast.red[hill] : forecast.blue[hill],
                           red ? forecast.blue[hill] : forecast.red[hill],
                           forecast.vacant[hill]};
      EXPECT_LT(DifferenceTo(chances, got), kTolerance) << i << " " << hill;
    }
    for (int part = 0; part < 2; ++part) {
      const Side side = part == 0 ? state.side() : Opponent(state.side());
      const std::vector<float> chances =
          Chances(output[Head::kKingdoms][0][part]);
      ASSERT_EQ(chances.size(), size_t{kNumKingdomCounts});
      EXPECT_LT(DifferenceTo(chances, forecasts[i].kingdoms[side]), kTolerance);
    }
  }
}

// A position and its mirror image have one representative, and so one answer.
TEST(FinalForecastTest, TurnsWithThePosition) {
  const auto forecaster =
      NewFinalForecaster(LivelyCheckpoint({.channels = 16, .blocks = 1}));
  ASSERT_TRUE(forecaster.ok()) << forecaster.status();
  for (const State& state : RandomPositions(Variant::kSacredHillL2, 5, 6)) {
    const Symmetry mirror = {.board = 1, .seat_shift = 0};
    const State states[] = {state, TransformState(mirror, state)};
    FinalForecast forecasts[2];
    ASSERT_TRUE(
        (*forecaster)->Forecast(states, absl::MakeSpan(forecasts)).ok());
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      EXPECT_EQ(forecasts[0].red[hill],
                forecasts[1].red[TransformHill(mirror.board, hill)]);
    }
    EXPECT_EQ(forecasts[0].kingdoms, forecasts[1].kingdoms);
  }
}

TEST(FinalForecastTest, HeadsThatWereNeverTaughtSayNothing) {
  Checkpoint checkpoint = LivelyCheckpoint({.channels = 16, .blocks = 1});
  for (NamedTensor& tensor : checkpoint.tensors) {
    if (tensor.name != "owner_planes.bias") continue;
    std::fill(tensor.values.begin(), tensor.values.end(), 0.0f);
  }
  auto forecaster = NewFinalForecaster(checkpoint);
  ASSERT_TRUE(forecaster.ok());
  EXPECT_FALSE((*forecaster)->tells_owners());
  EXPECT_TRUE((*forecaster)->tells_kingdoms());
  std::erase_if(checkpoint.tensors, [](const NamedTensor& tensor) {
    return AuxiliaryHeadOf(tensor.name) != nullptr;
  });
  forecaster = NewFinalForecaster(checkpoint);
  ASSERT_TRUE(forecaster.ok());
  EXPECT_FALSE((*forecaster)->tells_owners());
  EXPECT_FALSE((*forecaster)->tells_kingdoms());
}

TEST(FinalForecastTest, WhatIsNoNetworkIsRefused) {
  EXPECT_EQ(LoadFinalForecaster("nowhere").status().code(),
            absl::StatusCode::kNotFound);
  Checkpoint checkpoint = LivelyCheckpoint({.channels = 16, .blocks = 1});
  for (NamedTensor& tensor : checkpoint.tensors) {
    if (tensor.name == "owner_planes.weight") tensor.shape = {48, 1};
  }
  EXPECT_EQ(NewFinalForecaster(checkpoint).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tara::nn
