#ifndef TARA_CORE_RULES_HIGH_KINGS_H_
#define TARA_CORE_RULES_HIGH_KINGS_H_

#include "tara/core/legal_set.h"
#include "tara/core/rules/turn.h"
#include "tara/core/state.h"

namespace tara::rules {

// High Kings of Tara, Levels 1 and 2 (docs/rules.md section 7).
//
// A knight's move never ends adjacent to its origin, so "not adjacent to
// another friendly king" is "not adjacent to any friendly king".
template <int kLevel>
struct HighKings {
  static constexpr bool kNoActionIsOut = false;  // the turn is skipped
  static constexpr int kKingsPerSide = 3;

  static void Start(State& state) { state.phase = Phase::kPlacement; }

  // Kings that stand on enemy ringforts after a sacrifice (Level 2): at most
  // one of a side, and it must move in its side's next turn.
  static Board Stranded(const State& state, Side side) {
    return state.kings[side] & state.ringforts[Opponent(side)];
  }

  // Where kings of the side may build in the present phase: destinations for
  // knight's moves to vacant hills.
  static Board BuildHills(const State& state, Side side) {
    const Board keep_away = state.phase == Phase::kManoeuvres
                                ? state.ringforts[side]
                                : state.kings[side];
    return state.vacant() & ~Adjacent(keep_away);
  }

  static bool AnyMobile(const State& state, Side side) {
    return (KnightMoves(state.kings[side]) & BuildHills(state, side)) != 0;
  }

  static void BeginTurn(State& state) {
    const Side side = state.side();
    if (state.phase == Phase::kPlacement &&
        Count(state.ringforts[0] | state.ringforts[1]) == 2 * kKingsPerSide) {
      state.phase = Phase::kManoeuvres;
    }
    if (state.phase == Phase::kManoeuvres && !AnyMobile(state, side)) {
      state.phase = Phase::kBattle;
    }
    if (Stranded(state, side) != 0 && Legal(state).empty()) {
      FinishGame<HighKings>(state.ending, state);
    }
  }

  static LegalSet Legal(const State& state) {
    const Side side = state.side();
    LegalSet legal;
    if (state.phase == Phase::kPlacement) {
      legal.hills = state.vacant() & ~Adjacent(state.ringforts[side]);
      return legal;
    }
    const Board stranded = Stranded(state, side);
    const Board movers = stranded != 0 ? stranded : state.kings[side];
    const Board build_hills = BuildHills(state, side);
    if ((KnightMoves(movers) & build_hills) != 0) {
      AddMoves(movers, build_hills, 0, legal);
      return legal;
    }
    AddImmobileMoves(state, movers, legal);
    legal.pass = stranded == 0 && state.kings[side] != 0 &&
                 !AnyMobile(state, Opponent(side));
    return legal;
  }

  static void Apply(Action action, State& state) {
    const bool closing_turn = state.ending != Ending::kNone;
    const bool was_full = state.vacant() == 0;
    const bool progress = Move(action, state);
    if (state.kings_captured[state.side()] >= 2) {
      FinishGame<HighKings>(Ending::kDoubleCapture, state);
      return;
    }
    state.no_progress =
        progress ? 0 : static_cast<uint8_t>(state.no_progress + 1);
    if (!closing_turn && state.no_progress >= state.options.no_progress_limit) {
      FinishGame<HighKings>(Ending::kNoProgress, state);
      return;
    }
    if (action == kPass) StartClosing(Ending::kPassed, 1, state);
    if (state.vacant() == 0 && !was_full) {
      StartClosing(Ending::kBoardFull, 1, state);
    }
    EndTurn<HighKings>(closing_turn, state);
  }

  // A king still stranded at the end is captured by default; a game that has
  // ended by double capture is over as it stands.
  static void Finish(State& state) {
    if (state.ending == Ending::kDoubleCapture) return;
    for (const Side side : {kRed, kBlue}) {
      const Board stranded = Stranded(state, side);
      if (stranded == 0) continue;
      state.kings[side] &= ~stranded;
      ++state.kings_captured[Opponent(side)];
      state.ending = Ending::kDoubleCapture;
    }
  }

 private:
  static void AddMoves(Board movers, Board targets, Board sacrificeable,
                       LegalSet& legal) {
    int count = 0;
    ForEachHill(movers, [&](Hill origin) {
      const Board moves = KnightMoves(BoardOf(origin)) & targets;
      legal.kings[count++] = {origin, moves, moves & sacrificeable};
    });
  }

  // Backtracks (with sacrifices) and captures of ringforts.
  static void AddImmobileMoves(const State& state, Board movers,
                               LegalSet& legal) {
    const Side side = state.side();
    const Board own = state.ringforts[side];
    const Board enemy = state.ringforts[Opponent(side)];
    const Board free =
        ~(state.kings[0] | state.kings[1]) & ~Adjacent(state.kings[side]);
    const Board backtracks = own & free;
    const Board captures = enemy & Besieged(own) & free;
    const bool may_sacrifice =
        kLevel == 2 && state.kings_captured[Opponent(side)] == 1;
    AddMoves(movers, backtracks | captures,
             may_sacrifice ? backtracks & Besieged(enemy) : 0, legal);
  }

  // Captures the enemy kings adjacent to the king that arrived at `arrival`.
  static bool CaptureKings(Board arrival, State& state) {
    const Side side = state.side();
    const Side enemy = Opponent(side);
    const Board captured = state.kings[enemy] & state.ringforts[enemy] &
                           Besieged(state.ringforts[side]) & Adjacent(arrival);
    state.kings[enemy] &= ~captured;
    state.kings_captured[side] += static_cast<uint8_t>(Count(captured));
    return captured != 0;
  }

  // Plays the action on the board. Returns whether it was progress.
  static bool Move(Action action, State& state) {
    const Side side = state.side();
    const ActionParts parts = Parts(action);
    if (parts.kind == ActionKind::kPass) {
      state.kings[side] = 0;
      return false;
    }
    const Board arrival = BoardOf(parts.to);
    const bool new_ringfort = (state.ringforts[side] & arrival) == 0;
    const bool placement = state.phase == Phase::kPlacement;
    TakeHill(arrival, state);
    if (!placement) state.kings[side] &= ~BoardOf(parts.from);
    state.kings[side] |= arrival;
    bool captured = false;
    if (!placement || state.options.placement_captures_kings) {
      captured = CaptureKings(arrival, state);
    }
    const bool sacrifice = parts.kind == ActionKind::kSacrifice;
    if (sacrifice && state.kings_captured[side] < 2) {
      state.ringforts[side] &= ~arrival;
      state.ringforts[Opponent(side)] |= arrival;
    }
    return new_ringfort || captured || sacrifice;
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_HIGH_KINGS_H_
