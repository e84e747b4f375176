#ifndef TARA_NN_BUNDLE_VERIFY_BUNDLE_H_
#define TARA_NN_BUNDLE_VERIFY_BUNDLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/bundle/bundle.h"

namespace tara::nn {

enum class CheckResult { kAgrees, kDiffers, kNotRun };

// The comparison of one form of a network with the golden outputs, or of
// another part of a bundle with its origin.
struct FormCheck {
  // "inputs", "expected"; of towers "libtorch" and "onednn", of light networks
  // "float32" and "int8"; or that of a form.
  std::string name;
  std::string computed_by;  // for people
  CheckResult result = CheckResult::kNotRun;
  // Largest |o - g| / max(1, |g|) of an output o and its golden value g. For
  // "int8", the larger of the mean differences of values and of priors.
  double difference = 0;
  double tolerance = 0;
  std::string note = {};  // why it was not run, or could not be
};

// Holds a bundle to its golden positions: this program's encoder to the inputs,
// bit for bit; what golden.json expects to the golden outputs; the weights of
// model.onnx, evaluated by LibTorch and by oneDNN (in float32); or a light
// network, evaluated by its own code in floats and in integers. Both ONNX
// models must be what this program writes for these weights (CheckOnnxModel),
// but are not run. Returns DATA_LOSS for parts that are damaged: golden
// positions that this program would describe otherwise, and golden outputs that
// are not finite or, for illegal actions, not NaN.
absl::StatusOr<std::vector<FormCheck>> VerifyBundle(const Bundle& bundle);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_VERIFY_BUNDLE_H_
