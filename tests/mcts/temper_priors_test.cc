#include <numeric>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/tree/walk.h"

namespace tara::mcts {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr float kTolerance = 1e-6f;

std::vector<float> Tempered(const std::vector<float>& priors,
                            float temperature) {
  std::vector<float> tempered(priors.size());
  TemperPriors(priors, temperature, absl::MakeSpan(tempered));
  return tempered;
}

TEST(TemperPriorsTest, ATemperatureOfTwoTakesRoots) {
  // Roots 0.8, 0.6, 0.0 of 0.64, 0.36, 0.
  EXPECT_THAT(
      Tempered({0.64f, 0.36f, 0}, 2),
      Pointwise(FloatNear(kTolerance), {0.8f / 1.4f, 0.6f / 1.4f, 0.0f}));
}

TEST(TemperPriorsTest, ATemperatureOfAHalfTakesSquares) {
  EXPECT_THAT(Tempered({0.75f, 0.25f}, 0.5f),
              Pointwise(FloatNear(kTolerance), {0.9f, 0.1f}));
}

TEST(TemperPriorsTest, ATemperatureOfOneChangesNothing) {
  EXPECT_THAT(Tempered({0.7f, 0.2f, 0.1f}, 1),
              Pointwise(FloatNear(kTolerance), {0.7f, 0.2f, 0.1f}));
}

TEST(TemperPriorsTest, EqualPriorsStayEqual) {
  const std::vector<float> equal(45, 1.0f / 45);
  for (const float temperature : {0.1f, 1.4f, 10.0f}) {
    const std::vector<float> tempered = Tempered(equal, temperature);
    EXPECT_THAT(tempered, Pointwise(FloatNear(kTolerance), equal));
    EXPECT_NEAR(std::accumulate(tempered.begin(), tempered.end(), 0.0f), 1,
                1e-5);
  }
}

}  // namespace
}  // namespace tara::mcts
