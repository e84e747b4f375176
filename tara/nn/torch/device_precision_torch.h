#ifndef TARA_NN_TORCH_DEVICE_PRECISION_TORCH_H_
#define TARA_NN_TORCH_DEVICE_PRECISION_TORCH_H_

#include <torch/torch.h>

#include "absl/status/statusor.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/network_torch.h"

namespace tara::nn {

// Returns the type of LibTorch. REQUIRES: neither kAuto nor kInt8.
at::ScalarType TypeOf(Precision precision);

// Returns the precision in which the network should compute on the device. It
// is tried out first: kAuto on a GPU takes the fastest of three. Returns
// UNIMPLEMENTED when LibTorch cannot compute in that precision there, or its
// answers are far from those in float32, saying which. REQUIRES: in inference
// mode.
absl::StatusOr<Precision> ChoosePrecision(const Network& network,
                                          const c10::Device& device,
                                          Precision precision);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_DEVICE_PRECISION_TORCH_H_
