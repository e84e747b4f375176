#ifndef TARA_NN_TORCH_DEVICE_EVALUATOR_H_
#define TARA_NN_TORCH_DEVICE_EVALUATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

struct DeviceEvaluatorOptions {
  // As ParseDevice (tara/nn/inference_options.h) reads it. Several devices
  // share the calls: each takes turns, and large calls are spread over all.
  std::string device = "cpu";
  // kAuto: on the CPU float32; on a GPU the fastest of bfloat16, float16 and
  // float32 by a short measurement, bfloat16 if it is nearly so.
  Precision precision = Precision::kAuto;
  // Maximum number of positions in a part. A call is split into equal parts,
  // and from twice the minimum on into at least two, so that one is encoded
  // while the device computes another. Memory of a GPU: some 15 KB per position
  // and 128 channels in 16 bits, for each part in progress.
  int max_part = 512;
  int least_part = 128;
};

struct DeviceEvaluator {
  std::unique_ptr<mcts::Evaluator> evaluator;
  Precision precision = Precision::kFloat32;  // never kAuto
};

// Makes an evaluator that computes with LibTorch on any of its devices. The
// evaluator is thread-safe; the calls of several threads are underway at once,
// each with streams and buffers of its own.
//
// An answer depends a little, within rounding, on the size of its batch.
//
// Returns INVALID_ARGUMENT for a device that cannot be meant, or a tensor that
// is missing or misshapen, naming it; FAILED_PRECONDITION if the device does
// not exist; UNIMPLEMENTED for a precision that it does not have;
// RESOURCE_EXHAUSTED, as do its calls, when memory does not suffice.
absl::StatusOr<DeviceEvaluator> NewDeviceEvaluator(
    const Checkpoint& checkpoint, const DeviceEvaluatorOptions& options);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_DEVICE_EVALUATOR_H_
