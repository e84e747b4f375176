#ifndef TARA_WEB_WASM_NETWORK_H_
#define TARA_WEB_WASM_NETWORK_H_

#include <emscripten/val.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara::web {

// A network, by the project's own code. As an evaluator, which never fails, it
// serves searches: a light network then computes in integers.
class Network : public mcts::Evaluator {
 public:
  // `kind` is a NetworkKindName. `tensors` is an array of {name, shape, values:
  // Float32Array}, the content of the ONNX form of a bundle: norms folded; for
  // a light network also the ranges of its activations. `plain`: a light
  // network computes by the plain twin of its kernels, for tests.
  // Returns INVALID_ARGUMENT when one is missing or misshapen, naming it, and
  // FAILED_PRECONDITION for a network with more inputs than the encoder makes.
  static absl::StatusOr<std::shared_ptr<Network>> Open(
      const std::string& kind, int channels, int blocks,
      const emscripten::val& tensors, bool plain);

  // What is expected of a position, in float32.
  struct Judgement {
    mcts::Evaluation evaluation;
    // By hill, in turn: the probabilities that at the end Red's and Blue's
    // ringfort stands there, where the network has learned them.
    std::vector<float> owners;
  };
  virtual Judgement Judge(const State& state) = 0;
};

}  // namespace tara::web

#endif  // TARA_WEB_WASM_NETWORK_H_
