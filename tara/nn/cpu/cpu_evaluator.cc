#include "tara/nn/cpu/cpu_evaluator.h"

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/nn/cpu/cpu_calibration.h"
#include "tara/nn/cpu/cpu_convolution.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/cpu/cpu_precision.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// Positions encoded together: more would leave the second cache.
constexpr int kMaxEncoded = 64;

// Positions of each variant, for the ranges of integers, and for the errors of
// precisions: others, or ranges would be judged by what they were fitted to.
constexpr int kCalibrationPositions = 16;
constexpr uint64_t kCalibrationSeed = 1;
// Of ten variants together they fill whole tiles, as in the batches of players.
constexpr int kErrorPositions = 8;
constexpr uint64_t kErrorSeed = 2;

// The number types that are faster than float32, the fastest first.
absl::Span<const Precision> FasterThanFloat32() {
#if defined(__x86_64__)
  static constexpr Precision kFaster[] = {Precision::kInt8, Precision::kInt16};
  return kFaster;
#else
  return {};  // of others nothing was measured
#endif
}

// Smaller networks spend their time elsewhere than in products.
constexpr int kMinChannelsForIntegers = 32;

// The memory of a thread for a call.
struct Workspace {
  explicit Workspace(const CpuNetwork& network) : context(network) {}

  CpuContext context;
  EncodedBatch batch;
  // Outputs of one position, where FillEvaluation looks for them.
  std::array<float, kNumPolicyOutputs> policy;
};

class OneDnnEvaluator : public mcts::Evaluator {
 public:
  OneDnnEvaluator(CpuWeights weights, Precision precision,
                  const CpuRanges& ranges)
      : network_(std::move(weights), precision, ranges, &OneDnnConvolutions) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    const OneOpenMpThread one_thread;
    try {
      auto workspace =
          pool_.Take([this] { return std::make_unique<Workspace>(network_); });
      for (size_t begin = 0; begin < states.size(); begin += kMaxEncoded) {
        EvaluateEncoded(states.subspan(begin, kMaxEncoded),
                        results.subspan(begin, kMaxEncoded), *workspace);
      }
      pool_.Return(std::move(workspace));
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat("oneDNN failed while evaluating ",
                                              states.size(),
                                              " positions: ", error.what()));
    }
  }

  size_t batch_multiple() const override { return kMaxCpuTile; }

 private:
  static void EvaluateEncoded(absl::Span<const State> states,
                              absl::Span<mcts::Evaluation> results,
                              Workspace& workspace) {
    EncodedBatch& batch = workspace.batch;
    batch.EncodeCanonical(states);
    workspace.context.Run(
        batch, [&](int first, int size, const CpuContext::Outputs& outputs) {
          for (int i = 0; i < size; ++i) {
            Fill(batch, first + i, outputs, i, workspace, results[first + i]);
          }
        });
  }

  // Fills the evaluation of position `position` from the outputs of place `i`.
  static void Fill(const EncodedBatch& batch, int position,
                   const CpuContext::Outputs& outputs, int i,
                   Workspace& workspace, mcts::Evaluation& evaluation) {
    // Only the outputs that stand for legal actions are read.
    for (const int16_t output : batch.OutputsOf(position)) {
      workspace.policy[output] = outputs.Policy(i, output);
    }
    const float* const value = outputs.value + i * outputs.value_stride;
    FillEvaluation(batch, position,
                   {.policy = workspace.policy.data(),
                    .result = value,
                    .margins = value + 3},
                   evaluation);
  }

  const CpuNetwork network_;
  CpuContextPool<Workspace> pool_;
};

// Makes evaluators of one network. Throws dnnl::error.
class Maker {
 public:
  Maker(CpuWeights weights, std::optional<CpuRanges> ranges)
      : weights_(std::move(weights)), ranges_(std::move(ranges)) {}

  CpuEvaluator Make(Precision precision) {
    const bool integers =
        precision == Precision::kInt8 || precision == Precision::kInt16;
    if (integers && !ranges_) {
      ranges_ = CalibrateCpuRanges(
          weights_,
          PositionsOfRandomGames(kCalibrationPositions, kCalibrationSeed));
    }
    return {.evaluator = std::make_unique<OneDnnEvaluator>(
                weights_, precision, ranges_.value_or(CpuRanges())),
            .precision = precision};
  }

  // Makes the fastest that is accurate. That integers are faster holds for
  // networks of every size (docs/lab/2026-11-speed.md): so the choice takes no
  // measurement, and processors of one kind choose alike.
  absl::StatusOr<CpuEvaluator> MakeBest() {
    CpuEvaluator reference = Make(Precision::kFloat32);
    if (weights_.channels < kMinChannelsForIntegers) return reference;
    const std::vector<State> positions =
        PositionsOfRandomGames(kErrorPositions, kErrorSeed);
    for (const Precision precision : FasterThanFloat32()) {
      if (!CheckCpuPrecision(precision).ok()) continue;
      CpuEvaluator candidate = Make(precision);
      TARA_ASSIGN_OR_RETURN(
          const bool accurate,
          IsAccurate(*candidate.evaluator, *reference.evaluator, positions));
      if (accurate) return candidate;
    }
    return reference;
  }

 private:
  const CpuWeights weights_;
  std::optional<CpuRanges> ranges_;
};

}  // namespace

absl::StatusOr<CpuEvaluator> NewCpuEvaluator(const Checkpoint& checkpoint,
                                             Precision precision) {
  TARA_RETURN_IF_ERROR(CheckCpuPrecision(precision));
  TARA_ASSIGN_OR_RETURN(CpuWeights weights, FoldCpuWeights(checkpoint));
  TARA_ASSIGN_OR_RETURN(std::optional<CpuRanges> ranges,
                        CpuRangesOf(checkpoint));
  try {
    Maker maker(std::move(weights), std::move(ranges));
    if (precision == Precision::kAuto) return maker.MakeBest();
    return maker.Make(precision);
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("oneDNN failed while loading: ", error.what()));
  }
}

}  // namespace tara::nn
