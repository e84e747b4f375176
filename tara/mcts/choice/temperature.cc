#include "tara/mcts/choice/temperature.h"

#include <cmath>

namespace tara::mcts {

float TemperatureSchedule::At(int ply) const {
  if (ply >= cutoff_ply) return 0;
  if (halflife <= 0) return start;
  return end + (start - end) * std::exp2(-static_cast<float>(ply) / halflife);
}

}  // namespace tara::mcts
