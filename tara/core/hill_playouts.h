#ifndef TARA_CORE_HILL_PLAYOUTS_H_
#define TARA_CORE_HILL_PLAYOUTS_H_

#include <cstddef>
#include <cstdint>

#include "tara/base/random.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/draws_ahead.h"
#include "tara/core/hill_table.h"
#include "tara/core/outcome.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/random_action.h"
#include "tara/core/rules/turn.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara {

// Random games of a family whose every turn takes a hill (rules::HillTurns),
// played a group at a time, phase by phase: while a phase lasts there is
// nothing to a ply but choosing, taking and the rules of that phase. What ends
// a game, a few plies, goes through rules::Settle.
template <typename Rules>
class HillPlayouts {
 public:
  static constexpr int kGames = DrawsAhead::kGames;

  HillPlayouts(const rules::View& start, uint64_t seed,
               PlayoutStatistics& statistics)
      : start_(start), seed_(seed), statistics_(statistics) {}

  // Plays games first_game ... first_game + count - 1.
  // REQUIRES: 0 <= count <= kGames.
  void Play(int64_t first_game, int count) {
    first_game_ = first_game;
    draws_.Draw(seed_, static_cast<uint64_t>(first_game));
    for (int i = 0; i < count; ++i) {
      games_[i] = {start_.own, start_.enemy, 0, 0, start_.phase};
    }
    if constexpr (Rules::kHasManoeuvres) PlayPhase<Phase::kManoeuvres>(count);
    PlayPhase<Phase::kBattle>(count);
    for (int i = 0; i < count; ++i) PlayToTheEnd(i);
  }

 private:
  using Slot = HillGameSlot<Rules>;

  // Plays all games that are in the phase until it ends for them, three by
  // turns: each action depends on the one before, and while one game waits for
  // that the others compute.
  template <Phase kPhase>
  [[gnu::noinline, gnu::flatten]] void PlayPhase(int count) {
    const rules::View start = start_;
    int64_t plies = 0;
    int next = 0;
    // Starts the next game in a slot. Returns whether there was one.
    const auto start_next = [&](Slot& slot) {
      while (next < count && games_[next].phase != kPhase) ++next;
      if (next >= count) return false;
      plies -= games_[next].length;
      slot = Slot(start, next, games_[next], draws_.First(next));
      ++next;
      slot.template BeginTurn<kPhase>();
      return true;
    };
    const auto retire = [&](const Slot& slot) {
      plies += slot.length();
      games_[slot.game()] = slot.template Left<kPhase>();
    };
    // Plays a turn at the slot, of the next game if its own is over. Returns
    // whether there was one.
    const auto play = [&](Slot& slot) {
      while (!slot.CanPlay()) [[unlikely]] {
          retire(slot);
          if (!start_next(slot)) return false;
        }
      slot.template PlayTurn<kPhase>();
      return true;
    };
    const auto play_out = [&](Slot slot) {
      while (slot.CanPlay()) slot.template PlayTurn<kPhase>();
      retire(slot);
    };
    Slot a(start), b(start), c(start);
    const bool two = start_next(a) && start_next(b);
    if (two && start_next(c)) {
      while (true) {
        if (!play(a)) {
          play_out(b);
          play_out(c);
          break;
        }
        if (!play(b)) {
          play_out(a);
          play_out(c);
          break;
        }
        if (!play(c)) {
          play_out(a);
          play_out(b);
          break;
        }
      }
    } else if (a.game() >= 0) {
      play_out(a);
      if (two) play_out(b);
    }
    statistics_.phase_plies[static_cast<size_t>(kPhase)] += plies;
  }

  [[gnu::noinline, gnu::flatten]] void PlayToTheEnd(int i) {
    HillGame game = games_[i];
    rules::View view = start_;
    view.own = game.own;
    view.enemy = game.enemy;
    view.seat = static_cast<int>(game.length & (Rules::kSeats - 1));
    view.phase = game.phase;
    Board legal = rules::Settle<Rules>(view).hills;
    while (!view.finished()) {
      const int count = Count(legal);
      game.legal_actions += count;
      ++statistics_.phase_plies[static_cast<size_t>(view.phase)];
      const Board hill =
          NthBit(legal, ChooseNthByHalf(DrawAt(i, game.length++), count));
      Rules::Play(hill, view);
      legal = rules::Settle<Rules>(view).hills;
    }
    AddGame(view, game);
  }

  uint64_t DrawAt(int i, int64_t n) {
    if (n < DrawsAhead::kDraws) [[likely]]
      return draws_.First(i)[n * DrawsAhead::kStride];
    Random random(DeriveSeed(seed_, static_cast<uint64_t>(first_game_ + i),
                             StreamPurpose::kPlayouts));
    for (; n > 0; --n) random();
    return random() >> 32;
  }

  void AddGame(const rules::View& view, const HillGame& game) {
    State state = {};
    state.variant = view.variant;
    view.WriteTo(state);
    // Who takes a hill without adding to the ringforts has captured.
    statistics_.captures += game.length + Count(start_.own | start_.enemy) -
                            Count(view.own | view.enemy);
    statistics_.AddGame(Score(state), game.length, game.legal_actions);
  }

  const rules::View start_;
  const uint64_t seed_;
  PlayoutStatistics& statistics_;
  int64_t first_game_ = 0;
  DrawsAhead draws_;
  HillGame games_[kGames];
};

}  // namespace tara

#endif  // TARA_CORE_HILL_PLAYOUTS_H_
