#include "tara/mcts/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tara/base/check.h"
#include "tara/core/legal_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/mcts/dirichlet.h"

namespace tara {
namespace {

float ForSide(Side side, double red_value) {
  return static_cast<float>(side == kRed ? red_value : -red_value);
}

}  // namespace

Tree::Tree(const SearchOptions& options, const State& root, uint64_t seed)
    : options_(options), random_(seed) {
  TARA_CHECK(!root.finished(), "searching a finished game");
  TARA_CHECK(options.simulations >= 1, "a search has simulations");
  AddNode(root);
}

float Tree::MeanRedValue(const Edge& edge) {
  return edge.visits == 0
             ? 0
             : static_cast<float>(edge.red_value_sum / edge.visits);
}

int32_t Tree::AddNode(const State& state) {
  Node node;
  if (state.finished()) {
    const int margin = Score(state).margin();
    node.red_result = static_cast<int8_t>((margin > 0) - (margin < 0));
    node.status = NodeStatus::kFinished;
  }
  nodes_.push_back(node);
  states_.push_back(state);
  return static_cast<int32_t>(nodes_.size()) - 1;
}

// Picks the edge with the largest
//   Q + c * P * sqrt(N_parent) / (1 + N)
// with Q for the side to move and N counting visits in flight.
// Source: Silver et al. 2017 (Nature 550), Methods, "Select".
//
// An edge without a value has, instead of Q, that of the parent less
//   reduction * sqrt(prior probability of the visited edges).
// Source: first-play urgency, Gelly and Wang 2006, "Exploration exploitation
// in Go"; the reduction, Wu 2019 (arXiv:1902.10565), appendix A.
int32_t Tree::Select(const Node& node, Side side, int visits,
                     float red_value) const {
  const Edge* const edges = &edges_[node.first_edge];
  float visited_prior = 0;
  for (int i = 0; i < node.num_edges; ++i) {
    if (edges[i].visits > 0) visited_prior += edges[i].prior;
  }
  const float first_play_urgency =
      ForSide(side, red_value) - options_.first_play_urgency_reduction *
                                     std::sqrt(std::min(visited_prior, 1.0f));
  const float exploration =
      options_.c_puct * std::sqrt(static_cast<float>(visits));
  int best = 0;
  float best_score = -std::numeric_limits<float>::infinity();
  for (int i = 0; i < node.num_edges; ++i) {
    const Edge& edge = edges[i];
    const float value = edge.visits > 0 ? ForSide(side, MeanRedValue(edge))
                                        : first_play_urgency;
    const float score =
        value + exploration * edge.prior /
                    static_cast<float>(1 + edge.visits + edge.in_flight);
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return node.first_edge + best;
}

Tree::Gathered Tree::Gather(Leaf& leaf) {
  TARA_CHECK(!finished(), "searching a finished game");
  leaf.path.clear();
  int32_t node = kRoot;
  // The evaluation of the root counts as one visit of it.
  int visits = 1 + root_visits_ + in_flight_;
  auto red_value = static_cast<float>(root_red_value_sum_ / (1 + root_visits_));
  while (nodes_[node].status == NodeStatus::kExpanded) {
    const int32_t index =
        Select(nodes_[node], states_[node].side(), visits, red_value);
    leaf.path.push_back(index);
    if (edges_[index].child == kNone) {
      State state = states_[node];
      ApplyAction(edges_[index].action, state);
      edges_[index].child = AddNode(state);
    }
    const Edge& edge = edges_[index];
    node = edge.child;
    visits = edge.visits + edge.in_flight;
    red_value = MeanRedValue(edge);
  }
  if (nodes_[node].status == NodeStatus::kInFlight) return Gathered::kInFlight;
  if (nodes_[node].status == NodeStatus::kFinished) {
    Backup(leaf.path, nodes_[node].red_result);
    return Gathered::kFinished;
  }
  nodes_[node].status = NodeStatus::kInFlight;
  for (const int32_t index : leaf.path) ++edges_[index].in_flight;
  ++in_flight_;
  leaf.state = states_[node];
  return Gathered::kLeaf;
}

void Tree::Backup(const std::vector<int32_t>& path, double red_value) {
  for (const int32_t index : path) {
    ++edges_[index].visits;
    edges_[index].red_value_sum += red_value;
  }
  root_red_value_sum_ += red_value;
  if (!path.empty()) ++root_visits_;
}

int32_t Tree::Land(const Leaf& leaf) {
  const int32_t node =
      leaf.path.empty() ? kRoot : edges_[leaf.path.back()].child;
  TARA_CHECK(nodes_[node].status == NodeStatus::kInFlight,
             "the leaf is not in flight");
  for (const int32_t index : leaf.path) --edges_[index].in_flight;
  --in_flight_;
  return node;
}

void Tree::Cancel(const Leaf& leaf) {
  nodes_[Land(leaf)].status = NodeStatus::kNew;
}

void Tree::Apply(const Leaf& leaf, const Evaluation& evaluation) {
  const int32_t node = Land(leaf);
  Expand(node, evaluation);
  const float value = evaluation.value();
  Backup(leaf.path, states_[node].side() == kRed ? value : -value);
  if (node == kRoot) AddRootNoise();
}

void Tree::Expand(int32_t node, const Evaluation& evaluation) {
  const auto first_edge = static_cast<int32_t>(edges_.size());
  const std::vector<float>& priors = evaluation.priors;
  size_t next = 0;
  LegalActions(states_[node]).ForEach([&](Action action) {
    TARA_CHECK(next < priors.size(), "a prior for each legal action");
    Edge edge;
    edge.prior = priors[next++];
    edge.action = action;
    edges_.push_back(edge);
  });
  TARA_CHECK(next == priors.size(), "a prior for each legal action");
  nodes_[node].first_edge = first_edge;
  nodes_[node].num_edges = static_cast<int16_t>(next);
  nodes_[node].status = NodeStatus::kExpanded;
}

void Tree::AddRootNoise() {
  const Node& root = nodes_[kRoot];
  Edge* const edges = &edges_[root.first_edge];
  root_priors_.clear();
  for (int i = 0; i < root.num_edges; ++i) {
    root_priors_.push_back(edges[i].prior);
  }
  const float fraction = options_.dirichlet_fraction;
  if (fraction <= 0) return;
  const std::vector<float> noise = DrawDirichlet(
      options_.dirichlet_concentration / static_cast<float>(root.num_edges),
      root.num_edges, random_);
  for (int i = 0; i < root.num_edges; ++i) {
    edges[i].prior = (1 - fraction) * edges[i].prior + fraction * noise[i];
  }
}

void Tree::Advance(Action action) {
  TARA_CHECK(in_flight_ == 0, "a leaf is in flight");
  TARA_CHECK(LegalActions(root()).Contains(action), "illegal action");
  State state = root();
  ApplyAction(action, state);

  const std::vector<Node> old_nodes = std::exchange(nodes_, {});
  const std::vector<State> old_states = std::exchange(states_, {});
  const std::vector<Edge> old_edges = std::exchange(edges_, {});
  root_priors_.clear();
  root_visits_ = 0;
  root_red_value_sum_ = 0;
  AddNode(state);

  const Edge* into = nullptr;  // the edge that leads to the new root
  const Node& old_root = old_nodes[kRoot];
  for (int i = 0; i < old_root.num_edges; ++i) {
    const Edge& edge = old_edges[old_root.first_edge + i];
    if (edge.action == action && edge.visits > 0) into = &edge;
  }
  if (into == nullptr || finished()) return;

  root_visits_ = into->visits - 1;  // its first visit was its evaluation
  root_red_value_sum_ = into->red_value_sum;
  // Breadth first: `origins[i]` is the old index of new node i.
  std::vector<int32_t> origins = {into->child};
  for (size_t node = 0; node < origins.size(); ++node) {
    const Node& old_node = old_nodes[origins[node]];
    nodes_[node] = old_node;
    if (old_node.status != NodeStatus::kExpanded) continue;
    nodes_[node].first_edge = static_cast<int32_t>(edges_.size());
    for (int i = 0; i < old_node.num_edges; ++i) {
      edges_.push_back(old_edges[old_node.first_edge + i]);
      Edge& edge = edges_.back();
      if (edge.child == kNone) continue;
      origins.push_back(edge.child);
      states_.push_back(old_states[edge.child]);
      edge.child = static_cast<int32_t>(nodes_.size());
      nodes_.emplace_back();
    }
  }
  AddRootNoise();
}

float Tree::root_value() const {
  return ForSide(root().side(), root_red_value_sum_ / (1 + root_visits_));
}

std::vector<RootAction> Tree::root_actions() const {
  std::vector<RootAction> actions;
  const Node& node = nodes_[kRoot];
  actions.reserve(node.num_edges);
  for (int i = 0; i < node.num_edges; ++i) {
    const Edge& edge = edges_[node.first_edge + i];
    actions.push_back(
        {.action = edge.action,
         .prior = root_priors_[i],
         .visits = edge.visits,
         .mean_value = ForSide(root().side(), MeanRedValue(edge))});
  }
  return actions;
}

std::vector<Action> Tree::principal_variation() const {
  std::vector<Action> line;
  int32_t index = kRoot;
  while (index != kNone && nodes_[index].status == NodeStatus::kExpanded) {
    const Node& node = nodes_[index];
    const Edge* const edges = &edges_[node.first_edge];
    const Edge* const best = std::max_element(
        edges, edges + node.num_edges,
        [](const Edge& a, const Edge& b) { return a.visits < b.visits; });
    if (best->visits == 0) break;
    line.push_back(best->action);
    index = best->child;
  }
  return line;
}

}  // namespace tara
