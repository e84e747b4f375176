#include "tara/mcts/choice/root_exploration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara::mcts {
namespace {

using Stats = std::vector<GumbelRoot::ActionStats>;

// Values of a bandit: what the k-th visit of an action brings.
using Bandit = std::vector<std::vector<float>>;

std::vector<float> RandomPriors(int size, Random& random) {
  std::vector<float> priors(size);
  float total = 0;
  for (float& prior : priors) {
    total += prior = static_cast<float>(0.01 + random.Uniform());
  }
  for (float& prior : priors) prior /= total;
  return priors;
}

Bandit RandomBandit(int actions, int simulations, Random& random) {
  Bandit bandit(actions);
  for (std::vector<float>& values : bandit) {
    const double mean = 1.6 * random.Uniform() - 0.8;
    for (int i = 0; i < simulations; ++i) {
      values.push_back(static_cast<float>(mean + 0.4 * random.Uniform() - 0.2));
    }
  }
  return bandit;
}

void Visit(const Bandit& bandit, int action, Stats& stats) {
  GumbelRoot::ActionStats& own = stats[action];
  const float value = bandit[action][own.visits];
  own.value += (value - own.value) / static_cast<float>(++own.visits);
}

std::vector<int> Visits(const Stats& stats) {
  std::vector<int> visits;
  for (const GumbelRoot::ActionStats& own : stats) visits.push_back(own.visits);
  return visits;
}

Stats Search(const GumbelRoot& root, const Bandit& bandit, int simulations) {
  Stats stats(bandit.size());
  for (int i = 0; i < simulations; ++i) {
    Visit(bandit, root.Next(stats, 0), stats);
  }
  return stats;
}

// Sequential halving as the paper's algorithm 2 tells it, without noise: a
// list of the actions still in, of which the better half stays.
struct NaiveSearch {
  NaiveSearch(const GumbelOptions& options, const std::vector<float>& priors,
              const Bandit& bandit, int simulations)
      : options(options), priors(priors), stats(priors.size()) {
    std::vector<int> in(priors.size());
    std::iota(in.begin(), in.end(), 0);
    Sort(in);
    in.resize(std::min<size_t>(in.size(), options.considered_actions));
    const double phases = std::max(1.0, std::ceil(std::log2(in.size())));
    int left = simulations;
    while (left > 0) {
      const int rounds = std::max(
          1, static_cast<int>(simulations /
                              (phases * static_cast<double>(in.size()))));
      for (int round = 0; round < rounds; ++round) {
        Sort(in);
        for (const int action : in) {
          if (left-- > 0) Visit(bandit, action, stats);
        }
      }
      Sort(in);
      if (in.size() > 2) in.resize(std::max<size_t>(2, in.size() / 2));
    }
  }

  double Score(int action) const {
    int most = 0;
    for (const auto& own : stats) most = std::max(most, own.visits);
    return std::log(priors[action]) + (options.c_visit + most) *
                                          options.c_scale *
                                          (stats[action].value + 1) / 2;
  }

  void Sort(std::vector<int>& actions) const {
    std::stable_sort(actions.begin(), actions.end(),
                     [this](int a, int b) { return Score(a) > Score(b); });
  }

