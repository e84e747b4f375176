#include "tara/eval/statistics/hypotheses.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara::eval {
namespace {

TEST(HypothesesTest, IncompleteBetaHasThePublishedValue) {
  // SciPy's documentation of scipy.stats.binomtest: 3 of 15 at 10 %, or more.
  EXPECT_NEAR(IncompleteBeta(3, 13, 0.1), 0.18406106910639114, 1e-12);
  EXPECT_NEAR(IncompleteBeta(15, 1, 0.5), 1.0 / 32768, 1e-15);
}

TEST(HypothesesTest, IncompleteBetaIsTheSumOfItsBinomialTail) {
  // P(X >= 2) of 4 at 0.3: 1 - 0.7^4 - 4 * 0.3 * 0.7^3 = 0.3483.
  EXPECT_NEAR(IncompleteBeta(2, 3, 0.3), 0.3483, 1e-14);
  EXPECT_NEAR(IncompleteBeta(3, 2, 0.7), 1 - 0.3483, 1e-14);
  // I_x(1, b) = 1 - (1 - x)^b, and of any b, whole or not.
  EXPECT_NEAR(IncompleteBeta(1, 2.5, 0.2), 1 - std::pow(0.8, 2.5), 1e-14);
  EXPECT_NEAR(IncompleteBeta(5e6, 5e6, 0.5), 0.5, 1e-6);
  EXPECT_EQ(IncompleteBeta(2, 3, 0), 0);
  EXPECT_EQ(IncompleteBeta(2, 3, 1), 1);
}

TEST(HypothesesTest, BetaQuantilesAreTheOnesOfTheirProbability) {
  for (const double p : {0.001, 0.025, 0.5, 0.975}) {
    const double x = BetaQuantile(3.5, 20, p);
    EXPECT_NEAR(IncompleteBeta(3.5, 20, x), p, 1e-12);
  }
  EXPECT_NEAR(BetaQuantile(1, 20, 0.025), 1 - std::pow(0.975, 0.05), 1e-12);
}

TEST(HypothesesTest, StudentsDistributionHasTheValuesOfTheTables) {
  // Abramowitz and Stegun 1964, table 26.10, A = 0.95.
  const struct {
    double degrees, t;
  } kPublished[] = {{1, 12.706}, {2, 4.303},  {5, 2.571},
                    {19, 2.093}, {29, 2.045}, {120, 1.980}};
  for (const auto& [degrees, t] : kPublished) {
    EXPECT_NEAR(StudentQuantile95(degrees), t, 5e-4) << degrees;
    EXPECT_NEAR(StudentTwoSided(StudentQuantile95(degrees), degrees), 0.05,
                1e-12);
  }
  EXPECT_NEAR(StudentQuantile95(1e9), 1.959963984540054, 1e-6);
  EXPECT_EQ(StudentTwoSided(0, 7), 1);
}

TEST(HypothesesTest, NormalDeviatesHaveTheValuesOfTheTables) {
  EXPECT_NEAR(NormalTwoSided(1.959963984540054), 0.05, 1e-12);
  EXPECT_NEAR(NormalTwoSided(-2.5758293035489), 0.01, 1e-12);
  EXPECT_EQ(NormalTwoSided(0), 1);
}

TEST(HypothesesTest, HolmStepsDown) {
  // 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which may not be less.
  const std::vector<double> adjusted = HolmAdjusted({0.01, 0.04, 0.03, 0.005});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
  EXPECT_EQ(HolmAdjusted({0.7, 0.6})[0], 1);
  EXPECT_TRUE(HolmAdjusted({}).empty());
}

TEST(HypothesesTest, HolmRejectsWhatThePaperSays) {
  // Benjamini and Hochberg 1995 (JRSS B 57), section 4.1: of these 15 p-values
  // Bonferroni's procedure and Hochberg's both reject the first three at 0.05;
  // Holm's lies between the two.
  const std::vector<double> adjusted = HolmAdjusted(
      {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
       0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000});
  EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(),
                          [](double p) { return p < 0.05; }),
            3);
}

TEST(HypothesesTest, BenjaminiAndHochbergStepUp) {
  // 0.005 * 4 / 1 and 0.01 * 4 / 2 are 0.02; 0.03 * 4 / 3 and 0.04 are 0.04.
  const std::vector<double> adjusted =
      BenjaminiHochbergAdjusted({0.01, 0.04, 0.03, 0.005});
  EXPECT_DOUBLE_EQ(adjusted[0], 0.02);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.04);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
  EXPECT_EQ(BenjaminiHochbergAdjusted({1.0, 1.0})[0], 1);
  EXPECT_TRUE(BenjaminiHochbergAdjusted({}).empty());
}

TEST(HypothesesTest, BenjaminiAndHochbergRejectWhatTheirPaperSays) {
  // The same 15 p-values: four are rejected at 0.05, as 0.0095 <= 4 / 15 0.05.
  const std::vector<double> adjusted = BenjaminiHochbergAdjusted(
      {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
       0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000});
  EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(),
                          [](double p) { return p < 0.05; }),
            4);
  EXPECT_NEAR(adjusted[3], 15 * 0.0095 / 4, 1e-12);
}

TEST(HypothesesTest, OfWhatBenjaminiAndHochbergShowOneInTwentyIsFalse) {
  // Five true hypotheses and five that are 3 deviations off. Independent ones
  // have a false discovery rate of 0.05 times the share of the true.
  Random random(3);
  constexpr int kFamilies = 4000;
  double false_share = 0;
  int found = 0;
  int found_by_holm = 0;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<double> p_values;
    for (int i = 0; i < 10; ++i) {
      p_values.push_back(NormalTwoSided(random.Normal() + (i < 5 ? 0 : 3)));
    }
    const auto below = [](double p) { return p < 0.05; };
    const std::vector<double> adjusted = BenjaminiHochbergAdjusted(p_values);
    const auto wrong =
        std::count_if(adjusted.begin(), adjusted.begin() + 5, below);
    const auto all = std::count_if(adjusted.begin(), adjusted.end(), below);
    const std::vector<double> holm = HolmAdjusted(p_values);
    if (all > 0) false_share += static_cast<double>(wrong) / all;
    found += static_cast<int>(all - wrong);
    found_by_holm +=
        static_cast<int>(std::count_if(holm.begin() + 5, holm.end(), below));
  }
  EXPECT_NEAR(false_share / kFamilies, 0.025, 0.006);
  EXPECT_GT(found, found_by_holm);
}

TEST(HypothesesTest, HolmErrsInOneFamilyOfTwenty) {
  // Ten true hypotheses: without correction 1 - 0.95^10 = 40 % of such families
  // would show a difference that is none.
  Random random(2);
  constexpr int kFamilies = 4000;
  int plain = 0;
  int corrected = 0;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<double> p_values;
    for (int i = 0; i < 10; ++i) {
      p_values.push_back(NormalTwoSided(random.Normal()));
    }
    const std::vector<double> adjusted = HolmAdjusted(p_values);
    plain += *std::min_element(p_values.begin(), p_values.end()) < 0.05;
    corrected += *std::min_element(adjusted.begin(), adjusted.end()) < 0.05;
  }
  EXPECT_NEAR(plain / double{kFamilies}, 0.40, 0.03);
  EXPECT_NEAR(corrected / double{kFamilies}, 0.05, 0.012);
}

}  // namespace
}  // namespace tara::eval
