#ifndef TARA_NN_BUNDLE_GOLDEN_H_
#define TARA_NN_BUNDLE_GOLDEN_H_

// Inputs and outputs of every form of a bundle's network: the tensors of
// docs/reference/bundle.md, row-major.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// How many of the inputs a network has: the first of kPlanes and kGlobals, all
// of them unless it was made before some were appended.
struct InputCounts {
  int planes = kNumPlanes;
  int globals = kNumGlobals;

  friend bool operator==(const InputCounts&, const InputCounts&) = default;
};

// The inputs of a network, and its outputs (logits).
struct GoldenTensors {
  int64_t size = 0;  // positions
  InputCounts counts = {};
  std::vector<float> planes = {};   // [size, counts.planes, 7, 7]
  std::vector<float> globals = {};  // [size, counts.globals]
  std::vector<float> policy = {};   // [size, kNumActions]
  std::vector<float> result = {};   // [size, 3]: win, draw, loss
  std::vector<float> margins = {};  // [size, kNumMargins]
  // [size, 3, kNumHills]: own, enemy, vacant; empty where the network has not
  // learned it.
  std::vector<float> owner = {};
};

// One of them.
struct TensorInfo {
  const char* name;
  std::vector<int64_t> axes;  // after that of the positions
  std::vector<float> GoldenTensors::* values;

  // Returns all axes for `size` positions.
  std::vector<int64_t> Shape(int64_t size) const {
    std::vector<int64_t> shape = {size};
    shape.insert(shape.end(), axes.begin(), axes.end());
    return shape;
  }
};

inline std::vector<TensorInfo> NetworkInputInfos(const InputCounts& counts) {
  return {{"planes",
           {counts.planes, kBoardSize, kBoardSize},
           &GoldenTensors::planes},
          {"globals", {counts.globals}, &GoldenTensors::globals}};
}

// All outputs, or the outputs of a network without the head of owners.
inline std::vector<TensorInfo> NetworkOutputInfos(bool with_owner) {
  std::vector<TensorInfo> infos = {
      {"policy", {kNumActions}, &GoldenTensors::policy},
      {"result", {3}, &GoldenTensors::result},
      {"margins", {kNumMargins}, &GoldenTensors::margins}};
  if (with_owner) {
    infos.push_back({"owner", {3, kNumHills}, &GoldenTensors::owner});
  }
  return infos;
}

// The inputs, then the outputs.
inline std::vector<TensorInfo> GoldenTensorInfos(const InputCounts& counts,
                                                 bool with_owner) {
  std::vector<TensorInfo> infos = NetworkInputInfos(counts);
  for (const TensorInfo& info : NetworkOutputInfos(with_owner)) {
    infos.push_back(info);
  }
  return infos;
}

// Golden positions: inputs and outputs of a network, stored with it. Other
// programs use them to check that they compute the same.

// Values of a rule option, ascending.
struct OptionValues {
  const RuleOptionInfo* option = nullptr;
  std::vector<int> values = {};
};

// A variant with the rules that a network has learned it by.
struct BundleVariant {
  Variant variant = Variant::kSacredHillL1;
  RuleOptions options = {};
  // The options that were drawn for each game: all their values are learned.
  std::vector<OptionValues> drawn = {};
};

// Positions of each variant in a bundle.
inline constexpr int kGoldenPositionsPerVariant = 20;

struct GoldenPosition {
  State state;
  Symmetry symmetry;  // how the network sees it
  // Where the logits of the legal actions stand, in the order of
  // LegalSet::ForEach.
  std::vector<int> network_indices;

  friend bool operator==(const GoldenPosition&,
                         const GoldenPosition&) = default;
};

// Returns positions of each variant, one after the other, from the start to the
// end of random games: always the same. Drawn options take all values in turn.
std::vector<GoldenPosition> MakeGoldenPositions(
    absl::Span<const BundleVariant> variants);

// Returns the inputs for the positions of a network with this number of inputs.
GoldenTensors EncodeGoldenPositions(absl::Span<const GoldenPosition> positions,
                                    const InputCounts& counts = {});

// Replaces the logits of illegal actions by NaN: nobody should look at them.
void HideIllegalActions(absl::Span<const GoldenPosition> positions,
                        GoldenTensors& outputs);

// Returns OK if all outputs are finite, except the logits of illegal actions,
// which must be NaN (HideIllegalActions). Otherwise INVALID_ARGUMENT, naming
// the output, the position and the place in its row, as in "policy is nan at
// place 3 of position 7".
absl::Status CheckFinite(absl::Span<const GoldenPosition> positions,
                         const GoldenTensors& outputs, bool with_owner);

// Returns the outputs for position i as an evaluation, as every evaluator of
// this program returns it.
mcts::Evaluation ToEvaluation(const GoldenPosition& position,
                              const GoldenTensors& outputs, size_t i);

// What golden.json holds (docs/reference/bundle.md).
struct GoldenFile {
  std::vector<GoldenPosition> positions;
  // Of each position, without the distribution of margins.
  std::vector<mcts::Evaluation> expected;
};

// The text of golden.json, and back. Returns DATA_LOSS, naming the position and
// the problem, if anything except the expected outputs differs from what
// this program would write for the position.
std::string GoldenToJson(absl::Span<const GoldenPosition> positions,
                         const GoldenTensors& outputs);
absl::StatusOr<GoldenFile> GoldenFromJson(absl::string_view text);

// Digits after the decimal point of the expected outputs in golden.json, for
// people to compare. The tensors are exact.
inline constexpr int kExpectedDigits = 6;

// Fills in the outputs of the checkpoint's network for the inputs, computed in
// float32 with all of its layers as they are learned: the reference for every
// other form. A tower is computed by LibTorch, a light network by its own code.
// Errors as ComputeTorchOutputs; also for inputs or a shape that no light
// network has.
absl::Status ComputeReferenceOutputs(const Checkpoint& checkpoint,
                                     GoldenTensors& tensors);

// The same of a tower. Returns INVALID_ARGUMENT naming a tensor that is missing
// or misshapen; UNAVAILABLE in a program without LibTorch
// (tara/nn/inference/network_evaluator.h).
absl::Status ComputeTorchOutputs(const Checkpoint& checkpoint,
                                 GoldenTensors& tensors);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_GOLDEN_H_
