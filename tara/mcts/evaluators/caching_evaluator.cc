#include "tara/mcts/evaluators/caching_evaluator.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/representative.h"
#include "tara/mcts/evaluators/permute_priors.h"
#include "tara/mcts/state_hash.h"

namespace tara {

// What is known of a position.
struct CachingEvaluator::Entry {
  State state = {};
  float win = 0;
  float draw = 0;
  float loss = 0;
  float margin = 0;
  // The priors, then the margins from the first that is not 0 to the last:
  // those of few playouts, or of a position near its end, are mostly zeros.
  std::vector<float> numbers;
  uint16_t num_priors = 0;
  uint16_t first_margin = 0;
  uint16_t num_margins = 0;  // of the answer, zeros included

  void Store(const Evaluation& evaluation) {
    const std::vector<float>& margins = evaluation.margins;
    const auto is_chance = [](float probability) { return probability != 0; };
    const auto begin = std::find_if(margins.begin(), margins.end(), is_chance);
    const auto end = std::find_if(margins.rbegin(),
                                  std::make_reverse_iterator(begin), is_chance)
                         .base();
    win = evaluation.win;
    draw = evaluation.draw;
    loss = evaluation.loss;
    margin = evaluation.margin;
    num_priors = static_cast<uint16_t>(evaluation.priors.size());
    first_margin = static_cast<uint16_t>(begin - margins.begin());
    num_margins = static_cast<uint16_t>(margins.size());
    numbers.resize(evaluation.priors.size() + static_cast<size_t>(end - begin));
    std::copy(begin, end,
              std::copy(evaluation.priors.begin(), evaluation.priors.end(),
                        numbers.begin()));
  }

  void Restore(Evaluation& evaluation) const {
    evaluation.win = win;
    evaluation.draw = draw;
    evaluation.loss = loss;
    evaluation.margin = margin;
    const auto margins = numbers.begin() + num_priors;
    evaluation.priors.assign(numbers.begin(), margins);
    evaluation.margins.assign(num_margins, 0);
    std::copy(margins, numbers.end(),
              evaluation.margins.begin() + first_margin);
  }
};

// Where a position may be. A look at the tags spares one at the entries.
struct CachingEvaluator::Bucket {
  std::array<uint32_t, kWays> tags = {};  // of the hashes
  // The later, the greater: ticks of the bucket. 0: empty.
  std::array<uint32_t, kWays> last_used = {};
  uint32_t tick = 0;

  void Use(int way) {
    if (++tick == 0) {  // once in 4 billion looks: the order is forgotten
      for (uint32_t& used : last_used) used = std::min<uint32_t>(used, 1);
      tick = 2;
    }
    last_used[way] = tick;
  }
};

struct alignas(64) CachingEvaluator::Shard {
  absl::Mutex mutex;
  std::vector<Bucket> buckets ABSL_GUARDED_BY(mutex);
  std::vector<Entry> entries ABSL_GUARDED_BY(mutex);  // kWays a bucket
  const Bucket* first_bucket = nullptr;  // to fetch before it is looked at
};

// A position as it is kept.
struct CachingEvaluator::Request {
  State state;
  uint64_t hash;
  Symmetry symmetry;  // from the position asked for to `state`
  size_t index = 0;   // of the position asked for
  size_t answer = 0;  // in the batch of misses

