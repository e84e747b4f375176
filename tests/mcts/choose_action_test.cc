#include "tara/mcts/choice/choose_action.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"

namespace tara::mcts {
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

// Sets what is proved of an action's margin.
void Prove(int low, int high, RootAction& action) {
  action.low = static_cast<int8_t>(low);
  action.high = static_cast<int8_t>(high);
}

// Returns the hills that are ever chosen.
std::set<Hill> Chosen(const std::vector<RootAction>& actions,
                      const ChoiceOptions& options) {
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  std::set<Hill> chosen;
  for (int i = 0; i < 300; ++i) {
    chosen.insert(
        static_cast<Hill>(Index(ChooseAction(actions, options, random))));
  }
  return chosen;
}

constexpr float kTemperatures[] = {0, 1};

TEST(ChooseActionTest, AProvedWinIsPlayedWhateverTheVisits) {
  std::vector<RootAction> actions = WithVisits({90, 5, 80});
  Prove(1, kMaxMargin, actions[1]);
  for (const float temperature : kTemperatures) {
    EXPECT_EQ(Chosen(actions, {.temperature = temperature}),
              (std::set<Hill>{1}));
  }
}

TEST(ChooseActionTest, OfSeveralProvedWinsTheSurestMarginIsPlayed) {
  std::vector<RootAction> actions = WithVisits({90, 5, 80});
  Prove(1, kMaxMargin, actions[0]);
  Prove(4, 4, actions[1]);
  EXPECT_EQ(Chosen(actions, {}), (std::set<Hill>{1}));
  // Drawing is among them all, by their visits.
  EXPECT_EQ(Chosen(actions, {.temperature = 1}), (std::set<Hill>{0, 1}));
}

TEST(ChooseActionTest, AProvedLossIsAvoidedAtEveryTemperature) {
  std::vector<RootAction> actions = WithVisits({90, 50, 40});
  Prove(-kMaxMargin, -1, actions[0]);
  EXPECT_EQ(Chosen(actions, {}), (std::set<Hill>{1}));
  EXPECT_EQ(Chosen(actions, {.temperature = 1}), (std::set<Hill>{1, 2}));
}

TEST(ChooseActionTest, AProvedDrawIsRuledOutByNothingThatMayLose) {
  std::vector<RootAction> actions = WithVisits({50, 40, 30});
  Prove(0, 0, actions[0]);
  Prove(-3, -3, actions[2]);
  EXPECT_EQ(Chosen(actions, {}), (std::set<Hill>{0}));
  EXPECT_EQ(Chosen(actions, {.temperature = 1}), (std::set<Hill>{0, 1}));
  // But by what draws at least it is.
  Prove(0, kMaxMargin, actions[1]);
  EXPECT_EQ(Chosen(actions, {.temperature = 1}), (std::set<Hill>{1}));
}

TEST(ChooseActionTest, AProvedDrawIsPlayedWhereAllOthersLose) {
  std::vector<RootAction> actions = WithVisits({50, 1, 30});
  Prove(-7, -2, actions[0]);
  Prove(0, 0, actions[1]);
  Prove(-3, -3, actions[2]);
  EXPECT_EQ(Chosen(actions, {}), (std::set<Hill>{1}));
}

TEST(ChooseActionTest, WhereAllIsLostTheSmallestLossIsPlayed) {
  std::vector<RootAction> actions = WithVisits({50, 10, 30});
  Prove(-7, -7, actions[0]);
  Prove(-2, -2, actions[1]);
  Prove(-3, -3, actions[2]);
  EXPECT_EQ(Chosen(actions, {}), (std::set<Hill>{1}));
}

TEST(ChooseActionTest, WorthDecidesWhatIsProvedBest) {
  // By points a sure 1 does not settle what may bring more.
  std::vector<RootAction> actions = WithVisits({50, 10, 30});
  Prove(1, 1, actions[1]);
  Prove(-9, 0, actions[2]);
  const auto points = [](int margin) { return static_cast<float>(margin); };
  EXPECT_EQ(Chosen(actions, {.utility = points}), (std::set<Hill>{0}));
  EXPECT_EQ(Chosen(actions, {.temperature = 1, .utility = points}),
            (std::set<Hill>{0, 1}));
}

TEST(ChooseActionTest, WhatProofLeavesIsToldForEachAction) {
  std::vector<RootAction> actions = WithVisits({5, 9, 7});
  EXPECT_EQ(LeftByProof(actions, {}), std::vector<bool>({true, true, true}));
  actions[1].high = -2;  // lost
  EXPECT_EQ(LeftByProof(actions, {}), std::vector<bool>({true, false, true}));
  actions[2].low = 1;  // won
  EXPECT_EQ(LeftByProof(actions, {}), std::vector<bool>({false, false, true}));
}

TEST(ChooseActionTest, WhatIsProvedNeedsNoVisits) {
  std::vector<RootAction> actions = WithVisits({0, 0});
  Prove(2, 2, actions[1]);
  for (const float temperature : kTemperatures) {
    EXPECT_EQ(Chosen(actions, {.temperature = temperature}),
              (std::set<Hill>{1}));
  }
}

TEST(ChooseActionTest, PriorsDecideWhereOnlyProvedLossesWereVisited) {
  std::vector<RootAction> actions = WithVisits({10, 0, 0});
  Prove(-1, -1, actions[0]);
  actions[2].prior = 0.5f;
  for (const float temperature : kTemperatures) {
    EXPECT_EQ(Chosen(actions, {.temperature = temperature, .confidence_z = 3}),
              (std::set<Hill>{2}));
  }
}

TEST(ChooseActionTest, TheLowerConfidenceBoundIsTheFormula) {
  RootAction action = WithVisits({24})[0];
  action.mean_value = 0.5f;
  action.value_deviation = 0.5f;
  // (24 * 0.25 + 1) / 25 = 0.28
  EXPECT_FLOAT_EQ(LowerConfidenceBound(action, 2),
                  0.5f - 2 * std::sqrt(0.28f / 24));
}

TEST(ChooseActionTest, AHigherBoundBeatsMoreVisits) {
  std::vector<RootAction> actions = WithVisits({500, 400, 10, 0});
  for (RootAction& action : actions) action.value_deviation = 0.4f;
  actions[0].mean_value = 0.1f;
  actions[1].mean_value = 0.3f;
  actions[2].mean_value = 0.9f;  // too few visits to compare
  EXPECT_EQ(Chosen(actions, {.confidence_z = 3}), (std::set<Hill>{1}));
  EXPECT_EQ(Chosen(actions, {.confidence_z = 0}), (std::set<Hill>{0}));
  // Half a standard error apart is not enough for a large z: the errors are
  // about 0.4 / sqrt(500) = 0.018 and 0.4 / sqrt(400) = 0.02.
  actions[1].mean_value = 0.11f;
  EXPECT_EQ(Chosen(actions, {.confidence_z = 10}), (std::set<Hill>{0}));
}

TEST(ChooseActionTest, FewEqualValuesAreNotTakenForCertain) {
  std::vector<RootAction> actions = WithVisits({100, 20});
  actions[0].mean_value = 0.45f;
  actions[0].value_deviation = 0.3f;
  actions[1].mean_value = 0.5f;  // with no spread at all in its 20 visits
  EXPECT_EQ(Chosen(actions, {.confidence_z = 5}), (std::set<Hill>{0}));
}

TEST(ChooseActionDeathTest, ASearchIsNeeded) {
  Random random(1);
  EXPECT_DEATH(ChooseAction(WithVisits({0, 0}), 1, random),
               "the root must be searched");
  EXPECT_DEATH(ChooseAction(WithVisits({1}), -1, random),
               "temperature must be >= 0");
}

}  // namespace
}  // namespace tara::mcts
