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
// Levels that come out in the wrong order have the mean of both: levels 1 and 2
// of High Kings Level 1, measured as 646 and 639.
constexpr int kElo[kNumVariants][kNumLevels] = {
    {334, 542, 673, 944, 1000, 1120, 1288, 1409, 1431, 1478},
    {741, 807, 832, 902, 1000, 1099, 1133, 1238, 1404, 1561},
    {481, 613, 721, 929, 1000, 1093, 1294, 1429, 1500, 1553},
    {583, 685, 800, 867, 1000, 1091, 1245, 1306, 1493, 1578},
    {420, 639, 744, 947, 1000, 1148, 1324, 1556, 1617, 1676},
    {561, 633, 771, 918, 1000, 1224, 1274, 1431, 1550, 1569},
    {642, 642, 761, 852, 1000, 1165, 1360, 1388, 1646, 1886},
    {606, 645, 820, 825, 1000, 1165, 1336, 1449, 1632, 1841},
    {550, 650, 805, 886, 1000, 1316, 1440, 1612, 1751, 1790},
    {566, 619, 808, 876, 1000, 1171, 1411, 1619, 1794, 1849},
};
// Half widths of 95 % intervals.
constexpr int kEloInterval[kNumVariants][kNumLevels] = {
    {147, 130, 108, 111, 0, 117, 118, 129, 131, 137},
    {102, 99, 98, 95, 0, 96, 97, 98, 110, 130},
    {136, 126, 121, 120, 0, 118, 118, 127, 139, 146},
    {118, 110, 104, 102, 0, 105, 106, 109, 129, 136},
    {145, 117, 117, 118, 0, 117, 110, 144, 150, 155},
    {128, 119, 112, 115, 0, 118, 119, 130, 144, 146},
    {116, 116, 106, 104, 0, 110, 113, 116, 137, 169},
    {124, 121, 113, 111, 0, 101, 107, 125, 138, 162},
    {127, 116, 109, 109, 0, 112, 120, 141, 153, 156},
    {129, 125, 110, 109, 0, 108, 117, 142, 161, 167},
};

constexpr int kFirstSeat[kNumVariants] = {161, 49, 205, 43,  175,
                                          150, 42, 59,  -90, -61};

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
