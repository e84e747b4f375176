#include "tara/nn/encoded_batch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/nn/batch_encoder.h"
#include "tara/nn/features.h"
#include "tara/nn/policy_map.h"

namespace tara {
namespace {

// Turns logits into probabilities, in place.
void Softmax(absl::Span<float> values) {
  const float highest = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - highest);
  const float scale = 1.0f / sum;
  for (float& value : values) value *= scale;
}

}  // namespace

void TensorBuffer::Resize(size_t size) {
  if (size > capacity_) {
    // aligned_alloc wants whole lines.
    constexpr size_t kLine = 64;
    const size_t lines = (size * sizeof(float) + kLine - 1) / kLine;
    floats_.reset(
        static_cast<float*>(std::aligned_alloc(kLine, lines * kLine)));
    TARA_CHECK(floats_ != nullptr, "out of memory");
    capacity_ = size;
  }
  size_ = size;
}

void TensorBuffer::Free::operator()(float* floats) const { std::free(floats); }

void EncodedBatch::Encode(absl::Span<const State> states,
                          absl::Span<const Symmetry> symmetries) {
  legal_.clear();
  outputs_.clear();
  first_output_.assign(1, 0);
  for (size_t i = 0; i < states.size(); ++i) {
    // For the features and for the softmax: the dearest part of both.
    legal_.push_back(LegalActions(states[i]));
    legal_.back().ForEach([&](Action action) {
      outputs_.push_back(static_cast<int16_t>(
          PolicyOutput(TransformAction(symmetries[i], action))));
    });
    first_output_.push_back(static_cast<int32_t>(outputs_.size()));
  }
  planes_.Resize(states.size() * kNumPlanes * kNumSquares);
  globals_.Resize(states.size() * kNumGlobals);
  EncodeBatch({.states = states, .symmetries = symmetries, .legal = legal_},
              {.layout = PlaneLayout::kChannelsLast,
               .planes = planes_.span(),
               .globals = globals_.span()});
}

void EncodedBatch::EncodeCanonical(absl::Span<const State> states) {
  canonical_.clear();
  for (const State& state : states) {
    canonical_.push_back(CanonicalSymmetry(state));
  }
  Encode(states, canonical_);
}

void FillEvaluation(const EncodedBatch& batch, int i, const RawOutput& output,
                    Evaluation& evaluation) {
  evaluation.priors.clear();
  for (const int16_t index : batch.OutputsOf(i)) {
    evaluation.priors.push_back(output.policy[index]);
  }
  Softmax(absl::MakeSpan(evaluation.priors));
  float result[3] = {output.result[0], output.result[1], output.result[2]};
  Softmax(absl::MakeSpan(result));
  evaluation.win = result[0];
  evaluation.draw = result[1];
  evaluation.loss = result[2];
  std::vector<float>& margins = evaluation.margins;
  margins.assign(output.margins, output.margins + kNumMargins);
  Softmax(absl::MakeSpan(margins));
  evaluation.margin = 0;
  for (int margin = 1; margin <= kMaxMargin; ++margin) {
    evaluation.margin +=
        static_cast<float>(margin) *
        (margins[kMaxMargin + margin] - margins[kMaxMargin - margin]);
  }
}

}  // namespace tara
