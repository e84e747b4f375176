#ifndef TARA_WEB_WASM_NETWORK_BATCH_H_
#define TARA_WEB_WASM_NETWORK_BATCH_H_

#include <vector>

#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/encoded_batch.h"

namespace tara::web {

// A batch of positions on its way to a network and back: the inputs and outputs
// of docs/reference/bundle.md, in the memory of this module. Positions are seen
// through the symmetry that leads to the representative, as by the other
// evaluators.
class NetworkBatch {
 public:
  // Replaces the batch. REQUIRES: no state is finished.
  void Encode(absl::Span<const State> states);

  int size() const { return static_cast<int>(states_.size()); }

  const nn::EncodedBatch& encoded() const { return encoded_; }
  // Where the outputs of position i belong: [kNumPolicyOutputs], of which those
  // of legal actions are read, [3], [kNumMargins] and, if there is one,
  // [3, kNumHills].
  struct Outputs {
    float* policy;
    float* result;
    float* margins;
    float* owner;
  };
  Outputs outputs(int i);

  // Returns the evaluation of position i. REQUIRES: the outputs are filled.
  void Read(int i, mcts::Evaluation& evaluation);

  // [hill]: the probabilities that at the end Red's and Blue's ringfort stands
  // there, as pairs, in turn: [kNumHills * 2].
  std::vector<float> Owners(int i) const;

 private:
  std::vector<State> states_;
  nn::EncodedBatch encoded_;
  std::vector<float> policy_;
  std::vector<float> result_;
  std::vector<float> margins_;
  std::vector<float> owner_;
};

}  // namespace tara::web

#endif  // TARA_WEB_WASM_NETWORK_BATCH_H_
