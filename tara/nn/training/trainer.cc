#include "tara/nn/training/trainer.h"

#include <torch/torch.h>

#include <cmath>
#include <exception>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/nn/cpu/cpu_calibration.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/losses_torch.h"
#include "tara/nn/training/optimizer_torch.h"

namespace tara::nn {
namespace {

constexpr absl::string_view kRawPrefix = "raw/";

constexpr absl::string_view kMemoryHint =
    "use a smaller learner.batch_size or a smaller network";

c10::Device DeviceOf(const TrainerOptions& options) {
  if (options.cuda_device == TrainerOptions::kNoCudaDevice) return at::kCPU;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(options.cuda_device)};
}

// Weights are drawn on the CPU, so that they are the same on every device.
std::shared_ptr<Network> MakeNetwork(const NetworkShape& shape, uint64_t seed,
                                     const c10::Device& device) {
  auto network = std::make_shared<Network>(shape);
  InitializeWeights(seed, *network);
  network->MoveTo(device);
  return network;
}

std::unique_ptr<Optimizer> MakeOptimizer(const TrainerOptions& options,
                                         const Network& network) {
  switch (options.optimizer) {
    case OptimizerKind::kAdamW:
      return NewAdamW(network, options.weight_decay);
    case OptimizerKind::kMuon:
      return NewMuon(network, options.weight_decay);
    case OptimizerKind::kSgd:
      return NewSgd(network, options.weight_decay, options.momentum);
  }
  return nullptr;
}

// The buffers that a forward pass in training changes (running means and
// variances), and a copy from before it.
class NormStatistics {
 public:
  explicit NormStatistics(const Network& network) {
    for (const auto& buffer : network.named_buffers()) {
      buffers_.push_back(buffer.value());
      copies_.push_back(buffer.value().clone());
    }
  }

  void Keep() { Copy(buffers_, copies_); }
  void Restore() { Copy(copies_, buffers_); }

 private:
  static void Copy(const std::vector<at::Tensor>& from,
                   std::vector<at::Tensor>& to) {
    const torch::NoGradGuard no_gradients;
    for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  }

  std::vector<at::Tensor> buffers_;
  std::vector<at::Tensor> copies_;
};

// Adds the ranges of the network's activations in these positions.
absl::Status AddRanges(absl::Span<const State> positions,
                       Checkpoint& checkpoint) {
  TARA_ASSIGN_OR_RETURN(const CpuWeights weights, FoldCpuWeights(checkpoint));
  const CpuRanges ranges = CalibrateCpuRanges(weights, positions);
  for (NamedTensor& tensor : CpuRangesToTensors(ranges, checkpoint.shape)) {
    checkpoint.tensors.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(const NetworkShape& shape, const TrainerOptions& options,
               uint64_t seed)
      : options_(options),
        heads_(LearningHeads(options)),
        device_(DeviceOf(options)),
        network_(MakeNetwork(shape, seed, device_)),
        norms_(*network_),
        optimizer_(MakeOptimizer(options, *network_)) {
    if (options.ema_decay > 0) average_.emplace(*network_, options.ema_decay);
  }

  absl::Status Load(const Checkpoint& checkpoint) {
    const bool averaged = checkpoint.HasPrefix(kRawPrefix);
    TARA_RETURN_IF_ERROR(
        LoadWeights(checkpoint, *network_, averaged ? kRawPrefix : ""));
    if (average_) {
      average_->Reset();
      TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, average_->network()));
    }
    return optimizer_->Load(checkpoint);
  }

  absl::StatusOr<Losses> Step(const std::vector<Sample>& batch,
                              double learning_rate) override {
    TARA_CHECK(!batch.empty(), "a step needs samples");
    SetTorchThreads(options_.threads);
    try {
      norms_.Keep();
      Losses losses = Differentiate(batch);
      if (losses.skipped) {
        norms_.Restore();
        return losses;
      }
      optimizer_->Step(learning_rate);
      if (average_) average_->Update(optimizer_->steps());
      return losses;
    } catch (const std::exception& error) {
      return TorchError(
          absl::StrCat("learning from ", batch.size(), " samples"), kMemoryHint,
          error);
    }
  }

