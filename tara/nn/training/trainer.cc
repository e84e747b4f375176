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

// Weights are drawn on the CPU, so that they are the same on every device.
std::shared_ptr<Network> MakeNetwork(const NetworkShape& shape, uint64_t seed,
                                     const c10::Device& device) {
  auto network = std::make_shared<Network>(shape);
  InitializeWeights(seed, *network);
  network->MoveTo(device);
  return network;
}

class TorchBatch : public PreparedBatch {
 public:
  explicit TorchBatch(EncodedSamples samples)
      : PreparedBatch({}), encoded(std::move(samples)) {}

  const EncodedSamples encoded;
};

class TorchTrainer : public Trainer {
 public:
  TorchTrainer(const NetworkShape& shape, const TrainerOptions& options,
               uint64_t seed)
      : options_(options),
        heads_(LearningHeads(options)),
        device_(DeviceOf(options)),
        hills_(MakeHillMask().to(device_)),
        network_(MakeNetwork(shape, seed, device_)),
        optimizer_(options.optimizer, options.weight_decay, *network_) {
    if (options.ema_decay > 0) average_.emplace(*network_, options.ema_decay);
    if (is_deferred()) {
      UseBlocks();
    } else {
      before_.emplace(network_->buffers());
    }
  }

  absl::Status Load(const Checkpoint& checkpoint) {
    const bool averaged = checkpoint.HasPrefix(kRawPrefix);
    TARA_RETURN_IF_ERROR(
        LoadWeights(checkpoint, *network_, averaged ? kRawPrefix : ""));
    if (average_) {
      average_->Reset();
      TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, average_->network()));
    }
    return optimizer_.Load(checkpoint);
  }

  absl::StatusOr<Losses> Step(const std::vector<Sample>& batch,
                              double learning_rate) override {
    TARA_RETURN_IF_ERROR(FinishSteps().status());
    TARA_ASSIGN_OR_RETURN(const std::unique_ptr<PreparedBatch> prepared,
                          Prepare(batch));
    TARA_RETURN_IF_ERROR(StartStep(*prepared, learning_rate));
    TARA_ASSIGN_OR_RETURN(const std::vector<Losses> losses, FinishSteps());
    return losses.front();
  }

  absl::StatusOr<std::unique_ptr<PreparedBatch>> Prepare(
      std::vector<Sample> batch) const override {
    TARA_CHECK(!batch.empty(), "a step needs samples");
    try {
      return std::make_unique<TorchBatch>(
          EncodeSamples(batch, heads_, /*pinned=*/device_.is_cuda()));
    } catch (const std::exception& error) {
      return TorchError(absl::StrCat("encoding ", batch.size(), " samples"),
                        kMemoryHint, error);
    }
  }

  absl::Status StartStep(const PreparedBatch& batch,
                         double learning_rate) override {
    const EncodedSamples& samples =
        static_cast<const TorchBatch&>(batch).encoded;
    SetTorchThreads(options_.threads);
    absl::Status failed;
    try {
      if (is_deferred()) {
        StartDeferredStep(samples, learning_rate);
      } else {
        finished_.push_back(MakeStep(samples, learning_rate));
      }
      return absl::OkStatus();
    } catch (const std::exception& error) {
      failed =
          TorchError(absl::StrCat("learning from ", samples.size(), " samples"),
                     kMemoryHint, error);
    }
    return WithBatchThatFits(failed, samples);
  }

  absl::StatusOr<std::vector<Losses>> FinishSteps() override {
    std::vector<Losses> losses = std::exchange(finished_, {});
    const std::vector<at::Tensor> rows = std::exchange(started_, {});
    if (rows.empty()) return losses;
    try {
      const at::Tensor table = at::stack(rows).to(at::kCPU);
      for (int64_t i = 0; i < table.size(0); ++i) {
        losses.push_back(UnpackLosses(
            heads_,
            absl::MakeConstSpan(table.data_ptr<float>() + i * table.stride(0),
                                static_cast<size_t>(table.size(1)))));
        if (losses.back().skipped) optimizer_.Uncount(1);
      }
      return losses;
    } catch (const std::exception& error) {
      return TorchError(absl::StrCat("learning ", rows.size(), " steps"),
                        kMemoryHint, error);
    }
  }

  absl::StatusOr<Losses> Measure(const std::vector<Sample>& batch) override {
    TARA_CHECK(!batch.empty(), "losses need samples");
    SetTorchThreads(options_.threads);
    try {
      const torch::NoGradGuard no_gradients;
      const EncodedSamples samples =
          MoveTo(device_, EncodeSamples(batch, heads_));
      published().eval();
      return ToLosses(ComputeLosses(
          Forward(published(), samples.planes, samples.globals, heads_),
          samples, options_, hills_));
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
      optimizer_.Save(checkpoint);
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
      network.eval();
      const NetworkOutput output =
          Forward(network, PlanesOf(encoded_).to(device_),
                  GlobalsOf(encoded_).to(device_), {});
      const auto on_cpu = [&](Head head) {
        return output[head].to(at::kCPU).contiguous();
      };
      const at::Tensor policy = on_cpu(Head::kPolicy);
      const at::Tensor result = on_cpu(Head::kValue);
      const at::Tensor margins = on_cpu(Head::kMargin);
      for (int i = 0; i < encoded_.size(); ++i) {
        FillEvaluation(
            encoded_.OutputsOf(i),
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

  // Returns a network's output, in float32.
  NetworkOutput Forward(Network& network, const at::Tensor& planes,
                        const at::Tensor& globals, const PerHead<bool>& heads) {
    NetworkOutput output;
    {
      const Autocast autocast(device_.type(), options_.autocast);
      output = network.forward(planes, globals, heads);
    }
    return ToFloat32(output);
  }

  // Computes the losses in training, before any gradients.
  LossTensors Train(const EncodedSamples& samples) {
    network_->train();
    optimizer_.ZeroGradients();
    return ComputeLosses(
        Forward(*network_, samples.planes, samples.globals, heads_), samples,
        options_, hills_);
  }

  Losses MakeStep(const EncodedSamples& samples, double learning_rate) {
    before_->Keep();
    Losses losses = Differentiate(samples);
    if (losses.skipped) {
      before_->Restore();
      return losses;
    }
    optimizer_.Step(learning_rate);
    if (average_) average_->Update(optimizer_.steps());
    return losses;
  }

  // Fills the gradients, and clips them. `skipped` when they are of no use.
  Losses Differentiate(const EncodedSamples& samples) {
    const LossTensors tensors = Train(samples);
    Losses losses = ToLosses(tensors);
    losses.skipped = !std::isfinite(losses.total);
    if (losses.skipped) return losses;
    tensors.total.backward();
    const auto norm = optimizer_.GradientNorm().item<double>();
    losses.skipped = !std::isfinite(norm);
    if (options_.max_gradient_norm > 0 && !losses.skipped) {
      optimizer_.ClipGradients(norm, options_.max_gradient_norm);
    }
    return losses;
  }

  // Steps that the host starts and does not wait for. A step that is of no use
  // is made too, and then undone by the device. Until FinishSteps its number
  // counts in the corrections of AdamW's means and in the average's decay.
  bool is_deferred() const { return options_.deferred || device_.is_cuda(); }

  void StartDeferredStep(const EncodedSamples& batch, double learning_rate) {
    before_->Keep();
    const LossTensors tensors = Train(MoveTo(device_, batch));
    tensors.total.backward();
    optimizer_.GatherGradients();
    const at::Tensor norm = optimizer_.GradientNorm();
    const at::Tensor finite =
        tensors.total.isfinite().logical_and(norm.isfinite());
    if (options_.max_gradient_norm > 0) {
      optimizer_.ClipGradients(norm, options_.max_gradient_norm);
    }
    optimizer_.Step(learning_rate);
    if (average_) average_->Update(optimizer_.steps());
    before_->RestoreUnless(finite);
    started_.push_back(PackLosses(tensors, finite));
  }

  // Moves what a step changes into a few blocks of memory.
  void UseBlocks() {
    const std::vector<std::string> weights =
        optimizer_.UseBlocks([&](const std::string& name) {
          const HeadInfo* const head = AuxiliaryHeadOf(name);
          return head == nullptr || heads_[head->head];
        });
    std::vector<std::string> norms;
    std::vector<at::Tensor> buffers;
    for (const auto& [name, tensor] : NetworkTensors(*network_)) {
      if (tensor.requires_grad()) continue;
      norms.push_back(name);
      buffers.push_back(tensor);
    }
    std::vector<at::Tensor> changed = optimizer_.blocks();
    changed.push_back(MoveToBlock(buffers));
    if (average_) {
      // The last two: weights and norms.
      average_->UseBlocks({changed.end() - 2, changed.end()}, {weights, norms});
      changed.insert(changed.end(), average_->averages().begin(),
                     average_->averages().end());
    }
    before_.emplace(changed);
  }

  // If memory did not suffice for the batch, adds to the error the largest
  // half, quarter, ... of it that fits.
  absl::Status WithBatchThatFits(const absl::Status& failed,
                                 const EncodedSamples& batch) {
    if (!absl::IsResourceExhausted(failed)) return failed;
    for (int64_t size = batch.size() / 2; size > 0; size /= 2) {
      try {
        const auto part = Transform(batch, [&](const at::Tensor& tensor) {
          return tensor.narrow(0, 0, size);
        });
        Train(MoveTo(device_, part)).total.backward();
        optimizer_.ZeroGradients();
        before_->Restore();
        return absl::ResourceExhaustedError(absl::StrCat(
            failed.message(), "; a batch of ", size, " samples fits"));
      } catch (const std::exception&) {
        // This one does not fit either: frees its memory.
        optimizer_.ZeroGradients();
      }
    }
    return failed;
  }

  const TrainerOptions options_;
  const PerHead<bool> heads_;
  const c10::Device device_;
  const at::Tensor hills_;
  const std::shared_ptr<Network> network_;
  Optimizer optimizer_;
  std::optional<WeightAverage> average_;
  // The tensors that a step changes: with deferred steps all of them, else the
  // ones that the forward pass changes.
  std::optional<Snapshot> before_;
  std::vector<at::Tensor> started_;  // rows of PackLosses
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
