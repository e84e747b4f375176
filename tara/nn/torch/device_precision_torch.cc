#include "tara/nn/torch/device_precision_torch.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <exception>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference_option_text.h"
#include "tara/nn/torch/folded_network_torch.h"

namespace tara::nn {
namespace {

constexpr int kRounds = 5;

// Enough for a GPU to work in earnest, and little for a CPU.
int TrialBatch(const c10::Device& device) { return device.is_cpu() ? 2 : 256; }

// bfloat16 has the range of float32 and cannot overflow: another type must be
// faster by this factor to be preferred.
constexpr double kPreference = 1.25;

// The largest difference allowed of a logit in 16 bits, as a share of the
// largest logit: eight bits of mantissa lose 0.4 % an operation, and errors add
// up like a random walk over the layers. What is to be found is not rounding
// but overflow and kernels that do not work.
constexpr double kMaxDifference = 0.25;

struct Trial {
  at::Tensor outputs;
  absl::Duration time;  // the least of some
};

// Inputs like those of positions: planes mostly of zeros and ones.
struct TrialInputs {
  explicit TrialInputs(const c10::Device& device) {
    const int batch = TrialBatch(device);
    // Without a generator: numbers that follow no pattern of the planes.
    const auto count = int64_t{batch} * kNumPlanes * kBoardSize * kBoardSize;
    const at::Tensor steps = at::arange(count, at::kFloat).mul(0.618034f);
    planes = (steps - steps.floor())
                 .lt(0.3)
                 .to(device, at::kFloat)
                 .view({batch, kBoardSize, kBoardSize, kNumPlanes})
                 .permute({0, 3, 1, 2});
    globals = at::full({batch, kNumGlobals}, 0.25).to(device);
  }
  at::Tensor planes;
  at::Tensor globals;
};

Trial Try(const Network& network, const c10::Device& device,
          const TrialInputs& inputs, at::ScalarType type) {
  const FoldedNetwork folded(network, device, type);
  const c10::Stream stream =
      c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  Trial trial = {.outputs = {}, .time = absl::InfiniteDuration()};
  for (int round = 0; round < kRounds; ++round) {
    stream.synchronize();
    const absl::Time start = absl::Now();
    trial.outputs = folded.Forward(inputs.planes, inputs.globals);
    stream.synchronize();
    trial.time = std::min(trial.time, absl::Now() - start);
  }
  return trial;
}

absl::Status Differs(const at::Tensor& outputs, const at::Tensor& expected) {
  const double scale = expected.abs().max().item<double>();
  const double difference = (outputs - expected).abs().max().item<double>();
  // Not the other way round: a NaN is not less.
  if (difference <= kMaxDifference * scale) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("logits differ by ", difference,
                                               " from those in float32, ",
                                               "which are up to ", scale));
}

// Tries a type of 16 bits; returns its time, or why it cannot be used.
absl::StatusOr<absl::Duration> TryShort(const Network& network,
                                        const c10::Device& device,
                                        const TrialInputs& inputs,
                                        const Trial& reference,
                                        at::ScalarType type) {
  try {
    const Trial trial = Try(network, device, inputs, type);
    TARA_RETURN_IF_ERROR(Differs(trial.outputs, reference.outputs));
    return trial.time;
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::exception& error) {
    return absl::UnimplementedError(error.what());
  }
}

}  // namespace

at::ScalarType TypeOf(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return at::kFloat;
    case Precision::kBfloat16:
      return at::kBFloat16;
    case Precision::kFloat16:
      return at::kHalf;
    case Precision::kAuto:
    case Precision::kInt16:
    case Precision::kInt8:
      break;
  }
  TARA_CHECK(false, "LibTorch's networks have no such type");
  return at::kFloat;
}

absl::StatusOr<Precision> ChoosePrecision(const Network& network,
                                          const c10::Device& device,
                                          Precision precision) {
  if (precision == Precision::kInt16 || precision == Precision::kInt8) {
    return absl::UnimplementedError(absl::StrCat(
        "LibTorch's networks do not compute in ", PrecisionName(precision),
        "; expected auto, float32, bfloat16 or float16"));
  }
  if (precision == Precision::kFloat32 ||
      (precision == Precision::kAuto && device.is_cpu())) {
    return Precision::kFloat32;
  }
  const TrialInputs inputs(device);
  const Trial reference = Try(network, device, inputs, at::kFloat);
  const auto time_of = [&](Precision type) {
    return TryShort(network, device, inputs, reference, TypeOf(type));
  };
  if (precision != Precision::kAuto) {
    const auto time = time_of(precision);
    if (time.ok()) return precision;
    return absl::UnimplementedError(absl::StrCat(
        "LibTorch cannot compute this network in ", PrecisionName(precision),
        " on ", device.str(), ": ", time.status().message()));
  }
  Precision best = Precision::kFloat32;
  absl::Duration least = reference.time;
  for (const Precision type : {Precision::kFloat16, Precision::kBfloat16}) {
    const auto time = time_of(type);
    if (!time.ok()) continue;
    if (*time < least * (type == Precision::kBfloat16 ? kPreference : 1.0)) {
      best = type;
      least = *time;
    }
  }
  return best;
}

}  // namespace tara::nn
