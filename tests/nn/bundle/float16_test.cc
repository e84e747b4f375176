#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/nn/bundle/onnx_model.h"
#include "tara/nn/weights/fold_norms.h"
#include "tests/nn/torch_testing.h"
#include "tests/status_matchers.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tara::nn {
namespace {

using ::testing::HasSubstr;

TEST(Float16Test, EveryNumberComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = FromFloat16(half);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(FromFloat16(ToFloat16(value)))) << bits;
    } else {
      ASSERT_EQ(ToFloat16(value), half) << bits;
    }
  }
}

uint16_t RoundedByProcessor(float value) {
#if defined(__x86_64__)
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#else
  return std::bit_cast<uint16_t>(static_cast<__fp16>(value));
#endif
}

TEST(Float16Test, RoundsAsTheProcessorDoes) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  // The largest, infinity, the least, half of it, the least with a leading one.
  std::vector<float> values = {65519.0f,   65520.0f,  0x1p-24f, 0x1p-25f,
                               0x1.8p-25f, -0x1p-14f, -0.0f};
  while (values.size() < 1000000) {
    values.push_back(
        std::bit_cast<float>(static_cast<uint32_t>(random() >> 32)));
  }
  for (const float value : values) {
    if (std::isnan(value)) continue;
    ASSERT_EQ(ToFloat16(value), RoundedByProcessor(value)) << value;
  }
}

TEST(RoundToFloat16Test, RoundedWeightsAreThoseOfFloat16) {
  Checkpoint folded = FoldNorms(SmallNetwork()).value();
  const Checkpoint exact = folded;
  ASSERT_TRUE(RoundToFloat16(folded).ok());
  int changed = 0;
  for (size_t t = 0; t < folded.tensors.size(); ++t) {
    for (size_t i = 0; i < folded.tensors[t].values.size(); ++i) {
      const float before = exact.tensors[t].values[i];
      const float after = folded.tensors[t].values[i];
      changed += before != after;
      // Ten bits of mantissa: half a unit is 2^-11 of the number; below 2^-14
      // it is 2^-25.
      EXPECT_LE(std::abs(before - after),
                std::max(0x1p-11f * std::abs(before), 0x1p-25f));
    }
  }
  EXPECT_GT(changed, 1000);
}

TEST(RoundToFloat16Test, AWeightBeyondFloat16IsNamed) {
  Checkpoint folded = FoldNorms(SmallNetwork()).value();
  folded.Find("value_hidden.bias")->values[3] = 1e6f;
  EXPECT_THAT(RoundToFloat16(folded), StatusIs(absl::StatusCode::kOutOfRange,
                                               HasSubstr("value_hidden.bias")));
}

}  // namespace
}  // namespace tara::nn
