#ifndef TARA_MCTS_TREE_H_
#define TARA_MCTS_TREE_H_

#include <cstdint>
#include <vector>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/mcts/choose_action.h"
#include "tara/mcts/evaluator.h"

namespace tara {

struct SearchOptions {
  // Simulations through the root's actions, those kept by Advance included.
  // The evaluation of the root itself is not counted, so that a search of one
  // simulation already has an action to choose.
  int simulations = 100;
  // Weight of priors against values: more explores more.
  float c_puct = 1.5f;
  // How much worse than its parent an action not yet tried is taken to be,
  // once all the prior probability has been tried; 0 takes it as equal.
  float first_play_urgency_reduction = 0.2f;
  // Dirichlet noise on the root's priors; fraction 0 turns it off.
  float dirichlet_concentration = 10.0f;  // alpha = this / legal actions
  float dirichlet_fraction = 0.0f;
};

// A search tree over one game by PUCT. A simulation is a Gather (walk down to
// a leaf that needs an evaluation) and an Apply (give the answer back);
// batches and threads live outside (tara/mcts/run_searches.h).
//
// Values are kept by side (for Red), never by ply: turns of two actions,
// skipped turns and teams make parity wrong. A finished game counts with its
// exact result. Several leaves may be in flight: the edges on their way count
// as visited (with the value they have so far), so that the next walk tends
// elsewhere.
//
// Copyable; a copy goes on by itself. Not thread-safe: one owner. Memory: some
// 100 bytes a node and 24 bytes a legal action of it.
class Tree {
 public:
  // A leaf in flight, from Gather to Apply or Cancel. Reusing one for the next
  // Gather reuses its memory.
  struct Leaf {
    State state;
    std::vector<int32_t> path;  // edges from the root; empty: the root
  };

  enum class Gathered {
    kLeaf,      // `leaf` is to be evaluated and applied
    kFinished,  // the walk ended at a finished game: the simulation is done
    kInFlight,  // the walk met a leaf already in flight: apply that first
  };

  // Noise is drawn from streams of `seed` alone.
  // REQUIRES: the root is not finished; options.simulations >= 1.
  Tree(const SearchOptions& options, const State& root, uint64_t seed);

  // Whether the root has had its simulations, or is finished.
  bool done() const {
    return finished() || root_visits() >= options_.simulations;
  }

  // Whether the root is a finished game (after Advance).
  bool finished() const { return states_[kRoot].finished(); }

  // Starts a simulation. REQUIRES: the root is not finished.
  Gathered Gather(Leaf& leaf);

  // Ends the simulation of a leaf. REQUIRES: the leaf is in flight;
  // `evaluation` is of leaf.state.
  void Apply(const Leaf& leaf, const Evaluation& evaluation);

  // Gives a leaf up (its evaluation failed): it is as if never gathered.
  // REQUIRES: the leaf is in flight.
  void Cancel(const Leaf& leaf);

  // Makes the position after `action` the root and keeps its subtree; new
  // noise is drawn. O(size of the kept subtree).
  // REQUIRES: the action is legal; no leaf is in flight.
  void Advance(Action action);

  const SearchOptions& options() const { return options_; }
  const State& root() const { return states_[kRoot]; }
  // Finished simulations through the root's actions.
  int root_visits() const { return root_visits_; }
  // Leaves gathered and neither applied nor cancelled.
  int in_flight() const { return in_flight_; }
  // Win minus loss for the side to move at the root, in [-1, 1]; 0 before the
  // first evaluation.
  float root_value() const;
  // In the order of LegalSet::ForEach; empty before the first evaluation.
  std::vector<RootAction> root_actions() const;
  // Returns the most visited line from the root.
  std::vector<Action> principal_variation() const;

 private:
  static constexpr int32_t kRoot = 0;
  static constexpr int32_t kNone = -1;

  enum class NodeStatus : uint8_t { kNew, kInFlight, kExpanded, kFinished };

  struct Node {
    int32_t first_edge = kNone;
    int16_t num_edges = 0;
    int8_t red_result = 0;  // of a finished game: 1 Red has won, -1 lost
    NodeStatus status = NodeStatus::kNew;
  };

  struct Edge {
    double red_value_sum = 0;  // over visits: win minus loss for Red
    float prior;               // at the root: with noise
    int32_t visits = 0;
    int32_t child = kNone;
    Action action;
    uint16_t in_flight = 0;
  };
  static_assert(sizeof(Edge) == 24);

  static float MeanRedValue(const Edge& edge);

  int32_t AddNode(const State& state);
  void Expand(int32_t node, const Evaluation& evaluation);
  void AddRootNoise();
  // Adds a visit of value `red_value` to the edges of the path.
  void Backup(const std::vector<int32_t>& path, double red_value);
  // Takes a leaf out of flight; returns its node.
  int32_t Land(const Leaf& leaf);

  // Returns the edge of a node that PUCT picks. `visits` counts those of the
  // node, in flight too; `red_value` is its mean value.
  int32_t Select(const Node& node, Side side, int visits,
                 float red_value) const;

  SearchOptions options_;
  Random random_;
  // Arenas: a node is an index into both, its edges are consecutive.
  std::vector<Node> nodes_;
  std::vector<State> states_;
  std::vector<Edge> edges_;
  std::vector<float> root_priors_;  // without noise, by edge of the root
  // The root has no edge into it: its statistics. The value is a sum over the
  // root's own evaluation and root_visits_ simulations.
  int root_visits_ = 0;
  int in_flight_ = 0;
  double root_red_value_sum_ = 0;
};

}  // namespace tara

#endif  // TARA_MCTS_TREE_H_
