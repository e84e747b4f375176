#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/choice/puct.h"

namespace tara::mcts {
namespace {

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

TEST(PolicyTargetTest, ForcedVisitsAreTheRootOfThePriorsShare) {
  EXPECT_FLOAT_EQ(ForcedVisits(2, 0.08f, 100), 4);
  EXPECT_FLOAT_EQ(ForcedVisits(0, 0.08f, 100), 0);
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
