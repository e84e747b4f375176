#ifndef TARA_CORE_RULES_HIGH_KINGS_H_
#define TARA_CORE_RULES_HIGH_KINGS_H_

#include "tara/core/board.h"
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
  static constexpr FamilyTraits kTraits = {
      .phases = Bit(Phase::kPlacement) | Bit(Phase::kManoeuvres) |
                Bit(Phase::kBattle) | Bit(Phase::kFinished),
      .endings = Bit(Ending::kDoubleCapture) | Bit(Ending::kPassed) |
                 Bit(Ending::kBoardFull) | Bit(Ending::kNoProgress),
      .pending_endings = Bit(Ending::kPassed) | Bit(Ending::kBoardFull),
      .kings_per_side = 3,
      .kings_move = true};
  static constexpr int kSeats = 2;
  static constexpr bool kNoActionIsOut = false;  // the turn is skipped
  static constexpr bool kHasSacrifices = kLevel == 2;
  static constexpr int kPlacements = 2 * kTraits.kings_per_side;

  static void Start(View& view) { view.phase = Phase::kPlacement; }

  static KingChoices BeginTurn(View& view) {
    if (view.phase == Phase::kPlacement) {
      if (Count(view.own | view.enemy) < kPlacements) {
        return KingChoices::Placement(BuildHills(view, view.own));
      }
      view.phase = Phase::kManoeuvres;
    }
    const Board stranded = Stranded(view);
    const Board movers = MostlySecond(stranded, view.own_kings);
    const bool manoeuvres = view.phase == Phase::kManoeuvres;
    KingChoices building = KingChoices::Moves(
        movers, BuildHills(view, manoeuvres ? view.own : view.own_kings));
    if (building.empty() && manoeuvres) {
      view.phase = Phase::kBattle;
      building = KingChoices::Moves(movers, BuildHills(view, view.own_kings));
    }
    if (!building.empty()) return building;
    const Board hills = ImmobileHills(view);
    const KingChoices choices = KingChoices::MovesAndMore(
        movers, hills, SacrificeHills(hills, view), MayPass(view));
    if (stranded != 0 && choices.empty()) {
      LoseKings(stranded, view);
      FinishGame<HighKings>(Ending::kDoubleCapture, view);
    }
    return choices;
  }

  static void Play(const Move& move, View& view) {
    const bool closing_turn = view.ending != Ending::kNone;
    const bool was_full = view.vacant() == 0;
    const bool progress = MoveKing(move, view);
    if (IsDoubleCapture(view)) {
      FinishGame<HighKings>(Ending::kDoubleCapture, view);
      return;
    }
    view.no_progress = progress ? 0 : view.no_progress + 1;
    if (!closing_turn && view.no_progress >= view.options->no_progress_limit) {
      FinishGame<HighKings>(Ending::kNoProgress, view);
      return;
    }
    if (move.to == 0) StartClosing<HighKings>(Ending::kPassed, view);
    if (view.vacant() == 0 && !was_full) {
      StartClosing<HighKings>(Ending::kBoardFull, view);
    }
    EndTurn<HighKings>(closing_turn, view);
  }

  static void Finish(View& view) {
    if (LoseStranded(view)) view.ending = Ending::kDoubleCapture;
  }

  // --- Formulas --------------------------------------------------------------

  // The king that stands on an enemy ringfort after a sacrifice (Level 2): at
  // most one of a side, and it must move in its side's next turn.
  template <BoardWord W>
  static TARA_INLINE W Stranded(const BoardView<W>& view) {
    return kHasSacrifices ? view.own_kings & view.enemy : W{};
  }

  // Where a king may be placed or build, `keep_away` not adjacent: its side's
  // ringforts in placement and Manoeuvres, its kings in Battle.
  template <BoardWord W>
  static TARA_INLINE W BuildHills(const BoardView<W>& view, W keep_away) {
    return view.vacant() & ~Beside(keep_away);
  }

  // Where a king may go if none can build: back to ringforts of its side, or
  // to besieged ones of the enemy.
  template <BoardWord W>
  static TARA_INLINE W ImmobileHills(const BoardView<W>& view) {
    return (view.own | BesiegedIn(view.enemy, view.own)) &
           ~(view.own_kings | view.enemy_kings) & ~Beside(view.own_kings);
  }

  // Those of ImmobileHills where it may then sacrifice the ringfort.
  template <BoardWord W>
  static TARA_INLINE W SacrificeHills(W immobile_hills,
                                      const BoardView<W>& view) {
    if constexpr (!kHasSacrifices) return W{};
    const MaskOf<W> one_lost = Equal(view.kings_lost, NumberOf<W>(1));
    return KeepIf(one_lost, BesiegedIn(immobile_hills & view.own, view.enemy));
  }

  // Whether a side that cannot build may pass: nor can the enemy, or free_pass.
  template <BoardWord W>
  static TARA_INLINE MaskOf<W> MayPass(const BoardView<W>& view) {
    const W enemy_hills =
        KnightMoves(view.enemy_kings) & BuildHills(view, view.enemy_kings);
    const W hindrance = view.options->free_pass ? W{} : enemy_hills;
    return IsZero(Stranded(view) | hindrance) & NonZero(view.own_kings);
  }

  // Plays the move on the boards. Returns whether it was progress.
  template <BoardWord W>
  static TARA_INLINE MaskOf<W> MoveKing(const MovedKing<W>& move,
                                        BoardView<W>& view) {
    const W new_ringfort = move.to & ~view.own;
    TakeHill(move.to, view);
    // Who passes takes the kings off the board.
    view.own_kings =
        KeepIf(NonZero(move.to), (view.own_kings & ~move.from) | move.to);
    // Enemy kings adjacent to the king that has arrived.
    W captured =
        BesiegedIn(view.enemy & view.enemy_kings & Beside(move.to), view.own);
    if (!view.options->placement_captures_kings) {
      captured = KeepIf(NonZero(move.from), captured);
    }
    view.enemy_kings = view.enemy_kings & ~captured;
    view.kings_captured += Count(captured);
    if constexpr (!kHasSacrifices) return NonZero(new_ringfort | captured);
    if (Any(move.sacrifice)) [[unlikely]] {
      const W given = KeepIf(move.sacrifice & !IsDoubleCapture(view), move.to);
      view.own = view.own & ~given;
      view.enemy |= given;
    }
    return move.sacrifice | NonZero(new_ringfort | captured);
  }

  // Takes kings of the own side off the board, as captured.
  template <BoardWord W>
  static TARA_INLINE void LoseKings(W kings, BoardView<W>& view) {
    view.own_kings = view.own_kings & ~kings;
    view.kings_lost += Count(kings);
  }

  // Whether the own side has captured two kings, or three.
  template <BoardWord W>
  static TARA_INLINE MaskOf<W> IsDoubleCapture(const BoardView<W>& view) {
    return NonZero(view.kings_captured & NumberOf<W>(2));
  }

  // Captures by default the kings that are still stranded at the end. Returns
  // whether there were any. (A game that has ended by double capture is over as
  // it stands.)
  template <BoardWord W>
  static TARA_INLINE MaskOf<W> LoseStranded(BoardView<W>& view) {
    if constexpr (!kHasSacrifices) return {};
    const MaskOf<W> open =
        IsZero((view.kings_captured | view.kings_lost) & NumberOf<W>(2));
    const W own = KeepIf(open, view.own_kings & view.enemy);
    const W enemy = KeepIf(open, view.enemy_kings & view.own);
    LoseKings(own, view);
    view.enemy_kings = view.enemy_kings & ~enemy;
    view.kings_captured += Count(enemy);
    return NonZero(own | enemy);
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_HIGH_KINGS_H_
