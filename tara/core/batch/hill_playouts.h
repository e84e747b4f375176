#ifndef TARA_CORE_BATCH_HILL_PLAYOUTS_H_
#define TARA_CORE_BATCH_HILL_PLAYOUTS_H_

#include <cstdint>

#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_jobs.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara::batch {

// Playouts from given positions of the games of hill_games.h, by the same
// rules in lanes. Positions differ in how much is left to play: a lane whose
// game is over goes on with the next one, as soon as it is the turn of the seat
// that is to move there. So in every round the same seat moves in all lanes,
// and a lane waits three turns at most.
template <InstructionSet kSet, typename Rules>
class HillPlayouts {
 public:
  static void PlayFrom(const PlayoutsFromRequest& request) {
    HillPlayouts playouts(request);
    playouts.Play();
  }

 private:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kLanes = W::kLanes;
  static constexpr int kSeats = Rules::kSeats;
  // As many as the processor overlaps (see hill_games.h).
  static constexpr int kMaxVectors = 6;
  static constexpr unsigned kAllLanes = (1u << kLanes) - 1;

  struct Vector {
    RandomLanes<kSet> random;
    // The hill chosen in the last round: see BitChoice.
    BitChoice<kSet> choice;
    W own;
    W enemy;
    // Rounds to the end, this one included, once a seat is out; before, 0.
    W closing;
    M manoeuvres;
    // Lanes without a game: they play on from wherever they are, for nothing.
    unsigned idle;
    unsigned ended;  // lanes whose games are over; none of them is idle
    alignas(64) uint64_t ids[kLanes];
  };

  explicit TARA_INLINE HillPlayouts(const PlayoutsFromRequest& request)
      : rules_(OptionsOf(request)),
        jobs_{JobsOf(request, 0), JobsOf(request, 1), JobsOf(request, 2),
              JobsOf(request, 3)},
        margins_{request.margins},
        waiting_(request.count * request.playouts) {
    const int64_t needed = (waiting_ + kLanes - 1) / kLanes;
    vectors_in_use_ =
        needed < kMaxVectors ? static_cast<int>(needed) : kMaxVectors;
    for (int i = 0; i < vectors_in_use_; ++i) {
      Vector& vector = vectors_[i];
      vector.random = RandomLanes<kSet>(0, 0);
      vector.choice.Clear();
      vector.own = vector.enemy = vector.closing = W(uint64_t{0});
      vector.manoeuvres = M(false);
      vector.idle = kAllLanes;
      vector.ended = 0;
    }
  }

  // The games whose first turn is the seat's.
  static TARA_INLINE PositionJobs<kSet> JobsOf(
      const PlayoutsFromRequest& request, int seat) {
    const auto seat_at = [&](int64_t place) {
      return static_cast<int>(request.starts[request.order[place]].seat);
    };
    int64_t begin = 0;
    while (begin < request.count && seat_at(begin) < seat) ++begin;
    int64_t end = begin;
    while (end < request.count && seat_at(end) == seat) ++end;
    return {request, begin, end};
  }

  TARA_INLINE void Play() {
    while (vectors_in_use_ > 0) {
      Round<0>();
      Round<1>();
      if constexpr (kSeats == 4) {
        Round<2>();
        Round<3>();
      }
    }
    if (noted_ > 0) ScoreNoted();
  }

  // A turn of the seat in every lane.
  template <int kSeat>
  TARA_INLINE void Round() {
    for (int i = 0; i < vectors_in_use_; ++i) {
      Vector& vector = vectors_[i];
      BeginRound(vector);
      if (vector.ended != 0) NoteEnded<kSeat>(vector);
      if (vector.idle != 0) {
        if (!jobs_[kSeat].empty()) {
          StartGames<kSeat>(vector);
        } else if (vector.idle == kAllLanes && waiting_ == 0) {
          vector = vectors_[--vectors_in_use_];
          --i;
          continue;
        }
      }
      const W legal = LegalInAnyPhase<kSeat>(vector);
      const M acting = NonZero(legal);
      // Who is out announces the end; after that every turn is one of those
      // left, played or skipped.
      const M closing = NonZero(vector.closing);
      vector.closing =
          Select(closing, vector.closing - W(1),
                 KeepIf(~acting, W(static_cast<uint64_t>(kSeats))));
      vector.ended = Bits(Equal(vector.closing, W(1))) & ~vector.idle;
      // Only who acts draws a number.
      const RandomLanes<kSet> before = vector.random;
      vector.choice.Choose(legal, vector.random.Below(PopCount(legal)));
      vector.random.Restore(~acting, before);
    }
  }

