#ifndef TARA_NN_BUNDLE_NODE_ONNX_H_
#define TARA_NN_BUNDLE_NODE_ONNX_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/bundle/golden.h"

namespace tara::nn {

// Returns the outputs of an ONNX model, computed by ONNX Runtime on the CPU: by
// the npm package onnxruntime-node in a process of Node.js. (Debian 12 has no
// ONNX Runtime to link with.) The package is looked for in the folder
// `node_modules` of each of the folders `modules`, and nowhere else.
// Returns UNAVAILABLE, naming what is missing, without Node.js or the package;
// DATA_LOSS if the model does not run or returns something else.
absl::StatusOr<NetworkOutputs> RunOnnxByNode(
    const std::string& model, const NetworkInputs& inputs, bool with_owner,
    const std::vector<std::string>& modules);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_NODE_ONNX_H_
