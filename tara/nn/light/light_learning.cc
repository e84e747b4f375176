#include "tara/nn/light/light_learning.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "tara/core/instruction_set.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/light/light_learning_templates.h"

namespace tara::nn {

LightLosses& LightLosses::operator+=(const LightLosses& other) {
  for (const HeadInfo& info : kHeads) {
    sums[info.head] += other.sums[info.head];
    weights[info.head] += other.weights[info.head];
  }
  agreements += other.agreements;
  return *this;
}

TransposedLight::TransposedLight(const LightTensors& tensors)
    : offsets_(tensors.size() / 16 + 1) {
  size_t size = 0;
  for (const LightTensor* const tensor : tensors.all()) {
    if (tensor->rows == 1) continue;
    matrices_.push_back(tensor);
    offsets_[tensor->offset / 16] = size;
    size += static_cast<size_t>(tensor->columns) * WholeLines(tensor->rows);
  }
  values_ = AlignedFloats(size);
}

void TransposedLight::Refresh(const float* parameters) {
  for (const LightTensor* const tensor : matrices_) {
    float* const to = values_.data() + offsets_[tensor->offset / 16];
    const int stride = WholeLines(tensor->rows);
    for (int row = 0; row < tensor->rows; ++row) {
      const float* const from = parameters + tensor->RowAt(row);
      for (int column = 0; column < tensor->columns; ++column) {
        to[static_cast<size_t>(column) * stride + row] = from[column];
      }
    }
  }
}

const LightLearning& BestLightLearning() {
#if defined(__x86_64__)
  static const LightLearning learning =
      SupportedInstructionSets().back() == InstructionSet::kAvx512
          ? internal::Avx512LightLearning()
          : internal::LightLearningCode<InstructionSet::kAvx2>::Table();
#else
  static const LightLearning learning =
      internal::LightLearningCode<InstructionSet::kPortable>::Table();
#endif
  return learning;
}

void EvaluateInFloats(const LightTensors& tensors, const float* parameters,
                      absl::Span<const State> states,
                      absl::Span<mcts::Evaluation> results) {
  EncodedBatch batch;
  LightInput input;
  const auto activations = std::make_unique<LightActivations>();
  std::array<float, kNumPolicyOutputs> policy;
  for (size_t i = 0; i < states.size(); ++i) {
    batch.EncodeCanonical(states.subspan(i, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    const absl::Span<const int16_t> outputs = batch.OutputsOf(0);
    BestLightLearning().forward(tensors, parameters, input, outputs,
                                *activations);
    for (size_t k = 0; k < outputs.size(); ++k) {
      policy[outputs[k]] = activations->logits[k];
    }
    FillEvaluation(outputs,
                   {.policy = policy.data(),
                    .result = activations->value,
                    .margins = activations->value + kNumResults},
                   results[i]);
  }
}

}  // namespace tara::nn
