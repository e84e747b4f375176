#include "tara/nn/cpu_evaluator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <dnnl.hpp>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/nn/cpu_context_pool.h"
#include "tara/nn/cpu_convolution.h"
#include "tara/nn/cpu_network.h"
#include "tara/nn/cpu_weights.h"
#include "tara/nn/encoded_batch.h"
#include "tara/nn/features.h"
#include "tara/nn/inference_option_text.h"
#include "tara/nn/policy_map.h"

namespace tara {
namespace {

// Positions encoded together: more would leave the second cache.
constexpr int kMaxEncoded = 64;

// What a thread needs for a call.
struct Workspace {
  explicit Workspace(const CpuNetwork& network) : context(network) {}

  CpuContext context;
  EncodedBatch batch;
  // The inputs of a tile that is not full.
  std::array<float, kNumPolicyOutputs> policy;
};

class OneDnnEvaluator : public Evaluator {
 public:
  OneDnnEvaluator(CpuWeights weights, Precision precision,
                  const CpuRanges& ranges)
      : network_(std::move(weights), precision, ranges) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override {
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

 private:
  static void EvaluateEncoded(absl::Span<const State> states,
                              absl::Span<Evaluation> results,
                              Workspace& workspace) {
    EncodedBatch& batch = workspace.batch;
    batch.EncodeCanonical(states);
    int first = 0;
    for (size_t tile = 0; tile < kCpuTiles.size(); ++tile) {
      for (; batch.size() - first >= kCpuTiles[tile];
           first += kCpuTiles[tile]) {
        const CpuContext::Outputs outputs = workspace.context.Run(
            static_cast<int>(tile),
            batch.planes() + size_t{1} * first * kNumSquares * kNumPlanes,
            batch.globals() + size_t{1} * first * kNumGlobals);
        for (int i = 0; i < kCpuTiles[tile]; ++i) {
          Fill(batch, first + i, outputs, i, workspace, results[first + i]);
        }
      }
    }
  }

  // Fills the evaluation of position `position` from the outputs of place `i`.
  static void Fill(const EncodedBatch& batch, int position,
                   const CpuContext::Outputs& outputs, int i,
                   Workspace& workspace, Evaluation& evaluation) {
    const float* const rows =
        outputs.policy_rows + i * kNumSquares * outputs.policy_channels;
    // Only the outputs that stand for legal actions are read.
    for (const int16_t output : batch.OutputsOf(position)) {
      workspace.policy[output] =
          output == kPassOutput
              ? outputs.pass[i * outputs.pass_stride]
              : rows[output % kNumSquares * outputs.policy_channels +
                     output / kNumSquares];
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

}  // namespace

absl::StatusOr<CpuEvaluator> NewCpuEvaluator(const Checkpoint& checkpoint,
                                             Precision precision) {
  if (precision != Precision::kAuto && precision != Precision::kFloat32) {
    return absl::UnimplementedError(absl::StrCat("oneDNN computes no ",
                                                 PrecisionName(precision),
                                                 " here; expected float32"));
  }
  TARA_ASSIGN_OR_RETURN(CpuWeights weights, FoldCpuWeights(checkpoint));
  try {
    return CpuEvaluator{
        .evaluator = std::make_unique<OneDnnEvaluator>(
            std::move(weights), Precision::kFloat32, CpuRanges()),
        .precision = Precision::kFloat32};
  } catch (const std::exception& error) {
    return absl::InternalError(
        absl::StrCat("oneDNN failed while loading: ", error.what()));
  }
}

}  // namespace tara
