#ifndef TARA_MCTS_TREE_TREE_H_
#define TARA_MCTS_TREE_TREE_H_

#include <cstdint>
#include <vector>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/node_store.h"
#include "tara/mcts/tree/search_data.h"
#include "tara/mcts/tree/walk.h"

namespace tara::mcts {

// A search tree over one game by PUCT. A simulation is a Gather (walk down to
// a leaf that needs an evaluation) and an Apply (give the answer back): walk.h
// has its steps. Batches and threads live outside (many_games.h,
// search_session.h).
//
// Values are kept by side (for Red), never by ply: turns of two actions,
// skipped turns and teams make parity wrong. They are utilities, kept to
// 1/16384. A finished game counts with the utility of its exact result. Several
// leaves may be in flight: the edges on their way count as visited, so that the
// next walk tends elsewhere. With graph_search, a position that several lines
// reach is one node: a node's mean covers its own evaluation and its edges,
// each with its child's value from all lines and its own visits. An edge with
// fewer visits than its child catches up without evaluations. A walk that comes
// back to its own way (High Kings) ends there. Source: KataGo,
// docs/GraphSearch.md.
//
// Copyable; a copy is independent. Not thread-safe: one owner, or a lock.
class Tree {
 public:
  using Leaf = SearchLeaf;
  using Gathered = tara::mcts::Gathered;

  // Noise is drawn from streams of `seed` alone.
  // REQUIRES: the root is not finished; options.simulations >= 1.
  Tree(const SearchOptions& options, const State& root, uint64_t seed);

  // Whether the search is over: the root has had its simulations, its utility
  // is proved, the memory is full; or the root is finished.
  bool done() const;

  // Whether the root is a finished game (after Advance).
  bool finished() const { return root().finished(); }

  // Whether the root's utility is proved (SearchOptions::proof).
  bool settled() const;

  // Whether Gather found the memory limit reached.
  bool full() const { return data_.was_full; }

  // Starts a simulation. REQUIRES: the root is not finished.
  Gathered Gather(Leaf& leaf) {
    TARA_CHECK(!finished(), "the root must not be a finished game");
    return GatherLeaf(data_, leaf);
  }

  // Ends the simulation of a leaf. REQUIRES: the leaf is in flight;
  // `evaluation` is of leaf.state.
  void Apply(const Leaf& leaf, const Evaluation& evaluation);

  // Gives a leaf up (its evaluation failed): it is as if never gathered.
  // REQUIRES: the leaf is in flight.
  void Cancel(const Leaf& leaf) { CancelLeaf(data_, leaf); }

  // Makes the position after `action` the root and keeps its subtree, which is
  // copied; draws new noise. REQUIRES: the action is legal; no leaf in flight.
  void Advance(Action action);

  // Reserves memory for a short search instead of growing repeatedly, for
  // short-lived trees; trees of games live longer.
  void Reserve();

  // Raises the limit of simulations of the root.
  // REQUIRES: simulations >= 1.
  void SetSimulations(int simulations);

  // Takes the options of the root (simulations, noise, forced playouts, Gumbel)
  // from `options`. Called before the Advance to the root that they are for.
  void SetRootOptions(const SearchOptions& options);

  const SearchOptions& options() const { return data_.options; }
  const State& root() const { return data_.store.state(SearchData::kRoot); }
  // Finished simulations through the root's actions.
  int root_visits() const;
  // Remaining simulations of the root, including those in flight. Those that
  // Advance kept count, but for Gumbel roots, whose plan needs them all.
  int simulations_left() const;
  // Leaves gathered and neither applied nor cancelled.
  int in_flight() const { return data_.in_flight; }
  // Utility for the side to move at the root, in [-1, 1]: win minus loss by
  // default; 0 before the first evaluation.
  float root_value() const;
  // Expected points of the side to move minus points of its opponent, over all
  // simulations; 0 before the first evaluation.
  float root_margin() const;
  // Returns the proved bounds of the final margin, for the root's side to move.
  MarginBounds root_bounds() const;
  // In the order of LegalSet::ForEach; empty before the first evaluation.
  std::vector<RootAction> root_actions() const;
  // The priors that the search uses at the root (with noise), in the order of
  // root_actions, and the formula of its scores there.
  std::vector<float> root_search_priors() const;
  Puct root_puct() const { return PuctOf(data_, SearchData::kRoot); }
  // Returns the most visited line from the root.
  std::vector<Action> principal_variation() const;

  // With options().gumbel: the action to play, and the policy target in the
  // order of root_actions. REQUIRES: the root is evaluated.
  Action gumbel_action() const;
  std::vector<float> improved_policy() const;

  // Statistics: current use of memory, and totals of all work done.
  int64_t num_nodes() const { return data_.store.num_nodes(); }
  int64_t bytes() const {
    return data_.store.bytes() + data_.transpositions.bytes();
  }
  const SearchCounts& counts() const { return data_.counts; }

  // For tests and for reports of the whole tree.
  const SearchData& data() const { return data_; }

 private:
  const TreeNode& root_node() const {
    return data_.store.node(SearchData::kRoot);
  }
  bool root_expanded() const {
    return root_node().status == NodeStatus::kExpanded;
  }
  // Prepares selection at a root that was evaluated: its priors, noise, plan.
  void PrepareRoot();
  void AddRootNoise();
  void PlanGumbel();

  SearchData data_;
  int gumbel_kept_visits_ = 0;  // of the root when its Gumbel plan was made
  Random random_;
  NodeStore spare_;  // Advance copies into it; the two change places
};

// Returns the most visited line from the root that begins with `action`, the
// action included; only the action if the search has not visited it. With
// the most visited action it is Tree::principal_variation.
// REQUIRES: the action is legal at the root.
std::vector<Action> LineAfter(const Tree& tree, Action action);

// Returns the options of a choice at the root, with the search's utility.
ChoiceOptions ChoiceAt(const Tree& tree, float confidence_z, float temperature);

// Returns the action to play at the root, by ChoiceAt; with options().gumbel,
// at temperature 0, the one that its plan has found best.
// REQUIRES: a simulation through the root's actions, or a proved root.
Action ChooseAction(const Tree& tree, float confidence_z, float temperature,
                    Random& random);

// Returns the root's actions, best first: the one that ChooseAction takes at
// temperature 0, then by visits, then by priors. Empty before any evaluation.
std::vector<RootAction> RankActions(const Tree& tree, float confidence_z);

}  // namespace tara::mcts

#endif  // TARA_MCTS_TREE_TREE_H_
