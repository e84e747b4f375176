// Integers: all kernels compute the same, and nearly what floats do.

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/weights/checkpoint.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

constexpr NetworkShape kShape = {
    .channels = kLightChannels, .blocks = 3, .kind = NetworkKind::kLight};

// A network whose heads differ from 0, in all places of its parameters.
struct TestNetwork {
  LightTensors tensors{kShape.blocks};
  AlignedFloats parameters{tensors.size()};
  LightRanges ranges;
  std::unique_ptr<LightIntegers> integers;

  TestNetwork() {
    Random random(5);
    for (const LightTensor* const tensor : tensors.all()) {
      const double scale = tensor->scale > 0 ? tensor->scale : 0.1;
      for (int row = 0; row < tensor->rows; ++row) {
        for (int column = 0; column < tensor->columns; ++column) {
          parameters
              .data()[tensor->offset +
                      static_cast<size_t>(row) * tensor->stride + column] =
              static_cast<float>(scale * random.Normal());
        }
      }
    }
    ranges = MeasureLightRanges(tensors, parameters.data(),
                                RandomPositionsOfAllVariants(20, 2));
    integers = MakeLightIntegers(tensors, parameters.data(), ranges);
  }
};

struct Outputs {
  std::vector<float> policy;
  std::array<float, kNumValueOutputs> value;

  bool operator==(const Outputs& other) const {
    return policy.size() == other.policy.size() &&
           std::memcmp(policy.data(), other.policy.data(),
                       policy.size() * sizeof(float)) == 0 &&
           std::memcmp(value.data(), other.value.data(), sizeof(value)) == 0;
  }
};

