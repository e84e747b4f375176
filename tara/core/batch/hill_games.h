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
    if (games == kGames) group.PlayInStep();
    group.PlayToTheEnd();
    group.Gather(games, sums);
  }

 private:
  struct Vector {
    TARA_INLINE explicit Vector(const RuleOptions& options) : rules(options) {}

    RandomLanes<kSet> random;
    W own{uint64_t{0}};
    W enemy{uint64_t{0}};
    W legal_actions{uint64_t{0}};
    Rules rules;
    // From the first seat that is out on.
    W length;
    W skipped{uint64_t{0}};  // turns
    W turns_left{uint64_t{0}};
    M closing{false};
    M finished{false};
  };

  TARA_INLINE HillGames(const PlayoutRequest& request, int64_t first_game,
                        int64_t games)
      : vectors_{Vector(request.options), Vector(request.options),
                 Vector(request.options), Vector(request.options)} {
    for (int i = 0; i < kVectors; ++i) {
      vectors_[i].random = RandomLanes<kSet>(
          request.seed, static_cast<uint64_t>(first_game + i * kLanes));
      vectors_[i].finished = ~FirstLanes<kSet>(games - i * kLanes);
    }
  }

  static TARA_INLINE void TakeHill(W legal, Vector& vector) {
    const W count = PopCount(legal);
    const W hill = NthBit(legal, vector.random.Below(count));
    const W own = vector.own | hill;
    vector.own = vector.enemy & ~hill;
    vector.enemy = own;
    vector.legal_actions += count;
  }

  // Plays while every game has an action and none is closing.
  void PlayInStep() {
    while (true) {
      const SeatToMove<kSet> seat = {
          .uniform = true, .seat = plies_ % Rules::kSeats, .by_lane = W(0)};
      W legal[kVectors];
      M stuck(false);
      for (int i = 0; i < kVectors; ++i) {
        Vector& vector = vectors_[i];
        legal[i] = vector.rules.Legal(vector.own, vector.enemy, seat);
        stuck = stuck | IsZero(legal[i]);
      }
      if (Any(stuck)) return;
      for (int i = 0; i < kVectors; ++i) {
        vectors_[i].rules.CountPhases(M(true));
        TakeHill(legal[i], vectors_[i]);
      }
      ++plies_;
    }
  }

  // Plays on, whatever may happen.
  void PlayToTheEnd() {
    for (Vector& vector : vectors_) {
      vector.length = W(static_cast<uint64_t>(plies_));
    }
    for (bool playing = true; playing; ++plies_) {
      playing = false;
      for (Vector& vector : vectors_) playing |= Step(vector);
    }
  }

  TARA_INLINE W Legal(Vector& vector) const {
    const W moves = W(static_cast<uint64_t>(plies_)) + vector.skipped;
    const SeatToMove<kSet> seat = {.uniform = false,
                                   .seat = 0,
                                   .by_lane = moves & W(Rules::kSeats - 1)};
    return KeepIf(~vector.finished,
                  vector.rules.Legal(vector.own, vector.enemy, seat));
  }

  // Settles, and plays an action of each unfinished game (in finished ones
  // the boards change hands all the same). Returns whether there was one.
  TARA_INLINE bool Step(Vector& vector) const {
    W legal = Legal(vector);
    while (true) {
      const M stuck = IsZero(legal) & ~vector.finished;
      if (!Any(stuck)) break;
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
    const M playing = ~vector.finished;
    vector.rules.CountPhases(playing);
    vector.length += KeepIf(playing, W(1));
    TakeHill(legal, vector);
    const M closed = vector.closing & playing;
    vector.turns_left -= KeepIf(closed, W(1));
    vector.finished = vector.finished | (closed & IsZero(vector.turns_left));
    return Any(playing);
  }

  void Gather(int64_t games, PlayoutSums& sums) const {
    int64_t plies = 0;
    int64_t manoeuvres = 0;
    int64_t ringforts = 0;
    for (int i = 0; i < kVectors; ++i) {
      const Vector& vector = vectors_[i];
      // Counting the skipped turns, every lane has changed hands equally.
      const W moves = W(static_cast<uint64_t>(plies_)) + vector.skipped;
      const M red_to_move = IsZero(moves & W(1));
      const W red = Select(red_to_move, vector.own, vector.enemy);
      const W blue = Select(red_to_move, vector.enemy, vector.own);
      AddGames<kSet>(FirstLanes<kSet>(games - i * kLanes),
                     {.length = vector.length,
                      .legal_actions = vector.legal_actions,
                      .margin = Rules::Margin(red, blue),
                      .ending = W(static_cast<uint64_t>(Ending::kOut))},
                     sums);
      plies += Sum(vector.length);
      manoeuvres += vector.rules.manoeuvres_plies();
      ringforts += Sum(PopCount(red | blue));
    }
    // Each ply builds a ringfort or replaces one.
    sums.captures += plies - ringforts;
    sums.phase_plies[static_cast<int>(Phase::kManoeuvres)] += manoeuvres;
    sums.phase_plies[static_cast<int>(Phase::kBattle)] += plies - manoeuvres;
  }

  Vector vectors_[kVectors];
  int plies_ = 0;  // since the start, skipped turns not counted
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HILL_GAMES_H_
