#ifndef TARA_NN_INFERENCE_OPTIONS_H_
#define TARA_NN_INFERENCE_OPTIONS_H_

#include <string>

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

}  // namespace tara

#endif  // TARA_NN_INFERENCE_OPTIONS_H_
