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

#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/symmetry.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/encode/encoded_batch.h"
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

// By hill of a position as the network sees it: own, enemy's, vacant.
using OwnerLogits = std::array<std::array<float, nn::kNumOwners>, kNumHills>;

std::vector<float> OwnersOf(const State& state, const OwnerLogits& logits) {
  const auto& transform = kHillTransforms[RepresentativeSymmetry(state).board];
  std::vector<float> owners;
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    std::array<float, nn::kNumOwners> shares = logits[transform[hill]];
    nn::SoftmaxPortable(shares.data(), nn::kNumOwners);
    owners.push_back(shares[state.side() == kRed ? 0 : 1]);
    owners.push_back(shares[state.side() == kRed ? 1 : 0]);
  }
  return owners;
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

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    Run(states, results, nullptr);
    return absl::OkStatus();
  }

  Judgement Judge(const State& state) override {
    Judgement judgement;
    OwnerLogits owners = {};
    Run(absl::MakeConstSpan(&state, 1),
        absl::MakeSpan(&judgement.evaluation, 1), &owners);
    judgement.owners = OwnersOf(state, owners);
    return judgement;
  }

 private:
  // `owners`: null, or of the only state.
  void Run(absl::Span<const State> states, absl::Span<mcts::Evaluation> results,
           OwnerLogits* owners);
  void FillOwners(const float* value_rows, OwnerLogits& owners) const;

  const nn::CpuNetwork network_;
  nn::CpuContext context_;
  nn::EncodedBatch batch_;
  std::array<float, nn::kNumPolicyOutputs> policy_;
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

void TowerNetwork::FillOwners(const float* value_rows,
                              OwnerLogits& owners) const {
  const int channels = network_.channels;  // filled up
  const size_t inputs = owner_weights_.size() / nn::kNumOwners;
  for (int k = 0; k < nn::kNumOwners; ++k) {
    const float* const weights = owner_weights_.data() + k * inputs;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      owners[hill][k] = std::inner_product(
          weights, weights + inputs, value_rows + nn::SquareOf(hill) * channels,
          owner_biases_[k]);
    }
  }
}

void TowerNetwork::Run(absl::Span<const State> states,
                       absl::Span<mcts::Evaluation> results,
                       OwnerLogits* owners) {
  batch_.EncodeCanonical(states);
  context_.Run(
      batch_, [&](int first, int size, const nn::CpuContext::Outputs& outputs) {
        for (int i = 0; i < size; ++i) {
          for (const int16_t output : batch_.OutputsOf(first + i)) {
            policy_[output] = outputs.Policy(i, output);
          }
          const float* const value = outputs.value + i * outputs.value_stride;
          nn::FillEvaluation(batch_.OutputsOf(first + i),
                             {.policy = policy_.data(),
                              .result = value,
                              .margins = value + nn::kNumResults},
                             results[first + i]);
        }
        if (owners != nullptr && !owner_weights_.empty()) {
          FillOwners(outputs.value_rows, *owners);
        }
      });
}

class LightNetwork : public Network {
 public:
  static absl::StatusOr<std::shared_ptr<Network>> Make(
      const nn::Checkpoint& checkpoint, bool plain);

  LightNetwork(int layers, nn::AlignedFloats parameters,
               std::unique_ptr<mcts::Evaluator> integers)
      : tensors_(layers),
        parameters_(std::move(parameters)),
        integers_(std::move(integers)) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    return integers_->Evaluate(states, results);
  }

  Judgement Judge(const State& state) override;

 private:
  const nn::LightTensors tensors_;
  const nn::AlignedFloats parameters_;
  const std::unique_ptr<mcts::Evaluator> integers_;
  nn::EncodedBatch batch_;
  nn::LightInput input_;
  nn::LightActivations activations_;
};

absl::StatusOr<std::shared_ptr<Network>> LightNetwork::Make(
    const nn::Checkpoint& checkpoint, bool plain) {
  const int layers = checkpoint.shape.blocks;
  TARA_RETURN_IF_ERROR(nn::CheckLightShape(checkpoint.shape));
  TARA_ASSIGN_OR_RETURN(nn::AlignedFloats parameters,
                        nn::LightTensors(layers).Read(checkpoint));
  TARA_RETURN_IF_ERROR(nn::CheckFinite(checkpoint));
  TARA_ASSIGN_OR_RETURN(const std::optional<nn::LightRanges> ranges,
                        nn::ReadLightRanges(checkpoint, layers));
  if (!ranges.has_value()) {
    return absl::InvalidArgumentError(
        "the ranges of its activations are missing; expected "
        "calibration/*.npy");
  }
  TARA_ASSIGN_OR_RETURN(
      std::unique_ptr<mcts::Evaluator> integers,
      nn::NewLightEvaluator(checkpoint,
                            plain ? nn::LightKernelNames().front() : ""));
  return std::make_shared<LightNetwork>(layers, std::move(parameters),
                                        std::move(integers));
}

Network::Judgement LightNetwork::Judge(const State& state) {
  batch_.EncodeCanonical(absl::MakeConstSpan(&state, 1));
  nn::ReadLightInput(batch_.planes(), batch_.globals(), input_);
  const absl::Span<const int16_t> outputs = batch_.OutputsOf(0);
  nn::BestLightLearning().forward(tensors_, parameters_.data(), input_, outputs,
                                  activations_);
  std::array<float, nn::kNumPolicyOutputs> policy;
  for (size_t i = 0; i < outputs.size(); ++i) {
    policy[outputs[i]] = activations_.logits[i];
  }
  Judgement judgement;
  nn::FillEvaluation(batch_.OutputsOf(0),
                     {.policy = policy.data(),
                      .result = activations_.value,
                      .margins = activations_.value + nn::kNumResults},
                     judgement.evaluation);
  OwnerLogits owners;
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    std::copy_n(activations_.owners[hill], nn::kNumOwners,
                owners[hill].begin());
  }
  judgement.owners = OwnersOf(state, owners);
  return judgement;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Network>> Network::Open(const std::string& kind,
                                                       int channels, int blocks,
                                                       const val& tensors,
                                                       bool plain) {
  const bool light = kind == nn::NetworkKindName(nn::NetworkKind::kLight);
  nn::Checkpoint checkpoint;
  checkpoint.shape.channels = channels;
  checkpoint.shape.blocks = blocks;
  checkpoint.shape.kind =
      light ? nn::NetworkKind::kLight : nn::NetworkKind::kTower;
  const int count = tensors["length"].as<int>();
  for (int i = 0; i < count; ++i) {
    checkpoint.tensors.push_back(TensorOf(tensors[i]));
  }
  nn::AddNeutralNorms(checkpoint);
  TARA_RETURN_IF_ERROR(nn::AddNewInputs(checkpoint));
  return light ? LightNetwork::Make(checkpoint, plain)
               : TowerNetwork::Make(checkpoint);
}

}  // namespace tara::web
