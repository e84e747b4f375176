#include "tests/mcts/tree_invariants.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/utility.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"

namespace tara::mcts {
namespace {

std::string Bytes(const State& state) {
  std::string bytes(sizeof(State), '\0');
  std::memcpy(bytes.data(), &state, sizeof(State));
  return bytes;
}

// The value of a node's own evaluation, in units.
int64_t OwnUnits(const SearchData& data, const State& state,
                 Evaluator& evaluator) {
  const Utility utility(data.options.utility);
  return std::lrint(
      utility.OfEvaluation(EvaluateOne(evaluator, state), state.side()) *
      16384);
}

void ExpectNodeAddsUp(const SearchData& data, uint32_t index,
                      Evaluator& evaluator) {
  const TreeNode& node = data.store.node(index);
  const State& state = data.store.state(index);
  int64_t sum = OwnUnits(data, state, evaluator);
  uint32_t visits = 1;
  std::vector<Action> actions;
  data.store.ForEachEdge(node, [&](uint32_t, const TreeEdge& edge) {
    EXPECT_EQ(edge.counts.in_flight, 0);
    visits += edge.counts.visits;
    sum += int64_t{edge.counts.visits} * edge.counts.value;
    actions.push_back(edge.action());
    EXPECT_EQ(data.store.state(edge.child), After(state, edge.action()));
  });
  const NodeTotals totals = UnpackTotals(node.totals);
  EXPECT_EQ(totals.visits, visits);
  EXPECT_EQ(totals.sum, sum);

  const int tried = node.num_edges;
  uint32_t best_key = 0;
  for (int i = 0; i < node.num_candidates; ++i) {
    const Candidate candidate = data.store.candidate(node, i);
    if (i < tried) {
      EXPECT_EQ(candidate.action(), actions[i]);
    } else {
      actions.push_back(candidate.action());
      best_key = std::max(best_key, candidate.key);
    }
  }
  if (tried < node.num_candidates) {
    EXPECT_EQ(data.store.candidate(node, tried).key, best_key);
    EXPECT_EQ(node.next_prior, best_key >> 16);
  }
  std::sort(actions.begin(), actions.end());
  EXPECT_EQ(actions, ListActions(state));
}

}  // namespace

void ExpectInvariants(const Tree& tree, Evaluator& evaluator) {
  const SearchData& data = tree.data();
  std::vector<int> edges_into(data.store.num_nodes());
  for (uint32_t i = 0; i < data.store.num_nodes(); ++i) {
    const TreeNode& node = data.store.node(i);
    EXPECT_NE(node.status, NodeStatus::kInFlight);
    if (node.status == NodeStatus::kExpanded) {
      ExpectNodeAddsUp(data, i, evaluator);
    }
    data.store.ForEachEdge(node, [&](uint32_t, const TreeEdge& edge) {
      ++edges_into[edge.child];
      if (data.options.graph_search || data.options.proof) return;
      const TreeNode& child = data.store.node(edge.child);
      const NodeTotals totals = UnpackTotals(child.totals);
      EXPECT_EQ(edge.counts.visits, totals.visits);
      if (totals.visits > 0) {
        EXPECT_EQ(edge.counts.value, totals.MeanUnits());
      }
    });
  }
  std::set<std::string> positions;
  for (uint32_t i = 0; i < data.store.num_nodes(); ++i) {
    if (!data.options.graph_search) {
      EXPECT_EQ(edges_into[i], i == 0 ? 0 : 1);
      continue;
    }
    EXPECT_TRUE(i == 0 || edges_into[i] > 0);
    EXPECT_TRUE(positions.insert(Bytes(data.store.state(i))).second);
  }
}

std::vector<int> Visits(const Tree& tree) {
  std::vector<int> visits;
  for (const RootAction& action : tree.root_actions()) {
    visits.push_back(action.visits);
  }
  return visits;
}

Action ProvedAction(const Tree& tree) {
  const std::vector<RootAction> actions = tree.root_actions();
  return std::max_element(actions.begin(), actions.end(),
                          [](const RootAction& a, const RootAction& b) {
                            return a.low < b.low;
                          })
      ->action;
}

}  // namespace tara::mcts
