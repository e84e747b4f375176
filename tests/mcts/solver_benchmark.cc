// Measures the endgame solver on positions of the recorded games:
//
//   bazel run //tests/mcts:solver_benchmark -- WHICH N [TABLE_MB [NODE_LIMIT]]
//
//   WHICH  first  the first position of each game with at most N vacant hills
//          all    every position with at most N vacant hills
//          exact  every position with N vacant hills
//          left   the position of each game N actions before its end
//
// Prints a line a variant: positions, how many were solved within the limit,
// and by position solved or not: microseconds of processor time (mean and
// worst) and nodes. The table is kept from one position to the next.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::mcts {
namespace {

// Returns the positions of a recorded game, the finished one last.
std::vector<State> PositionsOf(const std::string& line, Variant variant) {
  const nlohmann::json game = nlohmann::json::parse(line);
  std::vector<State> states = {InitialState(variant)};
  for (const nlohmann::json& step : game["steps"]) {
    State state = states.back();
    TARA_CHECK(PlayAction(step["action"].get<std::string>(), state).ok(),
               "illegal action in a recorded game");
    states.push_back(state);
  }
  return states;
}

std::vector<State> Chosen(const std::vector<State>& game,
                          absl::string_view which, int number) {
  std::vector<State> chosen;
  const auto length = static_cast<int>(game.size()) - 1;
  for (int i = 0; i < length; ++i) {
    const State& state = game[static_cast<size_t>(i)];
    const int vacant = Count(state.vacant());
    const bool take = which == "left"    ? length - i == number
                      : which == "exact" ? vacant == number
                                         : vacant <= number;
    if (take && (which != "first" || chosen.empty())) chosen.push_back(state);
  }
  return chosen;
}

void Measure(const VariantInfo& info, const std::vector<State>& states,
             const SolverOptions& options) {
  EndgameSolver solver(options);
  // Memory is reserved, and the code loaded, before the clock starts.
  solver.SolveRedMargin(states.back());
  int solved = 0;
  double total = 0;
  double worst = 0;
  double nodes = 0;
  for (const State& state : states) {
    const std::clock_t start = std::clock();
    solved += solver.SolveRedMargin(state).has_value();
    const double microseconds =
        1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    total += microseconds;
    worst = std::max(worst, microseconds);
    nodes += static_cast<double>(solver.progress().nodes);
  }
  const auto count = static_cast<double>(states.size());
  std::printf("%-24s%7zu%7d%13.1f%13.0f%13.0f\n", std::string(info.id).c_str(),
              states.size(), solved, total / count, worst, nodes / count);
}

int Run(const std::vector<std::string>& arguments) {
  int number = 0;
  int table_mb = 64;
  int64_t node_limit = 0;
  if (arguments.size() < 2 || !absl::SimpleAtoi(arguments[1], &number) ||
      (arguments.size() > 2 && !absl::SimpleAtoi(arguments[2], &table_mb)) ||
      (arguments.size() > 3 && !absl::SimpleAtoi(arguments[3], &node_limit))) {
    std::fprintf(stderr,
                 "expected: first|all|exact|left N [TABLE_MB [NODE_LIMIT]]\n");
    return EXIT_FAILURE;
  }
  std::printf("%-24s%7s%7s%13s%13s%13s\n", "variant", "number", "solved",
              "mean us", "worst us", "nodes");
  for (const VariantInfo& info : kVariants) {
    std::ifstream file(absl::StrCat("tests/golden/", info.id, ".jsonl"));
    std::vector<State> states;
    for (std::string line; std::getline(file, line);) {
      const std::vector<State> chosen =
          Chosen(PositionsOf(line, info.variant), arguments[0], number);
      states.insert(states.end(), chosen.begin(), chosen.end());
    }
    if (states.empty()) continue;
    Measure(info, states,
            {.table_bytes = int64_t{table_mb} << 20, .node_limit = node_limit});
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace tara::mcts

int main(int argc, char** argv) {
  return tara::mcts::Run(std::vector<std::string>(argv + 1, argv + argc));
}
