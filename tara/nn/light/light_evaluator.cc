#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

// The memory of a thread for a call.
struct Workspace {
  LightBits bits;
  std::vector<int16_t> outputs;
  LightScratch scratch;
  std::array<float, kNumPolicyOutputs> policy;
};

class LightEvaluator : public mcts::Evaluator {
 public:
  LightEvaluator(std::unique_ptr<const LightIntegers> network,
                 const LightKernels& kernels)
      : network_(std::move(network)), kernels_(kernels) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    auto workspace = pool_.Take([] { return std::make_unique<Workspace>(); });
    for (size_t i = 0; i < states.size(); ++i) {
      EvaluateOne(states[i], results[i], *workspace);
    }
    pool_.Return(std::move(workspace));
    return absl::OkStatus();
  }

 private:
  void EvaluateOne(const State& state, mcts::Evaluation& result, Workspace& w) {
    const LegalSet legal = LegalActions(state);
    const Symmetry symmetry = RepresentativeSymmetry(state);
    EncodeLightBits(state, symmetry, legal, w.bits);
    w.outputs.clear();
    const auto& transform = kActionTransforms[symmetry.board];
    legal.ForEach([&](Action action) {
      w.outputs.push_back(static_cast<int16_t>(
          PolicyOutput(static_cast<Action>(transform[Index(action)]))));
    });
    kernels_.run(*network_, w.bits, w.outputs, w.scratch, w.policy.data());
    FillEvaluation(w.outputs,
                   {.policy = w.policy.data(),
                    .result = w.scratch.value,
                    .margins = w.scratch.value + kNumResults},
                   result);
  }

  const std::unique_ptr<const LightIntegers> network_;
  const LightKernels kernels_;
  CpuContextPool<Workspace> pool_;
};

absl::StatusOr<AlignedFloats> ReadParameters(const Checkpoint& checkpoint) {
  TARA_RETURN_IF_ERROR(CheckLightShape(checkpoint.shape));
  return LightTensors(checkpoint.shape.blocks).Read(checkpoint);
}

// Positions of each variant for the ranges of a network that has none.
constexpr int kRangePositions = 32;
constexpr uint64_t kRangeSeed = 1;

}  // namespace

std::vector<State> PositionsOfRandomGames(int per_variant, uint64_t seed) {
  std::vector<State> positions;
  for (const VariantInfo& info : kVariants) {
    Random random(DeriveSeed(seed, static_cast<uint64_t>(info.variant),
                             StreamPurpose::kPlayouts));
    State state = InitialState(info.variant);
    for (int found = 0; found < per_variant;) {
      if (state.finished()) state = InitialState(info.variant);
      // About one in eight, so that positions of one game differ.
      if (random.Below(8) == 0) {
        positions.push_back(state);
        ++found;
      }
      ApplyAction(RandomAction(state, random), state);
    }
  }
  return positions;
}

absl::StatusOr<LightRanges> LightRangesOf(const Checkpoint& checkpoint) {
  TARA_ASSIGN_OR_RETURN(std::optional<LightRanges> ranges,
                        ReadLightRanges(checkpoint, checkpoint.shape.blocks));
  if (ranges.has_value()) return *std::move(ranges);
  const LightTensors tensors(checkpoint.shape.blocks);
  TARA_ASSIGN_OR_RETURN(const AlignedFloats parameters,
                        tensors.Read(checkpoint));
  return MeasureLightRanges(
      tensors, parameters.data(),
      PositionsOfRandomGames(kRangePositions, kRangeSeed));
}

std::vector<absl::string_view> LightKernelNames() {
  std::vector<absl::string_view> names;
  for (const LightKernels& kernels : SupportedLightKernels()) {
    names.push_back(kernels.name);
  }
  return names;
}

absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewLightEvaluator(
    const Checkpoint& checkpoint, absl::string_view kernels) {
  TARA_ASSIGN_OR_RETURN(const AlignedFloats parameters,
                        ReadParameters(checkpoint));
  const LightTensors tensors(checkpoint.shape.blocks);
  TARA_ASSIGN_OR_RETURN(const LightRanges ranges, LightRangesOf(checkpoint));
  std::vector<LightKernels> supported = SupportedLightKernels();
  while (!kernels.empty() && supported.back().name != kernels) {
    supported.pop_back();
    TARA_CHECK(!supported.empty(), "no such kernels");
  }
  return std::make_unique<LightEvaluator>(
      MakeLightIntegers(tensors, parameters.data(), ranges), supported.back());
}

absl::Status EvaluateInFloats(const Checkpoint& checkpoint,
                              absl::Span<const State> states,
                              absl::Span<mcts::Evaluation> results) {
  TARA_ASSIGN_OR_RETURN(const AlignedFloats parameters,
                        ReadParameters(checkpoint));
  EvaluateInFloats(LightTensors(checkpoint.shape.blocks), parameters.data(),
                   states, results);
  return absl::OkStatus();
}

}  // namespace tara::nn
