#ifndef TARA_NN_NETWORK_EVALUATOR_H_
#define TARA_NN_NETWORK_EVALUATOR_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tara/mcts/evaluator.h"

namespace tara {

// The number type of the products of a network. Sums are float32 or, of int8,
// int32.
enum class Precision {
  kAuto,  // what is fastest here, by a short measurement
  kFloat32,
  kBfloat16,
  kFloat16,
  kInt8,
};

// What computes.
enum class InferenceBackend {
  kAuto,   // the fastest for the device
  kTorch,  // LibTorch: the reference
};

struct InferenceOptions {
  // "cpu", or a device of LibTorch such as "cuda" or "cuda:1".
  std::string device = "cpu";
  InferenceBackend backend = InferenceBackend::kAuto;
  Precision precision = Precision::kAuto;
};

// Loads the network of a checkpoint for inference. The evaluator is thread-safe
// and takes no locks; on the CPU each call computes on its own thread alone.
//
// Returns NOT_FOUND, DATA_LOSS or FAILED_PRECONDITION as ReadCheckpoint;
// DATA_LOSS when a tensor is missing or misshapen, naming file and cause;
// UNIMPLEMENTED when the backend has no such device or precision.
absl::StatusOr<std::unique_ptr<Evaluator>> LoadNetworkEvaluator(
    const std::string& checkpoint_path, const InferenceOptions& options = {});

}  // namespace tara

#endif  // TARA_NN_NETWORK_EVALUATOR_H_
