#include "tara/nn/inference/final_forecast.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/symmetry.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/cpu/cpu_weights.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference_options.h"

namespace tara::nn {
namespace {

// The linear layer of a head as checkpoints have it: output[o] = bias[o] + sum
// over i of weight[o][i] * input[i].
struct HeadLayer {
  bool has_learned = false;
  int in = 0;
  std::vector<float> weight;  // [out, in]
  std::vector<float> bias;    // [out]

  // Writes the probabilities of outputs `first` to `first + count` - 1.
  void Chances(const float* input, int first, int count, float* chances) const {
    for (int k = 0; k < count; ++k) {
      const float* const row =
          weight.data() + static_cast<ptrdiff_t>(first + k) * in;
      chances[k] = std::inner_product(row, row + in, input, bias[first + k]);
    }
    const float most = *std::max_element(chances, chances + count);
    float sum = 0;
    for (int k = 0; k < count; ++k) {
      sum += chances[k] = std::exp(chances[k] - most);
    }
    for (int k = 0; k < count; ++k) chances[k] /= sum;
  }
};

// Returns the layer `name` of a head, nothing if the checkpoint lacks it, or
// INVALID_ARGUMENT.
absl::StatusOr<std::optional<HeadLayer>> ReadHead(
    const Checkpoint& checkpoint, Head head, const std::string& name,
    const std::vector<int64_t>& shape) {
  if (!checkpoint.Has(name + ".weight")) return std::nullopt;
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const weight,
                        checkpoint.Find(name + ".weight", shape));
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const bias,
                        checkpoint.Find(name + ".bias", {shape[0]}));
  return HeadLayer{.has_learned = HasLearned(checkpoint, head),
                   .in = static_cast<int>(shape[1]),
                   .weight = weight->values,
                   .bias = bias->values};
}

class CpuForecaster : public FinalForecaster {
 public:
  CpuForecaster(CpuWeights weights, std::optional<HeadLayer> owners,
                std::optional<HeadLayer> kingdoms)
      : network_(std::move(weights), Precision::kFloat32, CpuRanges()),
        owners_(std::move(owners)),
        kingdoms_(std::move(kingdoms)),
        context_(network_) {}

  bool tells_owners() const override {
    return owners_.has_value() && owners_->has_learned;
  }
  bool tells_kingdoms() const override {
    return kingdoms_.has_value() && kingdoms_->has_learned;
  }

  absl::Status Forecast(absl::Span<const State> states,
                        absl::Span<FinalForecast> forecasts) override
      ABSL_LOCKS_EXCLUDED(mutex_) {
    TARA_CHECK(states.size() == forecasts.size(), "one forecast each");
    std::vector<Symmetry> symmetries;
    for (const State& state : states) {
      symmetries.push_back(RepresentativeSymmetry(state));
    }
    absl::MutexLock lock(&mutex_);
    batch_.Encode(states, symmetries);
    context_.Run(batch_,
                 [&](int first, int size, const CpuContext::Outputs& outputs) {
                   for (int i = 0; i < size; ++i) {
                     Fill(states[first + i], symmetries[first + i], outputs, i,
                          forecasts[first + i]);
                   }
                 });
    return absl::OkStatus();
  }

 private:
  // Fills the forecast of a position from the outputs at place `i`.
  void Fill(const State& state, const Symmetry& symmetry,
            const CpuContext::Outputs& outputs, int i,
            FinalForecast& forecast) const {
    forecast = {};
    const Side own = state.side();
    if (owners_.has_value()) {
      const int channels = network_.weights().channels;
      const float* const rows = outputs.value_rows + static_cast<ptrdiff_t>(i) *
                                                         kNumSquares * channels;
      for (Hill hill = 0; hill < kNumHills; ++hill) {
        const int square = SquareOf(TransformHill(symmetry.board, hill));
        float chances[kNumOwners];
        owners_->Chances(rows + static_cast<ptrdiff_t>(square) * channels, 0,
                         kNumOwners, chances);
        forecast.red[hill] = chances[own == kRed ? 0 : 1];
        forecast.blue[hill] = chances[own == kRed ? 1 : 0];
        forecast.vacant[hill] = chances[2];
      }
    }
    if (kingdoms_.has_value()) {
      const float* const hidden =
          outputs.hidden + static_cast<ptrdiff_t>(i) * outputs.hidden_stride;
      for (int part = 0; part < 2; ++part) {  // own, enemy
        const Side side = part == 0 ? own : Opponent(own);
        kingdoms_->Chances(hidden, part * kNumKingdomCounts, kNumKingdomCounts,
                           forecast.kingdoms[side].data());
      }
    }
  }

  const CpuNetwork network_;
  const std::optional<HeadLayer> owners_;
  const std::optional<HeadLayer> kingdoms_;
  absl::Mutex mutex_;
  EncodedBatch batch_ ABSL_GUARDED_BY(mutex_);
  CpuContext context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<FinalForecaster>> NewFinalForecaster(
    const Checkpoint& checkpoint) {
  const int64_t channels = checkpoint.shape.channels;
  TARA_ASSIGN_OR_RETURN(CpuWeights weights, FoldCpuWeights(checkpoint));
  TARA_ASSIGN_OR_RETURN(std::optional<HeadLayer> owners,
                        ReadHead(checkpoint, Head::kOwner, "owner_planes",
                                 {kNumOwners, channels, 1, 1}));
  TARA_ASSIGN_OR_RETURN(std::optional<HeadLayer> kingdoms,
                        ReadHead(checkpoint, Head::kKingdoms, "kingdoms_output",
                                 {2 * kNumKingdomCounts, kValueHidden}));
  return std::make_unique<CpuForecaster>(std::move(weights), std::move(owners),
                                         std::move(kingdoms));
}

absl::StatusOr<std::unique_ptr<FinalForecaster>> LoadFinalForecaster(
    const std::string& path) {
  TARA_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadNetworkFile(path));
  absl::StatusOr<std::unique_ptr<FinalForecaster>> made =
      NewFinalForecaster(checkpoint);
  if (made.status().code() == absl::StatusCode::kInvalidArgument) {
    return absl::DataLossError(
        absl::StrCat(IsBundlePath(path) ? "Bundle " : "Checkpoint ", path, ": ",
                     made.status().message()));
  }
  return made;
}

}  // namespace tara::nn
