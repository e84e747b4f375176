#include "tara/mcts/tree/tree.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/choice/root_exploration.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/node_store.h"
#include "tara/mcts/tree/search_data.h"

namespace tara::mcts {
namespace {

constexpr uint32_t kRoot = SearchData::kRoot;

float ForSide(Side side, float red_value) {
  return side == kRed ? red_value : -red_value;
}

MarginBounds ForSide(Side side, MarginBounds red) {
  if (side == kRed) return red;
  return {.low = static_cast<int8_t>(-red.high),
          .high = static_cast<int8_t>(-red.low)};
}

// Enters the root, which the walks do not make.
void EnterRoot(const State& root, SearchData& data) {
  const uint32_t index = data.store.AddNode(root);
  if (data.options.graph_search && !root.finished()) {
    data.transpositions.Insert(HashState(root), index, data.store);
  }
}

// Returns the most visited edge, of equals the first action; null if none is.
const TreeEdge* MostVisited(const NodeStore& store, uint32_t node) {
  const TreeEdge* best = nullptr;
  if (store.node(node).status != NodeStatus::kExpanded) return best;
  store.ForEachEdge(store.node(node), [&](uint32_t, const TreeEdge& edge) {
    if (edge.counts.visits == 0) return;
    if (best == nullptr || edge.counts.visits > best->counts.visits ||
        (edge.counts.visits == best->counts.visits &&
         edge.action_index < best->action_index)) {
      best = &edge;
    }
  });
  return best;
}

}  // namespace

Tree::Tree(const SearchOptions& options, const State& root, uint64_t seed)
    : data_(options, root.options.compensation_halves), random_(seed) {
  TARA_CHECK(!root.finished(), "the root must not be a finished game");
  TARA_CHECK(options.simulations >= 1, "simulations must be >= 1");
  EnterRoot(root, data_);
}

bool Tree::settled() const {
  return options().proof && root_expanded() && root_node().settled;
}

bool Tree::done() const {
  return finished() || simulations_left() <= 0 || settled() ||
         (root_visits() >= 1 && full());
}

int Tree::root_visits() const {
  const NodeTotals totals = UnpackTotals(root_node().totals);
  return totals.visits == 0 ? 0 : static_cast<int>(totals.visits) - 1;
}

int Tree::simulations_left() const {
  return options().simulations + gumbel_kept_visits_ - root_visits();
}

void Tree::Apply(const Leaf& leaf, const Evaluation& evaluation) {
  ApplyLeaf(data_, leaf, evaluation);
  if (leaf.path.empty()) PrepareRoot();
}

void Tree::Reserve() {
  constexpr int kMaxSimulations = 1024;
  data_.store.Reserve(static_cast<uint32_t>(
      std::min(options().simulations, kMaxSimulations) + 1));
}

void Tree::SetSimulations(int simulations) {
  TARA_CHECK(simulations >= 1, "simulations must be >= 1");
  data_.options.simulations = simulations;
}

void Tree::SetRootOptions(const SearchOptions& options) {
  SetSimulations(options.simulations);
  data_.options.dirichlet_concentration = options.dirichlet_concentration;
  data_.options.dirichlet_fraction = options.dirichlet_fraction;
  data_.options.forced_playouts = options.forced_playouts;
  data_.options.gumbel = options.gumbel;
  data_.options.gumbel_options = options.gumbel_options;
  data_.options.gumbel_noise = options.gumbel_noise;
}

void Tree::PrepareRoot() {
  const TreeNode& root = root_node();
  const int count = root.num_candidates;
  int place = 0;
  LegalActions(this->root()).ForEach([&](Action action) {
    data_.root_places[Index(action)] = static_cast<uint16_t>(place++);
  });
  data_.root_priors.resize(count);
  data_.root_priors = root_search_priors();
  data_.gumbel.reset();
  if (options().gumbel) {
    PlanGumbel();
  } else if (options().dirichlet_fraction > 0) {
    AddRootNoise();
  }
}

void Tree::AddRootNoise() {
  const TreeNode& root = root_node();
  const int count = root.num_candidates;
  const float fraction = options().dirichlet_fraction;
  const std::vector<float> noise = DrawDirichlet(
      options().dirichlet_concentration / static_cast<float>(count), count,
      random_);
  std::vector<float> priors(count);  // in the order of the candidates
  for (int i = 0; i < count; ++i) {
    const size_t place =
        data_.root_places[Index(data_.store.candidate(root, i).action())];
    priors[i] =
        (1 - fraction) * data_.root_priors[place] + fraction * noise[place];
  }
  data_.store.SetPriors(kRoot, priors);
}

void Tree::PlanGumbel() {
  data_.gumbel_base_visits.assign(data_.root_priors.size(), 0);
  data_.store.ForEachEdge(root_node(), [&](uint32_t, const TreeEdge& edge) {
    data_.gumbel_base_visits[data_.root_places[edge.action_index]] =
        edge.counts.visits;
  });
  data_.gumbel_stats.reserve(data_.root_priors.size());
  gumbel_kept_visits_ = root_visits();
  data_.gumbel.emplace(options().gumbel_options, data_.root_priors,
                       options().simulations, options().gumbel_noise, random_);
}

void Tree::Advance(Action action) {
  TARA_CHECK(in_flight() == 0, "a leaf is in flight");
  TARA_CHECK(LegalActions(root()).Contains(action), "illegal action");
  State state = root();
  ApplyAction(action, state);

  uint32_t kept = kNoIndex;
  data_.store.ForEachEdge(root_node(), [&](uint32_t, const TreeEdge& edge) {
    if (edge.action() == action) kept = edge.child;
  });
  data_.root_priors.clear();
  data_.gumbel.reset();
  data_.was_full = false;
  data_.was_cancelled = false;
  gumbel_kept_visits_ = 0;
  const bool keeps = kept != kNoIndex &&
                     data_.store.node(kept).status == NodeStatus::kExpanded;
  if (keeps) {
    spare_.CopyReachable(data_.store, kept);
    std::swap(data_.store, spare_);
    if (options().graph_search) data_.transpositions.Rebuild(data_.store);
    PrepareRoot();
  } else {
    data_.store.Clear();
    data_.transpositions.Rebuild(data_.store);
    EnterRoot(state, data_);
  }
}

float Tree::root_value() const {
  if (!root_expanded()) return 0;
  return ForSide(root().side(), data_.ValueOf(root_node()));
}

float Tree::root_margin() const {
  return ForSide(root().side(), root_node().means.margin);
}

MarginBounds Tree::root_bounds() const {
  return ForSide(root().side(), root_node().bounds);
}

std::vector<RootAction> Tree::root_actions() const {
  std::vector<RootAction> actions(data_.root_priors.size());
  if (actions.empty()) return actions;
  const Side side = root().side();
  size_t next = 0;
  LegalActions(root()).ForEach([&](Action action) {
    actions[next] = {.action = action,
                     .prior = data_.root_priors[next],
                     .visits = 0,
                     .mean_value = 0};
    ++next;
  });
  data_.store.ForEachEdge(root_node(), [&](uint32_t, const TreeEdge& edge) {
    RootAction& action = actions[data_.root_places[edge.action_index]];
    const TreeNode& child = data_.store.node(edge.child);
    if (options().proof) {
      const MarginBounds bounds = ForSide(side, child.bounds);
      action.low = bounds.low;
      action.high = bounds.high;
    }
    action.visits = static_cast<int>(edge.counts.visits);
    if (action.visits == 0) return;
    const float red_value = data_.ValueOf(child);
    action.mean_value = ForSide(side, red_value);
    action.value_deviation =
        std::sqrt(std::max(0.0f, child.means.square - red_value * red_value));
  });
  return actions;
}

std::vector<float> Tree::root_search_priors() const {
  std::vector<float> priors(data_.root_priors.size());
  const TreeNode& root = root_node();
  for (int i = 0; i < static_cast<int>(priors.size()); ++i) {
    const Candidate candidate = data_.store.candidate(root, i);
    priors[data_.root_places[Index(candidate.action())]] =
        DecodePrior(candidate.prior());
  }
  return priors;
}

std::vector<Action> Tree::principal_variation() const {
  const TreeEdge* const best = MostVisited(data_.store, kRoot);
  if (best == nullptr) return {};
  return LineAfter(*this, best->action());
}

Action Tree::gumbel_action() const {
  TARA_CHECK(data_.gumbel.has_value(), "no Gumbel root");
  std::vector<GumbelRoot::ActionStats> stats;
  GetGumbelStats(data_, stats);
  const int place =
      data_.gumbel->Best(stats, ForSide(root().side(), data_.RootOwnValue()));
  return LegalActions(root()).Nth(place);
}

std::vector<float> Tree::improved_policy() const {
  TARA_CHECK(data_.gumbel.has_value(), "no Gumbel root");
  std::vector<GumbelRoot::ActionStats> stats;
  GetGumbelStats(data_, stats);
  return data_.gumbel->ImprovedPolicy(
      stats, ForSide(root().side(), data_.RootOwnValue()));
}

std::vector<Action> LineAfter(const Tree& tree, Action action) {
  const NodeStore& store = tree.data().store;
  const TreeNode& root = store.node(kRoot);
  std::vector<Action> line = {action};
  const TreeEdge* next = nullptr;
  store.ForEachEdge(root, [&](uint32_t, const TreeEdge& edge) {
    if (edge.action() == action && edge.counts.visits > 0) next = &edge;
  });
  std::vector<uint32_t> seen = {kRoot};  // a graph may have cycles
  while (next != nullptr) {
    const uint32_t node = next->child;
    if (absl::c_linear_search(seen, node)) break;
    seen.push_back(node);
    next = MostVisited(store, node);
    if (next != nullptr) line.push_back(next->action());
  }
  return line;
}

ChoiceOptions ChoiceAt(const Tree& tree, float confidence_z,
                       float temperature) {
  return {
      .temperature = temperature,
      .confidence_z = confidence_z,
      .utility = [utility = tree.data().utility, side = tree.root().side()](
                     int margin) { return utility.OfMargin(margin, side); }};
}

Action ChooseAction(const Tree& tree, float confidence_z, float temperature,
                    Random& random) {
  if (tree.options().gumbel && !tree.settled() && temperature == 0) {
    return tree.gumbel_action();
  }
  return ChooseAction(tree.root_actions(),
                      ChoiceAt(tree, confidence_z, temperature), random);
}

std::vector<RootAction> RankActions(const Tree& tree, float confidence_z) {
  std::vector<RootAction> actions = tree.root_actions();
  absl::c_stable_sort(actions, [](const RootAction& a, const RootAction& b) {
    return std::pair(a.visits, a.prior) > std::pair(b.visits, b.prior);
  });
  if (tree.root_visits() == 0 && !tree.settled()) return actions;
  // Complete ties are drawn: always in the same way, so that a report is.
  Random ties(1);
  const Action best = ChooseAction(tree, confidence_z, 0, ties);
  const auto found = absl::c_find_if(
      actions, [&](const RootAction& each) { return each.action == best; });
  std::rotate(actions.begin(), found, found + 1);
  return actions;
}

}  // namespace tara::mcts
