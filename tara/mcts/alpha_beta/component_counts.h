#ifndef TARA_MCTS_ALPHA_BETA_COMPONENT_COUNTS_H_
#define TARA_MCTS_ALPHA_BETA_COMPONENT_COUNTS_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/kingdoms.h"

namespace tara::mcts {

// Four boards side by side: one register with AVX2.
typedef uint64_t FourBoards __attribute__((vector_size(32)));

// Adds `x` and `y` to the lowest bit of counters, cell by cell, and returns
// the carries. `low` is the bit.
inline FourBoards AddCells(FourBoards x, FourBoards y, FourBoards& low) {
  const FourBoards either = x ^ y;
  const FourBoards carry = (x & y) | (either & low);
  low ^= either;
  return carry;
}

// Returns, for each of four boards, what CountComponents (which says how it
// is done) returns: at most 12 components vanish at one cell, so that a
// counter of four bits a cell holds them until the end.
inline std::array<int, 4> CountComponentsOfFour(
    const std::array<Board, 4>& boards) {
  static_assert(kShrinkSteps % 4 == 0 && kShrinkSteps < 16);
  FourBoards hills;
  std::memcpy(&hills, boards.data(), sizeof(hills));
  FourBoards ones = {}, twos = {}, fours = {}, eights = {};
  const auto next_isolated = [&hills] {
    const FourBoards isolated = Isolated(hills);
    hills = Shrunk(hills);
    return isolated;
  };
  Unrolled<kShrinkSteps / 4>([&](auto) {
    FourBoards carries[2];
    for (FourBoards& carry : carries) {
      const FourBoards first = next_isolated();
      const FourBoards second = next_isolated();
      carry = AddCells(first, second, ones);
    }
    const FourBoards carry = AddCells(carries[0], carries[1], twos);
    eights |= fours & carry;
    fours ^= carry;
  });
  std::array<int, 4> counts;
  for (int i = 0; i < 4; ++i) {
    counts[i] = Count(ones[i]) + 2 * Count(twos[i]) + 4 * Count(fours[i]) +
                8 * Count(eights[i]);
  }
  return counts;
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_ALPHA_BETA_COMPONENT_COUNTS_H_
