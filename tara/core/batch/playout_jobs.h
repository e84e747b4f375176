#ifndef TARA_CORE_BATCH_PLAYOUT_JOBS_H_
#define TARA_CORE_BATCH_PLAYOUT_JOBS_H_

// Which games lanes play, one after the other. Both classes here are used
// alike:
//
//   static constexpr bool kStatistics; whether sums over games are needed, or
//                                       the margin of each
//   Results receives the sums or the margins
//   bool empty() const;                 whether no game is left
//   int64_t left() const;               games left
//   Job Take(int lane, RandomLanes<kSet>& random);
//       The next game; lane `lane` of `random` gets its stream.
//       REQUIRES: !empty().

#include <cstdint>

#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/batch/playout_sums.h"
#include "tara/core/batch/random_lanes.h"
#include "tara/core/batch/start.h"
#include "tara/core/rule_options.h"

namespace tara::batch {

struct Job {
  const Start& start;
  uint64_t id;  // where the result goes, if it goes anywhere
};

// By the ids of games: Red's margins.
struct Margins {
  int8_t* by_id;
};

// Writes the margins in the first `games` lanes.
template <InstructionSet kSet>
TARA_INLINE void WriteMargins(Word<kSet> margins, const uint64_t* ids,
                              int games, Margins& results) {
  alignas(64) uint64_t by_lane[Word<kSet>::kLanes];
  margins.Store(by_lane);
  for (int i = 0; i < games; ++i) {
    results.by_id[ids[i]] = static_cast<int8_t>(by_lane[i]);
  }
}

TARA_INLINE const RuleOptions& OptionsOf(const PlayoutsFromRequest& request) {
  return request.starts[request.order[0]].options;
}

// Calls play<n>() with the number of vectors, at most kMaxVectors (a power of
// two), that suits this number of games.
template <InstructionSet kSet, int kMaxVectors, typename Play>
TARA_INLINE void WithVectorsFor(int64_t games, const Play& play) {
  if constexpr (kMaxVectors > 1) {
    if (games <= kMaxVectors / 2 * Word<kSet>::kLanes) {
      return WithVectorsFor<kSet, kMaxVectors / 2>(games, play);
    }
  }
  play.template operator()<kMaxVectors>();
}

// The games of a run, all from one position; for their statistics.
template <InstructionSet kSet>
class RunJobs {
 public:
  static constexpr bool kStatistics = true;
  using Results = PlayoutSums;

  explicit TARA_INLINE RunJobs(const PlayoutRequest& request)
      : start_(request.start),
        seed_(request.seed),
        next_(static_cast<uint64_t>(request.first_game)),
        left_(request.games) {}

  TARA_INLINE bool empty() const { return left_ == 0; }
  TARA_INLINE int64_t left() const { return left_; }

  TARA_INLINE Job Take(int lane, RandomLanes<kSet>& random) {
    if (fresh_ == 0) {
      streams_ = RandomLanes<kSet>(seed_, next_);
      next_ += kLanes;
      fresh_ = kLanes;
    }
    random.CopyLane(lane, streams_, kLanes - fresh_--);
    --left_;
    return {StartOf(start_), 0};
  }

 private:
  static constexpr int kLanes = Word<kSet>::kLanes;

  const State start_;
  const uint64_t seed_;
  uint64_t next_;  // first game whose stream is not in streams_
  int64_t left_;
  int fresh_ = 0;  // streams not yet taken: the last of streams_
  RandomLanes<kSet> streams_;
};

// Games from given positions: those at places `begin` to `end` - 1 of the
// request's order. A job's id is the index of its margin.
template <InstructionSet kSet>
class PositionJobs {
 public:
  static constexpr bool kStatistics = false;
  using Results = Margins;

  TARA_INLINE PositionJobs(const PlayoutsFromRequest& request, int64_t begin,
                           int64_t end)
      : request_(request),
        next_place_(begin),
        left_((end - begin) * request.playouts) {}

  TARA_INLINE bool empty() const { return left_ == 0; }
  TARA_INLINE int64_t left() const { return left_; }

  TARA_INLINE Job Take(int lane, RandomLanes<kSet>& random) {
    if (fresh_ == 0) Refill();
    const int i = kLanes - fresh_--;
    random.CopyLane(lane, streams_, i);
    --left_;
    return {StartOf(request_.starts[index_[i]]),
            index_[i] * static_cast<uint64_t>(request_.playouts) + playout_[i]};
  }

 private:
  static constexpr int kLanes = Word<kSet>::kLanes;

  // Finds the next games and their streams.
  TARA_INLINE void Refill() {
    alignas(64) uint64_t seeds[kLanes] = {};
    for (int i = 0; i < kLanes && i < left_; ++i) {
      index_[i] = static_cast<uint64_t>(request_.order[next_place_]);
      playout_[i] = next_playout_;
      seeds[i] = request_.seeds[index_[i]];
      if (++next_playout_ == static_cast<uint64_t>(request_.playouts)) {
        next_playout_ = 0;
        ++next_place_;
      }
    }
    using W = Word<kSet>;
    streams_ = RandomLanes<kSet>(W::Load(seeds), W::Load(playout_));
    fresh_ = kLanes;
  }

  const PlayoutsFromRequest& request_;
  int64_t next_place_;  // of the first game not yet among the fresh
  uint64_t next_playout_ = 0;
  int64_t left_;
  int fresh_ = 0;  // games found and not yet taken: the last of those below
  alignas(64) uint64_t index_[kLanes] = {};  // of the starts
  alignas(64) uint64_t playout_[kLanes] = {};
  RandomLanes<kSet> streams_;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_PLAYOUT_JOBS_H_
