#ifndef TARA_CORE_RULES_TURN_H_
#define TARA_CORE_RULES_TURN_H_

// How turns follow one another and games end: what all families share.
//
// A family of rules is a struct of static functions on View, the position as
// the seat to move sees it:
//   Choices                 the form of its legal actions (choices.h)
//   void    Start(view)     the board before the first turn
//   Choices BeginTurn(view) resolves what happens at a turn's start (Battle
//                           starting, a stranded king lost), which may finish
//                           the game, and returns the legal actions of the
//                           seat to move; changes nothing when called again
//   void    Play(move, view)  plays a move of Choices and passes the turn, or
//                           finishes the game; Settle must follow
//   bool    Captures(move, view)  whether the move replaces an enemy ringfort
//                           (swaps do not count)
//   void    Finish(view)    what is due when the game ends
//   kSeats                  2 or 4
//   kHasKings               whether there are kings
//   kNoActionIsOut          a seat without a legal action is out (else its
//                           turn is skipped)

#include <type_traits>

#include "tara/core/board.h"
#include "tara/core/rules/choices.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Ends the game as it stands; `ending` names why.
template <typename Rules>
void FinishGame(Ending ending, View& view) {
  view.ending = ending;
  view.turns_left = 0;
  Rules::Finish(view);
  view.phase = Phase::kFinished;
  if (view.side() != kRed) view.ExchangeSides<Rules::kHasKings>();
  view.seat = 0;
}

// Announces the end: `turns` more turns, then the game is over. The trigger
// that came first names the ending.
inline void StartClosing(Ending ending, int turns, View& view) {
  if (view.ending != Ending::kNone) return;
  view.ending = ending;
  view.turns_left = turns;
}

// Makes the next seat clockwise the seat to move.
template <typename Rules>
void PassTurn(View& view) {
  view.ExchangeSides<Rules::kHasKings>();
  view.seat = (view.seat + 1) & (Rules::kSeats - 1);
}

// Goes on from the seat to move to the first seat that has a choice to make,
// or to the end of the game. Returns the legal actions there.
template <typename Rules>
typename Rules::Choices Settle(View& view) {
  while (!view.finished()) {
    const bool closing = view.ending != Ending::kNone;
    if (closing && view.turns_left == 0) {
      FinishGame<Rules>(view.ending, view);
      break;
    }
    const typename Rules::Choices legal = Rules::BeginTurn(view);
    if (!legal.empty()) return legal;
    if (view.finished()) break;
    if (closing) {
      --view.turns_left;
    } else if (Rules::kNoActionIsOut) {
      StartClosing(Ending::kOut, Rules::kSeats - 1, view);
    }
    PassTurn<Rules>(view);
  }
  return {};
}

// Returns the legal actions of the seat to move in a settled position.
template <typename Rules>
typename Rules::Choices Legal(View view) {
  return view.finished() ? typename Rules::Choices() : Rules::BeginTurn(view);
}

// Ends the turn of the seat to move. `closing_turn` says whether the turn was
// one of those left after the end was announced; a turn that announces it
// itself is not.
template <typename Rules>
void EndTurn(bool closing_turn, View& view) {
  if (closing_turn) --view.turns_left;
  PassTurn<Rules>(view);
}

// Builds on a vacant hill, or captures the enemy ringfort on it.
inline void TakeHill(Board hill, View& view) {
  view.own |= hill;
  view.enemy &= ~hill;
}

// Returns `first` if it has hills, else `second`.
constexpr Board FirstNonEmpty(Board first, Board second) {
  return first != 0 ? first : second;
}

// The same by a branch: for choices that nearly always fall on the second,
// where guessing so beats waiting for the first. An empty statement that
// cannot be moved keeps compilers from waiting all the same.
constexpr Board MostlySecond(Board first, Board second) {
  if (first != 0) [[unlikely]] {
    if (!std::is_constant_evaluated()) asm volatile("");
    return first;
  }
  return second;
}

// The same without a branch: for choices that play does not let a processor
// predict.
constexpr Board SelectNonEmpty(Board first, Board second) {
  Board selected = first != 0 ? first : second;
  // Were it known where the result comes from, compilers would branch.
  if (!std::is_constant_evaluated()) asm("" : "+r"(selected));
  return selected;
}

// Single enemy ringforts besieged by the side to move. A besieged ringfort
// has no adjacent ringfort of its own colour: it is single.
inline Board BesiegedEnemies(const View& view) {
  return view.enemy & Besieged(view.own);
}

// What the families share whose every turn takes one hill. Rules has
//   kHasManoeuvres            whether there is a phase before Battle
//   Board ManoeuvresTargets(view)  the legal hills in Manoeuvres, if it goes on
//   bool  ManoeuvresOver(view)     whether Battle starts when there are none
//   Board BattleTargets(view)      the legal hills in Battle
template <typename Rules>
struct HillTurns {
  using Choices = HillChoices;
  static constexpr bool kHasKings = false;
  static constexpr bool kNoActionIsOut = true;

  static void Start(View& view) {
    view.phase = Rules::kHasManoeuvres ? Phase::kManoeuvres : Phase::kBattle;
  }

  static HillChoices BeginTurn(View& view) {
    if constexpr (Rules::kHasManoeuvres) {
      if (view.phase == Phase::kManoeuvres) {
        const Board targets = Rules::ManoeuvresTargets(view);
        if (targets != 0 || !Rules::ManoeuvresOver(view)) return {targets};
        view.phase = Phase::kBattle;
      }
    }
    return {Rules::BattleTargets(view)};
  }

  static void Play(Board hill, View& view) {
    TakeHill(hill, view);
    EndTurn<Rules>(view.ending != Ending::kNone, view);
  }

  static bool Captures(Board hill, const View& view) {
    return (hill & view.enemy) != 0;
  }

  static void Finish(View&) {}
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_TURN_H_
