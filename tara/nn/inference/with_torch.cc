#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::nn {
namespace {

// Positions computed together.
constexpr int64_t kMaxBatch = 64;

void Append(const at::Tensor& tensor, std::vector<float>& values) {
  const at::Tensor whole = tensor.contiguous();
  const float* const begin = whole.data_ptr<float>();
  values.insert(values.end(), begin, begin + whole.numel());
}

void Compute(Network& network, bool with_owner, GoldenTensors& golden) {
  const c10::InferenceMode inference_mode;
  const std::vector<int64_t> actions(kPolicyOutputs.begin(),
                                     kPolicyOutputs.end());
  const std::vector<int64_t> squares(kHillSquares.begin(), kHillSquares.end());
  std::vector<at::Tensor> tensors;
  for (const auto& info : NetworkInputInfos(golden.counts)) {
    tensors.push_back(
        at::from_blob((golden.*info.values).data(), info.Shape(golden.size)));
  }
  for (int64_t begin = 0; begin < golden.size; begin += kMaxBatch) {
    const int64_t count = std::min(kMaxBatch, golden.size - begin);
    const NetworkOutput logits = network.forward(
        tensors[0].narrow(0, begin, count), tensors[1].narrow(0, begin, count),
        {{Head::kOwner, with_owner}});
    Append(logits[Head::kPolicy].index_select(1, at::tensor(actions)),
           golden.policy);
    Append(logits[Head::kValue], golden.result);
    Append(logits[Head::kMargin], golden.margins);
    if (with_owner) {
      Append(
          logits[Head::kOwner].flatten(2).index_select(2, at::tensor(squares)),
          golden.owner);
    }
  }
}

}  // namespace

absl::Status ComputeTorchOutputs(const Checkpoint& checkpoint,
                                 GoldenTensors& tensors) {
  SetTorchThreads(1);
  try {
    Network network(checkpoint.shape);
    network.eval();
    TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, network));
    Compute(network, HasLearned(checkpoint, Head::kOwner), tensors);
    return absl::OkStatus();
  } catch (const std::exception& error) {
    return TorchError("computing golden outputs", "use a smaller network",
                      error);
  }
}

absl::Status CheckInferenceDevice(absl::string_view device) {
  return FindTorchDevices(device).status();
}

absl::StatusOr<LoadedNetwork> LoadTorchNetwork(
    const Checkpoint& checkpoint, const InferenceOptions& options) {
  TARA_ASSIGN_OR_RETURN(
      DeviceEvaluator made,
      NewDeviceEvaluator(checkpoint, {.device = options.device,
                                      .precision = options.precision}));
  return LoadedNetwork{.evaluator = std::move(made.evaluator),
                       .info = {.backend = InferenceBackend::kTorch,
                                .precision = made.precision}};
}

}  // namespace tara::nn
