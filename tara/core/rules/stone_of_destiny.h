#ifndef TARA_CORE_RULES_STONE_OF_DESTINY_H_
#define TARA_CORE_RULES_STONE_OF_DESTINY_H_

#include "tara/core/legal_set.h"
#include "tara/core/rules/turn.h"
#include "tara/core/state.h"

namespace tara::rules {

// Stone of Destiny (docs/rules.md section 8.2). A turn of Battle is two
// actions of one seat: a swap (Phase::kBattle) and a link (Phase::kLink).
struct StoneOfDestiny {
  static constexpr bool kNoActionIsOut = true;
  static constexpr int kRingfortsPerSide = 23;

  // Hills with a ringfort that has a link.
  static Board Linked(const State& state) {
    return state.links_east | East(state.links_east) | state.links_north |
           North(state.links_north);
  }

  static void Start(State& state) { state.phase = Phase::kManoeuvres; }

  static void BeginTurn(State& state) {
    if (state.phase == Phase::kManoeuvres && state.vacant() == 0) {
      state.phase = Phase::kBattle;
    }
  }

  static LegalSet Legal(const State& state) {
    switch (state.phase) {
      case Phase::kManoeuvres:
        return {.hills = ManoeuvresTargets(state)};
      case Phase::kBattle:
        return {.hills = Swappable(state)};
      case Phase::kLink:
        return Linkable(state);
      default:
        return {};
    }
  }

  static void Apply(Action action, State& state) {
    const ActionParts parts = Parts(action);
    if (state.phase == Phase::kLink) {
      const Board first = BoardOf(parts.from);
      const bool east = BoardOf(parts.to) == East(first);
      (east ? state.links_east : state.links_north) |= first;
      EndBattleTurn(/*linked=*/true, state);
      return;
    }
    const Side side = state.side();
    TakeHill(BoardOf(parts.to), state);
    state.kings[side] = BoardOf(parts.to);
    if (state.phase == Phase::kManoeuvres) {
      EndTurn<StoneOfDestiny>(state.ending != Ending::kNone, state);
    } else if (!Linkable(state).empty()) {
      state.phase = Phase::kLink;
    } else {
      EndBattleTurn(/*linked=*/false, state);
    }
  }

  // Everything adjacent is linked (decision 12).
  static void Finish(State& state) {
    if (!state.options.link_all_at_end) return;
    state.links_east = state.links_north = 0;
    for (const Board own : state.ringforts) {
      state.links_east |= own & West(own);
      state.links_north |= own & South(own);
    }
  }

 private:
  // Vacant hills one or two steps from the enemy king along any of the eight
  // directions; all vacant hills where there is none.
  static Board ManoeuvresTargets(const State& state) {
    const Board king = state.kings[Opponent(state.side())];
    const Board near = Adjacent(king) | Diagonal(king) |
                       TwoStepsStraight(king) | TwoStepsDiagonal(king);
    const Board vacant = state.vacant();
    return (vacant & near) != 0 ? vacant & near : vacant;
  }

  static Board Swappable(const State& state) {
    const Side enemy = Opponent(state.side());
    if (Count(state.ringforts[state.side()]) >= kRingfortsPerSide) return 0;
    return state.ringforts[enemy] & ~Linked(state) & ~state.kings[enemy];
  }

  static LegalSet Linkable(const State& state) {
    const Board own = state.ringforts[state.side()];
    return {.links_east = own & West(own) & ~state.links_east,
            .links_north = own & South(own) & ~state.links_north};
  }

  static void EndBattleTurn(bool linked, State& state) {
    state.phase = Phase::kBattle;
    state.no_progress = linked ? 0 : static_cast<uint8_t>(state.no_progress + 1);
    if (state.no_progress >= state.options.no_progress_limit) {
      FinishGame<StoneOfDestiny>(Ending::kNoProgress, state);
      return;
    }
    EndTurn<StoneOfDestiny>(state.ending != Ending::kNone, state);
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_STONE_OF_DESTINY_H_
