#include "tara/nn/torch/torch_evaluator.h"

#include <torch/torch.h>

#include <algorithm>
#include <exception>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/torch/folded_network_torch.h"
#include "tara/nn/torch/network_torch.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

// Positions computed together: more no longer fit the cache.
constexpr int kMaxBatch = 128;

class TorchEvaluator : public mcts::Evaluator {
 public:
  explicit TorchEvaluator(const Network& network)
      : network_(network, at::kCPU, at::kFloat) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    TARA_CHECK(states.size() == results.size(), "one result for each state");
    SetTorchThreads(1);
    try {
      // Equal parts: a small rest would cost more than its share.
      const size_t parts = (states.size() + kMaxBatch - 1) / kMaxBatch;
      size_t begin = 0;
      for (size_t part = 1; part <= parts; ++part) {
        const size_t end = states.size() * part / parts;
        EvaluateBatch(states.subspan(begin, end - begin),
                      results.subspan(begin, end - begin));
        begin = end;
      }
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return TorchError(
          absl::StrCat("evaluating ", states.size(), " positions"),
          "use a smaller network or fewer threads", error);
    }
  }

 private:
  void EvaluateBatch(absl::Span<const State> states,
                     absl::Span<mcts::Evaluation> results) const {
    thread_local EncodedBatch batch;  // keeps its memory
    batch.EncodeCanonical(states);
    const c10::InferenceMode inference_mode;
    const at::Tensor outputs =
        network_.Forward(PlanesOf(batch), GlobalsOf(batch));
    for (int i = 0; i < batch.size(); ++i) {
      FillEvaluation(batch, i, RowOfOutputs(outputs.data_ptr<float>(), i),
                     results[i]);
    }
  }

  const FoldedNetwork network_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<mcts::Evaluator>> NewTorchEvaluator(
    const Checkpoint& checkpoint) {
  try {
    const c10::InferenceMode inference_mode;
    Network network(checkpoint.shape);
    TARA_RETURN_IF_ERROR(LoadWeights(checkpoint, network));
    return std::make_unique<TorchEvaluator>(network);
  } catch (const std::exception& error) {
    return TorchError("loading a network", "use a smaller one", error);
  }
}

}  // namespace tara::nn