  absl::StatusOr<Losses> Measure(const std::vector<Sample>& batch) override {
    TARA_CHECK(!batch.empty(), "losses need samples");
    SetTorchThreads(options_.threads);
    try {
      const torch::NoGradGuard no_gradients;
      const Targets targets =
          MoveTo(device_, EncodeSamples(batch, heads_, encoded_));
      return ToLosses(
          ComputeLosses(Play(published(), heads_), targets, options_));
    } catch (const std::exception& error) {
      return TorchError("measuring losses", kMemoryHint, error);
    }
  }

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    return EvaluateWith(published(), states, results);
  }

  absl::StatusOr<Checkpoint> ToCheckpoint(const TrainingProgress& progress) {
    Checkpoint checkpoint = {.shape = network_->shape,
                             .progress = progress,
                             .optimizer_steps = 0,
                             .tensors = {}};
    try {
      for (const auto& [name, tensor] : NetworkTensors(published())) {
        checkpoint.tensors.push_back(ToNamedTensor(name, tensor));
      }
      if (average_) {
        for (const auto& [name, tensor] : NetworkTensors(*network_)) {
          checkpoint.tensors.push_back(
              ToNamedTensor(absl::StrCat(kRawPrefix, name), tensor));
        }
      }
      optimizer_->Save(checkpoint);
      return checkpoint;
    } catch (const std::exception& error) {
      return TorchError("saving", kMemoryHint, error);
    }
  }

  absl::Status Save(const std::string& path, const TrainingProgress& progress,
                    absl::Span<const State> positions) override {
    TARA_ASSIGN_OR_RETURN(Checkpoint checkpoint, ToCheckpoint(progress));
    if (const absl::Status finite = CheckFinite(checkpoint); !finite.ok()) {
      return absl::AbortedError(
          absl::StrCat(path, " is not written: ", finite.message()));
    }
    if (!positions.empty()) {
      TARA_RETURN_IF_ERROR(CheckOutputs(path, positions));
      TARA_RETURN_IF_ERROR(AddRanges(positions, checkpoint));
    }
    return WriteCheckpoint(path, checkpoint);
  }

 private:
  absl::Status EvaluateWith(Network& network, absl::Span<const State> states,
                            absl::Span<mcts::Evaluation> results) {
    if (states.empty()) return absl::OkStatus();
    SetTorchThreads(options_.threads);
    try {
      const torch::NoGradGuard no_gradients;
      encoded_.EncodeCanonical(states);
      const NetworkOutput output = Play(network, {});
      const auto on_cpu = [&](Head head) {
        return output[head].to(at::kCPU).contiguous();
      };
      const at::Tensor policy = on_cpu(Head::kPolicy);
      const at::Tensor result = on_cpu(Head::kValue);
      const at::Tensor margins = on_cpu(Head::kMargin);
      for (int i = 0; i < encoded_.size(); ++i) {
        FillEvaluation(
            encoded_, i,
            {.policy = policy.data_ptr<float>() + i * kNumPolicyOutputs,
             .result = result.data_ptr<float>() + i * kNumResults,
             .margins = margins.data_ptr<float>() + i * kNumMargins},
            results[i]);
      }
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return TorchError("evaluating", kMemoryHint, error);
    }
  }

  // Returns ABORTED if the activations overflow, of the network that plays or
  // of the one that learns.
  absl::Status CheckOutputs(const std::string& path,
                            absl::Span<const State> positions) {
    std::vector<mcts::Evaluation> results(positions.size());
    for (Network* const network : {&published(), network_.get()}) {
      TARA_RETURN_IF_ERROR(
          EvaluateWith(*network, positions, absl::MakeSpan(results)));
      for (size_t i = 0; i < results.size(); ++i) {
        if (IsFinite(results[i])) continue;
        return absl::AbortedError(
            absl::StrCat(path,
                         " is not written: the outputs of the network for the "
                         "position ",
                         PositionToText(positions[i]), " are not finite"));
      }
      if (!average_) break;  // they are one
    }
    return absl::OkStatus();
  }

  // The network as it plays.
  Network& published() { return average_ ? average_->network() : *network_; }

  // Returns the network's output for the encoded batch as it plays.
  NetworkOutput Play(Network& network, const PerHead<bool>& heads) {
    network.eval();
    return Forward(network, heads);
  }

  // Returns a network's output for the encoded batch, in float32.
  NetworkOutput Forward(Network& network, const PerHead<bool>& heads) {
    const at::Tensor planes = PlanesOf(encoded_).to(device_);
    const at::Tensor globals = GlobalsOf(encoded_).to(device_);
    NetworkOutput output;
    {
      const Autocast autocast(device_.type(), options_.autocast);
      output = network.forward(planes, globals, heads);
    }
    return ToFloat32(output);
  }

  // Fills the gradients, and clips them. `skipped` when they are of no use.
  Losses Differentiate(const std::vector<Sample>& batch) {
    const Targets targets =
        MoveTo(device_, EncodeSamples(batch, heads_, encoded_));
    network_->train();
    optimizer_->ZeroGradients();
    const LossTensors tensors =
        ComputeLosses(Forward(*network_, heads_), targets, options_);
    Losses losses = ToLosses(tensors);
    losses.skipped = !std::isfinite(losses.total);
    if (losses.skipped) return losses;
    tensors.total.backward();
    const double norm = optimizer_->GradientNorm();
    losses.skipped = !std::isfinite(norm);
    if (options_.max_gradient_norm > 0 && !losses.skipped) {
      optimizer_->ClipGradients(norm, options_.max_gradient_norm);
    }
    return losses;
  }

  const TrainerOptions options_;
  const PerHead<bool> heads_;
  const c10::Device device_;
  const std::shared_ptr<Network> network_;
  NormStatistics norms_;
  const std::unique_ptr<Optimizer> optimizer_;
  std::optional<WeightAverage> average_;
  EncodedBatch encoded_;
};

}  // namespace

