#ifndef TARA_NN_BUNDLE_NETWORK_OUTPUTS_H_
#define TARA_NN_BUNDLE_NETWORK_OUTPUTS_H_

// What goes into every form of a bundle's network, and what comes out: the
// tensors of docs/bundle.md, row-major.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {

// How many of the inputs a network has: the first of kPlanes and kGlobals, all
// of them unless it was made before some were appended.
struct InputCounts {
  int planes = kNumPlanes;
  int globals = kNumGlobals;

  friend bool operator==(const InputCounts&, const InputCounts&) = default;
};

struct NetworkInputs {
  int64_t size = 0;  // positions
  InputCounts counts = {};
  std::vector<float> planes;   // [size, counts.planes, 7, 7]
  std::vector<float> globals;  // [size, counts.globals]

  friend bool operator==(const NetworkInputs&, const NetworkInputs&) = default;
};

// Logits.
struct NetworkOutputs {
  std::vector<float> policy;   // [size, kNumActions]
  std::vector<float> result;   // [size, 3]: win, draw, loss
  std::vector<float> margins;  // [size, kNumMargins]
  // [size, 3, kNumHills]: own, enemy, vacant; empty where the network has not
  // learned it.
  std::vector<float> owner;
};

// A tensor of them by name, with the axes after that of the positions.
struct NetworkInputInfo {
  const char* name;
  std::vector<int64_t> axes;
  std::vector<float> NetworkInputs::*values;
};
struct NetworkOutputInfo {
  const char* name;
  std::vector<int64_t> axes;
  std::vector<float> NetworkOutputs::*values;
};

inline std::array<NetworkInputInfo, 2> NetworkInputInfos(
    const InputCounts& counts) {
  return {{{"planes",
            {counts.planes, kBoardSize, kBoardSize},
            &NetworkInputs::planes},
           {"globals", {counts.globals}, &NetworkInputs::globals}}};
}

// All outputs, or those of a network that has not learned who owns hills.
inline std::vector<NetworkOutputInfo> NetworkOutputInfos(bool with_owner) {
  std::vector<NetworkOutputInfo> infos = {
      {"policy", {kNumActions}, &NetworkOutputs::policy},
      {"result", {3}, &NetworkOutputs::result},
      {"margins", {kNumMargins}, &NetworkOutputs::margins}};
  if (with_owner) {
    infos.push_back({"owner", {3, kNumHills}, &NetworkOutputs::owner});
  }
  return infos;
}

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_NETWORK_OUTPUTS_H_
