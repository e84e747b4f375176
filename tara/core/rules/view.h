#ifndef TARA_CORE_RULES_VIEW_H_
#define TARA_CORE_RULES_VIEW_H_

#include <utility>

#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"

namespace tara::rules {

// The areas in which seats may act in doubles (docs/reference/rules.md section
// 5): South, West, North, East. Each has 26 hills.
inline constexpr Board kDoublesAreas[4] = {
    RankBoard(0) | RankBoard(1) | RankBoard(2) | RankBoard(3),
    FileBoard(0) | FileBoard(1) | FileBoard(2) | FileBoard(3),
    RankBoard(3) | RankBoard(4) | RankBoard(5) | RankBoard(6),
    FileBoard(3) | FileBoard(4) | FileBoard(5) | FileBoard(6)};

// The row that the partners of a side share: rank 4 or file D.
inline constexpr Board kSharedRows[2] = {RankBoard(3), FileBoard(3)};

// The hills on which a seat may act.
template <int kSeats, BoardWord W>
TARA_INLINE W Area(Seat seat) {
  return W(kSeats == 4 ? kDoublesAreas[seat] : kAllHills);
}

inline constexpr RuleOptions kRulesAsWritten;

// The boards of a position as `seat`, whose side is "own", sees them: the
// inputs of the formulas of the rules. The word is a Board; or lanes of boards,
// of many positions with the same seat to move and the same options.
template <BoardWord W>
struct BoardView {
  W own = {};  // ringforts
  W enemy = {};
  W own_kings = {};
  W enemy_kings = {};
  W links_east = {};  // as in State
  W links_north = {};
  NumberOf<W> kings_captured = {};  // by the own side
  NumberOf<W> kings_lost = {};      // captured by the enemy
  Seat seat = 0;
  const RuleOptions* options = &kRulesAsWritten;  // not owned

  Side side() const { return seat & 1; }
  W vacant() const { return VacantIn(W(kAllHills)); }
  W VacantIn(W hills) const { return hills & ~(own | enemy); }
};

// A position as the seat to move sees it, a finished one as seat 0: what turns
// are written on. Its fields are words that are never indexed by side: a
// position that is played on lives in registers, and passing the turn exchanges
// names. Twice as fast as working on a State, whose boards are found by side in
// memory. The state must outlive the view, which refers to its options: a copy
// would be taken apart and put together again in every turn.
struct View : BoardView<Board> {
  Phase phase;
  Ending ending;
  int turns_left;
  int no_progress;
  Variant variant;

  explicit View(const State& state)
      : BoardView<Board>{.own = state.ringforts[state.side()],
                         .enemy = state.ringforts[Opponent(state.side())],
                         .own_kings = state.kings[state.side()],
                         .enemy_kings = state.kings[Opponent(state.side())],
                         .links_east = state.links_east,
                         .links_north = state.links_north,
                         .kings_captured = state.kings_captured[state.side()],
                         .kings_lost =
                             state.kings_captured[Opponent(state.side())],
                         .seat = state.seat,
                         .options = &state.options},
        phase(state.phase),
        ending(state.ending),
        turns_left(state.turns_left),
        no_progress(state.no_progress),
        variant(state.variant) {}

  explicit View(State&&) = delete;  // its options would be gone

  // Writes what play may have changed back into the state it was seen in.
  // Field by field, as the constructor reads: a read of more bytes than the
  // write before would have to wait for the cache.
  void WriteTo(State& state) const {
    state.ringforts[side()] = own;
    state.ringforts[Opponent(side())] = enemy;
    state.kings[side()] = own_kings;
    state.kings[Opponent(side())] = enemy_kings;
    state.links_east = links_east;
    state.links_north = links_north;
    state.phase = phase;
    state.seat = static_cast<uint8_t>(seat);
    state.ending = ending;
    state.turns_left = static_cast<uint8_t>(turns_left);
    state.no_progress = static_cast<uint8_t>(no_progress);
    state.kings_captured[side()] = static_cast<uint8_t>(kings_captured);
    state.kings_captured[Opponent(side())] = static_cast<uint8_t>(kings_lost);
  }

  bool finished() const { return phase == Phase::kFinished; }

  // Sees the position from the other side. Without kings there is less to do.
  template <typename Rules>
  void ExchangeSides() {
    std::swap(own, enemy);
    if constexpr (Rules::kTraits.kings_per_side > 0) {
      std::swap(own_kings, enemy_kings);
      std::swap(kings_captured, kings_lost);
    }
  }
};

}  // namespace tara::rules

#endif  // TARA_CORE_RULES_VIEW_H_
