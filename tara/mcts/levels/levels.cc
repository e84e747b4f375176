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
// docs/how-to/use_the_page.md; a level that is changed is to be rated anew.
constexpr int kElo[kNumVariants][kNumLevels] = {
    {221, 415, 570, 893, 1000, 1112, 1278, 1397, 1388, 1413},
    {599, 666, 787, 881, 1000, 1055, 1007, 1252, 1452, 1647},
    {674, 698, 908, 1020, 1000, 1155, 1410, 1521, 1575, 1660},
    {614, 737, 880, 843, 1000, 1072, 1192, 1254, 1490, 1564},
    {405, 592, 821, 1036, 1000, 1153, 1447, 1572, 1704, 1756},
    {518, 555, 743, 920, 1000, 1179, 1202, 1384, 1506, 1535},
    {598, 601, 767, 818, 1000, 1126, 1343, 1367, 1716, 1970},
    {578, 671, 796, 816, 1000, 1263, 1479, 1491, 1827, 1927},
    {604, 574, 803, 875, 1000, 1290, 1405, 1565, 1697, 1772},
    {656, 591, 844, 826, 1000, 1178, 1417, 1690, 1841, 1805},
};
// Of 95 %: plus or minus this.
constexpr int kEloInterval[kNumVariants][kNumLevels] = {
    {204, 180, 150, 164, 0, 169, 168, 175, 174, 184},
    {178, 166, 157, 146, 0, 150, 144, 150, 170, 204},
    {171, 178, 173, 170, 0, 163, 186, 198, 216, 222},
    {166, 152, 145, 145, 0, 137, 138, 147, 176, 192},
    {217, 188, 176, 179, 0, 171, 185, 214, 233, 236},
    {211, 200, 191, 182, 0, 174, 184, 200, 214, 216},
    {183, 181, 169, 150, 0, 163, 181, 180, 233, 282},
    {179, 168, 164, 151, 0, 161, 195, 203, 240, 261},
    {168, 171, 147, 150, 0, 143, 170, 185, 204, 209},
    {173, 190, 163, 144, 0, 155, 163, 213, 240, 232},
};

constexpr int kFirstSeat[kNumVariants] = {182, 102, 201, 24,  183,
                                          154, 18,  62,  -87, -25};

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
    {.simulations = 256, .value_margin = 0},
    {.simulations = 1024, .value_margin = 0},
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
