#include "tara/nn/cpu/cpu_precision.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <dnnl.hpp>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {
namespace {

// Instruction sets of oneDNN are sets of bits: a greater one has those of what
// it extends.
bool Has(dnnl::cpu_isa wanted) {
  const auto all = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bits = static_cast<unsigned>(wanted);
  return (all & bits) == bits;
}

// Not a number is not within bounds either.
bool WithinBounds(const PrecisionError& error) {
  return error.value <= kLargestPrecisionError.value &&
         error.policy <= kLargestPrecisionError.policy;
}

// The least time of each for these positions, over rounds by turns.
absl::StatusOr<std::vector<absl::Duration>> LeastTimes(
    absl::Span<const PrecisionCandidate> candidates,
    absl::Span<const State> positions,
    const std::function<absl::Time()>& clock) {
  constexpr absl::Duration kEnough = absl::Milliseconds(50);
  constexpr int kRounds = 3;
  std::vector<mcts::Evaluation> results(positions.size());
  std::vector<absl::Duration> least(candidates.size(),
                                    absl::InfiniteDuration());
  absl::Duration total;
  for (int round = 0; round < kRounds || total < kEnough; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const absl::Time start = clock();
      TARA_RETURN_IF_ERROR(candidates[i].evaluator->Evaluate(
          positions, absl::MakeSpan(results)));
      const absl::Duration taken = clock() - start;
      least[i] = std::min(least[i], taken);
      total += taken;
    }
  }
  return least;
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

absl::StatusOr<Precision> ChooseCpuPrecision(
    absl::Span<const PrecisionCandidate> candidates,
    absl::Span<const State> positions,
    const std::function<absl::Time()>& clock) {
  std::vector<PrecisionCandidate> accurate;
  std::vector<mcts::Evaluation> reference(positions.size());
  std::vector<mcts::Evaluation> evaluations(positions.size());
  for (const PrecisionCandidate& candidate : candidates) {
    std::vector<mcts::Evaluation>& results =
        accurate.empty() ? reference : evaluations;
    TARA_RETURN_IF_ERROR(
        candidate.evaluator->Evaluate(positions, absl::MakeSpan(results)));
    if (WithinBounds(ErrorOf(reference, results))) {
      accurate.push_back(candidate);
    }
  }
  if (accurate.size() < 2) return candidates[0].precision;
  TARA_ASSIGN_OR_RETURN(const std::vector<absl::Duration> times,
                        LeastTimes(accurate, positions, clock));
  size_t best = 0;
  for (size_t i = 1; i < accurate.size(); ++i) {
    if (times[i] * kNeededSpeedup < times[best]) best = i;
  }
  return accurate[best].precision;
}

}  // namespace tara::nn
