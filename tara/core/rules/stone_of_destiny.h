#ifndef TARA_CORE_RULES_STONE_OF_DESTINY_H_
#define TARA_CORE_RULES_STONE_OF_DESTINY_H_

#include <array>

#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::rules {

// Stone of Destiny (docs/reference/rules.md section 8.2). A turn of Battle is
// two actions of one seat: a swap (Phase::kBattle) and a link (Phase::kLink).
struct StoneOfDestiny {
  using Choices = LinkChoices;
  using Move = LinkChoices::Move;
  static constexpr int kSeats = 2;
  static constexpr bool kHasKings = true;
  static constexpr bool kNoActionIsOut = true;
  static constexpr int kRingfortsPerSide = 23;

  // Hills with a ringfort that has a link.
  static Board Linked(const View& view) {
    return view.links_east | East(view.links_east) | view.links_north |
           North(view.links_north);
  }

  static void Start(View& view) { view.phase = Phase::kManoeuvres; }

  static LinkChoices BeginTurn(View& view) {
    if (view.phase == Phase::kLink) return Linkable(view);
    if (view.phase == Phase::kManoeuvres) {
      const Board targets = ManoeuvresTargets(view);
      if (targets != 0) return {.hills = targets};
      view.phase = Phase::kBattle;  // the board is full
    }
    return {.hills = Swappable(view)};
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
    } else if (!Linkable(view).empty()) {
      view.phase = Phase::kLink;
    } else {
      EndBattleTurn(/*linked=*/false, view);
    }
  }

  // Everything adjacent is linked (decision 12).
  static void Finish(View& view) {
    if (!view.options.link_all_at_end) return;
    view.links_east =
        (view.own & West(view.own)) | (view.enemy & West(view.enemy));
    view.links_north =
        (view.own & South(view.own)) | (view.enemy & South(view.enemy));
  }

 private:
  // Vacant hills one or two steps from the enemy king along any of the eight
  // directions; all vacant hills where there is none.
  static Board ManoeuvresTargets(const View& view) {
    const Board king = view.enemy_kings;
    const Board near = Adjacent(king) | Diagonal(king) |
                       TwoStepsStraight(king) | TwoStepsDiagonal(king);
    const Board vacant = view.vacant();
    return FirstNonEmpty(vacant & near, vacant);
  }

  static Board Swappable(const View& view) {
    const bool spare = Count(view.own) < kRingfortsPerSide;
    return spare ? view.enemy & ~Linked(view) & ~view.enemy_kings : 0;
  }

  static LinkChoices Linkable(const View& view) {
    return {.links_east = view.own & West(view.own) & ~view.links_east,
            .links_north = view.own & South(view.own) & ~view.links_north};
  }

  static void EndBattleTurn(bool linked, View& view) {
    view.phase = Phase::kBattle;
    view.no_progress = linked ? 0 : view.no_progress + 1;
    if (view.no_progress >= view.options.no_progress_limit) {
      FinishGame<StoneOfDestiny>(Ending::kNoProgress, view);
      return;
    }
    EndTurn<StoneOfDestiny>(view.ending != Ending::kNone, view);
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_STONE_OF_DESTINY_H_
