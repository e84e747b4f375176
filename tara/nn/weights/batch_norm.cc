#include "tara/nn/weights/batch_norm.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"

namespace tara::nn {

absl::StatusOr<FoldedNorm> FoldedNormOf(const Checkpoint& checkpoint,
                                        const std::string& name) {
  const std::vector<int64_t> shape = {checkpoint.shape.channels};
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const weight,
                        checkpoint.Find(absl::StrCat(name, ".weight"), shape));
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const bias,
                        checkpoint.Find(absl::StrCat(name, ".bias"), shape));
  TARA_ASSIGN_OR_RETURN(
      const NamedTensor* const mean,
      checkpoint.Find(absl::StrCat(name, ".running_mean"), shape));
  TARA_ASSIGN_OR_RETURN(
      const NamedTensor* const variance,
      checkpoint.Find(absl::StrCat(name, ".running_var"), shape));
  FoldedNorm norm;
  for (size_t i = 0; i < weight->values.size(); ++i) {
    const float scale =
        weight->values[i] / std::sqrt(variance->values[i] + kNormEpsilon);
    norm.scale.push_back(scale);
    norm.shift.push_back(bias->values[i] - mean->values[i] * scale);
  }
  return norm;
}

}  // namespace tara::nn
