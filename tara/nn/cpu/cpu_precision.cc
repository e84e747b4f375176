#include "tara/nn/cpu/cpu_precision.h"

#include <cmath>
#include <cstddef>
#include <dnnl.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/inference_options.h"

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

}  // namespace tara::nn