  const GumbelOptions options;
  const std::vector<float> priors;
  Stats stats;
};

TEST(GumbelRootTest, SimulationsAreSpreadAsByTheNaiveSequentialHalving) {
  for (int seed = 0; seed < 300; ++seed) {
    Random random(DeriveSeed(1, seed, StreamPurpose::kTest));
    const int actions = 1 + static_cast<int>(random.Below(40));
    const int simulations = 1 + static_cast<int>(random.Below(300));
    const GumbelOptions options = {
        .considered_actions = 1 + static_cast<int>(random.Below(20)),
        .c_visit = 5,
        .c_scale = 0.3f};
    const std::vector<float> priors = RandomPriors(actions, random);
    const Bandit bandit = RandomBandit(actions, simulations, random);
    const GumbelRoot root(options, priors, simulations, 0, random);
    const NaiveSearch naive(options, priors, bandit, simulations);
    ASSERT_EQ(Visits(Search(root, bandit, simulations)), Visits(naive.stats))
        << seed << ": " << options.considered_actions << " of " << actions
        << ", " << simulations << " simulations";
  }
}

TEST(GumbelRootTest, NoiseWithoutASearchSamplesFromThePriors) {
  constexpr int kDraws = 20000;
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  const std::vector<float> priors = {0.05f, 0.15f, 0.3f, 0.5f, 0};
  std::vector<int> counts(priors.size());
  const Stats stats(priors.size());
  for (int i = 0; i < kDraws; ++i) {
    const GumbelRoot root({}, priors, 1, 1, random);
    ++counts[root.Best(stats, 0)];
    ASSERT_EQ(root.Next(stats, 0), root.Best(stats, 0));
  }
  double statistic = 0;
  for (int i = 0; i < 4; ++i) {
    const double expected = kDraws * static_cast<double>(priors[i]);
    statistic += std::pow(counts[i] - expected, 2) / expected;
  }
  // 99.9 % quantile of the chi-square distribution with 3 degrees of freedom.
  EXPECT_LT(statistic, 16.27);
  EXPECT_EQ(counts[4], 0);
}

TEST(GumbelRootTest, WithoutNoiseNothingIsDrawn) {
  Random random(7);
  Random untouched(7);
  const GumbelRoot root({}, {0.5f, 0.5f}, 10, 0, random);
  EXPECT_EQ(random(), untouched());
}

TEST(GumbelRootTest, LeavesInFlightSpreadOverTheConsideredActions) {
  Random random(3);
  const std::vector<float> priors = RandomPriors(25, random);
  const GumbelRoot root({.considered_actions = 8}, priors, 24, 0, random);
  Stats stats(priors.size());
  for (int i = 0; i < 8; ++i) {
    GumbelRoot::ActionStats& next = stats[root.Next(stats, 0.5f)];
    EXPECT_EQ(next.visits, 0);
    ++next.visits;
    ++next.in_flight;
  }
  // Nothing is known yet: the policy is the prior.
  const std::vector<float> policy = root.ImprovedPolicy(stats, 0.5f);
  for (size_t i = 0; i < priors.size(); ++i) {
    EXPECT_NEAR(policy[i], priors[i], 1e-6);
  }
  // The ninth goes to one of the eight, a known good value before the unknown.
  const auto first = std::find_if(stats.begin(), stats.end(),
                                  [](auto& own) { return own.visits == 1; });
  *first = {.visits = 1, .value = 1};
  EXPECT_EQ(root.Next(stats, 0), first - stats.begin());
}

TEST(GumbelRootTest, GoesOnWithTheFinalistsBeyondThePlan) {
  Random random(4);
  const std::vector<float> priors = RandomPriors(10, random);
  const GumbelRoot root({.considered_actions = 4}, priors, 16, 0, random);
  const Bandit bandit = RandomBandit(10, 40, random);
  const std::vector<int> planned = Visits(Search(root, bandit, 16));
  const std::vector<int> beyond = Visits(Search(root, bandit, 26));
  for (size_t i = 0; i < planned.size(); ++i) {
    const bool finalist =
        planned[i] == *std::max_element(planned.begin(), planned.end());
    EXPECT_EQ(beyond[i], planned[i] + (finalist ? 5 : 0));
  }
}

TEST(GumbelRootTest, ACancelledSimulationDoesNotEndTheSearch) {
  Random random(5);
  const GumbelRoot root({}, {0.6f, 0.4f}, 10, 0, random);
  // Six steps are made: three visits each were planned.
  EXPECT_EQ(root.Next(Stats{{.visits = 4}, {.visits = 2}}, 0), 1);
}

TEST(GumbelRootTest, TheImprovedPolicyIsTheFormulaOfThePaper) {
  Random random(1);
  const GumbelRoot root({.c_visit = 1, .c_scale = 0.5f}, {0.5f, 0.3f, 0.2f}, 4,
                        0, random);
  const Stats stats = {
      {.visits = 3, .value = 0.4f}, {.visits = 1, .value = -0.2f}, {}};
  const std::vector<float> policy = root.ImprovedPolicy(stats, 0.1f);
  // Mixed value: (0.1 + 4 (0.5 * 0.4 - 0.3 * 0.2) / 0.8) / 5 = 0.16. Values in
  // [0, 1] are 0.7, 0.4, 0.58; their factor is (1 + 3) * 0.5 = 2.
  const double weights[] = {0.5 * std::exp(1.4), 0.3 * std::exp(0.8),
                            0.2 * std::exp(1.16)};
  const double total = weights[0] + weights[1] + weights[2];
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(policy[i], weights[i] / total, 1e-6) << i;
  }
}

TEST(GumbelRootDeathTest, PlansAreChecked) {
  Random random(1);
  EXPECT_DEATH(GumbelRoot({}, {}, 1, 0, random),
               "expected at least one action");
  EXPECT_DEATH(GumbelRoot({}, {1.0f}, 0, 0, random),
               "simulations must be >= 1");
  const GumbelRoot root({}, {1.0f}, 1, 0, random);
  EXPECT_DEATH(root.Next({}, 0), "expected statistics of each action");
}

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
}  // namespace tara::mcts
