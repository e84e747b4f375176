#include "web/wasm/network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::web {
namespace {

using emscripten::val;

nn::NamedTensor TensorOf(const val& tensor) {
  const auto shape = emscripten::vecFromJSArray<int>(tensor["shape"]);
  return {.name = tensor["name"].as<std::string>(),
          .shape = std::vector<int64_t>(shape.begin(), shape.end()),
          .values = emscripten::convertJSArrayToNumberVector<float>(
              tensor["values"])};
}

}  // namespace

absl::StatusOr<std::shared_ptr<Network>> Network::Open(int channels, int blocks,
                                                       const val& tensors) {
  nn::Checkpoint checkpoint = {
      .shape = {.channels = channels, .blocks = blocks},
      .progress = {},
      .optimizer_steps = 0,
      .tensors = {}};
  const int count = tensors["length"].as<int>();
  for (int i = 0; i < count; ++i) {
    checkpoint.tensors.push_back(TensorOf(tensors[i]));
  }
  nn::AddNeutralNorms(checkpoint);
  TARA_RETURN_IF_ERROR(nn::AddNewInputs(checkpoint));
  TARA_ASSIGN_OR_RETURN(nn::CpuWeights weights, nn::FoldCpuWeights(checkpoint));
  std::vector<float> owner_weights;
  std::vector<float> owner_biases;
  if (checkpoint.Has("owner_planes.weight")) {
    TARA_ASSIGN_OR_RETURN(const nn::NamedTensor* const weight,
                          checkpoint.Find("owner_planes.weight",
                                          {nn::kNumOwners, channels, 1, 1}));
    TARA_ASSIGN_OR_RETURN(
        const nn::NamedTensor* const bias,
        checkpoint.Find("owner_planes.bias", {nn::kNumOwners}));
    owner_weights = weight->values;
    owner_biases = bias->values;
  }
  return std::make_shared<Network>(std::move(weights), std::move(owner_weights),
                                   std::move(owner_biases));
}

Network::Network(nn::CpuWeights weights, std::vector<float> owner_weights,
                 std::vector<float> owner_biases)
    : network_(std::move(weights), nn::Precision::kFloat32, nn::CpuRanges()),
      context_(network_),
      owner_weights_(std::move(owner_weights)),
      owner_biases_(std::move(owner_biases)) {}

void Network::FillOwners(const float* value_rows, float* owner) const {
  const int channels = network_.weights().channels;  // filled up
  const size_t inputs = owner_weights_.size() / nn::kNumOwners;
  for (int k = 0; k < nn::kNumOwners; ++k) {
    const float* const weights = owner_weights_.data() + k * inputs;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      owner[k * kNumHills + hill] = std::inner_product(
          weights, weights + inputs, value_rows + nn::SquareOf(hill) * channels,
          owner_biases_[k]);
    }
  }
}

void Network::Answer(NetworkBatch& batch) {
  context_.Run(batch.encoded(), [&](int first, int size,
                                    const nn::CpuContext::Outputs& outputs) {
    const int rows_size = nn::kNumSquares * network_.weights().channels;
    for (int i = 0; i < size; ++i) {
      const NetworkBatch::Outputs to = batch.outputs(first + i);
      for (int action = 0; action < kNumActions; ++action) {
        to.policy[action] =
            outputs.Policy(i, nn::PolicyOutput(static_cast<Action>(action)));
      }
      const float* const value = outputs.value + i * outputs.value_stride;
      std::copy_n(value, nn::kNumResults, to.result);
      std::copy_n(value + nn::kNumResults, kNumMargins, to.margins);
      if (!owner_weights_.empty()) {
        FillOwners(outputs.value_rows + i * rows_size, to.owner);
      }
    }
  });
}

}  // namespace tara::web
