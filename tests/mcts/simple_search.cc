#include "tests/mcts/simple_search.h"

#include <cmath>
#include <memory>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tests/mcts/positions.h"

namespace tara {
namespace {

struct Node {
  State state;
  std::vector<Action> actions;
  std::vector<float> priors;
  std::vector<std::unique_ptr<Node>> children;
  int visits = 0;
  double red_value_sum = 0;

  float Mean() const { return static_cast<float>(red_value_sum / visits); }
};

size_t Select(const Node& node, const SearchOptions& options) {
  const float sign = node.state.side() == kRed ? 1 : -1;
  float tried = 0;
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (node.children[i] != nullptr) tried += node.priors[i];
  }
  if (tried > 1) tried = 1;
  size_t best = 0;
  float best_score = -1e9f;
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Node* child = node.children[i].get();
    const float value =
        child != nullptr
            ? sign * child->Mean()
            : sign * node.Mean() -
                  options.first_play_urgency_reduction * std::sqrt(tried);
    const int visits = child == nullptr ? 0 : child->visits;
    const float score =
        value + options.c_puct * std::sqrt(static_cast<float>(node.visits)) *
                    node.priors[i] / static_cast<float>(1 + visits);
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return best;
}

// One simulation; returns its value for Red.
double Simulate(Node& node, Evaluator& evaluator,
                const SearchOptions& options) {
  double red_value = 0;
  if (node.state.finished()) {
    const int margin = Score(node.state).margin();
    red_value = (margin > 0) - (margin < 0);
  } else if (node.visits == 0) {
    Evaluation evaluation;
    TARA_CHECK(evaluator
                   .Evaluate(absl::MakeConstSpan(&node.state, 1),
                             absl::MakeSpan(&evaluation, 1))
                   .ok(),
               "the evaluator of the test failed");
    node.actions = ListActions(node.state);
    node.priors = evaluation.priors;
    node.children.resize(node.actions.size());
    red_value =
        node.state.side() == kRed ? evaluation.value() : -evaluation.value();
  } else {
    const size_t chosen = Select(node, options);
    std::unique_ptr<Node>& child = node.children[chosen];
    if (child == nullptr) {
      child = std::make_unique<Node>();
      child->state = After(node.state, node.actions[chosen]);
    }
    red_value = Simulate(*child, evaluator, options);
  }
  ++node.visits;
  node.red_value_sum += red_value;
  return red_value;
}

}  // namespace

std::vector<int> SimpleSearch(const State& root, Evaluator& evaluator,
                              const SearchOptions& options) {
  Node node;
  node.state = root;
  for (int i = 0; i < 1 + options.simulations; ++i) {
    Simulate(node, evaluator, options);
  }
  std::vector<int> visits;
  for (const std::unique_ptr<Node>& child : node.children) {
    visits.push_back(child == nullptr ? 0 : child->visits);
  }
  return visits;
}

}  // namespace tara