  // The games take the hills chosen in the last round, if there are any, and
  // the boards change hands.
  static TARA_INLINE void BeginRound(Vector& vector) {
    const W hills = vector.choice.Chosen();
    const W own = vector.own | hills;
    vector.own = vector.enemy & ~hills;
    vector.enemy = own;
  }

  // The legal hills, once it is resolved whose Battle starts.
  template <int kSeat>
  TARA_INLINE W LegalInAnyPhase(Vector& vector) const {
    const W battle = rules_.BattleTargets(vector.own, vector.enemy, kSeat);
    if constexpr (Rules::kHasManoeuvres) {
      if (Any(vector.manoeuvres)) {
        const W targets =
            rules_.ManoeuvresTargets(vector.own, vector.enemy, kSeat);
        vector.manoeuvres =
            vector.manoeuvres &
            rules_.StillManoeuvres(targets, vector.own, vector.enemy);
        return Select(vector.manoeuvres, targets, battle);
      }
    }
    return battle;
  }

  // Takes games that are over out of their lanes, to be scored.
  template <int kSeat>
  TARA_INLINE void NoteEnded(Vector& vector) {
    const W& red = kSeat % 2 == 0 ? vector.own : vector.enemy;
    const W& blue = kSeat % 2 == 0 ? vector.enemy : vector.own;
    for (unsigned bits = vector.ended; bits != 0; bits &= bits - 1) {
      const int lane = __builtin_ctz(bits);
      noted_red_[noted_] = red.v[lane];
      noted_blue_[noted_] = blue.v[lane];
      noted_ids_[noted_] = vector.ids[lane];
      if (++noted_ == kLanes) ScoreNoted();
    }
    vector.idle |= vector.ended;
  }

  // Begins games of the seat in idle lanes, as far as there are any.
  template <int kSeat>
  TARA_INLINE void StartGames(Vector& vector) {
    PositionJobs<kSet>& jobs = jobs_[kSeat];
    uint64_t manoeuvres[kLanes] = {};
    unsigned bits = vector.idle;
    for (; bits != 0 && !jobs.empty(); bits &= bits - 1) {
      const int lane = __builtin_ctz(bits);
      const Job job = jobs.Take(lane, vector.random);
      constexpr int kSide = kSeat % 2;
      vector.own.v[lane] = job.start.ringforts[kSide];
      vector.enemy.v[lane] = job.start.ringforts[1 - kSide];
      vector.closing.v[lane] =
          job.start.ending == Ending::kNone ? 0 : job.start.turns_left + 1u;
      manoeuvres[lane] = job.start.phase == Phase::kManoeuvres;
      vector.ids[lane] = job.id;
      --waiting_;
    }
    vector.idle = bits;
    if constexpr (Rules::kHasManoeuvres) {
      vector.manoeuvres = vector.manoeuvres | NonZero(W::Load(manoeuvres));
    }
  }

  [[gnu::noinline]] void ScoreNoted() {
    WriteMargins<kSet>(Rules::Margin(W::Load(noted_red_), W::Load(noted_blue_)),
                       noted_ids_, noted_, margins_);
    noted_ = 0;
  }

  const Rules rules_;
  PositionJobs<kSet> jobs_[4];  // by seat
  Margins margins_;
  int64_t waiting_;  // games not yet begun
  int noted_ = 0;    // games that are over and not yet scored
  alignas(64) uint64_t noted_red_[kLanes] = {};
  alignas(64) uint64_t noted_blue_[kLanes] = {};
  uint64_t noted_ids_[kLanes] = {};
  int vectors_in_use_;
  Vector vectors_[kMaxVectors];
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HILL_PLAYOUTS_H_
