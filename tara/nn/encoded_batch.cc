#include "tara/nn/encoded_batch.h"

#include <algorithm>
#include <cmath>

#include "tara/core/action.h"
#include "tara/core/legal_set.h"
#include "tara/core/rules.h"
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

void EncodedBatch::Clear() {
  planes.clear();
  globals.clear();
  outputs.clear();
  first_output.assign(1, 0);
}

void EncodedBatch::Add(const State& state, const Symmetry& symmetry) {
  constexpr size_t kPlaneValues = size_t{kNumPlanes} * kNumSquares;
  planes.resize(planes.size() + kPlaneValues);
  globals.resize(globals.size() + kNumGlobals);
  EncodeFeatures(state, symmetry, absl::MakeSpan(planes).last(kPlaneValues),
                 absl::MakeSpan(globals).last(kNumGlobals));
  LegalActions(state).ForEach([&](Action action) {
    outputs.push_back(
        static_cast<int16_t>(PolicyOutput(TransformAction(symmetry, action))));
  });
  first_output.push_back(static_cast<int32_t>(outputs.size()));
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
  evaluation.margin = output.margin;
}

}  // namespace tara
