#ifndef TARA_CORE_RULES_AREAS_H_
#define TARA_CORE_RULES_AREAS_H_

#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::rules {

// The area in which a seat may act in doubles (docs/rules.md section 5):
// South, West, North, East. Each has 26 hills.
constexpr Board DoublesArea(Seat seat) {
  Board area = 0;
  for (int line = 0; line < 4; ++line) {
    area |= seat == 0   ? RankBoard(line)
            : seat == 1 ? FileBoard(line)
            : seat == 2 ? RankBoard(kBoardSize - 1 - line)
                        : FileBoard(kBoardSize - 1 - line);
  }
  return area;
}
inline constexpr Board kDoublesAreas[4] = {DoublesArea(0), DoublesArea(1),
                                           DoublesArea(2), DoublesArea(3)};

// The row that the partners of a side share: rank 4 or file D.
inline constexpr Board kSharedRows[2] = {RankBoard(3), FileBoard(3)};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_AREAS_H_
