#include "tests/mcts/positions.h"

#include <algorithm>

#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"

namespace tara::mcts {

std::vector<Action> ListActions(const State& state) {
  std::vector<Action> actions;
  LegalActions(state).ForEach(
      [&](Action action) { actions.push_back(action); });
  return actions;
}

State After(const State& state, Action action) {
  State next = state;
  ApplyAction(action, next);
  return next;
}

std::vector<State> RandomGame(Variant variant, uint64_t seed,
                              const RuleOptions& options) {
  Random random(
      DeriveSeed(seed, static_cast<uint64_t>(variant), StreamPurpose::kTest));
  std::vector<State> states = {InitialState(variant, options)};
  while (!states.back().finished()) {
    const std::vector<Action> actions = ListActions(states.back());
    states.push_back(
        After(states.back(),
              actions[random.Below(static_cast<uint32_t>(actions.size()))]));
  }
  return states;
}

std::optional<int> ExactMargin(const State& state, int& budget) {
  if (state.finished()) return Score(state).margin();
  if (--budget < 0) return std::nullopt;
  const bool is_red = state.side() == kRed;
  int best = is_red ? -kMaxMargin : kMaxMargin;
  for (const Action action : ListActions(state)) {
    const std::optional<int> margin = ExactMargin(After(state, action), budget);
    if (!margin.has_value()) return std::nullopt;
    best = is_red ? std::max(best, *margin) : std::min(best, *margin);
  }
  return best;
}

std::optional<int> ExactResult(const State& state, int& budget) {
  const std::optional<int> margin = ExactMargin(state, budget);
  if (!margin.has_value()) return std::nullopt;
  return ResultOfMargin(*margin, state.options.compensation_halves);
}

std::vector<Problem> FindProblems(Variant variant,
                                  const ProblemSearch& search) {
  std::vector<Problem> problems;
  for (int seed = 0; seed < search.num_games; ++seed) {
    if (static_cast<int>(problems.size()) == search.count) break;
    const std::vector<State> game =
        RandomGame(variant, static_cast<uint64_t>(seed), search.options);
    // The earliest position that is small enough and has something to choose.
    std::optional<Problem> earliest;
    for (size_t i = game.size() - 1; i-- > 0;) {
      const State& state = game[i];
      int left = search.budget;
      const std::optional<int> best = ExactResult(state, left);
      if (!best.has_value()) break;
      Problem problem = {.state = state, .best = {}};
      const std::vector<Action> actions = ListActions(state);
      for (const Action action : actions) {
        left = search.budget;
        if (ExactResult(After(state, action), left) == best) {
          problem.best.push_back(action);
        }
      }
      if (problem.best.size() < actions.size()) earliest = problem;
    }
    if (earliest.has_value()) problems.push_back(*earliest);
  }
  return problems;
}

std::string VariantTestName(const testing::TestParamInfo<VariantInfo>& info) {
  return std::string(info.param.id);
}

}  // namespace tara::mcts
