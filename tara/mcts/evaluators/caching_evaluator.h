#ifndef TARA_MCTS_EVALUATORS_CACHING_EVALUATOR_H_
#define TARA_MCTS_EVALUATORS_CACHING_EVALUATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"

namespace tara::mcts {

struct CachingOptions {
  // Positions kept (rounded up to a power of two of at least kNumShards *
  // kWays), some 300 bytes each. An answer whose priors, and margins from the
  // least to the greatest that it gives a chance, are over 45 has 4 bytes more
  // for each of them. 0: the cache keeps none and only counts.
  int64_t positions = 0;
  // Whether symmetric positions share an entry: the evaluator receives the
  // representative of each (tara/core/symmetry.h), and its priors are mapped
  // back. For evaluators, such as networks, whose results for symmetric
  // positions are equal bit for bit up to the order of the priors.
  bool symmetric = false;
  // Whether answers have the distribution of margins, where the evaluator gives
  // one. Without it most entries have room for all; for searches whose utility
  // does not need it (Utility::needs_margins).
  bool margins = true;
};

// Keeps an evaluator's results. Positions met by several lines or games are
// evaluated once (also when they are in one batch); a fixed number of the
// latest is kept. Compares whole states, so that a collision of hashes only
// costs an evaluation. Thread-safe; borrows the evaluator, which must give a
// position the same answer each time: then results do not depend on the cache.
class CachingEvaluator : public Evaluator {
 public:
  // REQUIRES: options.positions >= 0.
  CachingEvaluator(Evaluator* evaluator, const CachingOptions& options);
  CachingEvaluator(Evaluator* evaluator, int64_t positions)
      : CachingEvaluator(evaluator, CachingOptions{.positions = positions}) {}
  ~CachingEvaluator() override;

  // Errors as the evaluator's; a failed batch leaves nothing behind.
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override;

  // Answers requests for kept positions at once, and evaluates a position that
  // is in several requests only once.
  std::unique_ptr<EvaluationQueue> NewQueue() override;

  size_t batch_multiple() const override {
    return evaluator_->batch_multiple();
  }

  // Forgets everything: call it when the evaluator's answers have changed,
  // and not while another thread evaluates.
  void Clear();

  // Positions asked for so far, and those answered without the evaluator.
  int64_t requests() const { return requests_; }
  int64_t hits() const { return hits_; }

 private:
  static constexpr int kNumShards = 16;  // locks: threads seldom meet at one
  static constexpr int kWays = 4;        // entries where a position may be

  struct Entry;
  struct Bucket;
  struct alignas(64) Shard;
  struct Key;
  struct Position;
  class Queue;

  Shard& ShardOf(uint64_t hash);
  size_t BucketOf(uint64_t hash) const {
    return (hash / kNumShards) & (buckets_per_shard_ - 1);
  }
  Key KeyOf(const State& state) const;
  // Fetches the bucket of a position into the processor's caches.
  void Prefetch(const Key& key);
  bool Find(const Key& key, Evaluation& evaluation);
  // `answers` has at least one entry per position.
  void Insert(absl::Span<const Position> positions,
              absl::Span<const Evaluation> answers);

  Evaluator* const evaluator_;
  const CachingOptions options_;
  size_t buckets_per_shard_ = 0;  // a power of two; 0: nothing is kept
  std::unique_ptr<Shard[]> shards_;
  std::atomic<int64_t> requests_ = 0;
  std::atomic<int64_t> hits_ = 0;
  absl::Mutex mutex_;
  // For whole batches, kept for their memory: one for each thread at a time.
  std::vector<std::unique_ptr<Queue>> idle_ ABSL_GUARDED_BY(mutex_);
};

// Maps priors of TransformState(symmetry, state), in the order of its legal
// actions, to priors of the state: each prior goes to the action with that
// image.
// REQUIRES: one prior per legal action.
void PermutePriors(const Symmetry& symmetry, const State& state,
                   std::vector<float>& priors);

}  // namespace tara::mcts

#endif  // TARA_MCTS_EVALUATORS_CACHING_EVALUATOR_H_
