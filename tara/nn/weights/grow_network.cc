#include "tara/nn/weights/grow_network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/nn/heads.h"

namespace tara::nn {
namespace {

// Numbers of channels, before and after.
struct Widths {
  int64_t smaller;
  int64_t larger;
};

// Whether an axis of `smaller` may become one of `larger`.
bool Fits(int64_t smaller, int64_t larger, const Widths& widths) {
  return smaller == larger ||
         (smaller == widths.smaller && larger == widths.larger) ||
         // Means and maxima of all channels.
         (smaller == 2 * widths.smaller && larger == 2 * widths.larger);
}

bool Fits(const NamedTensor& smaller, const NamedTensor& larger,
          const Widths& widths) {
  return std::equal(
      smaller.shape.begin(), smaller.shape.end(), larger.shape.begin(),
      larger.shape.end(),
      [&](int64_t from, int64_t to) { return Fits(from, to, widths); });
}

// Returns the index of the layer's input `i` in the larger network:
// maxima follow the means of all channels.
int64_t PlaceOfInput(int64_t i, int64_t inputs, int64_t larger_inputs,
                     const Widths& widths) {
  const bool is_pooled =
      inputs != larger_inputs && inputs == 2 * widths.smaller;
  return is_pooled && i >= widths.smaller ? i + widths.larger - widths.smaller
                                          : i;
}

// Puts a tensor into the larger network's. New outputs keep their weights; old
// ones take new inputs with the weight zero.
void Place(const NamedTensor& smaller, const Widths& widths,
           NamedTensor& larger) {
  const auto outputs = static_cast<size_t>(smaller.shape[0]);
  if (smaller.shape.size() == 1) {
    std::copy_n(smaller.values.begin(), outputs, larger.values.begin());
    return;
  }
  const int64_t inputs = smaller.shape[1];
  const int64_t larger_inputs = larger.shape[1];
  const size_t taps =  // of a filter
      smaller.values.size() / outputs / static_cast<size_t>(inputs);
  const size_t output_size = static_cast<size_t>(larger_inputs) * taps;
  std::fill_n(larger.values.begin(), outputs * output_size, 0.0f);
  auto from = smaller.values.begin();
  for (size_t output = 0; output < outputs; ++output) {
    for (int64_t i = 0; i < inputs; ++i, from += static_cast<int64_t>(taps)) {
      const auto place =
          static_cast<size_t>(PlaceOfInput(i, inputs, larger_inputs, widths));
      std::copy_n(
          from, taps,
          larger.values.begin() +
              static_cast<int64_t>(output * output_size + place * taps));
    }
  }
}

}  // namespace

bool CanGrow(const NetworkShape& from, const NetworkShape& to) {
  if (from.kind != NetworkKind::kTower || from.kind != to.kind) {
    return from == to;
  }
  return from.channels <= to.channels && from.blocks <= to.blocks;
}

absl::StatusOr<Checkpoint> GrowNetwork(const Checkpoint& smaller,
                                       Checkpoint larger) {
  const NetworkShape& from = smaller.shape;
  const NetworkShape& to = larger.shape;
  if (!CanGrow(from, to)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a network of ", from.channels, " channels and ", from.blocks,
        " blocks cannot become one of ", to.channels, " and ", to.blocks));
  }
  const Widths widths = {.smaller = from.channels, .larger = to.channels};
  std::vector<std::string> new_blocks;  // the beginnings of their names
  for (int i = from.blocks; i < to.blocks; ++i) {
    new_blocks.push_back(absl::StrCat("block", i, "."));
  }
  std::erase_if(larger.tensors, [](const NamedTensor& tensor) {
    return IsOfOptimizer(tensor.name);
  });
  for (NamedTensor& tensor : larger.tensors) {
    const auto block = std::find_if(
        new_blocks.begin(), new_blocks.end(), [&](const std::string& name) {
          return absl::StartsWith(tensor.name, name);
        });
    if (block != new_blocks.end()) {
      if (tensor.name == absl::StrCat(*block, "second.norm.weight") ||
          tensor.name == absl::StrCat(*block, "pooled.weight")) {
        std::fill(tensor.values.begin(), tensor.values.end(), 0.0f);
      }
      continue;
    }
    if (AuxiliaryHeadOf(tensor.name) != nullptr && !smaller.Has(tensor.name)) {
      continue;
    }
    const NamedTensor* const found = smaller.Find(tensor.name);
    if (found == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("missing tensor ", tensor.name));
    }
    if (!Fits(*found, tensor, widths)) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name,
                       " has another shape than in a "
                       "network of ",
                       from.channels, " channels"));
    }
    Place(*found, widths, tensor);
  }
  return larger;
}

}  // namespace tara::nn
