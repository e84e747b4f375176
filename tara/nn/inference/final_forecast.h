#ifndef TARA_NN_INFERENCE_FINAL_FORECAST_H_
#define TARA_NN_INFERENCE_FINAL_FORECAST_H_

#include <array>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/nn/heads.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// A network's forecast of the board when the game is over: the outputs of its
// auxiliary heads, which searches do not ask for.
struct FinalForecast {
  // By hill, in canonical order: the probabilities that Red, that Blue holds
  // it, and that it is vacant.
  std::array<float, kNumHills> red;
  std::array<float, kNumHills> blue;
  std::array<float, kNumHills> vacant;
  // By side: the probability of each number of kingdoms; kMaxKingdoms stands
  // for more, too.
  std::array<std::array<float, kNumKingdomCounts>, 2> kingdoms;
};

// Makes forecasts of single positions, on the CPU and in float32: for the roots
// of searches. Thread-safe.
class FinalForecaster {
 public:
  virtual ~FinalForecaster() = default;

  // Whether the network has learned who will hold each hill, and how many
  // kingdoms there will be; the part of the forecasts is else meaningless.
  virtual bool tells_owners() const = 0;
  virtual bool tells_kingdoms() const = 0;

  // Fills forecasts[i] for states[i]. Returns INTERNAL when oneDNN fails.
  // REQUIRES: no state is finished; the spans have one size.
  virtual absl::Status Forecast(absl::Span<const State> states,
                                absl::Span<FinalForecast> forecasts) = 0;
};

// Makes a forecaster of the checkpoint's network. Returns INVALID_ARGUMENT when
// a tensor is missing or misshapen; the auxiliary heads may be missing.
absl::StatusOr<std::unique_ptr<FinalForecaster>> NewFinalForecaster(
    const Checkpoint& checkpoint);

// Loads it from a checkpoint or a bundle. Errors as ReadNetworkFile, or
// DATA_LOSS for a network that is none.
absl::StatusOr<std::unique_ptr<FinalForecaster>> LoadFinalForecaster(
    const std::string& path);

}  // namespace tara::nn

#endif  // TARA_NN_INFERENCE_FINAL_FORECAST_H_
