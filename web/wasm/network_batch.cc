#include "web/wasm/network_batch.h"

#include <array>
#include <cstddef>

#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::web {

void NetworkBatch::Encode(absl::Span<const State> states) {
  states_.assign(states.begin(), states.end());
  encoded_.EncodeCanonical(states_);
  const size_t size = states_.size();
  policy_.resize(size * nn::kNumPolicyOutputs);
  result_.resize(size * 3);
  margins_.resize(size * kNumMargins);
  owner_.resize(size * 3 * kNumHills);
}

NetworkBatch::Outputs NetworkBatch::outputs(int i) {
  return {.policy = policy_.data() + size_t{nn::kNumPolicyOutputs} * i,
          .result = result_.data() + size_t{3} * i,
          .margins = margins_.data() + size_t{kNumMargins} * i,
          .owner = owner_.data() + size_t{3} * kNumHills * i};
}

void NetworkBatch::Read(int i, mcts::Evaluation& evaluation) {
  const Outputs from = outputs(i);
  nn::FillEvaluation(
      encoded_.OutputsOf(i),
      {.policy = from.policy, .result = from.result, .margins = from.margins},
      evaluation);
}

std::vector<float> NetworkBatch::Owners(int i) const {
  const State& state = states_[i];
  const auto& transform = kHillTransforms[RepresentativeSymmetry(state).board];
  const float* const logits = owner_.data() + size_t{3} * kNumHills * i;
  std::vector<float> owners;
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    alignas(32) std::array<float, nn::SoftmaxRoom(3)> shares = {};
    for (int k = 0; k < 3; ++k) {
      shares[k] = logits[k * kNumHills + transform[hill]];
    }
    nn::Softmax(shares.data(), 3);  // own, enemy, vacant
    owners.push_back(shares[state.side() == kRed ? 0 : 1]);
    owners.push_back(shares[state.side() == kRed ? 1 : 0]);
  }
  return owners;
}

}  // namespace tara::web
