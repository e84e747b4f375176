#ifndef TARA_CORE_RULES_SACRED_HILL_H_
#define TARA_CORE_RULES_SACRED_HILL_H_

#include "tara/core/legal_set.h"
#include "tara/core/rules/turn.h"
#include "tara/core/state.h"

namespace tara::rules {

// Returns the hills nearer than `bound` (a squared distance, 1 to 5) to a
// ringfort of the board: squared distances are 1 (adjacent), 2 (diagonal), 4
// (two steps along a line), 5 (a knight's move).
constexpr Board TooNear(Board ringforts, int bound) {
  Board near = 0;
  if (bound > 1) near |= Adjacent(ringforts);
  if (bound > 2) near |= Diagonal(ringforts);
  if (bound > 4) near |= TwoStepsStraight(ringforts);
  return near;
}

// Returns those of `targets` with the highest order of priority: the number
// of adjacent ringforts in `own`, 0 to 4 (docs/rules.md section 4).
constexpr Board HighestPriority(Board targets, Board own) {
  const Board n = North(own), s = South(own), e = East(own), w = West(own);
  const Board pair_ns = n & s, any_ns = n | s;
  const Board pair_ew = e & w, any_ew = e | w;
  const Board at_least[] = {any_ns | any_ew,
                            pair_ns | pair_ew | (any_ns & any_ew),
                            (pair_ns & any_ew) | (pair_ew & any_ns),
                            pair_ns & pair_ew};
  for (const Board level : at_least) {
    if ((targets & level) == 0) break;
    targets &= level;
  }
  return targets;
}

// Sacred Hill, singles and doubles, Levels 1 and 2 (docs/rules.md sections 3
// to 5).
template <int kLevel, int kSeats>
struct SacredHill {
  static constexpr bool kNoActionIsOut = true;

  static Board Area(Seat seat) {
    return kSeats == 4 ? kDoublesAreas[seat] : kAllHills;
  }

  static void Start(State& state) { state.phase = Phase::kManoeuvres; }

  static Board ManoeuvresTargets(const State& state) {
    const Board own = state.ringforts[state.side()];
    const Board candidates = state.vacant() & Area(state.seat);
    if (own == 0) {
      const bool on_shared_row =
          kSeats == 4 && state.options.shared_row_opening;
      return on_shared_row ? candidates & kSharedRows[state.side()]
                           : candidates;
    }
    return candidates & KnightMoves(own) &
           ~TooNear(own, state.options.proximity_bound);
  }

  static Board BattleTargets(const State& state) {
    const Board own = state.ringforts[state.side()];
    const Board area = Area(state.seat);
    const Board vacant = state.vacant() & area;
    const Board captures = BesiegedEnemies(state) & area;
    if constexpr (kLevel == 2) return HighestPriority(vacant | captures, own);
    if (captures != 0) return captures;
    const Board linked = vacant & Adjacent(own);
    return linked != 0 ? linked : vacant;
  }

  static void BeginTurn(State& state) {
    if (state.phase == Phase::kManoeuvres && ManoeuvresTargets(state) == 0) {
      state.phase = Phase::kBattle;
    }
  }

  static LegalSet Legal(const State& state) {
    return {.hills = state.phase == Phase::kManoeuvres
                         ? ManoeuvresTargets(state)
                         : BattleTargets(state)};
  }

  static void Apply(Action action, State& state) {
    TakeHill(BoardOf(Parts(action).to), state);
    EndTurn<SacredHill>(state.ending != Ending::kNone, state);
  }

  static void Finish(State&) {}
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_SACRED_HILL_H_
