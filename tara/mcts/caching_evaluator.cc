#include "tara/mcts/caching_evaluator.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/state_hash.h"

namespace tara {

CachingEvaluator::CachingEvaluator(Evaluator* evaluator, int64_t capacity)
    : evaluator_(evaluator) {
  TARA_CHECK(capacity >= 0, "a cache has room, or is none");
  if (capacity == 0) return;
  buckets_per_shard_ =
      std::bit_ceil(static_cast<size_t>(capacity + kNumShards * kWays - 1) /
                    (kNumShards * kWays));
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    shard.entries.resize(buckets_per_shard_ * kWays);
  }
}

absl::Span<CachingEvaluator::Entry> CachingEvaluator::Bucket(Shard& shard,
                                                             uint64_t hash) {
  const size_t bucket = (hash / kNumShards) & (buckets_per_shard_ - 1);
  return absl::MakeSpan(&shard.entries[bucket * kWays], kWays);
}

void CachingEvaluator::Store(const Evaluation& evaluation, Entry& entry) {
  const std::vector<float>& margins = evaluation.margins;
  const auto is_chance = [](float probability) { return probability != 0; };
  const auto begin = std::find_if(margins.begin(), margins.end(), is_chance);
  const auto end = std::find_if(margins.rbegin(),
                                std::make_reverse_iterator(begin), is_chance)
                       .base();
  entry.first_margin = static_cast<int>(begin - margins.begin());
  entry.num_margins = static_cast<int>(margins.size());
  entry.evaluation.priors = evaluation.priors;
  entry.evaluation.win = evaluation.win;
  entry.evaluation.draw = evaluation.draw;
  entry.evaluation.loss = evaluation.loss;
  entry.evaluation.margin = evaluation.margin;
  entry.evaluation.margins.assign(begin, end);
}

void CachingEvaluator::Restore(const Entry& entry, Evaluation& evaluation) {
  evaluation = entry.evaluation;
  if (entry.num_margins == 0) return;
  evaluation.margins.assign(entry.num_margins, 0);
  std::copy(entry.evaluation.margins.begin(), entry.evaluation.margins.end(),
            evaluation.margins.begin() + entry.first_margin);
}

bool CachingEvaluator::Find(uint64_t hash, const State& state,
                            Evaluation& evaluation) {
  Shard& shard = ShardOf(hash);
  absl::MutexLock lock(&shard.mutex);
  for (Entry& entry : Bucket(shard, hash)) {
    if (entry.last_used == 0 || entry.state != state) continue;
    entry.last_used = ++shard.tick;
    Restore(entry, evaluation);
    return true;
  }
  return false;
}

void CachingEvaluator::Insert(uint64_t hash, const State& state,
                              const Evaluation& evaluation) {
  Shard& shard = ShardOf(hash);
  absl::MutexLock lock(&shard.mutex);
  Entry* oldest = nullptr;
  for (Entry& entry : Bucket(shard, hash)) {
    // Another thread may have inserted the state meanwhile.
    if (entry.last_used != 0 && entry.state == state) return;
    if (oldest == nullptr || entry.last_used < oldest->last_used) {
      oldest = &entry;
    }
  }
  oldest->state = state;
  Store(evaluation, *oldest);
  oldest->last_used = ++shard.tick;
}

absl::Status CachingEvaluator::Evaluate(absl::Span<const State> states,
                                        absl::Span<Evaluation> results) {
  if (buckets_per_shard_ == 0) {
    requests_ += static_cast<int64_t>(states.size());
    return evaluator_->Evaluate(states, results);
  }
  struct Miss {
    uint64_t hash;
    size_t index;   // into states
    size_t answer;  // into the batch of misses
  };
  std::vector<Miss> misses;
  for (size_t i = 0; i < states.size(); ++i) {
    const uint64_t hash = HashState(states[i]);
    if (!Find(hash, states[i], results[i])) misses.push_back({hash, i, 0});
  }
  requests_ += static_cast<int64_t>(states.size());
  hits_ += static_cast<int64_t>(states.size() - misses.size());
  if (misses.empty()) return absl::OkStatus();

  // Equal states have equal hashes: they are neighbours once sorted, but for
  // collisions, which cost one more evaluation.
  std::stable_sort(
      misses.begin(), misses.end(),
      [](const Miss& a, const Miss& b) { return a.hash < b.hash; });
  std::vector<State> batch;
  for (Miss& miss : misses) {
    const State& state = states[miss.index];
    if (batch.empty() || batch.back() != state) batch.push_back(state);
    miss.answer = batch.size() - 1;
  }
  hits_ += static_cast<int64_t>(misses.size() - batch.size());
  std::vector<Evaluation> answers(batch.size());
  TARA_RETURN_IF_ERROR(evaluator_->Evaluate(batch, absl::MakeSpan(answers)));
  for (size_t i = 0; i < misses.size(); ++i) {
    const Miss& miss = misses[i];
    const bool first = i == 0 || misses[i - 1].answer != miss.answer;
    const bool last =
        i + 1 == misses.size() || misses[i + 1].answer != miss.answer;
    if (first) Insert(miss.hash, batch[miss.answer], answers[miss.answer]);
    results[miss.index] =
        last ? std::move(answers[miss.answer]) : answers[miss.answer];
  }
  return absl::OkStatus();
}

void CachingEvaluator::Clear() {
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (Entry& entry : shard.entries) entry.last_used = 0;
  }
}

}  // namespace tara
