#ifndef TARA_MCTS_TREE_TRANSPOSITIONS_H_
#define TARA_MCTS_TREE_TRANSPOSITIONS_H_

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tara/core/state.h"
#include "tara/mcts/tree/node_store.h"

namespace tara::mcts {

// Finds the node of a position. A hash table with open addressing; entries are
// 8 bytes: half of the hash, and the node. States are compared in full, so that
// colliding hashes cost time and nothing else. The states stay in the store.
//
// Copyable. Grows by itself for one owner; several threads may share it while
// Reserve has made room for what comes.
class Transpositions {
 public:
  Transpositions() = default;
  Transpositions(const Transpositions& other);
  Transpositions(Transpositions&&) = default;
  Transpositions& operator=(const Transpositions& other);
  Transpositions& operator=(Transpositions&&) = default;

  // Returns the node of a state, or kNoIndex. `hash` is HashState(state).
  template <bool kShared>
  uint32_t Find(uint64_t hash, const State& state,
                const NodeStore& store) const;

  // Enters a node of the store, and returns it; or the node of the same state
  // that another thread entered meanwhile. REQUIRES: Find found nothing.
  template <bool kShared>
  uint32_t Insert(uint64_t hash, uint32_t node, const NodeStore& store);

  // Forgets all and enters the nodes of the store.
  void Rebuild(const NodeStore& store);

  // Makes room for so many nodes in all.
  void Reserve(uint32_t nodes, const NodeStore& store);

  // Bytes once there are so many nodes; and now.
  int64_t BytesWith(int64_t nodes) const;
  int64_t bytes() const { return int64_t{capacity_} * sizeof(uint64_t); }

 private:
  struct Free {
    void operator()(uint64_t* memory) const { std::free(memory); }
  };

  // An empty entry is 0: the memory comes zeroed from the kernel, which
  // commits it where it is touched.
  void Allocate(uint32_t capacity);

  std::unique_ptr<uint64_t[], Free> entries_;
  uint32_t capacity_ = 0;  // 0 or a power of two
  uint32_t size_ = 0;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_TRANSPOSITIONS_H_
