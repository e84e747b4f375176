#include "tara/mcts/dirichlet.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara {
namespace {

TEST(DirichletTest, GammaHasItsMeanAndVariance) {
  // Both are the shape. The standard error of the mean is sqrt(shape / n);
  // that of the variance sqrt((2 shape^2 + 6 shape) / n) (the fourth central
  // moment of the gamma distribution is 3 shape^2 + 6 shape).
  constexpr int kDraws = 100000;
  for (const double shape : {0.1, 0.5, 1.0, 3.0, 20.0}) {
    Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = DrawGamma(shape, random);
      ASSERT_GE(x, 0);
      sum += x;
      squares += (x - shape) * (x - shape);
    }
    EXPECT_NEAR(sum / kDraws, shape, 4 * std::sqrt(shape / kDraws)) << shape;
    EXPECT_NEAR(squares / kDraws, shape,
                4 * std::sqrt((2 * shape * shape + 6 * shape) / kDraws))
        << shape;
  }
}

TEST(DirichletTest, ComponentsSumToOneAndVaryAsTheyShould) {
  // Mean 1/k; variance (1/k)(1 - 1/k) / (k alpha + 1).
  constexpr int kDraws = 20000;
  constexpr int kSize = 5;
  constexpr double kAlpha = 0.4;
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<float> draw = DrawDirichlet(kAlpha, kSize, random);
    ASSERT_EQ(draw.size(), kSize);
    ASSERT_NEAR(std::accumulate(draw.begin(), draw.end(), 0.0), 1, 1e-5);
    sum += draw[3];
    squares += (draw[3] - 0.2) * (draw[3] - 0.2);
  }
  const double variance = 0.2 * 0.8 / (kSize * kAlpha + 1);
  EXPECT_NEAR(sum / kDraws, 0.2, 4 * std::sqrt(variance / kDraws));
  EXPECT_NEAR(squares / kDraws, variance, 0.05 * variance);
}

TEST(DirichletTest, ATinyAlphaStillGivesADistribution) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const std::vector<float> draw = DrawDirichlet(1e-4, 4, random);
    EXPECT_NEAR(std::accumulate(draw.begin(), draw.end(), 0.0), 1, 1e-5);
  }
}

}  // namespace
}  // namespace tara
