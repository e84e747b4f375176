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

namespace tara {

struct NetworkInputs {
  int64_t size = 0;            // positions
  std::vector<float> planes;   // [size, kNumPlanes, 7, 7]
  std::vector<float> globals;  // [size, kNumGlobals]

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

inline std::array<NetworkInputInfo, 2> NetworkInputInfos() {
  return {
      {{"planes", {kNumPlanes, kBoardSize, kBoardSize}, &NetworkInputs::planes},
       {"globals", {kNumGlobals}, &NetworkInputs::globals}}};
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

}  // namespace tara

#endif  // TARA_NN_BUNDLE_NETWORK_OUTPUTS_H_
