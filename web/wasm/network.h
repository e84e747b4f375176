#ifndef TARA_WEB_WASM_NETWORK_H_
#define TARA_WEB_WASM_NETWORK_H_

#include <emscripten/val.h>

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/nn/cpu/cpu_network.h"
#include "web/wasm/network_batch.h"

namespace tara::web {

// A network that answers batches, by the project's own engine in float32.
class Network {
 public:
  // `tensors` is an array of {name, shape, values: Float32Array}, what the ONNX
  // form of a bundle has: norms folded. Returns INVALID_ARGUMENT when one is
  // missing or misshapen, naming it, and FAILED_PRECONDITION for a network with
  // more inputs than the encoder makes.
  static absl::StatusOr<std::shared_ptr<Network>> Open(
      int channels, int blocks, const emscripten::val& tensors);

  Network(nn::CpuWeights weights, std::vector<float> owner_weights,
          std::vector<float> owner_biases);

  // Fills the outputs of the batch; owners where the network tells them.
  void Answer(NetworkBatch& batch);

 private:
  void FillOwners(const float* value_rows, float* owner) const;

  const nn::CpuNetwork network_;
  nn::CpuContext context_;
  // A linear layer of each hill, [3, channels] and [3], or empty.
  const std::vector<float> owner_weights_;
  const std::vector<float> owner_biases_;
};

}  // namespace tara::web

#endif  // TARA_WEB_WASM_NETWORK_H_
