#include "tara/nn/inference/network_evaluator.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/base/files.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/light/light.h"
#include "tara/nn/weights/checkpoint.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::nn {
namespace {

// Refuses the answers of a network whose activations overflow.
class FiniteEvaluator : public mcts::Evaluator {
 public:
  FiniteEvaluator(std::string name, std::unique_ptr<mcts::Evaluator> network)
      : name_(std::move(name)), network_(std::move(network)) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_RETURN_IF_ERROR(network_->Evaluate(states, results));
    for (size_t i = 0; i < results.size(); ++i) {
      if (IsFinite(results[i])) continue;
      return absl::DataLossError(absl::StrCat(
          name_, ": the outputs of the network for the position ",
          PositionToText(states[i]),
          " are not finite; expected a network whose training did not "
          "diverge"));
    }
    return absl::OkStatus();
  }

  size_t batch_multiple() const override { return network_->batch_multiple(); }

 private:
  const std::string name_;
  const std::unique_ptr<mcts::Evaluator> network_;
};

// A tower, by Tara's kernels.
absl::StatusOr<LoadedNetwork> LoadTower(const Checkpoint& checkpoint,
                                        const InferenceOptions& options) {
  if (options.device != "cpu") {
    return absl::UnimplementedError(
        absl::StrCat("backend 'tara' does not support device '", options.device,
                     "'; expected cpu"));
  }
  if (options.precision != Precision::kAuto &&
      options.precision != Precision::kFloat32) {
    return absl::UnimplementedError(absl::StrCat(
        "a tower is computed in float32 on the CPU; expected precision=auto or "
        "float32, not ",
        PrecisionName(options.precision)));
  }
  TARA_ASSIGN_OR_RETURN(auto evaluator, NewCpuEvaluator(checkpoint));
  return LoadedNetwork{.evaluator = std::move(evaluator),
                       .info = {.backend = InferenceBackend::kTara,
                                .precision = Precision::kFloat32}};
}

absl::StatusOr<LoadedNetwork> LoadLight(const Checkpoint& checkpoint,
                                        const InferenceOptions& options) {
  if (options.device != "cpu" || options.backend == InferenceBackend::kTorch) {
    return absl::UnimplementedError(absl::StrCat(
        "a light network is computed on CPUs only, without LibTorch; expected "
        "device=cpu and backend=auto, not device=",
        options.device, " and backend=", BackendName(options.backend)));
  }
  if (options.precision != Precision::kAuto &&
      options.precision != Precision::kInt8) {
    return absl::UnimplementedError(absl::StrCat(
        "a light network is computed in int8; expected precision=auto, not ",
        PrecisionName(options.precision)));
  }
  TARA_ASSIGN_OR_RETURN(auto evaluator, NewLightEvaluator(checkpoint));
  return LoadedNetwork{.evaluator = std::move(evaluator),
                       .info = {.backend = InferenceBackend::kTara,
                                .precision = Precision::kInt8}};
}

absl::StatusOr<LoadedNetwork> LoadCheckpoint(const Checkpoint& checkpoint,
                                             const InferenceOptions& options) {
  if (checkpoint.shape.kind == NetworkKind::kLight) {
    return LoadLight(checkpoint, options);
  }
  return options.backend == InferenceBackend::kTara
             ? LoadTower(checkpoint, options)
             : LoadTorchNetwork(checkpoint, options);
}

// Returns the options with the backend that kAuto stands for.
InferenceOptions WithBackend(InferenceOptions options) {
  if (options.backend == InferenceBackend::kAuto) {
    options.backend = options.device == "cpu" ? InferenceBackend::kTara
                                              : InferenceBackend::kTorch;
  }
  return options;
}

// Returns the network, or its error, with its name.
absl::StatusOr<LoadedNetwork> Named(const std::string& name,
                                    absl::StatusOr<LoadedNetwork> network) {
  if (absl::IsInvalidArgument(network.status())) {
    return absl::DataLossError(
        absl::StrCat(name, ": ", network.status().message()));
  }
  TARA_RETURN_IF_ERROR(network.status());
  network->evaluator =
      std::make_unique<FiniteEvaluator>(name, std::move(network->evaluator));
  return network;
}

}  // namespace

absl::StatusOr<std::string> NetworkFileId(const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const std::string file, ReadWholeFile(path));
  return absl::StrFormat("%08x-%d", crc32c::Crc32c(file.data(), file.size()),
                         file.size());
}

absl::StatusOr<LoadedNetwork> NetworkLoader::FromFile(
    const std::string& path, InferenceOptions options) {
  options = WithBackend(options);
  // Checked before the checkpoint: a bad device must not look like a bad file.
  TARA_RETURN_IF_ERROR(CheckInferenceDevice(options.device));
  TARA_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadNetworkFile(path));
  const std::string name =
      absl::StrCat(IsBundlePath(path) ? "Bundle " : "Checkpoint ", path);
  if (options.precision != Precision::kAuto ||
      options.backend == InferenceBackend::kTara) {
    return Named(name, load_(checkpoint, options));
  }
  TARA_ASSIGN_OR_RETURN(const std::string file, NetworkFileId(path));
  const absl::MutexLock lock(&mutex_);
  Precision& choice = choices_[absl::StrCat(file, " ", options.device)];
  options.precision = choice;
  absl::StatusOr<LoadedNetwork> network =
      Named(name, load_(checkpoint, options));
  if (network.ok()) choice = network->info.precision;
  return network;
}

absl::StatusOr<LoadedNetwork> MakeNetwork(const std::string& name,
                                          const Checkpoint& checkpoint,
                                          const InferenceOptions& options) {
  return Named(name, LoadCheckpoint(checkpoint, WithBackend(options)));
}

absl::StatusOr<LoadedNetwork> LoadNetwork(const std::string& path,
                                          const InferenceOptions& options) {
  static auto* const loader = new NetworkLoader(LoadCheckpoint);
  return loader->FromFile(path, options);
}

absl::StatusOr<std::unique_ptr<mcts::Evaluator>> LoadNetworkEvaluator(
    const std::string& path, const InferenceOptions& options) {
  TARA_ASSIGN_OR_RETURN(LoadedNetwork network, LoadNetwork(path, options));
  return std::move(network.evaluator);
}

absl::StatusOr<std::string> NumericClassOf(const LoadedNetwork& network,
                                           absl::Span<const State> starts) {
  constexpr int kPositions = 64;  // of each start
  Random random(1);
  std::vector<State> states;
  for (const State& start : starts) {
    State state = start;
    for (int i = 0; i < kPositions; ++i) {
      states.push_back(state);
      ApplyAction(RandomAction(state, random), state);
      if (state.finished()) state = start;
    }
  }
  std::vector<mcts::Evaluation> answers(states.size());
  TARA_RETURN_IF_ERROR(
      network.evaluator->Evaluate(states, absl::MakeSpan(answers)));
  std::string bytes;
  const auto add = [&bytes](absl::Span<const float> values) {
    bytes.append(reinterpret_cast<const char*>(values.data()),
                 values.size() * sizeof(float));
  };
  for (const mcts::Evaluation& answer : answers) {
    add(answer.priors);
    add({answer.win, answer.draw, answer.loss, answer.margin});
  }
  return absl::StrCat(
      PrecisionName(network.info.precision), "-",
      absl::Hex(crc32c::Crc32c(bytes.data(), bytes.size()), absl::kZeroPad8));
}

}  // namespace tara::nn
