#include "tara/mcts/tree/transpositions.h"

#include <algorithm>
#include <bit>

#include "tara/base/check.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/tree/memory.h"

namespace tara::mcts {
namespace {

constexpr uint32_t kLeastCapacity = 256;

// The upper half of the hash is kept, the lower half is the place of the entry.
uint64_t Entry(uint64_t hash, uint32_t node) {
  return (hash & 0xffffffff00000000) | (node + 1);
}
bool MayBe(uint64_t entry, uint64_t hash) { return (entry ^ hash) >> 32 == 0; }
uint32_t NodeOf(uint64_t entry) { return static_cast<uint32_t>(entry) - 1; }

}  // namespace

Transpositions::Transpositions(const Transpositions& other) { *this = other; }

Transpositions& Transpositions::operator=(const Transpositions& other) {
  if (this == &other) return *this;
  Allocate(other.capacity_);
  std::copy_n(other.entries_.get(), capacity_, entries_.get());
  size_ = other.size_;
  return *this;
}

void Transpositions::Allocate(uint32_t capacity) {
  capacity_ = capacity;
  size_ = 0;
  entries_.reset();
  if (capacity == 0) return;
  entries_.reset(
      static_cast<uint64_t*>(std::calloc(capacity, sizeof(uint64_t))));
  TARA_CHECK(entries_ != nullptr, "out of memory");
}

int64_t Transpositions::BytesWith(int64_t nodes) const {
  const auto capacity =
      std::bit_ceil(std::max<uint64_t>(nodes * 2, kLeastCapacity));
  return std::max<int64_t>(
      bytes(), static_cast<int64_t>(capacity) * int64_t{sizeof(uint64_t)});
}

template <bool kShared>
uint32_t Transpositions::Find(uint64_t hash, const State& state,
                              const NodeStore& store) const {
  if (capacity_ == 0) return kNoIndex;
  const uint32_t mask = capacity_ - 1;
  for (uint32_t i = static_cast<uint32_t>(hash) & mask;; i = (i + 1) & mask) {
    const uint64_t entry = Load<kShared>(entries_[i]);
    if (entry == 0) return kNoIndex;
    if (MayBe(entry, hash) && store.state(NodeOf(entry)) == state) {
      return NodeOf(entry);
    }
  }
}

template <bool kShared>
uint32_t Transpositions::Insert(uint64_t hash, uint32_t node,
                                const NodeStore& store) {
  if constexpr (!kShared) Reserve(size_ + 1, store);
  const uint32_t mask = capacity_ - 1;
  for (uint32_t i = static_cast<uint32_t>(hash) & mask;; i = (i + 1) & mask) {
    const uint64_t before = Update<kShared>(entries_[i], [&](uint64_t entry) {
      return entry == 0 ? Entry(hash, node) : entry;
    });
    if (before == 0) break;
    if (kShared && MayBe(before, hash) &&
        store.state(NodeOf(before)) == store.state(node)) {
      return NodeOf(before);
    }
  }
  Add<kShared>(size_, 1);
  return node;
}

void Transpositions::Rebuild(const NodeStore& store) {
  if (capacity_ > 0) std::fill_n(entries_.get(), capacity_, 0);
  size_ = 0;
  for (uint32_t node = 0; node < store.num_nodes(); ++node) {
    Insert<false>(HashState(store.state(node)), node, store);
  }
}

void Transpositions::Reserve(uint32_t nodes, const NodeStore& store) {
  // At most half full: the walks along the table stay short.
  if (uint64_t{nodes} * 2 <= capacity_) return;
  const auto old = std::move(entries_);
  const uint32_t old_capacity = capacity_;
  Allocate(std::bit_ceil(std::max(nodes * 2, kLeastCapacity)));
  for (uint32_t i = 0; i < old_capacity; ++i) {
    if (old[i] == 0) continue;
    const uint32_t node = NodeOf(old[i]);
    Insert<false>(HashState(store.state(node)), node, store);
  }
}

template uint32_t Transpositions::Find<false>(uint64_t, const State&,
                                              const NodeStore&) const;
template uint32_t Transpositions::Find<true>(uint64_t, const State&,
                                             const NodeStore&) const;
template uint32_t Transpositions::Insert<false>(uint64_t, uint32_t,
                                                const NodeStore&);
template uint32_t Transpositions::Insert<true>(uint64_t, uint32_t,
                                               const NodeStore&);

}  // namespace tara::mcts
