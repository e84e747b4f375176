#ifndef TARA_NN_LIGHT_LIGHT_LEARNING_H_
#define TARA_NN_LIGHT_LIGHT_LEARNING_H_

// A light network in floats: its outputs for a position, and the gradient of
// its losses. One position at a time, which stays in the second cache.

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {

// Where a ReLU is 0, this share of a gradient is left if it would raise the
// output: a unit that is off in every position comes back, because AdamW
// divides by the size of its gradients. In units that are on at times it is
// lost among the others.
inline constexpr float kRaise = 1e-3f;

// A position and what is learned of it.
struct LightSample {
  const Sample* targets = nullptr;
  LightInput input;
  // The policy outputs of the legal actions.
  absl::Span<const int16_t> outputs;
  // Their shares; empty: the sample teaches no policy.
  std::vector<float> policy;
  // At the end: 0 own, 1 enemy, 2 vacant.
  std::array<uint8_t, kNumHills> owners;
};

// What the forward pass of a position leaves for the backward pass: the values
// after each ReLU.
struct LightActivations {
  using Hills = float[kNumHills][kLightChannels];

  alignas(64) Hills hidden1[kNumLightTables];
  alignas(64) Hills hidden2[kNumLightTables];
  alignas(64) Hills hills[kMaxLightLayers + 1];  // into each layer, and out
  alignas(64) Hills mixed[kMaxLightLayers];      // into the pointwise layers
  // Means, then maxima, of `hills`; and where the maxima are.
  alignas(64) float pooled[kMaxLightLayers + 1][2 * kLightChannels];
  uint8_t highest[kMaxLightLayers + 1][kLightChannels];
  alignas(64) float context[WholeLines(kContext)];
  // Of the hills that actions concern.
  std::array<bool, kNumHills> is_concerned;
  alignas(64) float policy[kNumHills][kPolicyWidth];
  alignas(64) float outputs[kNumHills][kHillOutputRoom];  // by HillOutput
  alignas(64) float value1[kValueHidden];
  alignas(64) float value2[kValueHidden];
  alignas(64) float owners[kNumHills][16];
  // The logits: of the legal actions; of win, draw, loss and the margins.
  std::array<float, kNumPolicyOutputs> logits;
  alignas(64) float value[WholeLines(kNumValueOutputs)];
};

// Sums of losses over samples; weights: of the samples with the head's target.
struct LightLosses {
  PerHead<double> sums = {};
  PerHead<double> weights = {};
  double agreements = 0;

  LightLosses& operator+=(const LightLosses& other);
};

// The matrices that the backward pass multiplies by, transposed.
class TransposedLight {
 public:
  explicit TransposedLight(const LightTensors& tensors);

  // Takes the values of parameters [tensors.size()].
  void Refresh(const float* parameters);
  // Returns a matrix: columns x rows, rows beyond the tensor's columns cut off.
  const float* Of(const LightTensor& tensor) const {
    return values_.data() + offsets_[tensor.offset / 16];
  }

 private:
  std::vector<const LightTensor*> matrices_;
  std::vector<size_t> offsets_;  // [offset of the tensor / 16]
  AlignedFloats values_{0};
};

// One implementation; chosen at run time.
struct LightLearning {
  // Computes all outputs of a position for the legal ones of the policy.
  void (*forward)(const LightTensors& tensors, const float* parameters,
                  const LightInput& input, absl::Span<const int16_t> outputs,
                  LightActivations& activations);
  // Adds the sample's losses to `losses` and, times `scales`, their gradient
  // to `gradient` [tensors.size()]. `activations` are of the forward pass.
  // Heads with a scale of 0 are measured, not learned.
  void (*backward)(const LightTensors& tensors, const float* parameters,
                   const TransposedLight& transposed, const LightSample& sample,
                   const PerHead<float>& scales, LightActivations& activations,
                   float* gradient, LightLosses& losses);
  // Computes the rows of a table [patterns, kLightChannels]. A pattern has two
  // bits a hill: first whether each is own, then whether it is the enemy's;
  // both: off the board.
  void (*tabulate)(const LightTensors& tensors, const float* parameters,
                   int table, absl::Span<const uint32_t> patterns, float* rows);
};

// Returns the fastest that this processor supports.
const LightLearning& BestLightLearning();

// Evaluates positions with the network of these parameters, one at a time.
// REQUIRES: the spans have equal sizes.
void EvaluateInFloats(const LightTensors& tensors, const float* parameters,
                      absl::Span<const State> states,
                      absl::Span<mcts::Evaluation> results);

namespace internal {

// REQUIRES: the processor supports InstructionSet::kAvx512.
LightLearning Avx512LightLearning();

}  // namespace internal
}  // namespace tara::nn

#endif  // TARA_NN_LIGHT_LIGHT_LEARNING_H_
