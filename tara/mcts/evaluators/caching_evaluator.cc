#include "tara/mcts/evaluators/caching_evaluator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/state_hash.h"

namespace tara::mcts {

void PermutePriors(const Symmetry& symmetry, const State& state,
                   std::vector<float>& priors) {
  if (symmetry.board == kIdentityTransform) return;
  constexpr size_t kWords = (kNumActions + 63) / 64;
  std::array<uint64_t, kWords> mask = {};  // legal in the transformed state
  std::array<uint16_t, kNumActions> images;
  std::array<float, kNumActions> before;
  size_t count = 0;
  LegalActions(state).ForEach([&](Action action) {
    const int image = Index(TransformAction(symmetry, action));
    images[count++] = static_cast<uint16_t>(image);
    mask[image / 64] |= uint64_t{1} << (image % 64);
  });
  TARA_CHECK(count == priors.size(), "expected a prior for each legal action");
  std::array<uint16_t, kWords> actions_before = {};
  for (size_t word = 1; word < kWords; ++word) {
    actions_before[word] = static_cast<uint16_t>(actions_before[word - 1] +
                                                 std::popcount(mask[word - 1]));
  }
  std::copy(priors.begin(), priors.end(), before.begin());
  for (size_t i = 0; i < count; ++i) {
    const int word = images[i] / 64;
    const uint64_t below = (uint64_t{1} << (images[i] % 64)) - 1;
    priors[i] =
        before[actions_before[word] + std::popcount(mask[word] & below)];
  }
}

// A position and its evaluation.
struct CachingEvaluator::Entry {
  State state = {};
  float win = 0;
  float draw = 0;
  float loss = 0;
  float margin = 0;
  uint16_t num_priors = 0;
  uint16_t num_margins = 0;  // of the answer
  // Only the margins between the first and the last one above 0 are stored:
  // most margins are 0 after few playouts or near the end of a game.
  uint16_t first_kept = 0;
  // The priors, then the margins kept.
  absl::InlinedVector<float, kNumHills> numbers;

  void Store(const Evaluation& evaluation) {
    const std::vector<float>& margins = evaluation.margins;
    const auto is_chance = [](float probability) { return probability != 0; };
    const auto begin = std::find_if(margins.begin(), margins.end(), is_chance);
    const auto end =
        std::find_if(margins.rbegin(), std::reverse_iterator(begin), is_chance)
            .base();
    win = evaluation.win;
    draw = evaluation.draw;
    loss = evaluation.loss;
    margin = evaluation.margin;
    num_priors = static_cast<uint16_t>(evaluation.priors.size());
    num_margins = static_cast<uint16_t>(margins.size());
    first_kept = static_cast<uint16_t>(begin - margins.begin());
    numbers.assign(evaluation.priors.begin(), evaluation.priors.end());
    numbers.insert(numbers.end(), begin, end);
  }

  void Restore(Evaluation& evaluation) const {
    evaluation.win = win;
    evaluation.draw = draw;
    evaluation.loss = loss;
    evaluation.margin = margin;
    const auto kept = numbers.begin() + num_priors;
    evaluation.priors.assign(numbers.begin(), kept);
    evaluation.margins.assign(num_margins, 0);
    std::copy(kept, numbers.end(), evaluation.margins.begin() + first_kept);
  }
};

// A position as the cache keeps it.
struct CachingEvaluator::Key {
  State state;
  uint64_t hash = 0;
  Symmetry symmetry;  // from the requested position to `state`

  uint32_t tag() const { return static_cast<uint32_t>(hash >> 32); }
};

// A position to be evaluated.
struct CachingEvaluator::Position {
  Key key;
  int requests = 0;  // that wait for it
};

// The places of a position. The tags often save reading the entries.
struct CachingEvaluator::Bucket {
  std::array<uint32_t, kWays> tags = {};  // of the hashes
  // The later, the greater: ticks of the bucket. 0: empty.
  std::array<uint32_t, kWays> last_used = {};
  uint32_t tick = 0;

  // Returns the way of a position in its bucket `entries`, or -1.
  int Find(const Key& key, const Entry* entries) const {
    for (int way = 0; way < kWays; ++way) {
      if (tags[way] == key.tag() && last_used[way] != 0 &&
          entries[way].state == key.state) {
        return way;
      }
    }
    return -1;
  }

