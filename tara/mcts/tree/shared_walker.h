#ifndef TARA_MCTS_TREE_SHARED_WALKER_H_
#define TARA_MCTS_TREE_SHARED_WALKER_H_

#include <cstdint>
#include <vector>

#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/search_data.h"
#include "tara/mcts/tree/walk.h"

namespace tara::mcts {

// One of several threads that search one tree. What they all touch, above all
// the root, is what slows them down: each touch fetches memory from another
// core. So a thread claims a part of the tree, an edge and all that is below
// it, makes a block of simulations there as if it were the only one, and adds
// them to the nodes above as one. The others find other ways meanwhile.
//
//   root --- e --- e --- [claimed edge] --- X ---
//   \__ shared: counted in flight ____/    \__ the thread's own, for a block:
//                                              its view starts walks at X
//
// Where there is no part of a fitting size that nobody is in (the tree is
// small), and with graph search, where parts overlap, it walks the shared tree
// like the others.
class SharedWalker {
 public:
  struct Leaf {
    SearchLeaf leaf;
    bool claimed = false;  // of the claimed part
  };

  // REQUIRES: `whole` outlives this, and has room reserved
  // (Tree::BeginSharing). At most `leaves` leaves are in flight at a time;
  // `threads` walkers share.
  SharedWalker(SearchData& whole, int leaves, int threads);
  // Gives up the claim. REQUIRES: no leaf of this walker is in flight.
  ~SharedWalker();
  SharedWalker(const SharedWalker&) = delete;
  SharedWalker& operator=(const SharedWalker&) = delete;

  // As those of Tree. kInFlight also where the block is over and its leaves are
  // to be applied before the next one.
  Gathered Gather(Leaf& leaf);
  void Apply(const Leaf& leaf, const Evaluation& evaluation);
  void Cancel(const Leaf& leaf);

 private:
  // Returns whether there is a claim, after trying to get one.
  bool Claim();
  // Adds the block to the nodes above, and gives the claim up.
  void Release();
  void ReleaseWhenDone() {
    if (left_ <= 0 && view_.in_flight == 0) Release();
  }

  SearchData& whole_;
  const int leaves_;
  const int threads_;
  SearchData view_;             // of the claimed part
  std::vector<uint32_t> path_;  // to it; empty: nothing is claimed
  int left_ = 0;                // simulations of the block
  // The part's, when it was claimed.
  NodeTotals totals_before_;
  NodeMeans means_before_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_SHARED_WALKER_H_
