#ifndef TARA_NN_INFERENCE_OPTIONS_H_
#define TARA_NN_INFERENCE_OPTIONS_H_

#include <string>

namespace tara::nn {

// The number type of the products of a network. Sums are float32 or, of int16
// and int8, int32.
enum class Precision {
  kAuto,  // what is fastest here, by a short measurement
  kFloat32,
  kBfloat16,
  kFloat16,
  kInt16,
  kInt8,
};

// What computes.
enum class InferenceBackend {
  kAuto,    // the fastest for the device: oneDNN on the CPU, else LibTorch
  kTorch,   // LibTorch: the reference
  kOneDnn,  // oneDNN: on the CPU alone
};

struct InferenceOptions {
  // "cpu", or devices of LibTorch: "cuda", "cuda:1" or "cuda:all"
  // (tara/nn/device_text.h).
  std::string device = "cpu";
  InferenceBackend backend = InferenceBackend::kAuto;
  Precision precision = Precision::kAuto;
};

// What was chosen where the options left a choice. A run that is to be repeated
// records it, and asks for the same.
struct InferenceInfo {
  InferenceBackend backend = InferenceBackend::kTorch;
  Precision precision = Precision::kFloat32;
};

}  // namespace tara::nn

#endif  // TARA_NN_INFERENCE_OPTIONS_H_
