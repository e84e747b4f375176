#include "tara/nn/weights/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// A layer that reads inputs, which are an axis of its weights.
struct InputLayer {
  NetworkKind kind;
  absl::string_view weights;
  absl::string_view inputs;
  int64_t count;
  size_t axis;
};
// Number of values that a light network pools from its 64 channels, before the
// globals.
constexpr int kLightPooled = 128;
constexpr InputLayer kInputLayers[] = {
    {NetworkKind::kTower, "stem_conv.weight", "planes", kNumPlanes, 1},
    {NetworkKind::kTower, "stem_globals.weight", "globals", kNumGlobals, 1},
    {NetworkKind::kLight, "input_planes.weight", "planes", kNumPlanes, 0},
    {NetworkKind::kLight, "input_globals.weight", "globals", kNumGlobals, 0},
    {NetworkKind::kLight, "policy_context.weight", "pooled values and globals",
     kLightPooled + kNumGlobals, 0},
    {NetworkKind::kLight, "policy_pass.weight", "pooled values and globals",
     kLightPooled + kNumGlobals, 0},
    {NetworkKind::kLight, "value_hidden1.weight", "pooled values and globals",
     kLightPooled + kNumGlobals, 0}};

std::string ShapeText(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

}  // namespace

absl::string_view NetworkKindName(NetworkKind kind) {
  return kind == NetworkKind::kTower ? "tower" : "light";
}

const NamedTensor* Checkpoint::Find(absl::string_view name) const {
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

absl::StatusOr<const NamedTensor*> Checkpoint::Find(
    absl::string_view name, const std::vector<int64_t>& shape) const {
  const NamedTensor* const tensor = Find(name);
  if (tensor == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("missing tensor ", name));
  }
  if (tensor->shape == shape) return tensor;
  return absl::InvalidArgumentError(
      absl::StrCat("tensor ", name, " has shape ", ShapeText(tensor->shape),
                   "; expected ", ShapeText(shape)));
}

bool Checkpoint::HasPrefix(absl::string_view prefix) const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const NamedTensor& tensor) {
                       return absl::StartsWith(tensor.name, prefix);
                     });
}

absl::Status AddNewInputs(Checkpoint& checkpoint) {
  for (NamedTensor& tensor : checkpoint.tensors) {
    for (const InputLayer& layer : kInputLayers) {
      // Also "raw/stem_globals.weight" and the optimizer's moments of it.
      // Misshapen tensors are found by the functions that read them.
      if (layer.kind != checkpoint.shape.kind ||
          !absl::EndsWith(tensor.name, layer.weights)) {
        continue;
      }
      if (tensor.shape.size() <= layer.axis || tensor.values.empty()) continue;
      const int64_t inputs = tensor.shape[layer.axis];
      if (inputs > layer.count) {
        return absl::FailedPreconditionError(absl::StrCat(
            "its network has ", inputs, " ", layer.inputs,
            "; this program has the first ", layer.count, " of them"));
      }
      if (inputs == layer.count) continue;
      const int64_t channels = layer.axis == 0 ? 1 : tensor.shape[0];
      const auto size = static_cast<int64_t>(tensor.values.size()) / channels;
      const int64_t new_size = size / inputs * layer.count;
      std::vector<float> values(static_cast<size_t>(channels * new_size));
      for (int64_t c = 0; c < channels; ++c) {
        std::copy_n(tensor.values.begin() + c * size, size,
                    values.begin() + c * new_size);
      }
      tensor.shape[layer.axis] = layer.count;
      tensor.values = std::move(values);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(const Checkpoint& checkpoint) {
  for (const NamedTensor& tensor : checkpoint.tensors) {
    for (const float value : tensor.values) {
      if (std::isfinite(value)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name, " has the value ", value,
                       "; expected finite numbers"));
    }
  }
  return absl::OkStatus();
}

bool HasLearned(const Checkpoint& checkpoint, Head head) {
  const absl::string_view tensors = kHeads[static_cast<size_t>(head)].tensors;
  for (const NamedTensor& tensor : checkpoint.tensors) {
    if (absl::StartsWith(tensor.name, tensors) &&
        absl::EndsWith(tensor.name, ".bias") &&
        std::any_of(tensor.values.begin(), tensor.values.end(),
                    [](float value) { return value != 0; })) {
      return true;
    }
  }
  return false;
}

bool IsOfOptimizer(absl::string_view name) {
  return absl::StartsWith(name, "raw/") || absl::StartsWith(name, "adamw.") ||
         absl::StartsWith(name, "muon.") || absl::StartsWith(name, "sgd.");
}

}  // namespace tara::nn
