#ifndef TARA_CORE_BATCH_HILL_GAMES_H_
#define TARA_CORE_BATCH_HILL_GAMES_H_

// Games in which an action is a hill and a seat without one is out: Sacred
// Hill, Four Treasures, Poisoned Chalice.
//
// A few vectors of games start together and wait for the last, for lengths
// differ little: in step, the seat to move is the same everywhere but near the
// end, and no lane pays for another's phase. Boards change hands after each
// ply: `own` is the side to move.

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::batch {

// The seat to move: in all lanes the same as long as no turn was skipped.
template <InstructionSet kSet>
struct SeatToMove {
  bool uniform;
  int seat;           // if uniform
  Word<kSet> by_lane;  // if not
};

// Rules is a class of objects that hold what a vector of games needs besides
// its boards, with
//   static constexpr int kSeats;
//   explicit Rules(const RuleOptions&);
//   W Legal(W own, W enemy, const SeatToMove<kSet>&)
//       The legal hills, once what happens at a turn's start is resolved;
//       empty in lanes without.
//   void CountPhases(Mask playing)      called before each ply
//   int64_t manoeuvres_plies() const;   summed over lanes
//   static W Margin(W red, W blue);     of finished games
template <InstructionSet kSet, typename Rules>
class HillGames {
 public:
  using W = Word<kSet>;
  using M = Mask<kSet>;

  // Several vectors, for their steps depend on each other and take longer to
  // finish than to start.
  static constexpr int kVectors = 4;
  static constexpr int kLanes = W::kLanes;
  static constexpr int kGames = kVectors * kLanes;

  static void Play(const PlayoutRequest& request, int64_t first_game,
                   int64_t games, PlayoutSums& sums) {
    HillGames group(request, first_game, games);
    // A vector's choice is used one round after it was made: see BitChoice.
    for (bool playing = true; playing;) {
      playing = false;
      for (Vector& vector : group.vectors_) playing |= Advance(vector);
    }
    for (int i = 0; i < kVectors; ++i) {
      Gather(group.vectors_[i], FirstLanes<kSet>(games - i * kLanes), sums);
    }
  }

 private:
  struct Vector {
    TARA_INLINE Vector(const PlayoutRequest& request, int64_t first_game,
                       int64_t games)
        : random(request.seed, static_cast<uint64_t>(first_game)),
          rules(request.options),
          in_step(games >= kLanes),
          finished(~FirstLanes<kSet>(games)) {}

    RandomLanes<kSet> random;
    BitChoice<kSet> choice;
    W own{uint64_t{0}};
    W enemy{uint64_t{0}};
    W legal_actions{uint64_t{0}};
    Rules rules;
    int plies = 0;  // since the start, skipped turns not counted
    // Whether every game goes on and none is closing.
    bool in_step;
    bool done = false;
    // Once it is not so:
    M finished;
    M closing{false};
    W length{uint64_t{0}};
    W skipped{uint64_t{0}};  // turns
    W turns_left{uint64_t{0}};
  };

  TARA_INLINE HillGames(const PlayoutRequest& request, int64_t first_game,
                        int64_t games)
      : vectors_{Vector(request, first_game, games),
                 Vector(request, first_game + kLanes, games - kLanes),
                 Vector(request, first_game + 2 * kLanes, games - 2 * kLanes),
                 Vector(request, first_game + 3 * kLanes, games - 3 * kLanes)} {}

  // Finishes the ply of the last round and chooses the next action of every
  // game. Returns whether there was one.
  static TARA_INLINE bool Advance(Vector& vector) {
    if (vector.done) return false;
    if (vector.plies > 0) TakeHills(vector);
    if (vector.in_step) [[likely]] {
      const SeatToMove<kSet> seat = {.uniform = true,
                                     .seat = vector.plies % Rules::kSeats,
                                     .by_lane = W(0)};
      const W legal = vector.rules.Legal(vector.own, vector.enemy, seat);
      if (!Any(IsZero(legal))) [[likely]] {
        vector.rules.CountPhases(M(true));
        Choose(legal, vector);
        return true;
      }
      vector.in_step = false;
      vector.length = W(static_cast<uint64_t>(vector.plies));
    }
    return AdvanceNearTheEnd(vector);
  }

  // The same, whatever may happen.
  static bool AdvanceNearTheEnd(Vector& vector) {
    const W legal = Settle(vector);
    const M playing = ~vector.finished;
    vector.done = !Any(playing);
    if (vector.done) return false;
    vector.rules.CountPhases(playing);
    vector.length += KeepIf(playing, W(1));
    const M closed = vector.closing & playing;
    vector.turns_left -= KeepIf(closed, W(1));
    vector.finished = vector.finished | (closed & IsZero(vector.turns_left));
    Choose(legal, vector);
    return true;
  }

  static TARA_INLINE void Choose(W legal, Vector& vector) {
    const W count = PopCount(legal);
    vector.choice.Choose(legal, vector.random.Below(count));
    vector.legal_actions += count;
    ++vector.plies;
  }

  // Each game takes its chosen hill, if there is any, and the boards change
  // hands.
  static TARA_INLINE void TakeHills(Vector& vector) {
    const W hills = vector.choice.Chosen();
    const W own = vector.own | hills;
    vector.own = vector.enemy & ~hills;
    vector.enemy = own;
  }

  static TARA_INLINE W Legal(Vector& vector) {
    const W turns = W(static_cast<uint64_t>(vector.plies)) + vector.skipped;
    const SeatToMove<kSet> seat = {.uniform = false,
                                   .seat = 0,
                                   .by_lane = turns & W(Rules::kSeats - 1)};
    return KeepIf(~vector.finished,
                  vector.rules.Legal(vector.own, vector.enemy, seat));
  }

  // Skips turns and ends games until each has a legal hill or is finished.
  // Returns the legal hills.
  static TARA_INLINE W Settle(Vector& vector) {
    W legal = Legal(vector);
    while (true) {
      const M stuck = IsZero(legal) & ~vector.finished;
      if (!Any(stuck)) return legal;
      vector.turns_left =
          Select(stuck,
                 Select(vector.closing, vector.turns_left - W(1),
                        W(Rules::kSeats - 1)),
                 vector.turns_left);
      vector.closing = vector.closing | stuck;
      vector.finished = vector.finished | (stuck & IsZero(vector.turns_left));
      vector.skipped += KeepIf(stuck, W(1));
      const W own = vector.own;
      vector.own = Select(stuck, vector.enemy, own);
      vector.enemy = Select(stuck, own, vector.enemy);
      legal = Legal(vector);
    }
  }

  static TARA_INLINE void Gather(const Vector& vector, M games,
                                 PlayoutSums& sums) {
    // Counting the skipped turns, every lane has changed hands equally.
    const W turns = W(static_cast<uint64_t>(vector.plies)) + vector.skipped;
    const M red_to_move = IsZero(turns & W(1));
    const W red = Select(red_to_move, vector.own, vector.enemy);
    const W blue = Select(red_to_move, vector.enemy, vector.own);
    AddGames<kSet>(games,
                   {.length = vector.length,
                    .legal_actions = vector.legal_actions,
                    .margin = Rules::Margin(red, blue),
                    .ending = W(static_cast<uint64_t>(Ending::kOut))},
                   sums);
    const int64_t plies = Sum(vector.length);
    const int64_t manoeuvres = vector.rules.manoeuvres_plies();
    // Each ply builds a ringfort or replaces one.
    sums.captures += plies - Sum(PopCount(red | blue));
    sums.phase_plies[static_cast<int>(Phase::kManoeuvres)] += manoeuvres;
    sums.phase_plies[static_cast<int>(Phase::kBattle)] += plies - manoeuvres;
  }

  Vector vectors_[kVectors];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HILL_GAMES_H_
