#ifndef TARA_CORE_BATCH_HILL_STARTS_H_
#define TARA_CORE_BATCH_HILL_STARTS_H_

#include <cstdint>

#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_jobs.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/batch/start.h"
#include "tara/core/state.h"

namespace tara::batch {

// Vectors of games without kings and links, as rounds need them between two
// choices.
template <InstructionSet kSet>
struct HillLanes {
  using W = Word<kSet>;

  W own;
  W enemy;
  // Once a seat is out: rounds to the end and 1. Else 0.
  W closing;
  W in_manoeuvres;  // at the start: 1 or 0
  W id;
  RandomLanes<kSet> random;
};

// The games of a request whose first turn belongs to one seat, laid out for
// lanes. They are prepared in groups, because seeding a stream is a long chain
// of multiplications, and chains can run in parallel.
template <InstructionSet kSet>
class HillStarts {
 public:
  // Those at places `begin` to `end` - 1 of the request's order.
  TARA_INLINE HillStarts(const PlayoutsFromRequest& request, int seat,
                         int64_t begin, int64_t end)
      : request_(request),
        side_(seat & 1),
        next_place_(begin),
        unprepared_((end - begin) * request.playouts) {}

  TARA_INLINE bool empty() const {
    return next_ == prepared_ && unprepared_ == 0;
  }

  // Begins a game in each of the lanes, as long as there are any. Returns the
  // lanes that have got one. REQUIRES: !empty().
  TARA_INLINE unsigned StartGames(unsigned lanes, HillLanes<kSet>& games) {
    if (next_ == prepared_) Prepare();
    while (PopCountOf(lanes) > prepared_ - next_) lanes &= lanes - 1;
    Take(own_, lanes, games.own);
    Take(enemy_, lanes, games.enemy);
    Take(closing_, lanes, games.closing);
    Take(in_manoeuvres_, lanes, games.in_manoeuvres);
    Take(ids_, lanes, games.id);
    for (int i = 0; i < 4; ++i) {
      games.random.SetWord(
          i, Expanded(lanes, words_[i] + next_, games.random.WordAt(i)));
    }
    next_ += PopCountOf(lanes);
    return lanes;
  }

 private:
  using W = Word<kSet>;
  static constexpr int kLanes = W::kLanes;
  static constexpr int kCapacity = 64;
  // Whole vectors are read from any game on.
  static constexpr int kSize = kCapacity + kLanes;

  static TARA_INLINE int PopCountOf(unsigned bits) {
    return __builtin_popcount(bits);
  }

  TARA_INLINE void Take(const uint64_t* prepared, unsigned lanes, W& word) {
    word = Expanded(lanes, prepared + next_, word);
  }

  [[gnu::noinline]] void Prepare() {
    alignas(64) uint64_t seeds[kSize];
    alignas(64) uint64_t playouts[kSize];
    next_ = 0;
    prepared_ = 0;
    while (prepared_ < kCapacity && unprepared_ > 0) {
      const int i = prepared_++;
      --unprepared_;
      const int64_t index = request_.order[next_place_];
      const Start& start = StartOf(request_.starts[index]);
      own_[i] = start.ringforts[side_];
      enemy_[i] = start.ringforts[1 - side_];
      closing_[i] = start.ending == Ending::kNone ? 0 : start.turns_left + 1u;
      in_manoeuvres_[i] = start.phase == Phase::kManoeuvres;
      seeds[i] = request_.seeds[index];
      playouts[i] = static_cast<uint64_t>(next_playout_);
      ids_[i] =
          static_cast<uint64_t>(index * request_.playouts + next_playout_);
      if (++next_playout_ == request_.playouts) {
        next_playout_ = 0;
        ++next_place_;
      }
    }
    for (int i = 0; i < kLanes; ++i) {
      seeds[prepared_ + i] = playouts[prepared_ + i] = 0;
    }
    for (int i = 0; i < prepared_; i += kLanes) {
      const RandomLanes<kSet> random(W::Load(seeds + i), W::Load(playouts + i));
      for (int k = 0; k < 4; ++k) random.WordAt(k).Store(words_[k] + i);
    }
  }

  const PlayoutsFromRequest& request_;
  const int side_;
  int64_t next_place_;  // of the first game not yet prepared
  int next_playout_ = 0;
  int64_t unprepared_;
  // Games prepared and not yet taken: from next_ to prepared_ - 1.
  int next_ = 0;
  int prepared_ = 0;
  uint64_t own_[kSize];
  uint64_t enemy_[kSize];
  uint64_t closing_[kSize];
  uint64_t in_manoeuvres_[kSize];
  uint64_t ids_[kSize];
  uint64_t words_[4][kSize];  // of the streams
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_HILL_STARTS_H_
