#include "tara/nn/encode/softmax_portable.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tara/base/check.h"

namespace tara::nn {

void SoftmaxPortable(float* values, int count) {
  TARA_CHECK(count >= 1, "a softmax of some numbers");
  constexpr float kUnit = 0x1p22f;
  const float top = *std::max_element(values, values + count);
  // Whole numbers add up to the same in any order.
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    values[i] = std::exp(std::max(values[i] - top, kSoftmaxLowest));
    sum += static_cast<uint64_t>(std::lround(values[i] * kUnit));
  }
  const float scale = kUnit / static_cast<float>(sum);
  for (int i = 0; i < count; ++i) values[i] *= scale;
}

}  // namespace tara::nn
