#include "tests/mcts/simple_search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>

#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/mcts/utility.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

// To 12 significant bits, halves up.
float RoundPrior(float prior) {
  int exponent = 0;
  const float mantissa = std::frexp(prior, &exponent);  // in [1/2, 1)
  return std::ldexp(std::floor(mantissa * 4096 + 0.5f) / 4096, exponent);
}

// To 1/16384, halves to even.
double RoundValue(double value) {
  return std::nearbyint(value * 16384) / 16384;
}

struct Node {
  State state;
  std::vector<Action> actions;  // by falling prior, then by index
  std::vector<float> priors;
  std::vector<std::unique_ptr<Node>> children;
  double own_value = 0;
  int visits = 0;

  // Its own evaluation and its children by their visits.
  double Sum() const {
    if (state.finished()) return own_value * visits;
    double sum = own_value;
    for (const std::unique_ptr<Node>& child : children) {
      if (child != nullptr) sum += child->visits * RoundValue(child->Mean());
    }
    return sum;
  }
  double Mean() const { return Sum() / visits; }
};

float Exploration(const Node& node, const SearchOptions& options) {
  return options.c_puct * std::sqrt(static_cast<float>(node.visits));
}

float FirstPlayUrgency(const Node& node, float mean,
                       const SearchOptions& options) {
  double tried = 0;  // each prior cut to a multiple of 2^-24
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (node.children[i] == nullptr) continue;
    tried += std::floor(std::ldexp(node.priors[i], 24));
  }
  const auto sum = static_cast<float>(std::ldexp(tried, -24));
  return mean -
         options.first_play_urgency_reduction * std::sqrt(std::min(sum, 1.0f));
}

// Returns the first action that was tried and lacks forced playouts, in the
// order in which they were tried (that of the priors); or -1.
int Forced(const Node& root, float k) {
  for (size_t i = 0; i < root.children.size(); ++i) {
    if (root.children[i] == nullptr) continue;
    const auto visits = static_cast<float>(root.children[i]->visits);
    if (visits * visits <
        k * root.priors[i] * static_cast<float>(root.visits - 1)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

size_t Select(const Node& node, bool is_root, const SearchOptions& options) {
  if (is_root && options.forced_playouts > 0) {
    const int forced = Forced(node, options.forced_playouts);
    if (forced >= 0) return static_cast<size_t>(forced);
  }
  const float sign = node.state.side() == kRed ? 1 : -1;
  const float mean =
      static_cast<float>(node.Sum()) / static_cast<float>(node.visits);
  const float urgency = FirstPlayUrgency(node, sign * mean, options);
  const float exploration = Exploration(node, options);
  size_t best = 0;
  float best_score = -1e9f;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Node* child = node.children[i].get();
    const float value =
        child != nullptr ? sign * static_cast<float>(RoundValue(child->Mean()))
                         : urgency;
    const int visits = child == nullptr ? 0 : child->visits;
    const float score =
        value + exploration * node.priors[i] / static_cast<float>(1 + visits);
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return best;
}

// Evaluates a node; returns its utility for Red.
double Expand(Node& node, Evaluator& evaluator, const Utility& utility) {
  const Evaluation evaluation = EvaluateOne(evaluator, node.state);
  const std::vector<Action> actions = ListActions(node.state);
  std::vector<float> priors = evaluation.priors;
  for (float& prior : priors) prior = RoundPrior(prior);
  std::vector<size_t> order(actions.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return priors[a] > priors[b]; });
  for (const size_t i : order) {
    node.actions.push_back(actions[i]);
    node.priors.push_back(priors[i]);
  }
  node.children.resize(actions.size());
  return utility.OfEvaluation(evaluation, node.state.side());
}

// One simulation; returns its utility for Red.
double Simulate(Node& node, bool is_root, Evaluator& evaluator,
                const SearchOptions& options, const Utility& utility) {
  double red_value = 0;
  if (node.state.finished()) {
    red_value = utility.OfRedMargin(Score(node.state).margin());
    node.own_value = RoundValue(red_value);
  } else if (node.visits == 0) {
    red_value = Expand(node, evaluator, utility);
    node.own_value = RoundValue(red_value);
  } else {
    const size_t chosen = Select(node, is_root, options);
    std::unique_ptr<Node>& child = node.children[chosen];
    if (child == nullptr) {
      child = std::make_unique<Node>();
      child->state = After(node.state, node.actions[chosen]);
    }
    red_value = Simulate(*child, false, evaluator, options, utility);
  }
  ++node.visits;
  return red_value;
}

}  // namespace

std::vector<int> SimpleSearch(const State& root, Evaluator& evaluator,
                              const SearchOptions& options) {
  const Utility utility(options.utility);
  Node node;
  node.state = root;
  for (int i = 0; i < 1 + options.simulations; ++i) {
    Simulate(node, true, evaluator, options, utility);
  }
  std::vector<int> visits;
  for (const Action action : ListActions(root)) {
    const auto place =
        std::find(node.actions.begin(), node.actions.end(), action) -
        node.actions.begin();
    const Node* child = node.children[static_cast<size_t>(place)].get();
    visits.push_back(child == nullptr ? 0 : child->visits);
  }
  return visits;
}

}  // namespace tara::mcts