  int LeastRecent() const {
    return static_cast<int>(absl::c_min_element(last_used) - last_used.begin());
  }

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
  const Bucket* first_bucket = nullptr;  // to fetch before it is read
};

CachingEvaluator::CachingEvaluator(Evaluator* evaluator,
                                   const CachingOptions& options)
    : evaluator_(evaluator), options_(options) {
  TARA_CHECK(options.positions >= 0, "positions must be >= 0");
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

void CachingEvaluator::Prefetch(const Key& key) {
  __builtin_prefetch(ShardOf(key.hash).first_bucket + BucketOf(key.hash));
}

bool CachingEvaluator::Find(const Key& key, Evaluation& evaluation) {
  Shard& shard = ShardOf(key.hash);
  const size_t index = BucketOf(key.hash);
  absl::MutexLock lock(&shard.mutex);
  Bucket& bucket = shard.buckets[index];
  const Entry* const entries = &shard.entries[index * kWays];
  const int way = bucket.Find(key, entries);
  if (way < 0) {
    // Fetches the place of the answer while the evaluator computes it.
    const auto* const place =
        reinterpret_cast<const char*>(&entries[bucket.LeastRecent()]);
    for (size_t i = 0; i < sizeof(Entry); i += 64) {
      __builtin_prefetch(place + i, /*rw=*/1);
    }
    return false;
  }
  bucket.Use(way);
  entries[way].Restore(evaluation);
  return true;
}

void CachingEvaluator::Insert(absl::Span<const Position> positions,
                              absl::Span<const Evaluation> answers) {
  uint32_t shards = 0;  // that they belong to, as bits
  static_assert(kNumShards <= 32);
  for (const Position& position : positions) {
    Prefetch(position.key);
    shards |= uint32_t{1} << (position.key.hash % kNumShards);
  }
  // Giving a lock back waits until all that was written has reached the memory:
  // so each is taken at most once.
  for (; shards != 0; shards &= shards - 1) {
    Shard& shard = shards_[std::countr_zero(shards)];
    absl::MutexLock lock(&shard.mutex);
    for (size_t i = 0; i < positions.size(); ++i) {
      const Key& key = positions[i].key;
      if (&ShardOf(key.hash) != &shard) continue;
      const size_t index = BucketOf(key.hash);
      Bucket& bucket = shard.buckets[index];
      Entry* const entries = &shard.entries[index * kWays];
      // Another thread may have inserted the state in the meantime.
      if (bucket.Find(key, entries) >= 0) continue;
      const int way = bucket.LeastRecent();
      entries[way].state = key.state;
      entries[way].Store(answers[i]);
      bucket.tags[way] = key.tag();
      bucket.Use(way);
    }
  }
}

CachingEvaluator::Key CachingEvaluator::KeyOf(const State& state) const {
  Key key = {.state = state, .hash = 0, .symmetry = {}};
  if (options_.symmetric) {
    key.symmetry = RepresentativeSymmetry(state);
    if (key.symmetry != Symmetry{}) {
      key.state = TransformState(key.symmetry, state);
    }
  }
  key.hash = HashState(key.state);
  return key;
}

// Requests whose answers are not kept.
class CachingEvaluator::Queue : public EvaluationQueue {
 public:
  explicit Queue(CachingEvaluator* cache) : cache_(*cache) {}

  void Submit(absl::Span<const Request> requests,
              std::vector<int>& answered) override {
    keys_.clear();
    for (const Request& request : requests) {
      const Key& key = keys_.emplace_back(cache_.KeyOf(*request.state));
      // The buckets lie anywhere: they come while the other keys are made.
      cache_.Prefetch(key);
    }
    int64_t hits = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      const Request& request = requests[i];
      if (cache_.Find(keys_[i], *request.result)) {
        PermutePriors(keys_[i].symmetry, *request.state,
                      request.result->priors);
        answered.push_back(request.tag);
        ++hits;
      } else {
        hits += Wait(request, keys_[i]);
      }
    }
    cache_.requests_ += static_cast<int64_t>(requests.size());
    cache_.hits_ += hits;
  }

  size_t waiting() const override { return waiting_.size(); }

  // Asks and evaluates until all is answered.
  absl::Status EvaluateAll(absl::Span<const State> states,
                           absl::Span<Evaluation> results) {
    requests_of_call_.clear();
    for (size_t i = 0; i < states.size(); ++i) {
      requests_of_call_.push_back({.state = &states[i], .result = &results[i]});
    }
    answered_.clear();
    Submit(requests_of_call_, answered_);
    while (waiting() > 0) TARA_RETURN_IF_ERROR(Evaluate(answered_));
    return absl::OkStatus();
  }

  absl::Status Evaluate(std::vector<int>& answered) override {
    TARA_CHECK(!waiting_.empty(), "expected a waiting request");
    const size_t size = BatchSize(positions_.size(), cache_.batch_multiple());
    batch_.clear();
    for (size_t i = 0; i < size; ++i) batch_.push_back(positions_[i].key.state);
    if (answers_.size() < size) answers_.resize(size);
    const absl::Status status = cache_.evaluator_->Evaluate(
        batch_, absl::MakeSpan(answers_).first(size));
    if (!status.ok()) {
      waiting_.clear();
      positions_.clear();
      place_of_.clear();
      return status;
    }
    if (!cache_.options_.margins) {
      for (size_t i = 0; i < size; ++i) answers_[i].margins.clear();
    }
    cache_.Insert(absl::MakeConstSpan(positions_).first(size), answers_);
    Answer(size, answered);
    positions_.erase(positions_.begin(),
                     positions_.begin() + static_cast<ptrdiff_t>(size));
    place_of_.clear();
    for (size_t i = 0; i < positions_.size(); ++i) {
      place_of_.emplace(positions_[i].key.hash, i);
    }
    return absl::OkStatus();
  }

 private:
  struct Waiting {
    Request request;
    Symmetry symmetry;  // from the requested position to the one evaluated
    size_t place = 0;   // among the positions
  };

  // Lets a request wait. Returns whether another one waits for its position.
  bool Wait(const Request& request, const Key& key) {
    const auto [found, is_new] =
        place_of_.try_emplace(key.hash, positions_.size());
    size_t place = found->second;
    // A collision of hashes only costs an evaluation.
    const bool shared = !is_new && positions_[place].key.state == key.state;
    if (!shared) {
      place = positions_.size();
      positions_.push_back({.key = key});
    }
    ++positions_[place].requests;
    waiting_.push_back(
        {.request = request, .symmetry = key.symmetry, .place = place});
    return shared;
  }

  // Answers the requests about the first `size` positions.
  void Answer(size_t size, std::vector<int>& answered) {
    size_t left = 0;
    for (const Waiting& waiting : waiting_) {
      if (waiting.place >= size) {
        waiting_[left] = waiting;
        waiting_[left++].place -= size;
        continue;
      }
      const Request& request = waiting.request;
      Evaluation& answer = answers_[waiting.place];
      if (--positions_[waiting.place].requests == 0) {
        std::swap(*request.result, answer);  // both keep some memory
      } else {
        *request.result = answer;
      }
      PermutePriors(waiting.symmetry, *request.state, request.result->priors);
      answered.push_back(request.tag);
    }
    waiting_.resize(left);
  }

  CachingEvaluator& cache_;
  std::vector<Waiting> waiting_;     // in the order submitted
  std::vector<Position> positions_;  // all different, in the order submitted
  absl::flat_hash_map<uint64_t, size_t> place_of_;  // by hash
  // Kept to reuse their memory: the submitted requests, and a batch.
  std::vector<Request> requests_of_call_;
  std::vector<int> answered_;
  std::vector<Key> keys_;
  std::vector<State> batch_;
  std::vector<Evaluation> answers_;
};

std::unique_ptr<EvaluationQueue> CachingEvaluator::NewQueue() {
  if (buckets_per_shard_ == 0) return Evaluator::NewQueue();
  return std::make_unique<Queue>(this);
}

absl::Status CachingEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  if (buckets_per_shard_ == 0) {
    requests_ += static_cast<int64_t>(states.size());
    TARA_RETURN_IF_ERROR(evaluator_->Evaluate(states, results));
    if (!options_.margins) {
      for (Evaluation& result : results) result.margins.clear();
    }
    return absl::OkStatus();
  }
  std::unique_ptr<Queue> queue;
  {
    absl::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      queue = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (queue == nullptr) queue = std::make_unique<Queue>(this);
  absl::Status status = queue->EvaluateAll(states, results);
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(queue));
  return status;
}

void CachingEvaluator::Clear() {
  if (buckets_per_shard_ == 0) return;
  for (int i = 0; i < kNumShards; ++i) {
    absl::MutexLock lock(&shards_[i].mutex);
    for (Bucket& bucket : shards_[i].buckets) bucket.last_used = {};
  }
}

}  // namespace tara::mcts
