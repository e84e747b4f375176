// A network that has learned many compensations takes points for what they
// are: the more Blue's side is given, the less a position is worth to Red.

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

constexpr char kBundle[] = "models/fair_rules.tara";
constexpr int kMost = 10;  // half points that were drawn, for either side

// Returns Red's score in each position, of 0 to 1.
std::vector<double> RedScores(mcts::Evaluator& evaluator,
                              const std::vector<State>& states) {
  const auto results = EvaluationsBy(evaluator, states);
  std::vector<double> scores;
  for (size_t i = 0; i < states.size(); ++i) {
    const double own = results[i].win + results[i].draw / 2;
    scores.push_back(states[i].side() == kRed ? own : 1 - own);
  }
  return scores;
}

TEST(CompensationTest, TheMoreBlueIsGivenTheLessIsAPositionWorthToRed) {
  const auto evaluator = LoadNetworkEvaluator(kBundle, {});
  ASSERT_TRUE(evaluator.ok()) << evaluator.status();
  for (const VariantInfo& info : kVariants) {
    const std::vector<State> positions = RandomPositions(info.variant, 100, 11);
    std::vector<double> before;
    int falls = 0, steps = 0;
    double first_mean = 0, mean_before = 1;
    for (int halves = -kMost; halves <= kMost; ++halves) {
      std::vector<State> states = positions;
      for (State& state : states) {
        state.options.compensation_halves = static_cast<int8_t>(halves);
      }
      const std::vector<double> scores = RedScores(**evaluator, states);
      const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) /
                          static_cast<double>(scores.size());
      if (before.empty()) first_mean = mean;
      // From -2.5 to 2.5 the truth is level where kingdoms are scored: no such
      // game ends by 1 or 2 points. There the network wavers a little more.
      const bool is_level = halves > -5 && halves <= 5;
      EXPECT_LT(mean, mean_before + (is_level ? 0.02 : 0.005))
          << info.id << halves;
      for (size_t i = 0; i < before.size(); ++i) {
        ++steps;
        falls += scores[i] < before[i] + (is_level ? 0.02 : 0.01) ? 1 : 0;
      }
      before = scores;
      mean_before = mean;
    }
    // Of single positions a network is less sure: 94.6 to 100 % of the steps.
    EXPECT_GT(falls, 0.94 * steps) << info.id;
    EXPECT_GT(first_mean - mean_before, 0.5) << info.id;
  }
}

TEST(CompensationTest, TheBundleHasLearnedEachOptionOfEachVariant) {
  const auto bundle = Bundle::Open(kBundle);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const std::vector<BundleVariant>& learned = bundle->manifest().variants;
  for (const VariantInfo& info : kVariants) {
    RuleOptions changed;
    for (const RuleOptionInfo& option : kRuleOptions) {
      if (!option.applies_to(info)) continue;
      if (option.is_switch()) option.set(changed, 1 - option.DefaultValue());
    }
    changed.compensation_halves = kMost;
    EXPECT_EQ(NotLearned(learned, InitialState(info.variant, changed)), "")
        << info.id;
    changed.compensation_halves = kMost + 1;
    EXPECT_EQ(NotLearned(learned, InitialState(info.variant, changed)),
              "compensation=5.5")
        << info.id;
  }
}

}  // namespace
}  // namespace tara::nn
