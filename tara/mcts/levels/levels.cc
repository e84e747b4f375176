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

// More than the legal actions of most positions: all are looked at first.
constexpr int kAllActions = 64;

// By variant, in the order of kVariants. Made by the command in
// docs/how-to/use_the_page.md; rate levels again after a change.
// Levels that come out in the wrong order have the mean of both: levels 3 and 4
// of Poisoned Chalice, measured as 854 and 825.
constexpr int kElo[kNumVariants][kNumLevels] = {
    {107, 412, 648, 824, 1000, 1217, 1427, 1519, 1630, 1709},
    {658, 789, 838, 899, 1000, 1176, 1321, 1394, 1619, 1807},
    {299, 531, 721, 847, 1000, 1195, 1331, 1440, 1462, 1603},
    {735, 826, 888, 940, 1000, 1141, 1284, 1389, 1583, 1778},
    {210, 509, 624, 794, 1000, 1126, 1296, 1635, 1722, 1770},
    {253, 470, 702, 808, 1000, 1179, 1320, 1450, 1560, 1613},
    {489, 653, 825, 885, 1000, 1198, 1292, 1562, 1924, 2299},
    {505, 656, 884, 952, 1000, 1239, 1355, 1598, 1845, 2236},
    {559, 720, 839, 839, 1000, 1259, 1572, 1745, 1865, 1936},
    {428, 719, 881, 975, 1000, 1184, 1352, 1765, 1915, 1970},
};
// Half widths of 95 % intervals.
constexpr int kEloInterval[kNumVariants][kNumLevels] = {
    {162, 149, 122, 125, 0, 114, 131, 142, 157, 161},
    {105, 105, 105, 106, 0, 105, 109, 114, 133, 153},
    {146, 126, 107, 109, 0, 115, 115, 130, 132, 143},
    {91, 59, 58, 59, 0, 59, 60, 66, 74, 85},
    {141, 136, 134, 119, 0, 130, 115, 162, 173, 175},
    {146, 142, 117, 108, 0, 117, 126, 133, 149, 153},
    {121, 128, 121, 119, 0, 117, 115, 138, 177, 216},
    {126, 126, 112, 115, 0, 117, 120, 143, 162, 208},
    {112, 123, 121, 123, 0, 111, 147, 165, 178, 183},
    {130, 121, 118, 119, 0, 119, 116, 157, 184, 188},
};

constexpr int kFirstSeat[kNumVariants] = {215, 79, 128, 21,   247,
                                          177, 67, 37,  -110, -58};

}  // namespace

const std::array<Level, kNumLevels> kLevels = {{
    {.simulations = 64, .value_margin = 2},
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
