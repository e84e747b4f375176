#include "tara/mcts/choice/choose_action.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
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
    ++counts[ChooseAction(WithVisits(visits), {.temperature = temperature},
                          random)];
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

TEST(ChooseActionTest, TemperaturesSharpenAndFlattenTheDistribution) {
  EXPECT_LT(ChiSquare({10, 0, 20, 30, 40}, 1), kQuantile3);
  EXPECT_LT(ChiSquare({10, 20, 30, 40, 0}, 0.5f), kQuantile3);
  EXPECT_LT(ChiSquare({1, 16, 81, 625}, 4), kQuantile3);
}

TEST(ChooseActionTest, ManyVisitsAtATinyTemperatureDoNotOverflow) {
  Random random(1);
  EXPECT_EQ(ChooseAction(WithVisits({900000, 1000000, 5}),
                         {.temperature = 0.0001f}, random),
            HillAction(1));
}

TEST(ChooseActionTest, TemperatureZeroTakesTheMostVisited) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ChooseAction(WithVisits({3, 5, 4}), {}, random), HillAction(1));
  }
}

TEST(ChooseActionTest, TiesGoToTheHigherPriorThenToTheHigherValue) {
  Random random(1);
  std::vector<RootAction> actions = WithVisits({5, 5, 5, 1});
  actions[2].mean_value = 0.5f;
  EXPECT_EQ(ChooseAction(actions, {}, random), HillAction(2));
  actions[1].prior = 0.5f;
  EXPECT_EQ(ChooseAction(actions, {}, random), HillAction(1));
}

