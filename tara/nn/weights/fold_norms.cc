#include "tara/nn/weights/fold_norms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/heads.h"

namespace tara::nn {
namespace {

// Variance of a norm that divides by sqrt(kNeutralVariance + kNormEpsilon) = 1.
constexpr float kNeutralVariance = 1.0f - kNormEpsilon;
static_assert(kNeutralVariance + kNormEpsilon == 1.0f,
              "a neutral norm changes no bit");

constexpr absl::string_view kStemNorm = "stem_norm";

// A convolution and the norm that follows it, by the names of their tensors.
struct ConvolutionNames {
  std::string convolution;  // "block0.first.conv": has ".weight"
  std::string norm;         // "block0.first.norm": has ".bias" and so on
};

// Returns all of the network's, in its order.
std::vector<ConvolutionNames> ConvolutionsOf(const NetworkShape& shape) {
  std::vector<ConvolutionNames> names = {
      {.convolution = "stem_conv", .norm = std::string(kStemNorm)}};
  const auto add = [&](const std::string& layer) {
    names.push_back({.convolution = layer + ".conv", .norm = layer + ".norm"});
  };
  for (int i = 0; i < shape.blocks; ++i) {
    add(absl::StrCat("block", i, ".first"));
    add(absl::StrCat("block", i, ".second"));
  }
  add("policy_conv");
  add("value_conv");
  return names;
}

bool IsKept(const std::string& name, const Checkpoint& checkpoint) {
  if (IsOfOptimizer(name) || absl::StrContains(name, '/')) return false;
  const HeadInfo* const head = AuxiliaryHeadOf(name);
  return head == nullptr ||
         (head->in_bundles && HasLearned(checkpoint, head->head));
}

NamedTensor* FindTensor(Checkpoint& checkpoint, absl::string_view name) {
  const auto found = std::find_if(
      checkpoint.tensors.begin(), checkpoint.tensors.end(),
      [&](const NamedTensor& tensor) { return tensor.name == name; });
  return found == checkpoint.tensors.end() ? nullptr : &*found;
}

// A norm as  y = scale * x + shift,  a number of each for every channel.
struct FoldedNorm {
  std::vector<float> scale;
  std::vector<float> shift;
};

absl::StatusOr<FoldedNorm> ComputeFoldedNorm(const Checkpoint& checkpoint,
                                             const std::string& name) {
  const std::vector<int64_t> shape = {checkpoint.shape.channels};
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const weight,
                        checkpoint.Find(name + ".weight", shape));
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const bias,
                        checkpoint.Find(name + ".bias", shape));
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const mean,
                        checkpoint.Find(name + ".running_mean", shape));
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const variance,
                        checkpoint.Find(name + ".running_var", shape));
  FoldedNorm norm;
  for (size_t i = 0; i < weight->values.size(); ++i) {
    const float scale =
        weight->values[i] / std::sqrt(variance->values[i] + kNormEpsilon);
    norm.scale.push_back(scale);
    norm.shift.push_back(bias->values[i] - mean->values[i] * scale);
  }
  return norm;
}

// Multiplies the weights of each output (the first axis) by its number.
absl::Status Scale(const std::string& name, const std::vector<float>& scale,
                   Checkpoint& network) {
  NamedTensor* const tensor = FindTensor(network, name);
  if (tensor == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("missing tensor ", name));
  }
  if (tensor->shape.empty() ||
      tensor->shape[0] != static_cast<int64_t>(scale.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", name, " is not of ", scale.size(), " outputs"));
  }
  const size_t inputs = tensor->values.size() / scale.size();
  for (size_t i = 0; i < tensor->values.size(); ++i) {
    tensor->values[i] *= scale[i / inputs];
  }
  return absl::OkStatus();
}

// Folds one norm: only its bias is left, which becomes its shift.
absl::Status FoldNorm(const ConvolutionNames& names, Checkpoint& network) {
  TARA_ASSIGN_OR_RETURN(FoldedNorm norm,
                        ComputeFoldedNorm(network, names.norm));
  FindTensor(network, names.norm + ".bias")->values = std::move(norm.shift);
  TARA_RETURN_IF_ERROR(
      Scale(names.convolution + ".weight", norm.scale, network));
  if (names.norm != kStemNorm) return absl::OkStatus();
  return Scale("stem_globals.weight", norm.scale, network);
}

}  // namespace

absl::StatusOr<Checkpoint> FoldNorms(const Checkpoint& checkpoint) {
  Checkpoint network = {.shape = checkpoint.shape,
                        .progress = checkpoint.progress,
                        .optimizer_steps = 0,
                        .tensors = {}};
  for (const NamedTensor& tensor : checkpoint.tensors) {
    if (IsKept(tensor.name, checkpoint)) network.tensors.push_back(tensor);
  }
  if (network.shape.kind == NetworkKind::kLight) return network;
  for (const ConvolutionNames& names : ConvolutionsOf(network.shape)) {
    TARA_RETURN_IF_ERROR(FoldNorm(names, network));
  }
  std::erase_if(network.tensors, [](const NamedTensor& tensor) {
    return IsNeutralNorm(tensor.name);
  });
  AddNeutralNorms(network);
  return network;
}

void AddNeutralNorms(Checkpoint& folded) {
  if (folded.shape.kind == NetworkKind::kLight) return;
  const auto channels = static_cast<size_t>(folded.shape.channels);
  for (const ConvolutionNames& names : ConvolutionsOf(folded.shape)) {
    const auto add = [&](const char* name, float value) {
      folded.tensors.push_back({.name = names.norm + name,
                                .shape = {folded.shape.channels},
                                .values = std::vector<float>(channels, value)});
    };
    add(".weight", 1);
    add(".running_mean", 0);
    add(".running_var", kNeutralVariance);
  }
}

bool IsNeutralNorm(absl::string_view name) {
  return absl::EndsWith(name, "norm.weight") ||
         absl::EndsWith(name, "norm.running_mean") ||
         absl::EndsWith(name, "norm.running_var");
}

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
