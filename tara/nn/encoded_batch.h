#ifndef TARA_NN_ENCODED_BATCH_H_
#define TARA_NN_ENCODED_BATCH_H_

// What stands between positions and any backend: a batch of positions as the
// network's inputs, and its outputs as evaluations.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"

namespace tara {

// Positions as inputs of a network. Reusable: memory is kept between batches.
struct EncodedBatch {
  std::vector<float> planes;   // [B, kNumPlanes, 7, 7]
  std::vector<float> globals;  // [B, kNumGlobals]
  // The policy outputs of the legal actions of each position, in the order of
  // LegalSet::ForEach; those of position i are
  // [first_output[i], first_output[i + 1]).
  std::vector<int16_t> outputs;
  std::vector<int32_t> first_output;  // [B + 1]

  int size() const { return static_cast<int>(first_output.size()) - 1; }
  absl::Span<const int16_t> OutputsOf(int i) const {
    return absl::MakeConstSpan(outputs).subspan(
        first_output[i], first_output[i + 1] - first_output[i]);
  }

  EncodedBatch() { Clear(); }
  void Clear();
  // Appends a position seen through `symmetry`. REQUIRES: as EncodeFeatures.
  void Add(const State& state, const Symmetry& symmetry);
};

// The network's outputs for one position.
struct RawOutput {
  const float* policy;  // [kNumPolicyOutputs]: logits
  const float* result;  // [3]: logits of win, draw, loss
  float margin;         // points
};

// Fills the evaluation of position i: probabilities by softmax, of the policy
// over the legal actions alone.
void FillEvaluation(const EncodedBatch& batch, int i, const RawOutput& output,
                    Evaluation& evaluation);

}  // namespace tara

#endif  // TARA_NN_ENCODED_BATCH_H_
