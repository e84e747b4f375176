#include "tara/mcts/levels/levels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tara/base/check.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/choose_action.h"

namespace tara::mcts {
namespace {

// More than the legal actions of most positions: all are looked at once, before
// the halving begins.
constexpr int kAllActions = 64;

// By variant, in the order of kVariants. Made by the command in
// docs/how-to/use_the_page.md; rate levels again after a change.
// Levels that come out in the wrong order have the mean of both: levels 6 and 7
// of Sacred Hill Doubles Level 2, measured as 1142 and 1135, and levels 1 and 2
// of High Kings Level 1, measured as 812 and 799.
constexpr int kElo[kNumVariants][kNumLevels] = {
    {443, 557, 731, 897, 1000, 1231, 1431, 1552, 1566, 1638},
    {725, 784, 836, 909, 1000, 1125, 1185, 1255, 1421, 1722},
    {531, 632, 737, 889, 1000, 1184, 1289, 1464, 1539, 1664},
    {554, 632, 780, 861, 1000, 1138, 1138, 1346, 1554, 1587},
    {139, 260, 633, 650, 1000, 1234, 1469, 1768, 1775, 1882},
    {569, 617, 825, 898, 1000, 1294, 1393, 1607, 1749, 1782},
    {806, 806, 852, 969, 1000, 1235, 1405, 1507, 1833, 2191},
    {604, 719, 745, 894, 1000, 1152, 1335, 1455, 1796, 2126},
    {447, 609, 673, 819, 1000, 1177, 1383, 1701, 1777, 1857},
    {461, 594, 782, 855, 1000, 1112, 1354, 1962, 2070, 2143},
};
// Half widths of 95 % intervals.
constexpr int kEloInterval[kNumVariants][kNumLevels] = {
    {144, 130, 112, 105, 0, 121, 128, 146, 146, 151},
    {108, 105, 103, 102, 0, 100, 102, 102, 116, 149},
    {128, 116, 105, 104, 0, 104, 106, 125, 134, 145},
    {124, 114, 104, 102, 0, 103, 103, 109, 133, 135},
    {223, 206, 146, 148, 0, 142, 163, 215, 214, 220},
    {129, 124, 123, 119, 0, 119, 122, 150, 160, 165},
    {112, 113, 110, 110, 0, 108, 121, 135, 155, 197},
    {126, 119, 117, 114, 0, 112, 117, 130, 156, 194},
    {137, 124, 115, 102, 0, 112, 111, 152, 159, 172},
    {151, 135, 118, 117, 0, 117, 117, 189, 215, 219},
};

constexpr int kFirstSeat[kNumVariants] = {156, 66, 96, 93,  347,
                                          136, 57, 41, -96, -71};

}  // namespace

const std::array<Level, kNumLevels> kLevels = {{
    {.simulations = 64, .value_margin = 1.2f},
    {.simulations = 64, .value_margin = 0.85f},
    {.simulations = 64, .value_margin = 0.6f},
    {.simulations = 64, .value_margin = 0.45f},
    {.simulations = 64, .value_margin = 0.32f},
    {.simulations = 64, .value_margin = 0.2f},
    {.simulations = 64, .value_margin = 0.1f},
    {.simulations = 64, .value_margin = 0},
    {.simulations = 512, .value_margin = 0},
    {.simulations = 4096, .value_margin = 0},
}};

int FirstSeatElo(Variant variant) {
  return kFirstSeat[static_cast<int>(variant)];
}

LevelElo EloOfLevel(Variant variant, int level) {
  TARA_CHECK(level >= 1 && level <= kNumLevels, "there is such a level");
  const auto row = static_cast<size_t>(variant);
  return {.elo = kElo[row][level - 1],
          .interval = kEloInterval[row][level - 1]};
}

int ScoreAfter(const State& state, Action action) {
  State next = state;
  ApplyAction(action, next);
  const int red_margin = Score(next).margin();
  return state.side() == kRed ? red_margin : -red_margin;
}

Action ChooseWithinMargin(const Tree& tree, float value_margin,
                          Random& random) {
  if (tree.settled()) return ChooseAction(tree, 0, 0, random);
  const std::vector<RootAction> actions = tree.root_actions();
  std::vector<bool> left = LeftByProof(actions, ChoiceAt(tree, 0, 0));
  float best_value = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < actions.size(); ++i) {
    left[i] = left[i] && actions[i].visits > 0;
    if (left[i]) best_value = std::max(best_value, actions[i].mean_value);
  }
  Action chosen = kPass;
  int best_score = 0;
  uint32_t tied = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (!left[i] || actions[i].mean_value < best_value - value_margin) continue;
    const int score = ScoreAfter(tree.root(), actions[i].action);
    if (tied > 0 && score < best_score) continue;
    if (tied > 0 && score > best_score) tied = 0;
    best_score = score;
    if (random.Below(++tied) == 0) chosen = actions[i].action;
  }
  // All visits may have gone to actions that are ruled out since.
  if (tied == 0) return ChooseAction(tree, 0, 0, random);
  return chosen;
}

SearchOptions SearchOfLevel(const Level& level) {
  SearchOptions options = ForPlay({.simulations = level.simulations});
  if (level.value_margin > 0) {
    options.gumbel = true;
    options.gumbel_options.considered_actions = kAllActions;
    options.solver_vacant_hills = 0;
  }
  return options;
}

}  // namespace tara::mcts
