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

// What the names of a convolution ("conv.weight") and of the norm that follows
// it ("norm.bias" and so on) begin with.
constexpr absl::string_view kStem = "stem_";

// Returns those of all convolutions, in the network's order.
std::vector<std::string> ConvolutionsOf(const NetworkShape& shape) {
  std::vector<std::string> layers = {std::string(kStem)};
  for (int i = 0; i < shape.blocks; ++i) {
    layers.push_back(absl::StrCat("block", i, ".first."));
    layers.push_back(absl::StrCat("block", i, ".second."));
  }
  layers.insert(layers.end(), {"policy_conv.", "value_conv."});
  return layers;
}

bool IsKept(const std::string& name, const Checkpoint& checkpoint) {
  if (IsOfOptimizer(name) || absl::StrContains(name, '/')) return false;
  const HeadInfo* const head = AuxiliaryHeadOf(name);
  return head == nullptr ||
         (head->in_bundles && HasLearned(checkpoint, head->head));
}

// Multiplies the weights of each output (the first axis) by its number.
absl::Status Scale(const std::string& name, const std::vector<float>& scale,
                   Checkpoint& network) {
  NamedTensor* const tensor = network.Find(name);
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

// Folds one norm, y = scale * x + shift: only its bias is left, which becomes
// the shift.
absl::Status FoldNorm(const std::string& layer, Checkpoint& network) {
  std::vector<float>* parts[4];
  const char* const kParts[] = {"norm.weight", "norm.bias", "norm.running_mean",
                                "norm.running_var"};
  for (int i = 0; i < 4; ++i) {
    const std::string name = layer + kParts[i];
    TARA_RETURN_IF_ERROR(
        std::as_const(network).Find(name, {network.shape.channels}).status());
    parts[i] = &network.Find(name)->values;
  }
  const auto [weights, biases, means, variances] = parts;
  std::vector<float> scales;
  for (size_t i = 0; i < weights->size(); ++i) {
    const float scale =
        (*weights)[i] / std::sqrt((*variances)[i] + kNormEpsilon);
    scales.push_back(scale);
    (*biases)[i] -= (*means)[i] * scale;
  }
  TARA_RETURN_IF_ERROR(Scale(layer + "conv.weight", scales, network));
  if (layer != kStem) return absl::OkStatus();
  return Scale("stem_globals.weight", scales, network);
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
  for (const std::string& layer : ConvolutionsOf(network.shape)) {
    TARA_RETURN_IF_ERROR(FoldNorm(layer, network));
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
  for (const std::string& layer : ConvolutionsOf(folded.shape)) {
    const auto add = [&](const char* name, float value) {
      folded.tensors.push_back({.name = layer + name,
                                .shape = {folded.shape.channels},
                                .values = std::vector<float>(channels, value)});
    };
    add("norm.weight", 1);
    add("norm.running_mean", 0);
    add("norm.running_var", kNeutralVariance);
  }
}

bool IsNeutralNorm(absl::string_view name) {
  return absl::EndsWith(name, "norm.weight") ||
         absl::EndsWith(name, "norm.running_mean") ||
         absl::EndsWith(name, "norm.running_var");
}

namespace {

// Whether an axis of `smaller` may become one of `larger`, in networks of these
// numbers of channels. Some have means and maxima of all channels.
bool Fits(int64_t smaller, int64_t larger, int64_t from, int64_t to) {
  return smaller == larger || (smaller == from && larger == to) ||
         (smaller == 2 * from && larger == 2 * to);
}

// Puts a tensor into the larger network's, from `from` to `to` channels. New
// outputs keep their weights; old ones take new inputs with the weight zero.
void Place(const NamedTensor& smaller, int64_t from, int64_t to,
           NamedTensor& larger) {
  const int64_t outputs = smaller.shape[0];
  if (smaller.shape.size() == 1) {
    std::copy_n(smaller.values.begin(), outputs, larger.values.begin());
    return;
  }
  const int64_t inputs = smaller.shape[1];
  const bool is_pooled = inputs != larger.shape[1] && inputs == 2 * from;
  const auto taps =  // of a filter
      static_cast<int64_t>(smaller.values.size()) / outputs / inputs;
  const int64_t output_size = larger.shape[1] * taps;
  std::fill_n(larger.values.begin(), outputs * output_size, 0.0f);
  auto values = smaller.values.begin();
  for (int64_t output = 0; output < outputs; ++output) {
    for (int64_t i = 0; i < inputs; ++i, values += taps) {
      // Maxima follow the means of all channels.
      const int64_t place = is_pooled && i >= from ? i + to - from : i;
      std::copy_n(values, taps,
                  larger.values.begin() + output * output_size + place * taps);
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
  std::erase_if(larger.tensors, [](const NamedTensor& tensor) {
    return IsOfOptimizer(tensor.name);
  });
  for (NamedTensor& tensor : larger.tensors) {
    int block = from.blocks;
    while (block < to.blocks &&
           !absl::StartsWith(tensor.name, absl::StrCat("block", block, "."))) {
      ++block;
    }
    if (block < to.blocks) {  // a new one
      if (absl::EndsWith(tensor.name, ".second.norm.weight") ||
          absl::EndsWith(tensor.name, ".pooled.weight")) {
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
    if (!std::equal(found->shape.begin(), found->shape.end(),
                    tensor.shape.begin(), tensor.shape.end(),
                    [&](int64_t smaller_axis, int64_t larger_axis) {
                      return Fits(smaller_axis, larger_axis, from.channels,
                                  to.channels);
                    })) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name,
                       " has another shape than in a "
                       "network of ",
                       from.channels, " channels"));
    }
    Place(*found, from.channels, to.channels, tensor);
  }
  return larger;
}

}  // namespace tara::nn
