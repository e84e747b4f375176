#ifndef TARA_NN_BUNDLE_VERIFY_BUNDLE_H_
#define TARA_NN_BUNDLE_VERIFY_BUNDLE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/golden.h"

namespace tara::nn {

// Runs the bytes of an ONNX model. UNAVAILABLE, saying why, where there is
// nothing to run it with.
using OnnxRunner = std::function<absl::StatusOr<NetworkOutputs>(
    const std::string& model, const NetworkInputs& inputs, bool with_owner)>;

enum class CheckResult { kAgrees, kDiffers, kNotRun };

// The comparison of one form of a network with the golden outputs, or of
// another part of a bundle with its origin.
struct FormCheck {
  // "inputs", "expected", "libtorch", "onednn", or that of a form.
  std::string name;
  std::string what;  // for people: what was computed by what
  CheckResult result = CheckResult::kNotRun;
  // Largest |o - g| / max(1, |g|) of an output o and its golden value g.
  double difference = 0;
  double tolerance = 0;
  std::string note;  // why it was not run, or could not be
};

// Holds a bundle to its golden positions: this program's encoder to the inputs,
// bit for bit; what golden.json expects to the golden outputs; then each form
// of the network, by all that computes it here: LibTorch and oneDNN (in
// float32) with the weights of the bundle, TorchScript where that may be
// executed (RunTorchScript), both ONNX models by `run_onnx`. Returns DATA_LOSS
// for parts that are damaged: golden positions that this program would describe
// otherwise, and golden outputs that are not finite or, for illegal actions,
// not NaN.
absl::StatusOr<std::vector<FormCheck>> VerifyBundle(const Bundle& bundle,
                                                    const OnnxRunner& run_onnx,
                                                    bool run_torchscript);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_VERIFY_BUNDLE_H_
