#ifndef TARA_MCTS_ALPHA_BETA_SIDE_VIEW_H_
#define TARA_MCTS_ALPHA_BETA_SIDE_VIEW_H_

// What the features of the hand-made evaluation are counted on.

#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::mcts::hand_features {

// A position as one side sees it.
struct SideView {
  Board own;    // ringforts
  Board enemy;  // ringforts that stay the enemy's, but for captures
  Board open;   // hills that may yet become own: vacant ones, and in Stone of
                // Destiny's Battle those of the enemy that can be swapped
  Board own_kings;
  Board enemy_kings;
  Board own_linked;  // own ringforts that have a link (Stone of Destiny)
  Board qualified;   // vacant hills of qualified rows (Poisoned Chalice)
  int kings_captured;
  Phase phase;
};

// Hills with at least one, two, ... adjacent hills in a board.
struct Neighbours {
  Board one, two, three, four;
};
constexpr Neighbours NeighboursIn(Board board) {
  const Board n = board << kRankStride, s = board >> kRankStride;
  const Board e = board << 1, w = board >> 1;
  const Board both_ns = n & s, any_ns = n | s;
  const Board both_ew = e & w, any_ew = e | w;
  return {.one = (any_ns | any_ew) & kAllHills,
          .two = (both_ns | both_ew | (any_ns & any_ew)) & kAllHills,
          .three = ((both_ns & any_ew) | (both_ew & any_ns)) & kAllHills,
          .four = both_ns & both_ew & kAllHills};
}

// The four hills of each 2 x 2 square of hills, each at the bit of the
// square's south-western hill.
struct Squares {
  Board southwest, southeast, northwest, northeast;

  explicit constexpr Squares(Board board)
      : southwest(board & kWhole),
        southeast((board >> 1) & kWhole),
        northwest((board >> kRankStride) & kWhole),
        northeast((board >> (kRankStride + 1)) & kWhole) {}

  static constexpr Board kWhole = kAllHills & (kAllHills >> 1) &
                                  (kAllHills >> kRankStride) &
                                  (kAllHills >> (kRankStride + 1));
};

inline Board Singles(const SideView& view) {
  return view.own & ~Adjacent(view.own);
}

// Squares with three own ringforts whose fourth hill is in `fourth`.
inline int SquaresOfThree(Board own_board, Board fourth) {
  const Squares own(own_board), other(fourth);
  const Board south = own.southwest & own.southeast;
  const Board north = own.northwest & own.northeast;
  return Count((south & ((own.northwest & other.northeast) |
                         (own.northeast & other.northwest))) |
               (north & ((own.southwest & other.southeast) |
                         (own.southeast & other.southwest))));
}

// Squares with two own ringforts on a diagonal and `one`, `other` (in either
// order) on the other diagonal. Each square counts once.
inline int DiagonalPairs(Board own_board, Board one_board, Board other_board) {
  const Squares own(own_board), one(one_board), other(other_board);
  const Board rising =
      own.southwest & own.northeast &
      ((one.northwest & other.southeast) | (one.southeast & other.northwest));
  const Board falling =
      own.southeast & own.northwest &
      ((one.southwest & other.northeast) | (one.northeast & other.southwest));
  return Count(rising) + Count(falling);
}

}  // namespace tara::mcts::hand_features

#endif  // TARA_MCTS_ALPHA_BETA_SIDE_VIEW_H_
