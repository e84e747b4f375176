#include "web/wasm/network.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"
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

class TowerNetwork : public Network {
 public:
  static absl::StatusOr<std::shared_ptr<Network>> Make(
      const nn::Checkpoint& checkpoint);

  TowerNetwork(nn::CpuNetwork network, std::vector<float> owner_weights,
               std::vector<float> owner_biases)
      : network_(std::move(network)),
        context_(network_),
        owner_weights_(std::move(owner_weights)),
        owner_biases_(std::move(owner_biases)) {}

  void Answer(NetworkBatch& batch) override;
  void AnswerInFloats(NetworkBatch& batch) override { Answer(batch); }

 private:
  void FillOwners(const float* value_rows, float* owner) const;

  const nn::CpuNetwork network_;
  nn::CpuContext context_;
  // A linear layer of each hill, [3, channels] and [3], or empty.
  const std::vector<float> owner_weights_;
  const std::vector<float> owner_biases_;
};

absl::StatusOr<std::shared_ptr<Network>> TowerNetwork::Make(
    const nn::Checkpoint& checkpoint) {
  TARA_ASSIGN_OR_RETURN(nn::CpuNetwork network, nn::MakeCpuNetwork(checkpoint));
  std::vector<float> owner_weights;
  std::vector<float> owner_biases;
  if (checkpoint.Has("owner_planes.weight")) {
    TARA_ASSIGN_OR_RETURN(
        const nn::NamedTensor* const weight,
        checkpoint.Find("owner_planes.weight",
                        {nn::kNumOwners, checkpoint.shape.channels, 1, 1}));
    TARA_ASSIGN_OR_RETURN(
        const nn::NamedTensor* const bias,
        checkpoint.Find("owner_planes.bias", {nn::kNumOwners}));
    owner_weights = weight->values;
    owner_biases = bias->values;
  }
  return std::make_shared<TowerNetwork>(
      std::move(network), std::move(owner_weights), std::move(owner_biases));
}

void TowerNetwork::FillOwners(const float* value_rows, float* owner) const {
  const int channels = network_.channels;  // filled up
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

void TowerNetwork::Answer(NetworkBatch& batch) {
  context_.Run(batch.encoded(), [&](int first, int size,
                                    const nn::CpuContext::Outputs& outputs) {
    const int rows_size = nn::kNumSquares * network_.channels;
    for (int i = 0; i < size; ++i) {
      const NetworkBatch::Outputs to = batch.outputs(first + i);
      for (int action = 0; action < kNumActions; ++action) {
        const int output = nn::PolicyOutput(static_cast<Action>(action));
        to.policy[output] = outputs.Policy(i, output);
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

class LightNetwork : public Network {
 public:
  static absl::StatusOr<std::shared_ptr<Network>> Make(
      const nn::Checkpoint& checkpoint, bool plain);

  LightNetwork(int layers, nn::AlignedFloats parameters,
               const nn::LightRanges& ranges, bool plain)
      : tensors_(layers),
        parameters_(std::move(parameters)),
        integers_(nn::MakeLightIntegers(tensors_, parameters_.data(), ranges)),
        kernels_(plain ? nn::SupportedLightKernels().front()
                       : nn::SupportedLightKernels().back()) {
    for (int i = 0; i < kNumActions; ++i) {
      all_outputs_[i] =
          static_cast<int16_t>(nn::PolicyOutput(static_cast<Action>(i)));
    }
  }

  void Answer(NetworkBatch& batch) override;
  void AnswerInFloats(NetworkBatch& batch) override;

 private:
  void ReadInput(const nn::EncodedBatch& batch, int i) {
    nn::ReadLightInput(
        batch.planes() + size_t{nn::kNumPlanes} * nn::kNumSquares * i,
        batch.globals() + size_t{nn::kNumGlobals} * i, input_);
  }

  const nn::LightTensors tensors_;
  const nn::AlignedFloats parameters_;
  const std::unique_ptr<const nn::LightIntegers> integers_;
  const nn::LightKernels kernels_;
  std::array<int16_t, kNumActions> all_outputs_;  // by action
  nn::LightInput input_;
  nn::LightScratch scratch_;
  nn::LightActivations activations_;
};

absl::StatusOr<std::shared_ptr<Network>> LightNetwork::Make(
    const nn::Checkpoint& checkpoint, bool plain) {
  const int layers = checkpoint.shape.blocks;
  TARA_RETURN_IF_ERROR(nn::CheckLightShape(checkpoint.shape));
  const nn::LightTensors tensors(layers);
  nn::AlignedFloats parameters(tensors.size());
  TARA_RETURN_IF_ERROR(tensors.Read(checkpoint, "", parameters.data()));
  TARA_RETURN_IF_ERROR(nn::CheckFinite(checkpoint));
  TARA_ASSIGN_OR_RETURN(const std::optional<nn::LightRanges> ranges,
                        nn::ReadLightRanges(checkpoint, layers));
  if (!ranges.has_value()) {
    return absl::InvalidArgumentError(
        "the ranges of its activations are missing; expected "
        "calibration/*.npy");
  }
  return std::make_shared<LightNetwork>(layers, std::move(parameters), *ranges,
                                        plain);
}

void LightNetwork::Answer(NetworkBatch& batch) {
  const nn::EncodedBatch& encoded = batch.encoded();
  for (int i = 0; i < batch.size(); ++i) {
    const NetworkBatch::Outputs to = batch.outputs(i);
    ReadInput(encoded, i);
    kernels_.run(*integers_, nn::LightBitsOf(input_), encoded.OutputsOf(i),
                 scratch_, to.policy);
    std::copy_n(scratch_.value, nn::kNumResults, to.result);
    std::copy_n(scratch_.value + nn::kNumResults, kNumMargins, to.margins);
  }
}

void LightNetwork::AnswerInFloats(NetworkBatch& batch) {
  const nn::LightActivations& a = activations_;
  for (int i = 0; i < batch.size(); ++i) {
    ReadInput(batch.encoded(), i);
    nn::BestLightLearning().forward(tensors_, parameters_.data(), input_,
                                    all_outputs_, activations_);
    const NetworkBatch::Outputs to = batch.outputs(i);
    for (int action = 0; action < kNumActions; ++action) {
      to.policy[all_outputs_[action]] = a.logits[action];
    }
    std::copy_n(a.value, nn::kNumResults, to.result);
    std::copy_n(a.value + nn::kNumResults, kNumMargins, to.margins);
    for (int owner = 0; owner < nn::kNumOwners; ++owner) {
      for (Hill hill = 0; hill < kNumHills; ++hill) {
        to.owner[owner * kNumHills + hill] = a.owners[hill][owner];
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<Network>> Network::Open(const Options& options,
                                                       const val& tensors) {
  const bool light =
      options.kind == nn::NetworkKindName(nn::NetworkKind::kLight);
  nn::Checkpoint checkpoint = {
      .shape = {.channels = options.channels,
                .blocks = options.blocks,
                .kind =
                    light ? nn::NetworkKind::kLight : nn::NetworkKind::kTower},
      .progress = {},
      .optimizer_steps = 0,
      .tensors = {}};
  const int count = tensors["length"].as<int>();
  for (int i = 0; i < count; ++i) {
    checkpoint.tensors.push_back(TensorOf(tensors[i]));
  }
  nn::AddNeutralNorms(checkpoint);
  TARA_RETURN_IF_ERROR(nn::AddNewInputs(checkpoint));
  return light ? LightNetwork::Make(checkpoint, options.plain)
               : TowerNetwork::Make(checkpoint);
}

}  // namespace tara::web
