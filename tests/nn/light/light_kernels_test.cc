// Integers: all kernels compute the same, and nearly what floats do.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
#include "tests/nn/light/light_testing.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

constexpr NetworkShape kShape = {
    .channels = kLightChannels, .blocks = 3, .kind = NetworkKind::kLight};

// A network whose parameters all differ from 0.
struct TestNetwork {
  LightTensors tensors{kShape.blocks};
  AlignedFloats parameters = RandomParameters(tensors, 5);
  LightRanges ranges = MeasureLightRanges(tensors, parameters.data(),
                                          RandomPositionsOfAllVariants(20, 2));
  std::unique_ptr<LightIntegers> integers =
      MakeLightIntegers(tensors, parameters.data(), ranges);
};

// The logits of all policy outputs, 0 where an action is illegal, then of the
// value's.
using Outputs = std::array<float, kNumPolicyOutputs + kNumValueOutputs>;

// Runs kernels on positions, one after the other in the same memory.
class Runner {
 public:
  Runner(const LightIntegers& network, const LightKernels& kernels)
      : network_(network), kernels_(kernels) {}

  Outputs Run(const State& state) {
    batch_.EncodeCanonical(absl::MakeConstSpan(&state, 1));
    ReadLightInput(batch_.planes(), batch_.globals(), input_);
    Outputs outputs = {};
    kernels_.run(network_, LightBitsOf(input_), batch_.OutputsOf(0), *scratch_,
                 outputs.data());
    std::copy_n(scratch_->value, kNumValueOutputs,
                outputs.begin() + kNumPolicyOutputs);
    return outputs;
  }
  const LightInput& input() const { return input_; }
  absl::Span<const int16_t> outputs() const { return batch_.OutputsOf(0); }

 private:
  const LightIntegers& network_;
  const LightKernels kernels_;
  EncodedBatch batch_;
  LightInput input_;
  std::unique_ptr<LightScratch> scratch_ = std::make_unique<LightScratch>();
};

// Expects finite outputs, the same of all kernels bit for bit.
void ExpectSameOutputs(const LightIntegers& network,
                       const std::vector<State>& states) {
  std::vector<Runner> runners;
  for (const LightKernels& kernels : SupportedLightKernels()) {
    runners.emplace_back(network, kernels);
  }
  for (const State& state : states) {
    const Outputs expected = runners[0].Run(state);
    for (const float output : expected) EXPECT_TRUE(std::isfinite(output));
    for (size_t i = 1; i < runners.size(); ++i) {
      const Outputs outputs = runners[i].Run(state);
      EXPECT_EQ(std::memcmp(&outputs, &expected, sizeof(outputs)), 0)
          << "kernels " << i;
    }
  }
}

TEST(LightKernelsTest, AllComputeTheSameBitForBit) {
  ExpectSameOutputs(*TestNetwork().integers,
                    RandomPositionsOfAllVariants(60, 3));
}

TEST(LightKernelsTest, IntegersAreNearFloats) {
  const TestNetwork network;
  Runner runner(*network.integers, SupportedLightKernels().back());
  const auto activations = std::make_unique<LightActivations>();
  double policy_error = 0, policy_size = 0, value_error = 0, value_size = 0;
  for (const State& state : RandomPositionsOfAllVariants(60, 4)) {
    const Outputs found = runner.Run(state);
    const auto outputs = runner.outputs();
    BestLightLearning().forward(network.tensors, network.parameters.data(),
                                runner.input(), outputs, *activations);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const float logit = activations->logits[i];
      policy_error += std::pow(found[outputs[i]] - logit, 2);
      policy_size += std::pow(logit, 2);
    }
    for (int i = 0; i < kNumValueOutputs; ++i) {
      const float logit = activations->value[i];
      value_error += std::pow(found[kNumPolicyOutputs + i] - logit, 2);
      value_size += std::pow(logit, 2);
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
  ExpectSameOutputs(
      *MakeLightIntegers(t, network.parameters.data(), network.ranges),
      RandomPositionsOfAllVariants(5, 6));
}

TEST(LightEvaluatorTest, AnswersDependOnThePositionAloneUpToSymmetry) {
  const Checkpoint checkpoint = NewLightCheckpoint(kShape, 3);
  const auto evaluator = NewLightEvaluator(checkpoint).value();
  const std::vector<State> states = RandomPositionsOfAllVariants(15, 5);
  const auto together = EvaluationsBy(*evaluator, states);
  for (size_t i = 0; i < states.size(); ++i) {
    ExpectEqual(EvaluationsBy(*evaluator, {states[i]}), {together[i]});
    for (const Symmetry& symmetry : PositionSymmetries(states[i].variant)) {
      const auto other =
          EvaluationsBy(*evaluator, {TransformState(symmetry, states[i])})[0];
      EXPECT_EQ(other.win, together[i].win);
      EXPECT_EQ(other.draw, together[i].draw);
      EXPECT_EQ(other.margin, together[i].margin);
    }
  }
}

TEST(LightEvaluatorTest, NamesWhatIsWrong) {
  const Checkpoint checkpoint = NewLightCheckpoint(kShape, 3);
  const auto expect = [](const Checkpoint& bad, const std::string& message) {
    EXPECT_THAT(
        NewLightEvaluator(bad),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  Checkpoint bad = checkpoint;
  bad.tensors[0].shape = {1, 1};
  expect(bad, bad.tensors[0].name);
  bad = checkpoint;
  while (bad.Has("value_out.bias")) bad.tensors.pop_back();
  expect(bad, "value_out.bias");
  bad = checkpoint;
  bad.shape.channels = 32;
  expect(bad, "expected 64 channels");
}

}  // namespace
}  // namespace tara::nn
