#include "tara/nn/inference/network_evaluator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/torch/device_evaluator.h"
#include "tara/nn/torch/torch_devices.h"
#include "tara/nn/torch/torch_evaluator.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara {
namespace {

absl::StatusOr<LoadedNetwork> LoadOneDnn(const Checkpoint& checkpoint,
                                         const InferenceOptions& options) {
  if (options.device != "cpu") {
    return absl::UnimplementedError(absl::StrCat(
        "oneDNN computes on no device '", options.device, "'; expected cpu"));
  }
  TARA_ASSIGN_OR_RETURN(CpuEvaluator made,
                        NewCpuEvaluator(checkpoint, options.precision));
  return LoadedNetwork{.evaluator = std::move(made.evaluator),
                       .info = {.backend = InferenceBackend::kOneDnn,
                                .precision = made.precision}};
}

absl::StatusOr<LoadedNetwork> LoadTorch(const Checkpoint& checkpoint,
                                        const InferenceOptions& options) {
  if (options.device == "cpu" && (options.precision == Precision::kAuto ||
                                  options.precision == Precision::kFloat32)) {
    TARA_ASSIGN_OR_RETURN(auto evaluator, NewTorchEvaluator(checkpoint));
    return LoadedNetwork{.evaluator = std::move(evaluator),
                         .info = {.backend = InferenceBackend::kTorch,
                                  .precision = Precision::kFloat32}};
  }
  TARA_ASSIGN_OR_RETURN(
      DeviceEvaluator made,
      NewDeviceEvaluator(checkpoint, {.device = options.device,
                                      .precision = options.precision}));
  return LoadedNetwork{.evaluator = std::move(made.evaluator),
                       .info = {.backend = InferenceBackend::kTorch,
                                .precision = made.precision}};
}

}  // namespace

absl::StatusOr<LoadedNetwork> LoadNetwork(const std::string& path,
                                          const InferenceOptions& options) {
  // Before the checkpoint: what is no device must not pass for a bad file.
  TARA_RETURN_IF_ERROR(FindTorchDevices(options.device).status());
  TARA_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadNetworkFile(path));
  const bool one_dnn =
      options.backend == InferenceBackend::kOneDnn ||
      (options.backend == InferenceBackend::kAuto && options.device == "cpu");
  absl::StatusOr<LoadedNetwork> network = one_dnn
                                              ? LoadOneDnn(checkpoint, options)
                                              : LoadTorch(checkpoint, options);
  if (network.status().code() == absl::StatusCode::kInvalidArgument) {
    return absl::DataLossError(
        absl::StrCat(IsBundlePath(path) ? "Bundle " : "Checkpoint ", path, ": ",
                     network.status().message()));
  }
  return network;
}

absl::StatusOr<std::unique_ptr<Evaluator>> LoadNetworkEvaluator(
    const std::string& path, const InferenceOptions& options) {
  TARA_ASSIGN_OR_RETURN(LoadedNetwork network, LoadNetwork(path, options));
  return std::move(network.evaluator);
}

}  // namespace tara
