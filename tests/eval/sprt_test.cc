
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/eval/statistics/statistics.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;

TEST(SprtTest, LogisticRatiosAreThoseOfFishtest) {
  // By LLRcalc.LLR_logistic of github.com/official-stockfish/fishtest
  // (server/fishtest/stats), to all digits.
  const struct {
    PairCounts counts;
    double elo0, elo1, llr;
  } kPublished[] = {
      {{3, 20, 50, 22, 5}, 0, 20, 0.04032037241670679},
      {{3, 20, 50, 22, 5}, 0, 5, 0.17838022438188125},
      {{3, 20, 50, 22, 5}, -10, 10, 0.9344729113889829},
      {{0, 10, 30, 12, 0}, 0, 20, -0.27041453628885204},
      {{0, 10, 30, 12, 0}, 0, 5, 0.085226848211516},
      {{12, 40, 60, 30, 8}, 0, 20, -2.9973011351582723},
      {{12, 40, 60, 30, 8}, -10, 10, -2.0579732004260216},
  };
  for (const auto& [counts, elo0, elo1, llr] : kPublished) {
    EXPECT_NEAR(GsprtLlr(counts, {.elo0 = elo0, .elo1 = elo1}), llr, 1e-9);
  }
}

TEST(SprtTest, RatiosOfLongTestsAreThoseOfFastchess) {
  // app/tests/sprt_test.cpp of github.com/Disservin/fastchess, to 1 %.
  const struct {
    PairCounts counts;
    double elo0, elo1, llr;
  } kPublished[] = {
      {{223, 9863, 21279, 10037, 246}, 0.5, 2.5, -3.07},
      {{871, 26175, 55983, 26678, 821}, 0, 2, -4.98},
  };
  for (const auto& [counts, elo0, elo1, llr] : kPublished) {
    EXPECT_NEAR(GsprtLlr(counts, {.elo0 = elo0, .elo1 = elo1}), llr,
                0.01 * std::abs(llr));
  }
}

TEST(SprtTest, TheRatioOfTwoOutcomesIsThatOfBinomials) {
  // With whole wins and losses alone (what has not been seen weighs next to
  // nothing), a distribution is its mean: the ratio is that of two coins,
  //   n_win ln(s1 / s0) + n_loss ln((1 - s1) / (1 - s0)).
  const SprtOptions options = {.elo0 = 0, .elo1 = EloDifference(0.6)};
  const double expected = 55 * std::log(0.6 / 0.5) + 45 * std::log(0.4 / 0.5);
  EXPECT_NEAR(GsprtLlr({45, 0, 0, 0, 55}, options), expected, 0.002);
}

TEST(SprtTest, BothPlayersSeeTheSameTestFromTheirSides) {
  const PairCounts counts = {3, 20, 50, 25, 9};
  const PairCounts reversed = {9, 25, 50, 20, 3};
  EXPECT_NEAR(GsprtLlr(counts, {.elo0 = -5, .elo1 = 15}),
              -GsprtLlr(reversed, {.elo0 = -15, .elo1 = 5}), 1e-9);
}

TEST(SprtTest, ATestWithoutPairsIsUndecided) {
  const Sprt sprt({});
  EXPECT_EQ(sprt.llr(), 0);
  EXPECT_EQ(sprt.pairs(), 0);
  EXPECT_EQ(sprt.decision(), SprtDecision::kUndecided);
  EXPECT_NEAR(sprt.lower_bound(), -2.94443897916644, 1e-12);  // -ln 19
  EXPECT_NEAR(sprt.upper_bound(), 2.94443897916644, 1e-12);
}

TEST(SprtTest, BoundsAreWaldsOfEitherError) {
  const Sprt sprt({.alpha = 0.01, .beta = 0.2});
  EXPECT_NEAR(sprt.lower_bound(), std::log(0.2 / 0.99), 1e-12);
  EXPECT_NEAR(sprt.upper_bound(), std::log(80), 1e-12);
}

TEST(SprtTest, WhoWinsAllIsStrongerWhoLosesAllIsNot) {
  Sprt winning({.elo0 = 0, .elo1 = 20});
  Sprt losing({.elo0 = 0, .elo1 = 20});
  while (winning.decision() == SprtDecision::kUndecided) winning.Add(4);
  while (losing.decision() == SprtDecision::kUndecided) losing.Add(0);
  EXPECT_EQ(winning.decision(), SprtDecision::kAcceptH1);
  EXPECT_EQ(winning.pairs(), 53);  // fishtest: 106 games
  EXPECT_EQ(losing.decision(), SprtDecision::kAcceptH0);
  EXPECT_EQ(losing.counts(), (PairCounts{losing.pairs(), 0, 0, 0, 0}));
}

TEST(SprtTest, WhatIsDecidedStaysDecided) {
  Sprt sprt({.elo0 = 0, .elo1 = 100});
  while (sprt.decision() == SprtDecision::kUndecided) sprt.Add(4);
  for (int i = 0; i < 100; ++i) sprt.Add(0);
  EXPECT_LT(sprt.llr(), sprt.lower_bound());
  EXPECT_EQ(sprt.decision(), SprtDecision::kAcceptH1);
}

