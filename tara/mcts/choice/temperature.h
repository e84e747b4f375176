#ifndef TARA_MCTS_CHOICE_TEMPERATURE_H_
#define TARA_MCTS_CHOICE_TEMPERATURE_H_

#include <limits>

namespace tara::mcts {

// How boldly actions are drawn (ChooseAction) as a game goes on: before the
// cut-off
//   end + (start - end) * 2^(-ply / halflife),
// from it on 0, the best action. A value type.
//
// High temperatures early make games differ, at the price of worse play that
// the values of those positions then tell of; hence the decay.
struct TemperatureSchedule {
  float start = 1;  // at ply 0
  float end = 0;    // approached later; below `start` usually
  // In plies; 0: no decay, `start` up to the cut-off.
  float halflife = 0;
  // The first ply of which the best action is played.
  int cutoff_ply = std::numeric_limits<int>::max();

  // Returns `temperature` for the first `plies` plies, and 0 after them.
  static TemperatureSchedule FirstPlies(float temperature, int plies) {
    return {.start = temperature, .end = temperature, .cutoff_ply = plies};
  }

  // Returns the temperature for the action of a ply, counted from 0.
  float At(int ply) const;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_TEMPERATURE_H_
