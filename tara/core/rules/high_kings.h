#ifndef TARA_CORE_RULES_HIGH_KINGS_H_
#define TARA_CORE_RULES_HIGH_KINGS_H_

#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// High Kings of Tara, Levels 1 and 2 (docs/reference/rules.md section 7).
//
// A knight's move never ends adjacent to its origin, so "not adjacent to
// another friendly king" is "not adjacent to any friendly king".
template <int kLevel>
struct HighKings {
  using Choices = KingChoices;
  using Move = KingChoices::Move;
  static constexpr int kSeats = 2;
  static constexpr bool kHasKings = true;
  static constexpr bool kNoActionIsOut = false;  // the turn is skipped
  static constexpr int kKingsPerSide = 3;

  static void Start(View& view) { view.phase = Phase::kPlacement; }

  static KingChoices BeginTurn(View& view) {
    if (view.phase == Phase::kPlacement) {
      if (Count(view.own | view.enemy) < 2 * kKingsPerSide) {
        return KingChoices::Placement(view.vacant() & ~Adjacent(view.own));
      }
      view.phase = Phase::kManoeuvres;
    }
    const Board stranded = Stranded(view);
    const Board movers = MostlySecond(stranded, view.own_kings);
    KingChoices building = KingChoices::Moves(movers, BuildHills(view));
    if (building.empty() && view.phase == Phase::kManoeuvres) {
      view.phase = Phase::kBattle;
      building = KingChoices::Moves(movers, BuildHills(view));
    }
    if (!building.empty()) return building;
    const KingChoices choices = ImmobileMoves(movers, view);
    if (stranded != 0 && choices.empty()) {
      FinishGame<HighKings>(view.ending, view);
    }
    return choices;
  }

  // What a seat may do none of whose movers can build.
  static KingChoices ImmobileMoves(Board movers, const View& view) {
    const Board backtracks = view.own & Free(view);
    const Board captures = view.enemy & Besieged(view.own) & Free(view);
    const bool may_sacrifice = kLevel == 2 && view.kings_lost == 1;
    const bool may_pass =
        Stranded(view) == 0 && view.own_kings != 0 && !EnemyMobile(view);
    return KingChoices::MovesAndMore(
        movers, backtracks | captures,
        may_sacrifice ? backtracks & Besieged(view.enemy) : 0, may_pass);
  }

  static void Play(const Move& move, View& view) {
    const bool closing_turn = view.ending != Ending::kNone;
    const bool was_full = view.vacant() == 0;
    const bool progress = MoveKing(move, view);
    if (view.kings_captured >= 2) {
      FinishGame<HighKings>(Ending::kDoubleCapture, view);
      return;
    }
    view.no_progress = progress ? 0 : view.no_progress + 1;
    if (!closing_turn && view.no_progress >= view.options.no_progress_limit) {
      FinishGame<HighKings>(Ending::kNoProgress, view);
      return;
    }
    if (move.to == 0) StartClosing(Ending::kPassed, 1, view);
    if (view.vacant() == 0 && !was_full) {
      StartClosing(Ending::kBoardFull, 1, view);
    }
    EndTurn<HighKings>(closing_turn, view);
  }

  // A king still stranded at the end is captured by default; a game that has
  // ended by double capture is over as it stands.
  static void Finish(View& view) {
    if (view.ending == Ending::kDoubleCapture) return;
    for (int side = 0; side < kSeats; ++side) {
      const Board stranded = Stranded(view);
      if (stranded != 0) {
        view.own_kings &= ~stranded;
        ++view.kings_lost;
        view.ending = Ending::kDoubleCapture;
      }
      view.ExchangeSides<kHasKings>();
    }
  }

 private:
  // The king that stands on an enemy ringfort after a sacrifice (Level 2): at
  // most one of a side, and it must move in its side's next turn.
  static Board Stranded(const View& view) {
    return kLevel == 2 ? view.own_kings & view.enemy : 0;
  }

  // Where kings of the side to move may build in the present phase:
  // destinations for knight's moves to vacant hills.
  static Board BuildHills(const View& view) {
    const Board keep_away =
        view.phase == Phase::kManoeuvres ? view.own : view.own_kings;
    return view.vacant() & ~Adjacent(keep_away);
  }

  static bool EnemyMobile(const View& view) {
    View enemy = view;
    enemy.ExchangeSides<kHasKings>();
    return (KnightMoves(enemy.own_kings) & BuildHills(enemy)) != 0;
  }

  // Hills without a king that kings of the side to move may go to.
  static Board Free(const View& view) {
    return ~(view.own_kings | view.enemy_kings) & ~Adjacent(view.own_kings);
  }

  // Captures the enemy kings adjacent to the king that arrived at `arrival`.
  static bool CaptureKings(Board arrival, View& view) {
    const Board captured =
        view.enemy_kings & view.enemy & Besieged(view.own) & Adjacent(arrival);
    if (captured == 0) return false;
    view.enemy_kings &= ~captured;
    view.kings_captured += Count(captured);
    return true;
  }

  // Plays the move on the board. Returns whether it was progress.
  static bool MoveKing(const Move& move, View& view) {
    if (move.to == 0) {
      view.own_kings = 0;
      return false;
    }
    const bool new_ringfort = (view.own & move.to) == 0;
    TakeHill(move.to, view);
    view.own_kings = (view.own_kings & ~move.from) | move.to;
    bool captured = false;
    if (move.from != 0 || view.options.placement_captures_kings) {
      captured = CaptureKings(move.to, view);
    }
    if (move.sacrifice && view.kings_captured < 2) {
      view.own &= ~move.to;
      view.enemy |= move.to;
    }
    return new_ringfort || captured || move.sacrifice;
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_HIGH_KINGS_H_
