#ifndef TARA_CORE_HILL_TABLE_H_
#define TARA_CORE_HILL_TABLE_H_

#include <cstdint>

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/draws_ahead.h"
#include "tara/core/random_action.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara {

// A game of a family whose every turn takes a hill, between its phases. While
// nobody is out the seats take turns: the length says whose it is.
struct HillGame {
  Board own;
  Board enemy;
  int64_t length;
  int64_t legal_actions;
  Phase phase;
};

// Such a game while it is played, in registers: once its functions are inlined,
// nothing of it is in memory.
template <typename Rules>
class HillGameSlot {
 public:
  explicit HillGameSlot(const rules::View& start) : view_(start) {}
  HillGameSlot(const rules::View& start, int i, const HillGame& game,
               const uint64_t* draws)
      : view_(start),
        game_(i),
        legal_actions_(game.legal_actions),
        first_draw_(draws),
        draw_(draws + DrawsAhead::kStride * game.length),
        draws_end_(draws + DrawsAhead::kStride * DrawsAhead::kDraws) {
    view_.own = game.own;
    view_.enemy = game.enemy;
  }

  int game() const { return game_; }
  int64_t length() const { return (draw_ - first_draw_) / DrawsAhead::kStride; }

  template <Phase kPhase>
  void BeginTurn() {
    view_.seat = static_cast<int>(length() & (Rules::kSeats - 1));
    if constexpr (kPhase == Phase::kManoeuvres) {
      legal_ = Rules::ManoeuvresTargets(view_);
    } else {
      legal_ = Rules::BattleTargets(view_);
    }
  }

  // Whether the phase goes on and there is a number left to choose by.
  bool CanPlay() const { return legal_ != 0 && draw_ != draws_end_; }

  template <Phase kPhase>
  void PlayTurn() {
    const int count = Count(legal_);
    const Board hill = NthBit(legal_, ChooseNthByHalf(*draw_, count));
    draw_ += DrawsAhead::kStride;
    legal_actions_ += count;
    rules::TakeHill(hill, view_);
    view_.ExchangeSides<Rules::kHasKings>();
    BeginTurn<kPhase>();
  }

  // The game as it leaves the phase.
  template <Phase kPhase>
  HillGame Left() const {
    Phase phase = kPhase;
    if constexpr (kPhase == Phase::kManoeuvres) {
      if (legal_ == 0 && Rules::ManoeuvresOver(view_)) phase = Phase::kBattle;
    }
    return {view_.own, view_.enemy, length(), legal_actions_, phase};
  }

 private:
  rules::View view_;
  Board legal_ = 0;
  int game_ = -1;
  int64_t legal_actions_ = 0;
  const uint64_t* first_draw_ = nullptr;
  const uint64_t* draw_ = nullptr;
  const uint64_t* draws_end_ = nullptr;
};

}  // namespace tara

#endif  // TARA_CORE_HILL_TABLE_H_
