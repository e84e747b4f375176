#include "tara/mcts/choose_action.h"

#include <cmath>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"

namespace tara {
namespace {

std::vector<RootAction> WithVisits(const std::vector<int>& visits) {
  std::vector<RootAction> actions;
  for (const int count : visits) {
    actions.push_back({.action = HillAction(static_cast<Hill>(actions.size())),
                       .prior = 0.25f,
                       .visits = count,
                       .mean_value = 0});
  }
  return actions;
}

// Pearson's statistic of 20000 draws against visits^(1/temperature).
double ChiSquare(const std::vector<int>& visits, float temperature) {
  constexpr int kDraws = 20000;
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  std::map<Action, int> counts;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[ChooseAction(WithVisits(visits), temperature, random)];
  }
  double total = 0;
  for (const int count : visits) total += std::pow(count, 1 / temperature);
  double statistic = 0;
  for (size_t i = 0; i < visits.size(); ++i) {
    const int count = counts[HillAction(static_cast<Hill>(i))];
    const double expected =
        kDraws * std::pow(visits[i], 1 / temperature) / total;
    if (expected == 0) {
      EXPECT_EQ(count, 0);
      continue;
    }
    statistic += (count - expected) * (count - expected) / expected;
  }
  return statistic;
}

// 99.9 % quantile of the chi-square distribution with 3 degrees of freedom.
constexpr double kQuantile3 = 16.27;

TEST(ChooseActionTest, TemperatureOneDrawsInProportionToVisits) {
  EXPECT_LT(ChiSquare({10, 0, 20, 30, 40}, 1), kQuantile3);
}

TEST(ChooseActionTest, LowTemperaturesSharpenTheDistribution) {
  EXPECT_LT(ChiSquare({10, 20, 30, 40, 0}, 0.5f), kQuantile3);
}

TEST(ChooseActionTest, HighTemperaturesFlattenTheDistribution) {
  EXPECT_LT(ChiSquare({1, 16, 81, 625}, 4), kQuantile3);
}

TEST(ChooseActionTest, ManyVisitsAtATinyTemperatureDoNotOverflow) {
  Random random(1);
  EXPECT_EQ(ChooseAction(WithVisits({900000, 1000000, 5}), 0.0001f, random),
            HillAction(1));
}

TEST(ChooseActionTest, TemperatureZeroTakesTheMostVisited) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ChooseAction(WithVisits({3, 5, 4}), 0, random), HillAction(1));
  }
}

TEST(ChooseActionTest, TiesGoToTheHigherPriorThenToTheHigherValue) {
  Random random(1);
  std::vector<RootAction> actions = WithVisits({5, 5, 5, 1});
  actions[2].mean_value = 0.5f;
  EXPECT_EQ(ChooseAction(actions, 0, random), HillAction(2));
  actions[1].prior = 0.5f;
  EXPECT_EQ(ChooseAction(actions, 0, random), HillAction(1));
}

TEST(ChooseActionTest, FullTiesAreDrawnEvenly) {
  Random random(1);
  std::map<Action, int> counts;
  for (int i = 0; i < 3000; ++i) {
    ++counts[ChooseAction(WithVisits({5, 2, 5, 5}), 0, random)];
  }
  // 1000 expected, standard deviation 26.
  for (const int hill : {0, 2, 3}) {
    EXPECT_NEAR(counts[HillAction(hill)], 1000, 110);
  }
  EXPECT_EQ(counts[HillAction(1)], 0);
}

TEST(ChooseActionDeathTest, ASearchIsNeeded) {
  Random random(1);
  EXPECT_DEATH(ChooseAction(WithVisits({0, 0}), 1, random),
               "choosing an action without a search");
  EXPECT_DEATH(ChooseAction(WithVisits({1}), -1, random),
               "negative temperature");
}

}  // namespace
}  // namespace tara
