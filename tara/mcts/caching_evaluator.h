#ifndef TARA_MCTS_CACHING_EVALUATOR_H_
#define TARA_MCTS_CACHING_EVALUATOR_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"

namespace tara {

// Remembers what an evaluator says. Positions met by several lines or games
// are evaluated once (also when they are in one batch); a fixed number of the
// latest is kept. Compares whole states, so that a collision of hashes only
// costs an evaluation. Thread-safe; borrows the evaluator, which must give a
// position the same answer each time.
class CachingEvaluator : public Evaluator {
 public:
  // Keeps about `capacity` positions (rounded up to a power of two of at least
  // kNumShards * kWays), some 300 bytes each, and 4 bytes for each margin
  // between the least and the greatest that an answer gives a chance. 0: none,
  // it only counts. REQUIRES: capacity >= 0.
  CachingEvaluator(Evaluator* evaluator, int64_t capacity);

  // Errors as the evaluator's; a failed batch leaves nothing behind.
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override;

  // Forgets everything: call it when the evaluator's answers have changed,
  // and not while another thread evaluates.
  void Clear();

  // Positions asked for since the start, and those answered without the
  // evaluator.
  int64_t requests() const { return requests_; }
  int64_t hits() const { return hits_; }

 private:
  static constexpr int kNumShards = 16;  // locks: threads seldom meet at one
  static constexpr int kWays = 4;        // entries where a position may be

  struct Entry {
    State state = {};
    // Its margins are those from the first that is not 0 to the last: those
    // of few playouts, or of a position near its end, are mostly zeros.
    Evaluation evaluation;
    int first_margin = 0;    // where they begin
    int num_margins = 0;     // of the answer, zeros included
    uint64_t last_used = 0;  // tick of the shard; 0: empty
  };

  struct alignas(64) Shard {
    absl::Mutex mutex;
    std::vector<Entry> entries ABSL_GUARDED_BY(mutex);
    uint64_t tick ABSL_GUARDED_BY(mutex) = 0;
  };

  static void Store(const Evaluation& evaluation, Entry& entry);
  static void Restore(const Entry& entry, Evaluation& evaluation);
  Shard& ShardOf(uint64_t hash) { return shards_[hash % kNumShards]; }
  // Returns the entries where a position may be.
  absl::Span<Entry> Bucket(Shard& shard, uint64_t hash)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mutex);
  bool Find(uint64_t hash, const State& state, Evaluation& evaluation);
  void Insert(uint64_t hash, const State& state, const Evaluation& evaluation);

  Evaluator* const evaluator_;
  size_t buckets_per_shard_ = 0;  // a power of two; 0: keeps nothing
  std::array<Shard, kNumShards> shards_;
  std::atomic<int64_t> requests_ = 0;
  std::atomic<int64_t> hits_ = 0;
};

}  // namespace tara

#endif  // TARA_MCTS_CACHING_EVALUATOR_H_