TEST(LightKernelsTest, AllComputeTheSameBitForBit) {
  const TestNetwork network;
  const std::vector<LightKernels> kernels = SupportedLightKernels();
  std::vector<std::unique_ptr<LightScratch>> scratches;
  for (size_t i = 0; i < kernels.size(); ++i) {
    scratches.push_back(std::make_unique<LightScratch>());
  }
  EncodedBatch batch;
  LightInput input;
  for (const State& state : RandomPositionsOfAllVariants(60, 3)) {
    batch.EncodeCanonical(absl::MakeConstSpan(&state, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    std::vector<Outputs> outputs(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) {
      std::array<float, kNumPolicyOutputs> policy = {};
      kernels[i].run(*network.integers, LightBitsOf(input), batch.OutputsOf(0),
                     *scratches[i], policy.data());
      outputs[i].policy.assign(policy.begin(), policy.end());
      std::copy_n(scratches[i]->value, kNumValueOutputs,
                  outputs[i].value.begin());
      EXPECT_TRUE(outputs[i] == outputs[0]) << "kernels " << i;
    }
  }
}

TEST(LightKernelsTest, IntegersAreNearFloats) {
  const TestNetwork network;
  const LightKernels kernels = SupportedLightKernels().back();
  const auto scratch = std::make_unique<LightScratch>();
  const auto activations = std::make_unique<LightActivations>();
  EncodedBatch batch;
  LightInput input;
  double policy_error = 0, policy_size = 0, value_error = 0, value_size = 0;
  for (const State& state : RandomPositionsOfAllVariants(60, 4)) {
    batch.EncodeCanonical(absl::MakeConstSpan(&state, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    const auto outputs = batch.OutputsOf(0);
    std::array<float, kNumPolicyOutputs> policy;
    kernels.run(*network.integers, LightBitsOf(input), outputs, *scratch,
                policy.data());
    BestLightLearning().forward(network.tensors, network.parameters.data(),
                                input, outputs, *activations);
    for (size_t i = 0; i < outputs.size(); ++i) {
      policy_error += std::pow(policy[outputs[i]] - activations->logits[i], 2);
      policy_size += std::pow(activations->logits[i], 2);
    }
    for (int i = 0; i < kNumValueOutputs; ++i) {
      value_error += std::pow(scratch->value[i] - activations->value[i], 2);
      value_size += std::pow(activations->value[i], 2);
    }
  }
  EXPECT_LT(policy_error, 0.002 * policy_size);
  EXPECT_LT(value_error, 0.002 * value_size);
}

// Scales grow with weights that do not fit: answers stay near those of floats.
TEST(LightKernelsTest, LargeWeightsDoNotOverflow) {
  TestNetwork network;
  const LightTensors& t = network.tensors;
  for (const LightTensor* const tensor :
       {&t.planes, &t.hills, &t.globals, &t.layers[0].taps, &t.layers[1].pooled,
        &t.layers[2].bias}) {
    network.parameters.data()[tensor->offset + 7] = 3e4f;
  }
  LightRanges ranges = network.ranges;
  const auto large = MakeLightIntegers(t, network.parameters.data(), ranges);
  const std::vector<LightKernels> kernels = SupportedLightKernels();
  EncodedBatch batch;
  LightInput input;
  for (const State& state : RandomPositionsOfAllVariants(5, 6)) {
    batch.EncodeCanonical(absl::MakeConstSpan(&state, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    std::vector<Outputs> outputs(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto scratch = std::make_unique<LightScratch>();
      std::array<float, kNumPolicyOutputs> policy = {};
      kernels[i].run(*large, LightBitsOf(input), batch.OutputsOf(0), *scratch,
                     policy.data());
      outputs[i].policy.assign(policy.begin(), policy.end());
      std::copy_n(scratch->value, kNumValueOutputs, outputs[i].value.begin());
      for (const float value : outputs[i].value) {
        EXPECT_TRUE(std::isfinite(value));
      }
      EXPECT_TRUE(outputs[i] == outputs[0]);
    }
  }
}

TEST(LightEvaluatorTest, AnswersDependOnThePositionAloneUpToSymmetry) {
  const Checkpoint checkpoint = NewLightCheckpoint(kShape, 3);
  const auto evaluator = NewLightEvaluator(checkpoint).value();
  const std::vector<State> states = RandomPositionsOfAllVariants(15, 5);
  std::vector<mcts::Evaluation> together(states.size());
  ASSERT_TRUE(evaluator->Evaluate(states, absl::MakeSpan(together)).ok());
  for (size_t i = 0; i < states.size(); ++i) {
    mcts::Evaluation alone;
    ASSERT_TRUE(evaluator
                    ->Evaluate(absl::MakeConstSpan(&states[i], 1),
                               absl::MakeSpan(&alone, 1))
                    .ok());
    EXPECT_EQ(alone.priors, together[i].priors);
    EXPECT_EQ(alone.win, together[i].win);
    EXPECT_EQ(alone.margins, together[i].margins);
    for (const Symmetry& symmetry : PositionSymmetries(states[i].variant)) {
      const State turned = TransformState(symmetry, states[i]);
      mcts::Evaluation other;
      ASSERT_TRUE(evaluator
                      ->Evaluate(absl::MakeConstSpan(&turned, 1),
                                 absl::MakeSpan(&other, 1))
                      .ok());
      EXPECT_EQ(other.win, alone.win);
      EXPECT_EQ(other.draw, alone.draw);
      EXPECT_EQ(other.margin, alone.margin);
    }
  }
}

TEST(LightEvaluatorTest, NamesWhatIsWrong) {
  Checkpoint checkpoint = NewLightCheckpoint(kShape, 3);
  const auto error = [](const Checkpoint& bad) {
    return std::string(NewLightEvaluator(bad).status().message());
  };
  Checkpoint misshapen = checkpoint;
  misshapen.tensors[0].shape = {1, 1};
  EXPECT_THAT(error(misshapen), HasSubstr(misshapen.tensors[0].name));
  Checkpoint infinite = checkpoint;
  infinite.tensors[3].values[5] = INFINITY;
  EXPECT_THAT(error(infinite), HasSubstr(infinite.tensors[3].name));
  EXPECT_THAT(error(infinite), HasSubstr("not finite"));
  Checkpoint missing = checkpoint;
  while (missing.Has("value_out.bias")) missing.tensors.pop_back();
  EXPECT_THAT(error(missing), HasSubstr("value_out.bias"));
  Checkpoint wide = checkpoint;
  wide.shape.channels = 32;
  EXPECT_THAT(error(wide), HasSubstr("expected 64 channels"));
}

}  // namespace
}  // namespace tara::nn