absl::Status CheckTrainerOptions(const TrainerOptions& options) {
  return FindTorchDevices(DeviceOf(options).str()).status();
}

std::unique_ptr<Trainer> NewTrainer(const NetworkShape& shape,
                                    const TrainerOptions& options,
                                    uint64_t seed) {
  return std::make_unique<TorchTrainer>(shape, options, seed);
}

absl::StatusOr<Checkpoint> NewCheckpoint(const NetworkShape& shape,
                                         uint64_t seed) {
  return TorchTrainer(shape, {}, seed).ToCheckpoint({});
}

absl::StatusOr<std::pair<std::unique_ptr<Trainer>, TrainingProgress>>
LoadTrainer(const std::string& path, const TrainerOptions& options) {
  TARA_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadCheckpoint(path));
  TARA_ASSIGN_OR_RETURN(
      auto trainer,
      MakeTrainer(absl::StrCat("Checkpoint ", path), checkpoint, options));
  return std::pair(std::move(trainer), checkpoint.progress);
}

absl::StatusOr<std::unique_ptr<Trainer>> MakeTrainer(
    const std::string& name, const Checkpoint& checkpoint,
    const TrainerOptions& options) {
  TARA_RETURN_IF_ERROR(CheckTrainerOptions(options));
  // A bundle's tensors come from another file than a checkpoint's.
  if (const absl::Status finite = CheckFinite(checkpoint); !finite.ok()) {
    return absl::DataLossError(absl::StrCat(name, ": ", finite.message()));
  }
  try {
    // The seed is that of heads that the checkpoint lacks.
    auto trainer = std::make_unique<TorchTrainer>(checkpoint.shape, options,
                                                  /*seed=*/0);
    if (const absl::Status loaded = trainer->Load(checkpoint); !loaded.ok()) {
      return absl::DataLossError(absl::StrCat(name, ": ", loaded.message()));
    }
    return trainer;
  } catch (const std::exception& error) {
    return TorchError(absl::StrCat("loading ", name), kMemoryHint, error);
  }
}

}  // namespace tara::nn
