#include "web/wasm/network_batch.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::web {
namespace {

emscripten::val MemoryOf(const std::vector<float>& floats) {
  return emscripten::val(
      emscripten::typed_memory_view(floats.size(), floats.data()));
}

}  // namespace

void NetworkBatch::Encode(absl::Span<const State> states) {
  states_.assign(states.begin(), states.end());
  encoded_.EncodeCanonical(states_);
  const size_t size = states_.size();
  policy_.resize(size * kNumActions);
  result_.resize(size * 3);
  margins_.resize(size * kNumMargins);
  owner_.resize(size * 3 * kNumHills);
}

NetworkBatch::Outputs NetworkBatch::outputs(int i) {
  return {.policy = policy_.data() + size_t{kNumActions} * i,
          .result = result_.data() + size_t{3} * i,
          .margins = margins_.data() + size_t{kNumMargins} * i,
          .owner = owner_.data() + size_t{3} * kNumHills * i};
}

emscripten::val NetworkBatch::planes() const {
  // The encoder writes [B, 7, 7, planes]; bundles read [B, planes, 7, 7].
  constexpr size_t kFloats = size_t{nn::kNumPlanes} * nn::kNumSquares;
  const size_t size = states_.size();
  planes_.resize(size * kFloats);
  for (size_t i = 0; i < size; ++i) {
    const float* const from = encoded_.planes() + i * kFloats;
    float* const to = planes_.data() + i * kFloats;
    for (int square = 0; square < nn::kNumSquares; ++square) {
      for (int plane = 0; plane < nn::kNumPlanes; ++plane) {
        to[plane * nn::kNumSquares + square] =
            from[square * nn::kNumPlanes + plane];
      }
    }
  }
  return MemoryOf(planes_);
}

emscripten::val NetworkBatch::globals() const {
  return emscripten::val(emscripten::typed_memory_view(
      states_.size() * nn::kNumGlobals, encoded_.globals()));
}
emscripten::val NetworkBatch::policy() const { return MemoryOf(policy_); }
emscripten::val NetworkBatch::result() const { return MemoryOf(result_); }
emscripten::val NetworkBatch::margins() const { return MemoryOf(margins_); }
emscripten::val NetworkBatch::owner() const { return MemoryOf(owner_); }

void NetworkBatch::Read(int i, mcts::Evaluation& evaluation) {
  // Bundles have a logit an action, the head of the network one an output.
  outputs_.resize(nn::kNumPolicyOutputs);
  const float* const policy = policy_.data() + size_t{kNumActions} * i;
  for (int action = 0; action < kNumActions; ++action) {
    outputs_[nn::PolicyOutput(static_cast<Action>(action))] = policy[action];
  }
  nn::FillEvaluation(encoded_, i,
                     {.policy = outputs_.data(),
                      .result = result_.data() + size_t{3} * i,
                      .margins = margins_.data() + size_t{kNumMargins} * i},
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
