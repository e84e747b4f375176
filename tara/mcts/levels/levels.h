#ifndef TARA_MCTS_LEVELS_LEVELS_H_
#define TARA_MCTS_LEVELS_LEVELS_H_

// Levels of strength, for people to play against: how each searches and
// chooses, and its measured Elo. Player specs (level:5), protocols and the page
// in the browser take them from here.

#include <algorithm>
#include <array>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {

// Returns the points of the side to move minus points of the other side if the
// game ended after the action. REQUIRES: it is legal.
int ScoreAfter(const State& state, Action action);

// Returns the action with the best score after it (ScoreAfter) among the
// actions whose searched value is at most `value_margin`, in [0, 2], below the
// best one; ties are drawn. Only actions that were visited count, and of these
// the ones that the proofs leave (LeftByProof); at a proved root the proved
// best action is played. A weak player of this kind gives away little at a
// time: it takes near gains and misses distant ones.
// REQUIRES: a simulation through the root's actions, or a proved root.
Action ChooseWithinMargin(const Tree& tree, float value_margin, Random& random);

// The settings that differ between levels.
struct Level {
  int simulations;  // an action
  // Above 0: the choice is ChooseWithinMargin, after a search that looks at all
  // legal actions and solves no endgames. 0: the best of the usual search.
  float value_margin;
};

inline constexpr int kNumLevels = 10;

// Weakest first: level 1, 2, ...
extern const std::array<Level, kNumLevels> kLevels;

// What `tara rate` measured of the levels with the ready-made network, one
// variant at a time; level 5 has 1000, to which intervals are relative, too.
struct LevelElo {
  int elo;
  int interval;  // of 95 %: elo plus or minus this
};

// Returns the measured Elo of a level. REQUIRES: 1 <= level <= kNumLevels.
LevelElo EloOfLevel(Variant variant, int level);

// Returns what it is worth in Elo to have the first turn, as measured with it.
int FirstSeatElo(Variant variant);

// The network that was measured, as nn::NetworkFileId names its file: that of
// models/tara.tara.
inline constexpr char kRatedNetwork[] = "875e8502-1225211";

// Returns how a level searches.
SearchOptions SearchOfLevel(const Level& level);

// Leaves of a tree that are judged together, at most: many make full use of the
// machine; but each is chosen without knowing the others, so they are few.
constexpr int LeavesTogether(int simulations) {
  return std::clamp(simulations / 16, 1, 8);
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_LEVELS_LEVELS_H_
