#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn {
namespace {

absl::StatusOr<NetworkOutputs> ComputeLightOutputs(
    const Checkpoint& checkpoint, const NetworkInputs& inputs) {
  TARA_CHECK(inputs.counts == InputCounts(), "all inputs of this program");
  TARA_RETURN_IF_ERROR(CheckLightShape(checkpoint.shape));
  const LightTensors tensors(checkpoint.shape.blocks);
  AlignedFloats parameters(tensors.size());
  TARA_RETURN_IF_ERROR(tensors.Read(checkpoint, "", parameters.data()));
  const bool with_owner = HasLearned(checkpoint, Head::kOwner);
  std::vector<int16_t> actions;
  for (int i = 0; i < kNumActions; ++i) {
    actions.push_back(
        static_cast<int16_t>(PolicyOutput(static_cast<Action>(i))));
  }
  NetworkOutputs outputs;
  LightInput input;
  std::vector<float> planes(size_t{kNumPlanes} * kNumSquares);
  const auto activations = std::make_unique<LightActivations>();
  for (int64_t i = 0; i < inputs.size; ++i) {
    // From [planes, 7, 7] to [7, 7, planes].
    const float* const from =
        inputs.planes.data() + i * kNumPlanes * kNumSquares;
    for (int plane = 0; plane < kNumPlanes; ++plane) {
      for (int square = 0; square < kNumSquares; ++square) {
        planes[static_cast<size_t>(square * kNumPlanes + plane)] =
            from[plane * kNumSquares + square];
      }
    }
    ReadLightInput(planes.data(), inputs.globals.data() + i * kNumGlobals,
                   input);
    BestLightLearning().forward(tensors, parameters.data(), input, actions,
                                *activations);
    const auto append = [](const float* values, int count,
                           std::vector<float>& to) {
      to.insert(to.end(), values, values + count);
    };
    append(activations->logits.data(), kNumActions, outputs.policy);
    append(activations->value, kNumResults, outputs.result);
    append(activations->value + kNumResults, kNumMargins, outputs.margins);
    for (int owner = 0; with_owner && owner < kNumOwners; ++owner) {
      for (Hill hill = 0; hill < kNumHills; ++hill) {
        outputs.owner.push_back(activations->owners[hill][owner]);
      }
    }
  }
  return outputs;
}

}  // namespace

absl::StatusOr<NetworkOutputs> ComputeReferenceOutputs(
    const Checkpoint& checkpoint, const NetworkInputs& inputs) {
  return checkpoint.shape.kind == NetworkKind::kLight
             ? ComputeLightOutputs(checkpoint, inputs)
             : ComputeTorchOutputs(checkpoint, inputs);
}

}  // namespace tara::nn
