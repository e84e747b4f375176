#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/mcts/choice/root_exploration.h"

namespace tara::mcts {
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

TEST(DirichletTest, UnequalParametersGiveUnequalMeans) {
  // The mean of a component is its share of the parameters' sum; variance
  // mean (1 - mean) / (sum + 1).
  constexpr int kDraws = 20000;
  const std::vector<double> alphas = {0.2, 1.0, 0.8};
  Random random(DeriveSeed(3, 0, StreamPurpose::kTest));
  std::vector<double> sums(3);
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<float> draw = DrawDirichlet(alphas, random);
    for (int j = 0; j < 3; ++j) sums[j] += draw[j];
  }
  for (int j = 0; j < 3; ++j) {
    const double mean = alphas[j] / 2;
    EXPECT_NEAR(sums[j] / kDraws, mean,
                4 * std::sqrt(mean * (1 - mean) / 3 / kDraws));
  }
}

TEST(RootNoiseTest, EvenNoiseHasTheConcentrationOverTheLegalActions) {
  Random random(5);
  Random same(5);
  EXPECT_EQ(
      DrawRootNoise({.concentration = 8}, {0.7f, 0.1f, 0.1f, 0.1f}, random),
      DrawDirichlet(2.0, 4, same));
}

TEST(RootNoiseTest, ShapedNoiseFavoursActionsAboveTheMeanLogPrior) {
  // Logarithms of the clipped priors: log 0.01 twice, log 0.0001 twice; half a
  // logarithm of 100 above the mean each of the first two. So these get
  // 0.5 / 4 + 0.5 / 2 = 3/8 of the concentration, the others 1/8.
  const std::vector<float> priors = {0.95f, 0.0001f, 0.04f, 0.0001f};
  const std::vector<double> alphas = ShapedAlphas(16, priors);
  ASSERT_EQ(alphas.size(), 4);
  EXPECT_NEAR(alphas[0], 6, 1e-5);
  EXPECT_NEAR(alphas[1], 2, 1e-5);
  EXPECT_NEAR(alphas[2], 6, 1e-5);
  EXPECT_NEAR(alphas[3], 2, 1e-5);
}

TEST(RootNoiseTest, ShapedNoiseIsEvenWhereNoPriorStandsOut) {
  for (const std::vector<float>& priors : std::vector<std::vector<float>>{
           {0.5f, 0.3f, 0.2f}, std::vector<float>(300, 1 / 300.0f), {1.0f}}) {
    for (const double alpha : ShapedAlphas(3, priors)) {
      EXPECT_NEAR(alpha, 3.0 / static_cast<double>(priors.size()), 1e-9);
    }
  }
}

TEST(RootNoiseTest, ShapedNoiseBearsPriorsOfZero) {
  Random random(1);
  const std::vector<float> noise = DrawRootNoise(
      {.concentration = 10, .shaped = true}, {0.6f, 0, 0.4f}, random);
  EXPECT_NEAR(std::accumulate(noise.begin(), noise.end(), 0.0), 1, 1e-5);
}

}  // namespace
}  // namespace tara::mcts
