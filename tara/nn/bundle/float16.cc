#include "tara/nn/bundle/float16.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/nn/weights/fold_norms.h"

namespace tara::nn {

std::string WeightTypeName(WeightType type) {
  return type == WeightType::kFloat32 ? "float32" : "float16";
}

absl::Status CheckFloat16(const Checkpoint& folded) {
  for (const NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    for (const float value : tensor.values) {
      if (std::abs(value) <= kMaxFloat16) continue;  // NaN is not
      return absl::OutOfRangeError(absl::StrCat(
          "tensor ", tensor.name, " holds ", value,
          ", which float16 cannot represent; expected at most ", kMaxFloat16));
    }
  }
  return absl::OkStatus();
}

absl::Status RoundToFloat16(Checkpoint& folded) {
  TARA_RETURN_IF_ERROR(CheckFloat16(folded));
  for (NamedTensor& tensor : folded.tensors) {
    if (IsNeutralNorm(tensor.name)) continue;
    for (float& value : tensor.values) value = FromFloat16(ToFloat16(value));
  }
  return absl::OkStatus();
}

}  // namespace tara::nn
