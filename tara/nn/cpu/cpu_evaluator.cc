#include "tara/nn/cpu/cpu_evaluator.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <dnnl.hpp>
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
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// Instruction sets of oneDNN are sets of bits: an extension has the bits of the
// sets that it extends.
bool Has(dnnl::cpu_isa wanted) {
  const auto all = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bits = static_cast<unsigned>(wanted);
  return (all & bits) == bits;
}

}  // namespace

absl::Status CheckCpuPrecision(Precision precision) {
  const char* lacking = nullptr;
  switch (precision) {
    case Precision::kAuto:
    case Precision::kFloat32:
    case Precision::kInt16:
      return absl::OkStatus();
    case Precision::kInt8:
      if (Has(dnnl::cpu_isa::avx512_core_vnni) ||
          Has(dnnl::cpu_isa::avx2_vnni)) {
        return absl::OkStatus();
      }
      lacking = "this processor has neither AVX512_VNNI nor AVX-VNNI";
      break;
    case Precision::kBfloat16:
      if (Has(dnnl::cpu_isa::avx512_core_bf16)) return absl::OkStatus();
      lacking = "this processor has no AVX512_BF16";
      break;
    case Precision::kFloat16:
      lacking = "oneDNN has no such convolutions for processors";
      break;
  }
  return absl::UnimplementedError(
      absl::StrCat("cannot compute in ", PrecisionName(precision),
                   " on the CPU: ", lacking, "; expected float32 or auto"));
}

bool HasFastBfloat16() { return Has(dnnl::cpu_isa::avx512_core_amx); }

PrecisionError ErrorOf(absl::Span<const mcts::Evaluation> reference,
                       absl::Span<const mcts::Evaluation> evaluations) {
  PrecisionError error;
  for (size_t i = 0; i < reference.size(); ++i) {
    const std::vector<float>& expected = reference[i].priors;
    error.value += std::abs(reference[i].value() - evaluations[i].value());
    for (size_t k = 0; k < expected.size(); ++k) {
      error.policy += std::abs(expected[k] - evaluations[i].priors[k]) / 2;
    }
  }
  const auto count = static_cast<double>(reference.size());
  return {.value = error.value / count, .policy = error.policy / count};
}

absl::StatusOr<bool> IsAccurate(mcts::Evaluator& evaluator,
                                mcts::Evaluator& reference,
                                absl::Span<const State> positions) {
  std::vector<mcts::Evaluation> expected(positions.size());
  std::vector<mcts::Evaluation> results(positions.size());
  TARA_RETURN_IF_ERROR(reference.Evaluate(positions, absl::MakeSpan(expected)));
  TARA_RETURN_IF_ERROR(evaluator.Evaluate(positions, absl::MakeSpan(results)));
  const PrecisionError error = ErrorOf(expected, results);
  // Not a number is not within bounds either.
  return error.value <= kLargestPrecisionError.value &&
         error.policy <= kLargestPrecisionError.policy;
}

namespace {

// Positions encoded together: more would leave the second cache.
constexpr int kMaxEncoded = 64;

// Positions per variant, for the ranges of integers and, with other positions
// than the ranges were fitted to, for the errors of precisions.
constexpr int kCalibrationPositions = 16;
constexpr uint64_t kCalibrationSeed = 1;
// With ten variants they fill whole tiles, as in the batches of players.
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

  // Makes the fastest accurate one. Integers are faster for networks of every
  // size (docs/lab/2026-11-speed.md), so the choice needs no measurement and is
  // the same on processors of one kind.
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
