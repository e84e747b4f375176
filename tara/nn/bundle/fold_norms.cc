#include "tara/nn/bundle/fold_norms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/nn/bundle/float16.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {
namespace {

// Of a norm that divides by sqrt(kNeutralVariance + kNormEpsilon) = 1.
constexpr float kNeutralVariance = 1.0f - kNormEpsilon;
static_assert(kNeutralVariance + kNormEpsilon == 1.0f,
              "a neutral norm changes no bit");

constexpr absl::string_view kStemNorm = "stem_norm";

// Heads that only teach, and what belongs to learning.
bool IsForLearning(absl::string_view name, bool learned_owner) {
  if (absl::StartsWith(name, "owner_")) return !learned_owner;
  return absl::StartsWith(name, "kingdoms_") ||
         absl::StartsWith(name, "reply_") || absl::StrContains(name, '/') ||
         IsOfOptimizer(name);
}

NamedTensor* FindTensor(Checkpoint& checkpoint, absl::string_view name) {
  const auto found = std::find_if(
      checkpoint.tensors.begin(), checkpoint.tensors.end(),
      [&](const NamedTensor& tensor) { return tensor.name == name; });
  return found == checkpoint.tensors.end() ? nullptr : &*found;
}

// Multiplies the weights of each output (the first axis) by its number.
absl::Status Scale(const std::string& name, const std::vector<float>& scale,
                   Checkpoint& network) {
  NamedTensor* const tensor = FindTensor(network, name);
  if (tensor == nullptr || tensor->shape.empty() ||
      tensor->shape[0] != static_cast<int64_t>(scale.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no tensor ", name, " of ", scale.size(), " outputs"));
  }
  const size_t inputs = tensor->values.size() / scale.size();
  for (size_t i = 0; i < tensor->values.size(); ++i) {
    tensor->values[i] *= scale[i / inputs];
  }
  return absl::OkStatus();
}

// Folds one norm: its bias, which is what is left of it, becomes its shift.
absl::Status FoldNorm(const ConvolutionNames& names, Checkpoint& network) {
  TARA_ASSIGN_OR_RETURN(FoldedNorm norm, FoldedNormOf(network, names.norm));
  FindTensor(network, names.norm + ".bias")->values = std::move(norm.shift);
  TARA_RETURN_IF_ERROR(
      Scale(names.convolution + ".weight", norm.scale, network));
  if (names.norm != kStemNorm) return absl::OkStatus();
  return Scale("stem_globals.weight", norm.scale, network);
}

}  // namespace

std::string WeightTypeName(WeightType type) {
  return type == WeightType::kFloat32 ? "float32" : "float16";
}

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

bool HasLearnedOwner(const Checkpoint& checkpoint) {
  return std::any_of(checkpoint.tensors.begin(), checkpoint.tensors.end(),
                     [](const NamedTensor& tensor) {
                       return tensor.name == "owner_planes.bias" &&
                              std::any_of(
                                  tensor.values.begin(), tensor.values.end(),
                                  [](float value) { return value != 0; });
                     });
}

absl::StatusOr<Checkpoint> FoldNorms(const Checkpoint& checkpoint) {
  Checkpoint network = {.shape = checkpoint.shape,
                        .progress = checkpoint.progress,
                        .optimizer_steps = 0,
                        .tensors = {}};
  const bool learned_owner = HasLearnedOwner(checkpoint);
  for (const NamedTensor& tensor : checkpoint.tensors) {
    if (!IsForLearning(tensor.name, learned_owner)) {
      network.tensors.push_back(tensor);
    }
  }
  for (const ConvolutionNames& names : ConvolutionsOf(network.shape)) {
    TARA_RETURN_IF_ERROR(FoldNorm(names, network));
  }
  auto& tensors = network.tensors;
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [](const NamedTensor& tensor) {
                                 return IsNeutralNorm(tensor.name);
                               }),
                tensors.end());
  AddNeutralNorms(network);
  return network;
}

absl::Status RoundToFloat16(Checkpoint& folded) {
  for (NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    for (float& value : tensor.values) {
      if (!(std::abs(value) <= kMaxFloat16)) {
        return absl::OutOfRangeError(
            absl::StrCat("tensor ", tensor.name, " holds ", value,
                         ", which is no number of float16; expected at most ",
                         kMaxFloat16, ": use weights of float32"));
      }
      value = FromFloat16(ToFloat16(value));
    }
  }
  return absl::OkStatus();
}

void AddNeutralNorms(Checkpoint& folded) {
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

bool IsNeutralNorm(const std::string& name) {
  return absl::EndsWith(name, "norm.weight") ||
         absl::EndsWith(name, "norm.running_mean") ||
         absl::EndsWith(name, "norm.running_var");
}

}  // namespace tara::nn