// Outcomes of pairs with mean 1/2, whose games agree more often than by chance,
// moved to a mean score by tilting: p_i * exp(x * i).
std::array<double, 5> OutcomesWithElo(double elo) {
  const std::array<double, 5> even = {0.08, 0.2, 0.44, 0.2, 0.08};
  const double wanted = 1 / (1 + std::pow(10, -elo / 400));
  std::array<double, 5> p = even;
  double low = -5;
  double high = 5;
  for (int step = 0; step < 60; ++step) {
    const double x = (low + high) / 2;
    double sum = 0;
    double mean = 0;
    for (int i = 0; i < 5; ++i) sum += p[i] = even[i] * std::exp(x * i);
    for (int i = 0; i < 5; ++i) mean += (p[i] /= sum) * i / 4;
    (mean < wanted ? low : high) = x;
  }
  return p;
}

// Plays tests to their ends; returns the share that accepts H1.
double ShareOfH1(const SprtOptions& options, double elo, int tests) {
  const std::array<double, 5> p = OutcomesWithElo(elo);
  int accepted = 0;
  for (int test = 0; test < tests; ++test) {
    Random random(DeriveSeed(1, test, StreamPurpose::kTest));
    Sprt sprt(options);
    while (sprt.decision() == SprtDecision::kUndecided) {
      const double u = random.Uniform();
      int outcome = 0;
      for (double sum = p[0]; outcome < 4 && u >= sum;) sum += p[++outcome];
      sprt.Add(outcome);
    }
    accepted += sprt.decision() == SprtDecision::kAcceptH1;
  }
  return static_cast<double>(accepted) / tests;
}

// Steps overshoot the bounds, so that errors are somewhat rarer than nominal:
// between half of it and all of it, but for what 1,500 tests leave to chance
// (three deviations: 0.017 at 5 %, 0.023 at 10 %).
TEST(SprtTest, ErrorsAreAsRareAsPromised) {
  const SprtOptions options = {
      .elo0 = 0, .elo1 = 60, .alpha = 0.05, .beta = 0.1};
  const double alpha = ShareOfH1(options, 0, 1500);
  const double beta = 1 - ShareOfH1(options, 60, 1500);
  EXPECT_GT(alpha, 0.025 - 0.012);
  EXPECT_LT(alpha, 0.05 + 0.017);
  EXPECT_GT(beta, 0.05 - 0.017);
  EXPECT_LT(beta, 0.1 + 0.023);
}

TEST(SprtTest, ErrorsAreRarerBeyondTheHypotheses) {
  const SprtOptions options = {.elo0 = 0, .elo1 = 60};
  EXPECT_LT(ShareOfH1(options, -40, 300), 0.02);
  EXPECT_GT(ShareOfH1(options, 100, 300), 0.98);
}

TEST(SprtTest, OptionsAreParsed) {
  const absl::StatusOr<SprtOptions> options =
      ParseSprtOptions("elo0=-5,elo1=2.5,alpha=0.01,beta=0.1");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->elo0, -5);
  EXPECT_EQ(options->elo1, 2.5);
  EXPECT_EQ(options->alpha, 0.01);
  EXPECT_EQ(options->beta, 0.1);
  EXPECT_EQ(SprtOptionsText(*options), "elo0=-5,elo1=2.5,alpha=0.01,beta=0.1");
  EXPECT_EQ(SprtOptionsText(*ParseSprtOptions("elo0=0,elo1=10")),
            "elo0=0,elo1=10,alpha=0.05,beta=0.05");
}

TEST(SprtTest, ImpossibleTestsAreRefused) {
  for (const auto& [text, error] : std::map<std::string, std::string>{
           {"elo0=5,elo1=5",
            "SPRT: elo1 is 5 and elo0 is 5; expected elo1 greater than elo0"},
           {"alpha=0.5",
            "SPRT: alpha is 0.5; expected a rate of errors between 0 and 0.5"},
           {"beta=0",
            "SPRT: beta is 0; expected a rate of errors between 0 and 0.5"},
           {"elo1=2000",
            "elo1 is '2000'; expected a number from -1000 to 1000"},
           {"elo1=nan", "elo1 is 'nan'; expected a number"},
           {"elo1=0xA", "elo1 is '0xA'; expected a number"},
           {"elo1=ten", "elo1 is 'ten'; expected a number"},
           {"elo2=5", "no option 'elo2=5'; expected elo0, elo1, alpha, beta"},
           {"elo1", "elo1 is ''; expected a number"},
           {"", "elo0=0,elo1=10"},
           {"elo1=5,elo1=6", "elo1 is given twice"}}) {
    EXPECT_THAT(ParseSprtOptions(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)));
  }
}

// --- Hypotheses --------------------------------------------------------------

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
  }
  EXPECT_NEAR(StudentQuantile95(1e9), 1.959963984540054, 1e-6);
}

TEST(HypothesesTest, NormalDeviatesHaveTheValuesOfTheTables) {
  // Deviations of 1: the interval is as wide as its quantile.
  const auto p_value = [](double z) {
    return PValueOf({z, z - kNormalQuantile95, z + kNormalQuantile95});
  };
  EXPECT_NEAR(p_value(1.959963984540054), 0.05, 1e-12);
  EXPECT_NEAR(p_value(-2.5758293035489), 0.01, 1e-12);
  EXPECT_EQ(p_value(0), 1);
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

}  // namespace
}  // namespace tara::eval
