#ifndef TARA_CORE_RULES_POISONED_CHALICE_H_
#define TARA_CORE_RULES_POISONED_CHALICE_H_

#include "tara/core/legal_set.h"
#include "tara/core/rules/turn.h"
#include "tara/core/state.h"

namespace tara::rules {

// Poisoned Chalice (docs/rules.md section 8.1).
struct PoisonedChalice {
  static constexpr bool kNoActionIsOut = true;
  static constexpr int kManoeuvresTurns = 8;

  static void Start(State& state) { state.phase = Phase::kManoeuvres; }

  // One ringfort of each side on each edge, none opposite another.
  static Board ManoeuvresTargets(const State& state) {
    constexpr Board kEdges[] = {RankBoard(0), RankBoard(6), FileBoard(0),
                                FileBoard(6)};
    constexpr int kSouthToNorth = kRankStride * (kBoardSize - 1);
    constexpr int kWestToEast = kBoardSize - 1;
    const Board own = state.ringforts[state.side()];
    const Board built = kAllHills & ~state.vacant();
    Board targets = 0;
    for (const Board edge : kEdges) {
      if ((own & edge) == 0) targets |= edge;
    }
    const Board opposite = ((built & RankBoard(0)) << kSouthToNorth) |
                           ((built & RankBoard(6)) >> kSouthToNorth) |
                           ((built & FileBoard(0)) << kWestToEast) |
                           ((built & FileBoard(6)) >> kWestToEast);
    return targets & ~built & ~opposite;
  }

  // The vacant hills of the qualified rows of the side to move: Red's rows
  // are the files, Blue's the ranks.
  static Board QualifiedHills(const State& state) {
    const Side side = state.side();
    const Board own = state.ringforts[side];
    const Board enemy = state.ringforts[Opponent(side)];
    Board hills = 0;
    for (int line = 0; line < kBoardSize; ++line) {
      const Board row = side == kRed ? FileBoard(line) : RankBoard(line);
      const int enemies = Count(enemy & row);
      if (enemies >= 1 && Count(own & row) <= enemies) hills |= row;
    }
    return hills & state.vacant();
  }

  static void BeginTurn(State& state) {
    if (Count(state.vacant()) <= kNumHills - kManoeuvresTurns) {
      state.phase = Phase::kBattle;
    }
  }

  static LegalSet Legal(const State& state) {
    if (state.phase == Phase::kManoeuvres) {
      return {.hills = ManoeuvresTargets(state)};
    }
    const Board qualified = QualifiedHills(state);
    if (qualified != 0) return {.hills = qualified};
    const Board captures = BesiegedEnemies(state);
    return {.hills = captures != 0 ? captures : state.vacant()};
  }

  static void Apply(Action action, State& state) {
    TakeHill(BoardOf(Parts(action).to), state);
    EndTurn<PoisonedChalice>(state.ending != Ending::kNone, state);
  }

  static void Finish(State&) {}
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_POISONED_CHALICE_H_
