#include "tara/eval/tuning/logistic_regression.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara::eval {
namespace {

constexpr double kTinyPenalty = 1e-6;

TEST(LogisticRegressionTest, OneInputGivesTheLogitOfItsFrequency) {
  // Three of four targets are 1: the chance that fits best is 3/4.
  const LogisticData data = {
      .width = 1, .inputs = {1, 1, 1, 1}, .targets = {1, 1, 0, 1}};
  const std::vector<double> weights = FitLogistic(data, kTinyPenalty);
  EXPECT_NEAR(weights[0], std::log(3.0), 1e-4);
  EXPECT_NEAR(LogisticLoss(data, weights),
              -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-6);
}

TEST(LogisticRegressionTest, WeightsThatMadeTheTargetsAreFound) {
  const std::vector<double> truth = {0.8, -1.5, 0.3};
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  LogisticData data = {.width = 3};
  for (int i = 0; i < 2000; ++i) {
    double logit = 0;
    for (const double weight : truth) {
      data.inputs.push_back(static_cast<float>(random.Normal()));
      logit += weight * data.inputs.back();
    }
    // Chances as targets: no noise.
    data.targets.push_back(static_cast<float>(1 / (1 + std::exp(-logit))));
  }
  const std::vector<double> weights = FitLogistic(data, kTinyPenalty);
  for (size_t i = 0; i < truth.size(); ++i) {
    EXPECT_NEAR(weights[i], truth[i], 1e-3);
  }
}

TEST(LogisticRegressionTest, ThePenaltyKeepsWeightsOfSureThingsFinite) {
  const LogisticData data = {.width = 1, .inputs = {1, 1}, .targets = {1, 1}};
  const double weight = FitLogistic(data, 0.5)[0];
  // Where the slopes cancel: 2 (1 - chance) = weight / 2.
  EXPECT_NEAR(2 * (1 - 1 / (1 + std::exp(-weight))), 0.5 * weight, 1e-6);
}

}  // namespace
}  // namespace tara::eval
