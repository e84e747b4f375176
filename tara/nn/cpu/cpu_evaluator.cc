#include "tara/nn/cpu/cpu_evaluator.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/state.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"

namespace tara::nn {
namespace {

// Positions encoded together: more would leave the second cache.
constexpr int kMaxEncoded = 64;

// The memory of a thread for a call.
struct Workspace {
  explicit Workspace(const CpuNetwork& network) : context(network) {}

  CpuContext context;
  EncodedBatch batch;
  // Outputs of one position, where FillEvaluation looks for them.
  std::array<float, kNumPolicyOutputs> policy;
};

class TowerEvaluator : public mcts::Evaluator {
 public:
  explicit TowerEvaluator(CpuNetwork network) : network_(std::move(network)) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    auto workspace =
        pool_.Take([this] { return std::make_unique<Workspace>(network_); });
    for (size_t begin = 0; begin < states.size(); begin += kMaxEncoded) {
      EvaluateEncoded(states.subspan(begin, kMaxEncoded),
                      results.subspan(begin, kMaxEncoded), *workspace);
    }
    pool_.Return(std::move(workspace));
    return absl::OkStatus();
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
            // Only the outputs that stand for legal actions are read.
            const auto legal = batch.OutputsOf(first + i);
            for (const int16_t output : legal) {
              workspace.policy[output] = outputs.Policy(i, output);
            }
            const float* const value = outputs.value + i * outputs.value_stride;
            FillEvaluation(legal,
                           {.policy = workspace.policy.data(),
                            .result = value,
                            .margins = value + kNumResults},
                           results[first + i]);
          }
        });
  }

  const CpuNetwork network_;
  CpuContextPool<Workspace> pool_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewCpuEvaluator(
    const Checkpoint& checkpoint) {
  TARA_ASSIGN_OR_RETURN(CpuNetwork network, MakeCpuNetwork(checkpoint));
  return std::make_unique<TowerEvaluator>(std::move(network));
}

EvaluationError ErrorOf(absl::Span<const mcts::Evaluation> reference,
                        absl::Span<const mcts::Evaluation> evaluations) {
  EvaluationError error;
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

}  // namespace tara::nn