TEST(ChooseActionTest, FullTiesAreDrawnEvenly) {
  Random random(1);
  std::map<Action, int> counts;
  for (int i = 0; i < 3000; ++i) {
    ++counts[ChooseAction(WithVisits({5, 2, 5, 5}), {}, random)];
  }
  // 1000 expected, standard deviation 26.
  for (const int hill : {0, 2, 3}) {
    EXPECT_NEAR(counts[HillAction(hill)], 1000, 110);
  }
  EXPECT_EQ(counts[HillAction(1)], 0);
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

TEST(ChooseActionTest, ProofsComeFirst) {
  constexpr int kMost = kMaxMargin;
  const std::pair<int, int> kOpen = {-kMost, kMost};
  struct {
    const char* rule;
    std::vector<int> visits;
    std::vector<std::pair<int, int>> proved;  // bounds of the margins
    std::set<Hill> best;                      // at temperature 0
    std::set<Hill> drawn;                     // at temperature 1
  } const kCases[] = {
      {"a win is played", {90, 5, 80}, {kOpen, {1, kMost}, kOpen}, {1}, {1}},
      {"a win needs no visits", {0, 0}, {kOpen, {2, 2}}, {1}, {1}},
      {"of wins the surest margin is best",
       {90, 5, 80},
       {{1, kMost}, {4, 4}, kOpen},
       {1},
       {0, 1}},
      {"a loss is avoided",
       {90, 50, 40},
       {{-kMost, -1}, kOpen, kOpen},
       {1},
       {1, 2}},
      {"a draw is not ruled out by what may lose",
       {50, 40, 30},
       {{0, 0}, kOpen, {-3, -3}},
       {0},
       {0, 1}},
      {"a draw is ruled out by what draws at least",
       {50, 40, 30},
       {{0, 0}, {0, kMost}, {-3, -3}},
       {1},
       {1}},
      {"a draw is played where all others lose",
       {50, 1, 30},
       {{-7, -2}, {0, 0}, {-3, -3}},
       {1},
       {1}},
      {"of losses the smallest is best",
       {50, 10, 30},
       {{-7, -7}, {-2, -2}, {-3, -3}},
       {1},
       {0, 1, 2}},
  };
  for (const auto& [rule, visits, proved, best, drawn] : kCases) {
    std::vector<RootAction> actions = WithVisits(visits);
    for (size_t i = 0; i < actions.size(); ++i) {
      actions[i].low = static_cast<int8_t>(proved[i].first);
      actions[i].high = static_cast<int8_t>(proved[i].second);
    }
    EXPECT_EQ(Chosen(actions, {}), best) << rule;
    EXPECT_EQ(Chosen(actions, {.temperature = 1}), drawn) << rule;
  }
}

TEST(ChooseActionTest, UtilityDecidesWhatIsProvedBest) {
  // By points a sure 1 does not settle what may bring more.
  std::vector<RootAction> actions = WithVisits({50, 10, 30});
  actions[1].low = actions[1].high = 1;
  actions[2].low = -9;
  actions[2].high = 0;
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

TEST(ChooseActionTest, PriorsDecideWhereOnlyProvedLossesWereVisited) {
  std::vector<RootAction> actions = WithVisits({10, 0, 0});
  actions[0].low = actions[0].high = -1;
  actions[2].prior = 0.5f;
  for (const float temperature : {0.0f, 1.0f}) {
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
  EXPECT_DEATH(ChooseAction(WithVisits({0, 0}), {.temperature = 1}, random),
               "the root must be searched");
  EXPECT_DEATH(ChooseAction(WithVisits({1}), {.temperature = -1}, random),
               "temperature must be >= 0");
}

RootAction Root(float prior, int visits, float value) {
  return {.action = HillAction(0),
          .prior = prior,
          .visits = visits,
          .mean_value = value};
}

Puct WithExploration(double exploration) {
  return {.exploration = static_cast<float>(exploration)};
}

TEST(PolicyTargetTest, WithoutForcingItIsTheShareOfVisits) {
  const std::vector<RootAction> actions = {Root(0.2f, 10, -1), Root(0.5f, 0, 0),
                                           Root(0.3f, 30, 1)};
  EXPECT_EQ(PolicyTarget(actions, {}), (std::vector<float>{0.25f, 0, 0.75f}));
}

TEST(PolicyTargetTest, VisitsThatOnlyForcingExplainsAreTaken) {
  // 100 visits; exploration 10. The best scores 0.5 + 10 * 0.6 / 81 = 0.574.
  const std::vector<RootAction> actions = {
      Root(0.6f, 80, 0.5f),
      // Forced: sqrt(2 * 0.08 * 100) = 4. At n visits it scores
      // -0.5 + 0.8 / (1 + n), below the best for every n: all 4 are taken.
      Root(0.08f, 4, -0.5f),
      // Forced: sqrt(2 * 0.32 * 100) = 8 of 16. It scores 0.3 + 3.2 / (1 + n),
      // below the best for n > 10.68: 5 are taken.
      Root(0.32f, 16, 0.3f),
  };
  const std::vector<float> target = PolicyTarget(
      actions, {.forced_playouts = 2, .puct = WithExploration(10)});
  EXPECT_FLOAT_EQ(target[0], 80 / 91.0f);
  EXPECT_FLOAT_EQ(target[1], 0);
  EXPECT_FLOAT_EQ(target[2], 11 / 91.0f);
}

TEST(PuctTest, TheTriesOfAScoreHaveIt) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double value = 2 * random.Uniform() - 1;
    const Puct puct = WithExploration(100 * random.Uniform());
    const double prior = random.Uniform();
    const double tries = 1 + std::floor(1000 * random.Uniform());
    const double score = puct.Score<double>(value, prior, tries);
    EXPECT_NEAR(puct.TriesOf(score, value, prior), tries, 1e-6 * tries);
    EXPECT_LT(puct.Score<double>(value, prior, tries + 1), score);
  }
}

TEST(PolicyTargetTest, ASingleVisitThatIsLeftGoesToo) {
  // Forced: sqrt(2 * 0.045 * 100) = 3 of 4.
  const std::vector<RootAction> actions = {Root(0.955f, 96, 0.5f),
                                           Root(0.045f, 4, -0.9f)};
  EXPECT_EQ(PolicyTarget(actions,
                         {.forced_playouts = 2, .puct = WithExploration(10)}),
            (std::vector<float>{1, 0}));
}

TEST(PolicyTargetTest, ActionsOfHigherValueThanTheBestKeepTheirVisits) {
  const std::vector<RootAction> actions = {Root(0.9f, 90, 0.1f),
                                           Root(0.1f, 10, 0.9f)};
  EXPECT_EQ(PolicyTarget(actions,
                         {.forced_playouts = 2, .puct = WithExploration(10)}),
            (std::vector<float>{0.9f, 0.1f}));
}

TEST(PolicyTargetTest, NoisyPriorsDecideWhereTheyAreGiven) {
  // By its own prior nothing of the second was forced.
  const std::vector<RootAction> actions = {Root(1, 96, 0.5f),
                                           Root(0, 4, -0.5f)};
  const PolicyTargetOptions options = {.forced_playouts = 2,
                                       .puct = WithExploration(10)};
  EXPECT_EQ(PolicyTarget(actions, options), (std::vector<float>{.96f, .04f}));
  EXPECT_EQ(PolicyTarget(actions, options, {0.9f, 0.1f}),
            (std::vector<float>{1, 0}));
}

// One visit after the other, as the paper tells it.
int PrunedOneByOne(const RootAction& action, double forced, double exploration,
                   double best_score) {
  int visits = action.visits;
  const int least = action.visits - static_cast<int>(std::ceil(forced));
  while (visits > 0 && visits > least &&
         action.mean_value + exploration * action.prior / visits < best_score) {
    --visits;
  }
  return visits < action.visits && visits <= 1 ? 0 : visits;
}

TEST(PolicyTargetTest, EqualsTakingVisitsOneByOne) {
  for (int seed = 0; seed < 500; ++seed) {
    Random random(DeriveSeed(1, seed, StreamPurpose::kTest));
    std::vector<RootAction> actions;
    const int count = 2 + static_cast<int>(random.Below(10));
    for (int i = 0; i < count; ++i) {
      actions.push_back(Root(static_cast<float>(random.Uniform() / count),
                             static_cast<int>(random.Below(30)),
                             static_cast<float>(random.Uniform() - 0.5)));
    }
    actions[seed % count].visits = 50;
    int total = 0;
    for (const RootAction& action : actions) total += action.visits;
    const double exploration = 1.5 * std::sqrt(total);
    const RootAction& best = actions[seed % count];
    const double best_score =
        best.mean_value + exploration * best.prior / (1 + best.visits);
    std::vector<double> expected;
    for (const RootAction& action : actions) {
      expected.push_back(
          &action == &best
              ? best.visits
              : PrunedOneByOne(action, std::sqrt(2 * action.prior * total),
                               exploration, best_score));
    }
    const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
    const std::vector<float> target = PolicyTarget(
        actions, {.forced_playouts = 2, .puct = WithExploration(exploration)});
    for (int i = 0; i < count; ++i) {
      EXPECT_NEAR(target[i], expected[i] / sum, 1e-6) << seed << " " << i;
    }
  }
}

TEST(PolicyTargetDeathTest, ASearchIsNeeded) {
  EXPECT_DEATH(PolicyTarget({Root(1, 0, 0)}, {}), "the root must be searched");
  EXPECT_DEATH(PolicyTarget({Root(1, 1, 0)}, {}, {0.5f, 0.5f}),
               "expected a prior for each action");
}

}  // namespace
}  // namespace tara::mcts
