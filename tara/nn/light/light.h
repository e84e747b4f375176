#ifndef TARA_NN_LIGHT_LIGHT_H_
#define TARA_NN_LIGHT_LIGHT_H_

// Light networks, made for CPUs: a position costs a fifteenth of what it costs
// a residual tower with AVX2. Only training on a GPU needs LibTorch.
// light_network.h shows the layers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The kernels are written for this many channels.
inline constexpr int kLightChannels = 64;
// Most layers of a light network (NetworkShape::blocks).
inline constexpr int kMaxLightLayers = 8;

// Returns INVALID_ARGUMENT for a shape that no light network has.
absl::Status CheckLightShape(const NetworkShape& shape);

// Returns the names of the kernels that this processor supports, slowest first,
// such as "portable", "avx2", "avxvnni", "avx512".
std::vector<absl::string_view> LightKernelNames();

// Returns an evaluator that computes in integers, with the kernels of a name or
// else the fastest. Thread-safe; takes no locks. The evaluation of a position
// is the same, bit for bit, on every processor and in any batch.
// Returns INVALID_ARGUMENT when a tensor is missing or misshapen, naming it.
// REQUIRES: CheckFinite(checkpoint) is OK; `kernels` is "" or one of
// LightKernelNames().
absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewLightEvaluator(
    const Checkpoint& checkpoint, absl::string_view kernels = "");

// Evaluates positions with the same network in float32: slow, the reference for
// the integers. Errors as NewLightEvaluator. REQUIRES: spans of one size.
absl::Status EvaluateInFloats(const Checkpoint& checkpoint,
                              absl::Span<const State> states,
                              absl::Span<mcts::Evaluation> results);

// Returns `per_variant` positions of each variant from games played at random
// from `seed`.
std::vector<State> PositionsOfRandomGames(int per_variant, uint64_t seed);

// Computes gradients in place of the learning cores: on a GPU.
class LightGradients {
 public:
  virtual ~LightGradients() = default;

  // As Trainer::Prepare.
  virtual absl::StatusOr<std::unique_ptr<PreparedBatch>> Prepare(
      std::vector<Sample> batch) const = 0;
  // Returns the losses of a batch that was prepared here, by the parameters
  // (LightTensors says which is where), and sets the gradient of their total.
  virtual absl::StatusOr<Losses> Compute(const PreparedBatch& batch,
                                         absl::Span<const float> parameters,
                                         absl::Span<float> gradient) = 0;
};

// Returns the gradients of networks of this shape, computed by LibTorch on the
// device of the options, in float32, with the batches and losses of towers. On
// the CPU, where it is slow, it is the simple twin of the kernels. Throws what
// LibTorch throws when the device fails. Only in programs with
// //tara/nn/light:gradients_torch.
std::unique_ptr<LightGradients> NewTorchLightGradients(
    const NetworkShape& shape, const TrainerOptions& options);

// As MakeTrainer (trainer.h), for light networks. Without `gradients`, the
// cores compute them.
absl::StatusOr<std::unique_ptr<Trainer>> MakeLightTrainer(
    const std::string& name, const Checkpoint& checkpoint,
    const TrainerOptions& options,
    std::unique_ptr<LightGradients> gradients = nullptr);

// A light network trains with AdamW, in float32. Returns UNIMPLEMENTED for
// options that ask for something else.
absl::Status CheckLightTraining(const TrainerOptions& options);

// Returns a new light network, untrained, as a checkpoint that is in no file.
Checkpoint NewLightCheckpoint(const NetworkShape& shape, uint64_t seed);

}  // namespace tara::nn

#endif  // TARA_NN_LIGHT_LIGHT_H_
