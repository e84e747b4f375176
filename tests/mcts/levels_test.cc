#include "tara/mcts/levels/levels.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/search/many_games.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

// Returns the tree of a level's search, judged by random games.
Tree Searched(const State& state, const Level& level) {
  FakeEvaluator evaluator;
  Tree tree(SearchOfLevel(level), state, /*seed=*/1);
  Tree* const trees[] = {&tree};
  EXPECT_TRUE(RunSearches(trees, evaluator).ok());
  return tree;
}

TEST(LevelsTest, GrowStrongerByFewerErrorsThenByMoreSimulations) {
  for (int i = 1; i < kNumLevels; ++i) {
    const Level& weaker = kLevels[i - 1];
    EXPECT_LE(weaker.simulations, kLevels[i].simulations);
    EXPECT_GE(weaker.value_margin, kLevels[i].value_margin);
    EXPECT_TRUE(weaker.simulations < kLevels[i].simulations ||
                weaker.value_margin > kLevels[i].value_margin);
  }
  EXPECT_EQ(kLevels[kNumLevels - 1].value_margin, 0);
}

TEST(LevelsTest, WereMeasuredInEveryVariant) {
  for (const VariantInfo& info : kVariants) {
    EXPECT_EQ(EloOfLevel(info.variant, 5).elo, 1000) << info.id;
    for (int level = 2; level <= kNumLevels; ++level) {
      const LevelElo lower = EloOfLevel(info.variant, level - 1);
      const LevelElo elo = EloOfLevel(info.variant, level);
      EXPECT_EQ(elo.interval == 0, level == 5) << info.id;
      EXPECT_GE(elo.elo, lower.elo) << info.id << " " << level;
      // What was measured is no more exact than that.
      if (level < 3) continue;
      EXPECT_GT(elo.elo, EloOfLevel(info.variant, level - 2).elo)
          << info.id << " " << level;
    }
  }
}

TEST(LevelsTest, AWeakLevelLooksAtAllLegalActions) {
  for (const VariantInfo& info : kVariants) {
    const State state = RandomGame(info.variant, 1)[8];
    const Tree tree = Searched(state, kLevels[0]);
    for (const RootAction& action : tree.root_actions()) {
      EXPECT_GT(action.visits, 0) << info.id;
    }
  }
}

TEST(LevelsTest, ScoreAfterIsForTheSideToMove) {
  // Rows of section 2 of docs/reference/rules.md, one hill before the end.
  const State state = RandomGame(Variant::kFourTreasures, 2)[44];
  ASSERT_FALSE(state.finished());
  LegalActions(state).ForEach([&](Action action) {
    const State next = After(state, action);
    const int red = Score(next).points[kRed] - Score(next).points[kBlue];
    EXPECT_EQ(ScoreAfter(state, action), state.side() == kRed ? red : -red);
  });
}

TEST(LevelsTest, TheChoiceScoresMostOfWhatIsNearTheBestValue) {
  Random random(3);
  for (const VariantInfo& info : kVariants) {
    for (const int plies : {4, 12, 20}) {
      const State state = RandomGame(info.variant, 3)[plies];
      const Tree tree = Searched(state, kLevels[0]);
      if (tree.settled()) continue;
      for (const float margin : {0.0f, 0.2f, 0.7f}) {
        const Action chosen = ChooseWithinMargin(tree, margin, random);
        const std::vector<RootAction> actions = tree.root_actions();
        const std::vector<bool> left =
            LeftByProof(actions, ChoiceAt(tree, 0, 0));
        float best = -1;
        for (size_t i = 0; i < actions.size(); ++i) {
          if (left[i]) best = std::max(best, actions[i].mean_value);
        }
        for (size_t i = 0; i < actions.size(); ++i) {
          if (actions[i].action == chosen) {
            EXPECT_TRUE(left[i]);
            EXPECT_GE(actions[i].mean_value, best - margin) << info.id;
          } else if (left[i] && actions[i].mean_value >= best - margin) {
            EXPECT_GE(ScoreAfter(state, chosen),
                      ScoreAfter(state, actions[i].action))
                << info.id;
          }
        }
      }
    }
  }
}

TEST(LevelsTest, EqualActionsAreDrawn) {
  // No ringfort is besieged, and each is a kingdom: all score the same.
  const State state = InitialState(Variant::kSacredHillL1);
  const Tree tree = Searched(state, kLevels[0]);
  Random random(4);
  std::set<Action> chosen;
  for (int i = 0; i < 200; ++i) {
    chosen.insert(ChooseWithinMargin(tree, 2, random));
  }
  EXPECT_GT(chosen.size(), 30u);
}

TEST(LevelsTest, WhatIsProvedIsPlayed) {
  // The example of section 7 of docs/reference/rules.md: one action takes two
  // kings and wins; nothing else is played, however wide the margin.
  const auto state = ParsePosition(
      "high_kings_l1 5/R4B1/7/1r5/rBrR3/5R1/Br3 0 battle - 0,0 0 - -");
  ASSERT_TRUE(state.ok()) << state.status();
  const Tree tree = Searched(*state, kLevels[0]);
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(ActionToText(ChooseWithinMargin(tree, 2, random)), "D3-B2");
  }
}

TEST(LevelsTest, LeavesTogetherAreFewOfAll) {
  EXPECT_EQ(LeavesTogether(1), 1);
  EXPECT_EQ(LeavesTogether(64), 4);
  EXPECT_EQ(LeavesTogether(1024), 8);
}

}  // namespace
}  // namespace tara::mcts
