#include "tara/mcts/tree/node_store.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/mcts/state_hash.h"

namespace tara::mcts {

uint32_t NodeStore::AddNode(const State& state) {
  const uint32_t index = nodes_.Extend(1);
  states_.Extend(1);
  states_[index] = state;
  TreeNode& node = nodes_[index];
  node = TreeNode();
  if (state.finished()) node.status = NodeStatus::kTerminal;
  node.side = state.side();
  return index;
}

void NodeStore::AddCandidates(uint32_t index, absl::Span<const float> priors) {
  const auto count = static_cast<uint32_t>(priors.size());
  TreeNode& node = nodes_[index];
  node.candidates = candidates_.Extend(count);
  Candidate* next = &candidates_[node.candidates];
  Candidate* const end = next + count;
  const float* prior = priors.data();
  LegalActions(states_[index]).ForEach([&](Action action) {
    TARA_CHECK(next < end, "expected a prior for each legal action");
    *next++ = Candidate(EncodePrior(*prior++), action);
  });
  TARA_CHECK(next == end, "expected a prior for each legal action");
  node.num_candidates = count;
  BringBestForward(node, 0, static_cast<int>(count));
}

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
  std::swap(candidates[first], candidates[best]);
  node.next_prior = static_cast<uint16_t>(best_key >> 16);
}

uint32_t NodeStore::NextSlot(TreeNode& node, int num_edges) {
  const auto new_chunk = [this](int room) {
    const uint32_t slots = static_cast<uint32_t>(room) + 1;
    const uint32_t first = edges_.Extend(slots);
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
  edges_[chunk + static_cast<uint32_t>(room)].child = next;
  return next;
}

uint32_t NodeStore::AddEdge(uint32_t index, int position, uint32_t child) {
  TreeNode& node = nodes_[index];
  const int made = node.num_edges;
  Candidate* const candidates = &candidates_[node.candidates];
  const Candidate candidate = candidates[position];
  if (position != made) std::swap(candidates[position], candidates[made]);
  const uint32_t slot = NextSlot(node, made);
  edges_[slot] = {
      .counts = {},
      .child = child,
      .prior = candidate.prior(),
      .action_index = static_cast<uint16_t>(Index(candidate.action()))};
  BringBestForward(node, made + 1, node.num_candidates);
  ++node.num_edges;
  return slot;
}

void NodeStore::SetPriors(uint32_t index, absl::Span<const float> priors) {
  TreeNode& node = nodes_[index];
  Candidate* const candidates = &candidates_[node.candidates];
  for (int i = 0; i < node.num_candidates; ++i) {
    candidates[i] = Candidate(EncodePrior(priors[i]), candidates[i].action());
  }
  int position = 0;
  ForEachEdge(node, [&](uint32_t slot, const TreeEdge&) {
    edges_[slot].prior = candidates[position++].prior();
  });
  BringBestForward(node, position, node.num_candidates);
}

void NodeStore::Reserve(uint32_t nodes) {
  nodes_.Reserve(nodes);
  states_.Reserve(nodes);
  candidates_.Reserve(40 * nodes);
  edges_.Reserve(4 * nodes);
}

void NodeStore::CopyReachable(const NodeStore& from, uint32_t root) {
  Clear();
  std::vector<uint32_t> copies(from.num_nodes(), kNoIndex);
  std::vector<uint32_t> origins = {root};  // the old index of each node
  copies[root] = 0;
  // Breadth first: children get their index before they are copied.
  for (uint32_t copy = 0; copy < origins.size(); ++copy) {
    const TreeNode& original = from.nodes_[origins[copy]];
    nodes_.Extend(1);
    states_.Extend(1);
    nodes_[copy] = original;
    states_[copy] = from.states_[origins[copy]];
    TreeNode& node = nodes_[copy];
    const auto count = static_cast<uint32_t>(original.num_candidates);
    if (count == 0) continue;
    node.candidates = candidates_.Extend(count);
    std::copy_n(&from.candidates_[original.candidates], count,
                &candidates_[node.candidates]);
    int made = 0;
    from.ForEachEdge(original, [&](uint32_t, const TreeEdge& edge) {
      const uint32_t slot = NextSlot(node, made++);
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

namespace {

constexpr size_t kMinEntries = 256;

// The upper half of the hash is kept, the lower half is the place of the entry.
uint64_t MakeEntry(uint64_t hash, uint32_t node) {
  return (hash & 0xffffffff00000000) | (node + 1);
}
uint32_t NodeOf(uint64_t entry) { return static_cast<uint32_t>(entry) - 1; }

// At most half full: the walks along the table stay short.
size_t EntriesFor(uint64_t nodes) {
  return std::bit_ceil(std::max<size_t>(nodes * 2, kMinEntries));
}

}  // namespace

uint32_t Transpositions::Find(uint64_t hash, const State& state,
                              const NodeStore& store) const {
  if (entries_.empty()) return kNoIndex;
  const size_t mask = entries_.size() - 1;
  for (size_t i = static_cast<uint32_t>(hash) & mask;; i = (i + 1) & mask) {
    const uint64_t entry = entries_[i];
    if (entry == 0) return kNoIndex;
    if ((entry ^ hash) >> 32 == 0 && store.state(NodeOf(entry)) == state) {
      return NodeOf(entry);
    }
  }
}

void Transpositions::Enter(uint64_t entry, uint64_t hash) {
  const size_t mask = entries_.size() - 1;
  size_t i = static_cast<uint32_t>(hash) & mask;
  while (entries_[i] != 0) i = (i + 1) & mask;
  entries_[i] = entry;
}

void Transpositions::Insert(uint64_t hash, uint32_t node,
                            const NodeStore& store) {
  ++size_;
  if (size_t{size_} * 2 > entries_.size()) {
    std::vector<uint64_t> old(EntriesFor(size_));
    old.swap(entries_);
    for (const uint64_t entry : old) {
      if (entry == 0) continue;
      Enter(entry, HashState(store.state(NodeOf(entry))));
    }
  }
  Enter(MakeEntry(hash, node), hash);
}

void Transpositions::Rebuild(const NodeStore& store) {
  std::fill(entries_.begin(), entries_.end(), 0);
  size_ = 0;
  for (uint32_t node = 0; node < store.num_nodes(); ++node) {
    Insert(HashState(store.state(node)), node, store);
  }
}

int64_t Transpositions::BytesWith(int64_t nodes) const {
  const size_t entries = EntriesFor(static_cast<uint64_t>(nodes));
  return std::max(bytes(), static_cast<int64_t>(entries * sizeof(uint64_t)));
}

}  // namespace tara::mcts