  uint32_t tag() const { return static_cast<uint32_t>(hash >> 32); }
};

struct CachingEvaluator::Workspace {
  std::vector<Request> requests;
  std::vector<Request> misses;
  std::vector<State> batch;
  std::vector<Evaluation> answers;
};

CachingEvaluator::CachingEvaluator(Evaluator* evaluator,
                                   const CachingOptions& options)
    : evaluator_(evaluator), options_(options) {
  TARA_CHECK(options.positions >= 0, "a cache has room, or is none");
  if (options.positions == 0) return;
  shards_ = std::make_unique<Shard[]>(kNumShards);
  buckets_per_shard_ = std::bit_ceil(
      static_cast<size_t>(options.positions + kNumShards * kWays - 1) /
      (kNumShards * kWays));
  for (int i = 0; i < kNumShards; ++i) {
    absl::MutexLock lock(&shards_[i].mutex);
    shards_[i].buckets.resize(buckets_per_shard_);
    shards_[i].first_bucket = shards_[i].buckets.data();
    shards_[i].entries.resize(buckets_per_shard_ * kWays);
  }
}

CachingEvaluator::~CachingEvaluator() = default;

CachingEvaluator::Shard& CachingEvaluator::ShardOf(uint64_t hash) {
  return shards_[hash % kNumShards];
}

bool CachingEvaluator::Find(const Request& request, Evaluation& evaluation) {
  Shard& shard = ShardOf(request.hash);
  const size_t index = BucketOf(request.hash);
  absl::MutexLock lock(&shard.mutex);
  Bucket& bucket = shard.buckets[index];
  for (int way = 0; way < kWays; ++way) {
    if (bucket.tags[way] != request.tag() || bucket.last_used[way] == 0) {
      continue;
    }
    const Entry& entry = shard.entries[index * kWays + way];
    if (entry.state != request.state) continue;
    bucket.Use(way);
    entry.Restore(evaluation);
    return true;
  }
  return false;
}

void CachingEvaluator::Insert(const Request& request,
                              const Evaluation& evaluation) {
  Shard& shard = ShardOf(request.hash);
  const size_t index = BucketOf(request.hash);
  absl::MutexLock lock(&shard.mutex);
  Bucket& bucket = shard.buckets[index];
  Entry* const entries = &shard.entries[index * kWays];
  int oldest = 0;
  for (int way = 0; way < kWays; ++way) {
    // Another thread may have inserted the state meanwhile.
    if (bucket.last_used[way] != 0 && bucket.tags[way] == request.tag() &&
        entries[way].state == request.state) {
      return;
    }
    if (bucket.last_used[way] < bucket.last_used[oldest]) oldest = way;
  }
  entries[oldest].state = request.state;
  entries[oldest].Store(evaluation);
  bucket.tags[oldest] = request.tag();
  bucket.Use(oldest);
}

CachingEvaluator::Request CachingEvaluator::RequestFor(
    const State& state) const {
  Request request = {.state = state, .hash = 0, .symmetry = {}};
  if (options_.symmetric) {
    request.symmetry = RepresentativeSymmetry(state);
    if (request.symmetry != Symmetry{}) {
      request.state = TransformState(request.symmetry, state);
    }
  }
  request.hash = HashState(request.state);
  return request;
}

void CachingEvaluator::AnswerHits(absl::Span<const State> states,
                                  absl::Span<Evaluation> results,
                                  Workspace& workspace) {
  workspace.requests.clear();
  workspace.misses.clear();
  for (size_t i = 0; i < states.size(); ++i) {
    Request& request = workspace.requests.emplace_back(RequestFor(states[i]));
    request.index = i;
    // The buckets lie anywhere: they come while the other positions are made.
    __builtin_prefetch(ShardOf(request.hash).first_bucket +
                       BucketOf(request.hash));
  }
  for (size_t i = 0; i < states.size(); ++i) {
    const Request& request = workspace.requests[i];
    if (Find(request, results[i])) {
      PermutePriors(request.symmetry, states[i], results[i].priors);
    } else {
      workspace.misses.push_back(request);
    }
  }
}

absl::Status CachingEvaluator::EvaluateMisses(Workspace& workspace) {
  // Equal states have equal hashes: they are neighbours once sorted, but for
  // collisions, which cost one more evaluation.
  std::sort(workspace.misses.begin(), workspace.misses.end(),
            [](const Request& a, const Request& b) {
              return a.hash != b.hash ? a.hash < b.hash : a.index < b.index;
            });
  std::vector<State>& batch = workspace.batch;
  batch.clear();
  for (Request& miss : workspace.misses) {
    if (batch.empty() || batch.back() != miss.state) {
      batch.push_back(miss.state);
    }
    miss.answer = batch.size() - 1;
  }
  hits_ += static_cast<int64_t>(workspace.misses.size() - batch.size());
  if (workspace.answers.size() < batch.size()) {
    workspace.answers.resize(batch.size());
  }
  return evaluator_->Evaluate(
      batch, absl::MakeSpan(workspace.answers).first(batch.size()));
}

void CachingEvaluator::AnswerMisses(absl::Span<const State> states,
                                    absl::Span<Evaluation> results,
                                    Workspace& workspace) {
  const std::vector<Request>& misses = workspace.misses;
  for (size_t i = 0; i < misses.size(); ++i) {
    const Request& miss = misses[i];
    Evaluation& answer = workspace.answers[miss.answer];
    if (i == 0 || misses[i - 1].answer != miss.answer) {
      if (!options_.margins) answer.margins.clear();
      Insert(miss, answer);
    }
    Evaluation& result = results[miss.index];
    if (i + 1 == misses.size() || misses[i + 1].answer != miss.answer) {
      std::swap(result, answer);  // both keep some memory
    } else {
      result = answer;
    }
    PermutePriors(miss.symmetry, states[miss.index], result.priors);
  }
}

absl::Status CachingEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  requests_ += static_cast<int64_t>(states.size());
  if (buckets_per_shard_ == 0) {
    TARA_RETURN_IF_ERROR(evaluator_->Evaluate(states, results));
    if (!options_.margins) {
      for (Evaluation& result : results) result.margins.clear();
    }
    return absl::OkStatus();
  }
  std::unique_ptr<Workspace> workspace = TakeWorkspace();
  AnswerHits(states, results, *workspace);
  hits_ += static_cast<int64_t>(states.size() - workspace->misses.size());
  absl::Status status;
  if (!workspace->misses.empty()) {
    status = EvaluateMisses(*workspace);
    if (status.ok()) AnswerMisses(states, results, *workspace);
  }
  ReturnWorkspace(std::move(workspace));
  return status;
}

std::unique_ptr<CachingEvaluator::Workspace> CachingEvaluator::TakeWorkspace() {
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Workspace> workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>();
}

void CachingEvaluator::ReturnWorkspace(std::unique_ptr<Workspace> workspace) {
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(workspace));
}

void CachingEvaluator::Clear() {
  if (buckets_per_shard_ == 0) return;
  for (int i = 0; i < kNumShards; ++i) {
    absl::MutexLock lock(&shards_[i].mutex);
    for (Bucket& bucket : shards_[i].buckets) bucket.last_used = {};
  }
}

}  // namespace tara
