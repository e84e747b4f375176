#ifndef TARA_WEB_WASM_NETWORK_H_
#define TARA_WEB_WASM_NETWORK_H_

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "web/wasm/network_batch.h"

namespace tara::web {

// A network that evaluates batches, by the project's own code.
class Network {
 public:
  struct Options {
    std::string kind;  // NetworkKindName
    int channels;
    int blocks;
    // Of a light network: compute by the plain twin of its kernels, for tests.
    bool plain;
  };

  // `tensors` is an array of {name, shape, values: Float32Array}, the content
  // of the ONNX form of a bundle: norms folded; for a light network also the
  // ranges of its activations. Returns INVALID_ARGUMENT when one is missing or
  // misshapen, naming it, and FAILED_PRECONDITION for a network with more
  // inputs than the encoder makes.
  static absl::StatusOr<std::shared_ptr<Network>> Open(
      const Options& options, const emscripten::val& tensors);
  virtual ~Network() = default;

  // Fills the outputs of the batch for a search: values, and the logits of
  // legal actions. A light network computes them in integers.
  virtual void Answer(NetworkBatch& batch) = 0;
  // Fills all outputs in float32; owners where the network has learned them.
  virtual void AnswerInFloats(NetworkBatch& batch) = 0;
};

}  // namespace tara::web

#endif  // TARA_WEB_WASM_NETWORK_H_
