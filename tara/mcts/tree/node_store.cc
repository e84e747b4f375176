#include "tara/mcts/tree/node_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"

namespace tara::mcts {
template <bool kShared>
uint32_t NodeStore::AddNode(const State& state) {
  // Nodes and states have the same indices: with several threads only if one
  // of the two pools counts for both.
  const uint32_t index = nodes_.Extend<kShared>(1);
  if constexpr (!kShared) states_.Extend(1);
  states_[index] = state;
  TreeNode& node = nodes_[index];
  node = TreeNode();
  const NodeStatus status =
      state.finished() ? NodeStatus::kTerminal : NodeStatus::kNew;
  node.shape.word = static_cast<uint32_t>(status) << NodeShape::kStatusShift;
  if (state.side() == kBlue) node.shape.word |= NodeShape::kBlueToMove;
  return index;
}

template <bool kShared>
void NodeStore::AddCandidates(uint32_t index, absl::Span<const float> priors) {
  const auto count = static_cast<uint32_t>(priors.size());
  TreeNode& node = nodes_[index];
  node.candidates = candidates_.Extend<kShared>(count);
  Candidate* next = &candidates_[node.candidates];
  Candidate* const end = next + count;
  const float* prior = priors.data();
  LegalActions(states_[index]).ForEach([&](Action action) {
    TARA_CHECK(next < end, "expected a prior for each legal action");
    *next++ = Candidate(EncodePrior(*prior++), action);
  });
  TARA_CHECK(next == end, "expected a prior for each legal action");
  Update<kShared>(node.shape, [&](NodeShape shape) {
    shape.word += count;
    return shape;
  });
  BringBestForward<kShared>(node, 0, static_cast<int>(count));
}

template <bool kShared>
void NodeStore::BringBestForward(TreeNode& node, int first, int count) {
  if (first >= count) return;
  Candidate* const candidates = &candidates_[node.candidates];
  int best = first;
  uint32_t best_key = candidates[first].key;
  for (int i = first + 1; i < count; ++i) {
    if (candidates[i].key > best_key) {
      best_key = candidates[i].key;
      best = i;
    }
  }
  const Candidate front = candidates[first];
  Store<kShared>(candidates[first], candidates[best]);
  Store<kShared>(candidates[best], front);
  Store<kShared>(node.next_prior, static_cast<uint16_t>(best_key >> 16));
}

template <bool kShared>
uint32_t NodeStore::NextSlot(TreeNode& node, int num_edges) {
  const auto new_chunk = [this](int room) {
    const uint32_t slots = static_cast<uint32_t>(room) + 1;
    const uint32_t first = edges_.Extend<kShared>(slots);
    std::fill_n(&edges_[first], slots, TreeEdge());
    return first;
  };
  int room = kInFirstChunk;
  if (num_edges == 0) return node.edges = new_chunk(room);
  uint32_t chunk = node.edges;
  int position = num_edges;
  while (position > room) {
    chunk = edges_[chunk + static_cast<uint32_t>(room)].child;
    position -= room;
    room = NextRoom(room);
  }
  if (position < room) return chunk + static_cast<uint32_t>(position);
  const uint32_t next = new_chunk(NextRoom(room));
  Store<kShared>(edges_[chunk + static_cast<uint32_t>(room)].child, next);
  return next;
}

template <bool kShared>
uint32_t NodeStore::AddEdge(uint32_t index, int position, uint32_t child) {
  TreeNode& node = nodes_[index];
  const NodeShape shape = Load<kShared>(node.shape);
  const int made = shape.num_edges();
  Candidate* const candidates = &candidates_[node.candidates];
  const Candidate candidate = candidates[position];
  if (position != made) {
    Store<kShared>(candidates[position], candidates[made]);
    Store<kShared>(candidates[made], candidate);
  }
  const uint32_t slot = NextSlot<kShared>(node, made);
  edges_[slot] = {
      .counts = {},
      .child = child,
      .prior = candidate.prior(),
      .action_index = static_cast<uint16_t>(Index(candidate.action()))};
  BringBestForward<kShared>(node, made + 1, shape.num_candidates());
  Update<kShared>(node.shape, [](NodeShape changed) {
    changed.word += uint32_t{1} << NodeShape::kEdgesShift;
    return changed;
  });
  return slot;
}

void NodeStore::SetPriors(uint32_t index, absl::Span<const float> priors) {
  TreeNode& node = nodes_[index];
  Candidate* const candidates = &candidates_[node.candidates];
  for (int i = 0; i < node.shape.num_candidates(); ++i) {
    candidates[i] = Candidate(EncodePrior(priors[i]), candidates[i].action());
  }
  int position = 0;
  ForEachEdge(node, node.shape, [&](uint32_t slot, const TreeEdge&) {
    edges_[slot].prior = candidates[position++].prior();
  });
  BringBestForward<false>(node, position, node.shape.num_candidates());
}

void NodeStore::Reserve(const Room& more) {
  nodes_.Reserve(nodes_.size() + more.nodes);
  states_.Reserve(nodes_.size() + more.nodes);
  candidates_.Reserve(candidates_.size() + more.candidates);
  edges_.Reserve(edges_.size() + more.edges);
}

NodeStore::Room NodeStore::room() const {
  return {.nodes = nodes_.capacity() - nodes_.size<true>(),
          .candidates = candidates_.capacity() - candidates_.size<true>(),
          .edges = edges_.capacity() - edges_.size<true>()};
}

void NodeStore::Borrow(const NodeStore& whole) {
  nodes_.Borrow(whole.nodes_, 0, 0);
  states_.Borrow(whole.states_, 0, 0);
  candidates_.Borrow(whole.candidates_, 0, 0);
  edges_.Borrow(whole.edges_, 0, 0);
}

bool NodeStore::Refill(NodeStore& whole) {
  // As many at a time as keep the threads off each other, or what is needed.
  const auto refill = [](auto& pool, auto& from, uint32_t least) {
    if (pool.capacity() - pool.size() >= least) return true;
    uint32_t count = least * 4;
    std::optional<uint32_t> first = from.Take(count);
    if (!first.has_value()) first = from.Take(count = least);
    if (first.has_value()) pool.Borrow(from, *first, count);
    return first.has_value();
  };
  if (nodes_.size() == nodes_.capacity()) {
    uint32_t count = kNodesOfRefill;
    std::optional<uint32_t> first = whole.nodes_.Take(count);
    if (!first.has_value()) first = whole.nodes_.Take(count = 1);
    if (!first.has_value()) return false;
    nodes_.Borrow(whole.nodes_, *first, count);
    states_.Borrow(whole.states_, *first, count);
  }
  return refill(candidates_, whole.candidates_, kMaxPerSimulation.candidates) &&
         refill(edges_, whole.edges_, kMaxPerSimulation.edges);
}

void NodeStore::EndBorrowing() {
  while (nodes_.size() < nodes_.capacity()) AddNode<false>(State());
}

void NodeStore::CopyReachable(const NodeStore& from, uint32_t root,
                              std::vector<uint32_t>& origins) {
  Clear();
  std::vector<uint32_t> copies(from.num_nodes(), kNoIndex);
  origins.assign(1, root);
  copies[root] = 0;
  // Breadth first: children get their index before they are copied.
  for (uint32_t copy = 0; copy < origins.size(); ++copy) {
    const TreeNode& original = from.nodes_[origins[copy]];
    nodes_.Extend(1);
    states_.Extend(1);
    nodes_[copy] = original;
    states_[copy] = from.states_[origins[copy]];
    TreeNode& node = nodes_[copy];
    const auto count = static_cast<uint32_t>(original.shape.num_candidates());
    if (count == 0) continue;
    node.candidates = candidates_.Extend(count);
    std::copy_n(&from.candidates_[original.candidates], count,
                &candidates_[node.candidates]);
    int made = 0;
    from.ForEachEdge(original, original.shape,
                     [&](uint32_t, const TreeEdge& edge) {
                       const uint32_t slot = NextSlot<false>(node, made++);
                       edges_[slot] = edge;
                       uint32_t& child = copies[edge.child];
                       if (child == kNoIndex) {
                         child = static_cast<uint32_t>(origins.size());
                         origins.push_back(edge.child);
                       }
                       edges_[slot].child = child;
                     });
  }
}

void NodeStore::Clear() {
  nodes_.Clear();
  states_.Clear();
  candidates_.Clear();
  edges_.Clear();
}

template uint32_t NodeStore::AddNode<false>(const State&);
template uint32_t NodeStore::AddNode<true>(const State&);
template void NodeStore::AddCandidates<false>(uint32_t,
                                              absl::Span<const float>);
template void NodeStore::AddCandidates<true>(uint32_t, absl::Span<const float>);
template uint32_t NodeStore::AddEdge<false>(uint32_t, int, uint32_t);
template uint32_t NodeStore::AddEdge<true>(uint32_t, int, uint32_t);

}  // namespace tara::mcts
