#include "tara/nn/encode/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara::nn {
namespace {

// Every test runs for each of them.
class SoftmaxTest : public testing::TestWithParam<void (*)(float*, int)> {
 protected:
  static std::vector<float> SoftmaxOf(const std::vector<float>& logits);
};

std::vector<float> SoftmaxTest::SoftmaxOf(const std::vector<float>& logits) {
  alignas(32) std::array<float, SoftmaxRoom(kSoftmaxMost)> buffer;
  buffer.fill(std::numeric_limits<float>::quiet_NaN());
  std::copy(logits.begin(), logits.end(), buffer.begin());
  GetParam()(buffer.data(), static_cast<int>(logits.size()));
  return {buffer.begin(),
          buffer.begin() + static_cast<std::ptrdiff_t>(logits.size())};
}

// The plain twin, in double precision.
std::vector<double> PlainSoftmax(const std::vector<float>& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> result;
  for (const float logit : logits) result.push_back(std::exp(logit - highest));
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= sum;
  return result;
}

std::vector<float> Logits(Random& random, size_t count, double deviation) {
  std::vector<float> logits;
  for (size_t i = 0; i < count; ++i) {
    logits.push_back(static_cast<float>(deviation * random.Normal()));
  }
  return logits;
}

TEST_P(SoftmaxTest, IsThatOfThePlainFormulaForAnyNumberOfLogits) {
  Random random(1);
  for (size_t count = 1; count <= kSoftmaxMost; ++count) {
    for (const double deviation : {0.0, 1.0, 20.0}) {
      const std::vector<float> logits = Logits(random, count, deviation);
      const std::vector<float> result = SoftmaxOf(logits);
      const std::vector<double> expected = PlainSoftmax(logits);
      for (size_t i = 0; i < count; ++i) {
        // A logit of 60 is known to 4e-6, and so is what it becomes.
        EXPECT_NEAR(result[i], expected[i], 5e-6 * expected[i] + 1e-30)
            << count << " logits of deviation " << deviation;
      }
      EXPECT_NEAR(std::accumulate(result.begin(), result.end(), 0.0), 1, 1e-4);
    }
  }
}

TEST_P(SoftmaxTest, TheOrderOfTheLogitsChangesNoBit) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<float> logits = Logits(random, 1 + random.Below(100), 3);
    std::vector<size_t> order(logits.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<float> shuffled;
    for (const size_t k : order) shuffled.push_back(logits[k]);
    const std::vector<float> result = SoftmaxOf(logits);
    const std::vector<float> of_shuffled = SoftmaxOf(shuffled);
    for (size_t k = 0; k < order.size(); ++k) {
      EXPECT_EQ(of_shuffled[k], result[order[k]]);
    }
  }
}

TEST_P(SoftmaxTest, FarApartLogitsGiveNoInfinityAndNoNan) {
  const std::vector<float> result = SoftmaxOf({-1e30f, 0, 1e30f});
  EXPECT_EQ(result[2], 1);
  EXPECT_LT(result[0], 1e-30);
  EXPECT_LT(result[1], 1e-30);
}

// Subnormal numbers cost some processors a hundred cycles each.
TEST_P(SoftmaxTest, NoProbabilityIsSubnormal) {
  std::vector<float> logits(kSoftmaxMost, 0.0f);
  logits[0] = -1e30f;
  logits[1] = -81;
  logits[2] = -79;
  for (const float probability : SoftmaxOf(logits)) {
    EXPECT_GE(probability, std::numeric_limits<float>::min());
  }
}

INSTANTIATE_TEST_SUITE_P(OfVectorsAndPortable, SoftmaxTest,
                         testing::Values(&Softmax, &SoftmaxPortable));

}  // namespace
}  // namespace tara::nn
