#ifndef TARA_MCTS_TREE_NODE_STORE_H_
#define TARA_MCTS_TREE_NODE_STORE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/tree/node.h"

namespace tara::mcts {

// A growing array of plain values, addressed by index, whose memory is kept
// when it is cleared. New values are uninitialized: memory that was never
// written costs nothing (the kernel commits pages when they are touched).
// Aligned to cache lines. Copyable.
template <typename T>
class Pool {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Pool() = default;
  Pool(const Pool& other) { *this = other; }
  Pool(Pool&& other) noexcept { *this = std::move(other); }
  Pool& operator=(const Pool& other) {
    if (this == &other) return *this;
    size_ = 0;
    Reserve(other.size_);
    if (other.size_ > 0) {
      std::memcpy(data_.get(), other.data_.get(), other.size_ * sizeof(T));
    }
    size_ = other.size_;
    return *this;
  }
  Pool& operator=(Pool&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  T& operator[](uint32_t index) { return data_[index]; }
  const T& operator[](uint32_t index) const { return data_[index]; }

  uint32_t size() const { return size_; }

  // Appends `count` values; returns the index of the first.
  uint32_t Extend(uint32_t count) {
    if (capacity_ - size_ < count) [[unlikely]] {
      const uint64_t doubled = uint64_t{capacity_} * 2;
      Reserve(static_cast<uint32_t>(std::clamp<uint64_t>(
          doubled, std::max<uint32_t>(size_ + count, 64), UINT32_MAX)));
    }
    size_ += count;
    return size_ - count;
  }

  // Makes room for `capacity` values in all.
  void Reserve(uint32_t capacity) {
    if (capacity <= capacity_) return;
    std::unique_ptr<T[], Free> data(static_cast<T*>(
        ::operator new(size_t{capacity} * sizeof(T), kAlignment)));
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_ * sizeof(T));
    data_ = std::move(data);
    capacity_ = capacity;
  }

  void Clear() { size_ = 0; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* memory) const { ::operator delete(memory, kAlignment); }
  };

  std::unique_ptr<T[], Free> data_;
  uint32_t capacity_ = 0;
  uint32_t size_ = 0;
};

// The memory of a search tree, laid out as node.h draws it. Indices stay valid
// until Clear. Copyable.
class NodeStore {
 public:
  // Edges of a node that lie in its first chunk.
  static constexpr int kInFirstChunk = 3;

  TreeNode& node(uint32_t index) { return nodes_[index]; }
  const TreeNode& node(uint32_t index) const { return nodes_[index]; }
  const State& state(uint32_t node) const { return states_[node]; }
  TreeEdge& edge(uint32_t index) { return edges_[index]; }
  const TreeEdge& edge(uint32_t index) const { return edges_[index]; }

  uint32_t num_nodes() const { return nodes_.size(); }

  // The candidates of a node that have no edge are those from num_edges on.
  Candidate candidate(const TreeNode& node, int position) const {
    return candidates_[node.candidates + static_cast<uint32_t>(position)];
  }

  // Calls visit(index, edge) for the edges of a node, the oldest first.
  template <typename Visitor>
  void ForEachEdge(const TreeNode& node, Visitor&& visit) const {
    ForEachRun(node, [&](uint32_t first, int count) {
      const uint32_t end = first + static_cast<uint32_t>(count);
      for (uint32_t slot = first; slot < end; ++slot) visit(slot, edges_[slot]);
    });
  }

  // The same by runs of edges that lie side by side: visit(first, count). All
  // runs but the first, of at most 3, may be read up to a multiple of 8 slots.
  template <typename Visitor>
  void ForEachRun(const TreeNode& node, Visitor&& visit) const {
    int left = node.num_edges;
    if (left == 0) return;
    uint32_t first = node.edges;
    int room = kInFirstChunk;
    while (true) {
      const int here = std::min(left, room);
      visit(first, here);
      left -= here;
      if (left == 0) return;
      first = edges_[first + static_cast<uint32_t>(room)].child;
      room = NextRoom(room);
    }
  }

  // Appends a node, not evaluated; of a finished game, its end.
  uint32_t AddNode(const State& state);

  // Lists the legal actions of a node as its candidates. The node's status is
  // the caller's to change. REQUIRES: a prior for each legal action.
  void AddCandidates(uint32_t node, absl::Span<const float> priors);

  // Makes the edge of the candidate at a position, which has none, to a child.
  // Returns its index. O(candidates).
  uint32_t AddEdge(uint32_t node, int position, uint32_t child);

  // Gives the node's actions new priors, by their position among the
  // candidates. Priors are not part of what edges have counted.
  void SetPriors(uint32_t node, absl::Span<const float> priors);

  // Bytes in use; up to twice as many may be allocated.
  int64_t bytes() const {
    return int64_t{nodes_.size()} * (sizeof(TreeNode) + sizeof(State)) +
           int64_t{candidates_.size()} * sizeof(Candidate) +
           int64_t{edges_.size()} * sizeof(TreeEdge);
  }

  // Reserves room for a tree of `nodes` nodes, each with the candidates and the
  // chunk of edges that most nodes have, instead of growing repeatedly.
  void Reserve(uint32_t nodes);

  // Becomes what can be reached in `from` from `root`, which gets index 0.
  void CopyReachable(const NodeStore& from, uint32_t root);

  void Clear();

 private:
  static constexpr int kLargestChunk = 32;

  // Room, in edges, of the chunk after one with `room`.
  static constexpr int NextRoom(int room) {
    return std::min(2 * (room + 1), kLargestChunk) - 1;
  }

  // Returns the slot of the edge after the last one of the node; makes and
  // links a chunk where it needs one.
  uint32_t NextSlot(TreeNode& node, int num_edges);

  // Moves the best of the candidates from `first` on to the front of them, and
  // keeps its prior in the node.
  void BringBestForward(TreeNode& node, int first, int count);

  Pool<TreeNode> nodes_;
  Pool<State> states_;
  Pool<Candidate> candidates_;
  Pool<TreeEdge> edges_;
};

// Finds the node of a position. A hash table with open addressing; entries are
// 8 bytes: half of the hash, and the node. States are compared in full, so that
// colliding hashes only cost time. The states stay in the store. Copyable.
class Transpositions {
 public:
  // Returns the node of a state, or kNoIndex. `hash` is HashState(state).
  uint32_t Find(uint64_t hash, const State& state,
                const NodeStore& store) const;

  // Enters a node of the store. REQUIRES: Find found nothing.
  void Insert(uint64_t hash, uint32_t node, const NodeStore& store);

  // Forgets all and enters the nodes of the store.
  void Rebuild(const NodeStore& store);

  // Bytes with `nodes` nodes, and with the current number.
  int64_t BytesWith(int64_t nodes) const;
  int64_t bytes() const {
    return static_cast<int64_t>(entries_.size() * sizeof(uint64_t));
  }

 private:
  void Enter(uint64_t entry, uint64_t hash);

  std::vector<uint64_t> entries_;  // 0 or a power of two; an empty one is 0
  uint32_t size_ = 0;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_NODE_STORE_H_
