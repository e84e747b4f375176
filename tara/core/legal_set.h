#ifndef TARA_CORE_LEGAL_SET_H_
#define TARA_CORE_LEGAL_SET_H_

#include <array>
#include <bitset>
#include <cstdint>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"

namespace tara {

// One bit for each of the 570 actions.
using LegalMask = std::bitset<kNumActions>;

// The legal actions of a position as bitboards: what the rules compute, and
// the one source from which count, list, mask and random choice derive.
// Actions are enumerated in increasing index. No heap; cheap to copy.
struct LegalSet {
  struct KingMoves {
    Hill origin = -1;
    Board moves = 0;       // destinations
    Board sacrifices = 0;  // destinations, a subset of moves
  };

  Board hills = 0;
  std::array<KingMoves, 3> kings = {};  // by increasing origin; origin -1: none
  Board links_east = 0;                 // pairs by their western hill
  Board links_north = 0;                // pairs by their southern hill
  bool pass = false;

  bool empty() const { return Count() == 0; }
  int Count() const;

  // Calls visit(Action) for each legal action, in increasing index.
  template <typename Visitor>
  void ForEach(Visitor&& visit) const;

  // Returns the n-th legal action in increasing index.
  // REQUIRES: 0 <= n < Count().
  Action Nth(int n) const;

  bool Contains(Action action) const;
  LegalMask ToMask() const;
};

inline int LegalSet::Count() const {
  const int count = tara::Count(hills) + tara::Count(links_east) +
                    tara::Count(links_north) + (pass ? 1 : 0);
  if (kings[0].origin < 0) return count;
  return count + tara::Count(kings[0].moves) + tara::Count(kings[1].moves) +
         tara::Count(kings[2].moves) + tara::Count(kings[0].sacrifices) +
         tara::Count(kings[1].sacrifices) + tara::Count(kings[2].sacrifices);
}

template <typename Visitor>
void LegalSet::ForEach(Visitor&& visit) const {
  ForEachHill(hills, [&](Hill hill) { visit(HillAction(hill)); });
  for (const KingMoves& king : kings) {
    ForEachHill(king.moves, [&](Hill to) { visit(KingMove(king.origin, to)); });
  }
  for (const KingMoves& king : kings) {
    ForEachHill(king.sacrifices,
                [&](Hill to) { visit(KingMove(king.origin, to, true)); });
  }
  ForEachHill(links_east | links_north, [&](Hill first) {
    const Board board = BoardOf(first);
    if (links_east & board) visit(LinkAction(first, FirstHill(East(board))));
    if (links_north & board) visit(LinkAction(first, FirstHill(North(board))));
  });
  if (pass) visit(kPass);
}

}  // namespace tara

#endif  // TARA_CORE_LEGAL_SET_H_
