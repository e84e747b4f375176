#ifndef TARA_MCTS_SOLVER_SOLVER_ORDERING_H_
#define TARA_MCTS_SOLVER_SOLVER_ORDERING_H_

// Which action the endgame solver tries first: guesses that cost little and
// can be wrong. By the form of a family's actions.

#include "tara/core/board.h"
#include "tara/core/rules/choices.h"
#include "tara/core/rules/view.h"

namespace tara::mcts {

// What the guesses are made for: whether the side to move would be content if
// the game ended as it stands.
struct OrderingAim {
  bool content_now;
};

// Ringforts, of either side, around a hill: what taking it joins, and parts.
inline int Contacts(Board hill, const rules::View& view) {
  return Count(Adjacent(hill) & (view.own | view.enemy));
}

inline int Urgency(const rules::HillChoices::Move& hill,
                   const rules::View& view, OrderingAim) {
  return Contacts(hill, view);
}

// Swaps as hills; a link is worth the ringforts that it secures from swaps.
inline int Urgency(const rules::LinkChoices::Move& move,
                   const rules::View& view, OrderingAim) {
  if (move.hill != 0) return Count(Adjacent(move.hill) & view.own);
  const Board linked = view.links_east | East(view.links_east) |
                       view.links_north | North(view.links_north);
  const Board ends = move.link_east | East(move.link_east) | move.link_north |
                     North(move.link_north);
  return Count(ends & ~linked);
}

inline int Urgency(const rules::KingChoices::Move& move,
                   const rules::View& view, OrderingAim aim) {
  constexpr int kFirst = 100;
  // Passing ends the game nearly as it stands.
  if (move.to == 0) return aim.content_now ? kFirst : -kFirst;
  const Board own = view.own | move.to;
  const Board captured_kings = view.enemy_kings & view.enemy & ~move.to &
                               Besieged(own) & Adjacent(move.to);
  int urgency = Contacts(move.to, view);
  if (captured_kings != 0) urgency += 50;
  if ((move.to & view.enemy) != 0) urgency += 20;
  if ((move.to & view.vacant()) != 0) urgency += 10;
  // A sacrifice stirs a game that would else be lost as it stands.
  if (move.sacrifice) urgency += aim.content_now ? -40 : 40;
  return urgency;
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_SOLVER_SOLVER_ORDERING_H_
