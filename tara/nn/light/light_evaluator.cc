#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/cpu/cpu_calibration.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

// Positions encoded together.
constexpr size_t kMaxEncoded = 64;

// The memory of a thread for a call.
struct Workspace {
  EncodedBatch batch;
  LightInput input;
  LightScratch scratch;
  std::array<float, kNumPolicyOutputs> policy;
};

class LightEvaluator : public mcts::Evaluator {
 public:
  explicit LightEvaluator(std::unique_ptr<const LightIntegers> network)
      : network_(std::move(network)),
        kernels_(SupportedLightKernels().back()) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    auto workspace = pool_.Take([] { return std::make_unique<Workspace>(); });
    for (size_t begin = 0; begin < states.size(); begin += kMaxEncoded) {
      EvaluateEncoded(states.subspan(begin, kMaxEncoded),
                      results.subspan(begin, kMaxEncoded), *workspace);
    }
    pool_.Return(std::move(workspace));
    return absl::OkStatus();
  }

 private:
  void EvaluateEncoded(absl::Span<const State> states,
                       absl::Span<mcts::Evaluation> results, Workspace& w) {
    w.batch.EncodeCanonical(states);
    for (int i = 0; i < w.batch.size(); ++i) {
      ReadLightInput(w.batch.planes() + i * kNumPlanes * kNumSquares,
                     w.batch.globals() + i * kNumGlobals, w.input);
      kernels_.run(*network_, w.input, w.batch.OutputsOf(i), w.scratch,
                   w.policy.data());
      FillEvaluation(w.batch, i,
                     {.policy = w.policy.data(),
                      .result = w.scratch.value,
                      .margins = w.scratch.value + kNumResults},
                     results[i]);
    }
  }

  const std::unique_ptr<const LightIntegers> network_;
  const LightKernels kernels_;
  CpuContextPool<Workspace> pool_;
};

// Positions of each variant for the ranges of a network that has none.
constexpr int kRangePositions = 32;
constexpr uint64_t kRangeSeed = 1;

}  // namespace

absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewLightEvaluator(
    const Checkpoint& checkpoint) {
  TARA_RETURN_IF_ERROR(CheckLightShape(checkpoint.shape));
  const LightTensors tensors(checkpoint.shape.blocks);
  AlignedFloats parameters(tensors.size());
  TARA_RETURN_IF_ERROR(tensors.Read(checkpoint, "", parameters.data()));
  TARA_ASSIGN_OR_RETURN(std::optional<LightRanges> ranges,
                        ReadLightRanges(checkpoint, checkpoint.shape.blocks));
  if (!ranges.has_value()) {
    ranges =
        MeasureLightRanges(tensors, parameters.data(),
                           PositionsOfRandomGames(kRangePositions, kRangeSeed));
  }
  return std::make_unique<LightEvaluator>(
      MakeLightIntegers(tensors, parameters.data(), *ranges));
}

}  // namespace tara::nn
