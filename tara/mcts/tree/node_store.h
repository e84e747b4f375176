#ifndef TARA_MCTS_TREE_NODE_STORE_H_
#define TARA_MCTS_TREE_NODE_STORE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/tree/memory.h"
#include "tara/mcts/tree/node.h"

namespace tara::mcts {

// The memory of a search tree, laid out as node.h draws it. Indices stay valid
// until Clear. Copyable. Functions of a bool kShared: see memory.h.
class NodeStore {
 public:
  // Edges of a node that lie in its first chunk.
  static constexpr int kInFirstChunk = 3;

  TreeNode& node(uint32_t index) { return nodes_[index]; }
  const TreeNode& node(uint32_t index) const { return nodes_[index]; }
  const State& state(uint32_t node) const { return states_[node]; }
  TreeEdge& edge(uint32_t index) { return edges_[index]; }
  const TreeEdge& edge(uint32_t index) const { return edges_[index]; }

  template <bool kShared = false>
  uint32_t num_nodes() const {
    return nodes_.size<kShared>();
  }

  // The candidates of a node that have no edge are those from num_edges on.
  template <bool kShared = false>
  Candidate candidate(const TreeNode& node, int position) const {
    return Load<kShared>(
        candidates_[node.candidates + static_cast<uint32_t>(position)]);
  }

  // Calls visit(index, edge) for the edges of a node that its shape counts, in
  // the order in which they were made.
  template <bool kShared = false, typename Visitor>
  void ForEachEdge(const TreeNode& node, NodeShape shape,
                   Visitor&& visit) const {
    ForEachRun<kShared>(node, shape, [&](uint32_t first, int count) {
      const uint32_t end = first + static_cast<uint32_t>(count);
      for (uint32_t slot = first; slot < end; ++slot) visit(slot, edges_[slot]);
    });
  }

  // The same by runs of edges that lie side by side: visit(first, count). All
  // runs but the first, which is of at most 3, may be read up to a multiple of
  // 8 slots.
  template <bool kShared = false, typename Visitor>
  void ForEachRun(const TreeNode& node, NodeShape shape,
                  Visitor&& visit) const {
    int left = shape.num_edges();
    if (left == 0) return;  // another thread may be making the first chunk
    uint32_t first = node.edges;
    int room = kInFirstChunk;
    while (true) {
      const int here = std::min(left, room);
      visit(first, here);
      left -= here;
      if (left == 0) return;
      first = Load<kShared>(edges_[first + static_cast<uint32_t>(room)].child);
      room = NextRoom(room);
    }
  }

  // Appends a node, not evaluated; of a finished game, its end.
  template <bool kShared>
  uint32_t AddNode(const State& state);

  // Lists the legal actions of a node as its candidates. The node's status is
  // the caller's to change. REQUIRES: a prior for each legal action.
  template <bool kShared>
  void AddCandidates(uint32_t node, absl::Span<const float> priors);

  // Makes the edge of the candidate at a position, which has none, to a child.
  // Returns its index. O(candidates). REQUIRES: kShared: the node is locked.
  template <bool kShared>
  uint32_t AddEdge(uint32_t node, int position, uint32_t child);

  // Gives the node's actions new priors, by their position among the
  // candidates. Priors are not part of what edges have counted.
  void SetPriors(uint32_t node, absl::Span<const float> priors);

  // Bytes that are used; what is allocated may be twice as much.
  template <bool kShared = false>
  int64_t bytes() const {
    return int64_t{nodes_.size<kShared>()} *
               (sizeof(TreeNode) + sizeof(State)) +
           int64_t{candidates_.size<kShared>()} * sizeof(Candidate) +
           int64_t{edges_.size<kShared>()} * sizeof(TreeEdge);
  }

  // Room for more, for shared trees: nothing moves until it is used up.
  struct Room {
    uint32_t nodes;
    uint32_t candidates;
    uint32_t edges;
  };
  void Reserve(const Room& more);
  // Returns what is left of it.
  Room room() const;

  // Makes this a view of a store that several threads share, which must outlive
  // it. It has no room of its own yet.
  void Borrow(const NodeStore& whole);
  // Gives a view room for at least one simulation more, from that of the whole;
  // does nothing where it has it. Returns false where the whole is used up.
  bool Refill(NodeStore& whole);
  // Gives a view's room up; the nodes not used become empty ones.
  void EndBorrowing();

  // The most that one simulation can take: a node, candidates for all actions,
  // a chunk of edges.
  static constexpr Room kMaxPerSimulation = {
      .nodes = 1, .candidates = kNumActions, .edges = 32};

  // Nodes that a view takes at a time.
  static constexpr uint32_t kNodesOfRefill = 64;

  // To be called when several threads have added nodes, before one owner does.
  void EndSharing() { states_.ExtendTo(nodes_.size()); }

  // Becomes what `from` has that can be reached from `root`, which gets index
  // 0. Fills `origins` with the old index of each node.
  void CopyReachable(const NodeStore& from, uint32_t root,
                     std::vector<uint32_t>& origins);

  void Clear();

 private:
  static constexpr int kLargestChunk = 32;

  // Edges that fit into the chunk after one that has room for so many.
  static constexpr int NextRoom(int room) {
    return std::min(2 * (room + 1), kLargestChunk) - 1;
  }

  // Returns the slot of the edge after the last one of the node; makes and
  // links a chunk where it needs one.
  template <bool kShared>
  uint32_t NextSlot(TreeNode& node, int num_edges);

  // Moves the best of the candidates from `first` on to the front of them, and
  // keeps its prior in the node.
  template <bool kShared>
  void BringBestForward(TreeNode& node, int first, int count);

  Pool<TreeNode> nodes_;
  Pool<State> states_;
  Pool<Candidate> candidates_;
  Pool<TreeEdge> edges_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_NODE_STORE_H_
