#ifndef TARA_CORE_RULES_TURN_H_
#define TARA_CORE_RULES_TURN_H_

// How turns follow one another and games end: what all families share.
//
// A family of rules is a struct of static functions:
//   State    Start(options)         the board before the first turn
//   void     BeginTurn(state)       resolves what happens at a turn's start
//                                   (Battle starting, a stranded king lost);
//                                   may finish the game
//   LegalSet Legal(state)           the legal actions of the seat to move
//   void     Apply(action, state)   plays the action, ends the turn or the
//                                   game
//   void     Finish(state)          what is due when the game ends
//   kNoActionIsOut                  a seat without a legal action is out
//                                   (else its turn is skipped)

#include <cstdint>

#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::rules {

// Ends the game as it stands; `ending` names why.
template <typename Rules>
void FinishGame(Ending ending, State& state) {
  state.ending = ending;
  state.turns_left = 0;
  Rules::Finish(state);
  state.phase = Phase::kFinished;
  state.seat = 0;
}

// Announces the end: `turns` more turns, then the game is over. The trigger
// that came first names the ending.
inline void StartClosing(Ending ending, int turns, State& state) {
  if (state.ending != Ending::kNone) return;
  state.ending = ending;
  state.turns_left = static_cast<uint8_t>(turns);
}

// Goes on from the seat to move to the first seat that has a choice to make,
// or to the end of the game.
template <typename Rules>
void Settle(State& state) {
  const int seats = Info(state.variant).seats;
  while (!state.finished()) {
    const bool closing = state.ending != Ending::kNone;
    if (closing && state.turns_left == 0) {
      FinishGame<Rules>(state.ending, state);
      return;
    }
    Rules::BeginTurn(state);
    if (state.finished() || !Rules::Legal(state).empty()) return;
    if (closing) {
      --state.turns_left;
    } else if (Rules::kNoActionIsOut) {
      StartClosing(Ending::kOut, seats - 1, state);
    }
    state.seat = static_cast<uint8_t>((state.seat + 1) % seats);
  }
}

// Ends the turn of the seat to move. `closing_turn` says whether the turn was
// one of those left after the end was announced; a turn that announces it
// itself is not.
template <typename Rules>
void EndTurn(bool closing_turn, State& state) {
  if (closing_turn) --state.turns_left;
  state.seat =
      static_cast<uint8_t>((state.seat + 1) % Info(state.variant).seats);
  Settle<Rules>(state);
}

// Builds on a vacant hill, or captures the enemy ringfort on it.
inline void TakeHill(Board hill, State& state) {
  const Side side = state.side();
  state.ringforts[side] |= hill;
  state.ringforts[Opponent(side)] &= ~hill;
}

// Single enemy ringforts besieged by the side to move. A besieged ringfort
// has no adjacent ringfort of its own colour: it is single.
inline Board BesiegedEnemies(const State& state) {
  const Side side = state.side();
  return state.ringforts[Opponent(side)] & Besieged(state.ringforts[side]);
}

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

#endif  // TARA_CORE_RULES_TURN_H_
