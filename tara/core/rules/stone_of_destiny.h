#ifndef TARA_CORE_RULES_STONE_OF_DESTINY_H_
#define TARA_CORE_RULES_STONE_OF_DESTINY_H_

#include "tara/core/board.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Pairs of adjacent hills, by the western and by the southern one.
template <BoardWord W>
struct Links {
  W east;
  W north;
};

// Stone of Destiny (docs/reference/rules.md section 8.2). A turn of Battle is
// two actions of one seat: a swap (Phase::kBattle) and a link (Phase::kLink).
struct StoneOfDestiny {
  using Choices = LinkChoices;
  using Move = LinkChoices::Move;
  static constexpr FamilyTraits kTraits = {
      .phases = Bit(Phase::kManoeuvres) | Bit(Phase::kBattle) |
                Bit(Phase::kLink) | Bit(Phase::kFinished),
      .endings = Bit(Ending::kOut) | Bit(Ending::kNoProgress),
      .kings_per_side = 1,
      .has_links = true};
  static constexpr int kSeats = 2;
  static constexpr bool kNoActionIsOut = true;
  static constexpr int kRingfortsPerSide = 23;

  static void Start(View& view) { view.phase = Phase::kManoeuvres; }

  static LinkChoices BeginTurn(View& view) {
    if (view.phase == Phase::kLink) return LinkableChoices(view);
    if (view.phase == Phase::kManoeuvres) {
      const Board targets = ManoeuvresTargets(view);
      if (targets != 0) return {.hills = targets};
      view.phase = Phase::kBattle;  // the board is full
    }
    const bool spare = Count(view.own) < kRingfortsPerSide;
    return {.hills = spare ? Swappable(view) : 0};
  }

  static void Play(const Move& move, View& view) {
    if (view.phase == Phase::kLink) {
      view.links_east |= move.link_east;
      view.links_north |= move.link_north;
      EndBattleTurn(/*linked=*/true, view);
      return;
    }
    TakeHill(move.hill, view);
    view.own_kings = move.hill;
    if (view.phase == Phase::kManoeuvres) {
      EndTurn<StoneOfDestiny>(view.ending != Ending::kNone, view);
    } else if (!LinkableChoices(view).empty()) {
      view.phase = Phase::kLink;
    } else {
      EndBattleTurn(/*linked=*/false, view);
    }
  }

  static void Finish(View& view) { LinkAllAtEnd(view); }

  // --- Formulas --------------------------------------------------------------

  // Vacant hills one or two steps from the enemy king along any of the eight
  // directions; all vacant hills without an enemy king.
  template <BoardWord W>
  static TARA_INLINE W ManoeuvresTargets(const BoardView<W>& view) {
    const W vacant = view.vacant();
    return FirstNonEmpty(vacant & WithinTwoStepsOfOne(view.enemy_kings),
                         vacant);
  }

  // Enemy ringforts that a side with a spare one may swap: no king, no link.
  template <BoardWord W>
  static TARA_INLINE W Swappable(const BoardView<W>& view) {
    const W linked = view.links_east | (view.links_east << 1) |
                     view.links_north | (view.links_north << kRankStride);
    return view.enemy & ~linked & ~view.enemy_kings;
  }

  template <BoardWord W>
  static TARA_INLINE Links<W> Linkable(const BoardView<W>& view) {
    return {view.own & (view.own >> 1) & ~view.links_east,
            view.own & (view.own >> kRankStride) & ~view.links_north};
  }

  // Everything adjacent is linked (decision 12).
  template <BoardWord W>
  static TARA_INLINE void LinkAllAtEnd(BoardView<W>& view) {
    if (!view.options->link_all_at_end) return;
    const W own = view.own, enemy = view.enemy;
    view.links_east = (own & (own >> 1)) | (enemy & (enemy >> 1));
    view.links_north =
        (own & (own >> kRankStride)) | (enemy & (enemy >> kRankStride));
  }

 private:
  static LinkChoices LinkableChoices(const View& view) {
    const Links<Board> links = Linkable(view);
    return {.links_east = links.east, .links_north = links.north};
  }

  static void EndBattleTurn(bool linked, View& view) {
    view.phase = Phase::kBattle;
    view.no_progress = linked ? 0 : view.no_progress + 1;
    if (view.no_progress >= view.options->no_progress_limit) {
      FinishGame<StoneOfDestiny>(Ending::kNoProgress, view);
      return;
    }
    EndTurn<StoneOfDestiny>(view.ending != Ending::kNone, view);
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_STONE_OF_DESTINY_H_
