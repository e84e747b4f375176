#ifndef TARA_NN_LIGHT_LIGHT_H_
#define TARA_NN_LIGHT_LIGHT_H_

// Light networks, made for CPUs: a position costs a fifteenth of what it costs
// a residual tower with AVX2. Neither play nor training needs LibTorch.
// light_network.h shows the layers.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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
// Returns INVALID_ARGUMENT when a tensor is missing or misshapen, or has a
// weight that is not finite, naming it. REQUIRES: `kernels` is "" or one of
// LightKernelNames().
absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewLightEvaluator(
    const Checkpoint& checkpoint, absl::string_view kernels = "");

// Returns an evaluator of the same network in float32: slow, the reference for
// the integers.
absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewFloatLightEvaluator(
    const Checkpoint& checkpoint);

// Returns `per_variant` positions of each variant from games played at random
// from `seed`.
std::vector<State> PositionsOfRandomGames(int per_variant, uint64_t seed);

// As NewTrainer and MakeTrainer (trainer.h), for light networks.
// REQUIRES: CheckLightTraining(options) is OK.
std::unique_ptr<Trainer> NewLightTrainer(const NetworkShape& shape,
                                         const TrainerOptions& options,
                                         uint64_t seed);
absl::StatusOr<std::unique_ptr<Trainer>> MakeLightTrainer(
    const std::string& name, const Checkpoint& checkpoint,
    const TrainerOptions& options);

// A light network trains on the CPU, with AdamW, in float32. Returns
// UNIMPLEMENTED for options that ask for something else.
absl::Status CheckLightTraining(const TrainerOptions& options);

// Returns a new light network, untrained, as a checkpoint that is in no file.
Checkpoint NewLightCheckpoint(const NetworkShape& shape, uint64_t seed);

}  // namespace tara::nn

#endif  // TARA_NN_LIGHT_LIGHT_H_
