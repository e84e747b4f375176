#include "tara/mcts/tree/shared_walker.h"

#include <algorithm>

#include "tara/mcts/tree/backup.h"
#include "tara/mcts/tree/memory.h"
#include "tara/mcts/tree/node.h"

namespace tara::mcts {
namespace {

constexpr uint32_t kRoot = SearchData::kRoot;

// Parts with so many visits are claimed: fewer are not worth it; of more, or of
// more than this part of all visits, a smaller part is, so that the best line
// has room for several threads.
constexpr int kLeastVisits = 32;
constexpr int kMostVisits = 2048;
constexpr int kMostPart = 16;
// The part of its visits that a block adds, and the bounds of a block.
constexpr int kVisitsPerBlock = 8;
constexpr int kLeastBlock = 3;
constexpr int kMostBlock = 64;

}  // namespace

SharedWalker::SharedWalker(SearchData& whole, int leaves, int threads)
    : whole_(whole),
      leaves_(leaves),
      threads_(threads),
      view_(whole.options, whole.utility.compensation_halves()) {
  view_.store.Borrow(whole.store);
}

SharedWalker::~SharedWalker() {
  Release();
  view_.store.EndBorrowing();
  const auto add = [](int64_t& all, int64_t own) { Add<true>(all, own); };
  add(whole_.counts.settled, view_.counts.settled);
  add(whole_.counts.solved, view_.counts.solved);
  if (view_.was_cancelled) Store<true>(whole_.was_cancelled, true);
}

bool SharedWalker::Claim() {
  if (!path_.empty()) return true;
  if (whole_.options.graph_search || threads_ == 1) return false;
  const SharedTree whole(whole_);
  uint32_t index = kRoot;
  const auto all_visits =
      static_cast<int>(whole.LoadTotals(whole.node(kRoot)).visits);
  const int most = std::min(kMostVisits, all_visits / kMostPart);
  while (true) {
    const Selected selected =
        index == kRoot ? SelectRootAction(whole)
                       : SelectAction(whole, index, /*settled_too=*/true);
    if (selected.edge == kNoIndex) break;
    TreeEdge& edge = whole_.store.edge(selected.edge);
    const uint32_t child = edge.child;
    // There is nothing to find out in it.
    if (Load<true>(whole_.store.node(child).shape).settled()) break;
    const auto visits = static_cast<int>(Load<true>(edge.counts).visits);
    if (visits < std::max(kLeastVisits, kVisitsPerBlock * leaves_)) break;
    const bool fits = visits <= most;
    // Nobody is in the part while nobody is in flight on the only edge to it.
    const EdgeCounts before =
        Update<true>(edge.counts, [fits](EdgeCounts counts) {
          if (counts.claimed()) return counts;
          if (!fits) ++counts.in_flight;
          if (fits && counts.in_flight == 0) {
            counts.in_flight = EdgeCounts::kClaimed;
          }
          return counts;
        });
    if (before.claimed() || (fits && before.in_flight > 0)) break;
    path_.push_back(selected.edge);
    index = child;
    if (!fits) continue;
    const TreeNode& node = whole_.store.node(child);
    const int missing = whole_.options.simulations - all_visits;
    left_ = std::min(
        {visits / kVisitsPerBlock, kMostBlock, missing / (2 * threads_)});
    view_.start = child;
    totals_before_ = UnpackTotals(node.totals);
    means_before_ = node.means;
    if (node.shape.status() == NodeStatus::kExpanded && !node.shape.settled() &&
        left_ >= kLeastBlock) {
      return true;
    }
    left_ = 0;
    Release();
    return false;
  }
  CountInFlight(whole, path_, -1);
  path_.clear();
  return false;
}

void SharedWalker::Release() {
  if (path_.empty()) return;
  const TreeNode& part = whole_.store.node(view_.start);
  const auto visits = static_cast<float>(UnpackTotals(part.totals).visits);
  const auto old_visits = static_cast<float>(totals_before_.visits);
  const int count = static_cast<int>(visits - old_visits);
  SimulationResult mean = {.square = 0, .margin = 0};
  if (count > 0) {
    const float block = visits - old_visits;
    mean.square =
        (part.means.square * visits - means_before_.square * old_visits) /
        block;
    mean.margin =
        (part.means.margin * visits - means_before_.margin * old_visits) /
        block;
  }
  BackUpBlock(SharedTree(whole_), path_, mean, count);
  path_.clear();
  left_ = 0;
}

Gathered SharedWalker::Gather(Leaf& leaf) {
  if (path_.empty() || left_ <= 0) {
    if (view_.in_flight > 0) return Gathered::kInFlight;
    Release();
  }
  if (IsFull(SharedTree(whole_))) {
    Store<true>(whole_.was_full, true);
    return Gathered::kFull;
  }
  leaf.claimed = Claim() && view_.store.Refill(whole_.store);
  if (!leaf.claimed) {
    // Also where only the room for the block is used up.
    if (!path_.empty()) {
      left_ = 0;
      if (view_.in_flight > 0) return Gathered::kInFlight;
      Release();
    }
    return GatherLeaf(SharedTree(whole_), leaf.leaf);
  }
  const Gathered gathered = GatherLeaf(OwnTree(view_), leaf.leaf);
  if (gathered == Gathered::kInFlight) return gathered;
  --left_;
  if (whole_.store.node(view_.start).shape.settled()) left_ = 0;
  if (gathered != Gathered::kLeaf) ReleaseWhenDone();
  return gathered;
}

void SharedWalker::Apply(const Leaf& leaf, const Evaluation& evaluation) {
  if (!leaf.claimed) {
    ApplyLeaf(SharedTree(whole_), leaf.leaf, evaluation);
    return;
  }
  // There is room: the whole is full before the last of it is gathered for.
  view_.store.Refill(whole_.store);
  ApplyLeaf(OwnTree(view_), leaf.leaf, evaluation);
  if (whole_.store.node(view_.start).shape.settled()) left_ = 0;
  ReleaseWhenDone();
}

void SharedWalker::Cancel(const Leaf& leaf) {
  if (!leaf.claimed) {
    CancelLeaf(SharedTree(whole_), leaf.leaf);
    return;
  }
  CancelLeaf(OwnTree(view_), leaf.leaf);
  ReleaseWhenDone();
}

}  // namespace tara::mcts
