// The endgame solver on recorded games: the first position of each game with at
// most N vacant hills. The table is kept from one position to the next. Where
// kings can wander, not all are solved within the limit of nodes.

#include <benchmark/benchmark.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::mcts {
namespace {

std::vector<State> Endgames(const VariantInfo& info, int vacant) {
  std::ifstream file(absl::StrCat("tests/golden/", info.id, ".jsonl"));
  std::vector<State> endgames;
  for (std::string line; std::getline(file, line);) {
    State state = InitialState(info.variant);
    const nlohmann::json game = nlohmann::json::parse(line);
    for (const nlohmann::json& step : game["steps"]) {
      if (Count(state.vacant()) <= vacant) break;
      TARA_CHECK(PlayAction(step["action"].get<std::string>(), state).ok(),
                 "illegal action in a recorded game");
    }
    if (!state.finished()) endgames.push_back(state);
  }
  return endgames;
}

// Arguments: variant, vacant hills.
void BM_Solve(benchmark::State& bench) {
  const VariantInfo& info = kVariants[bench.range(0)];
  const std::vector<State> endgames =
      Endgames(info, static_cast<int>(bench.range(1)));
  bench.SetLabel(std::string(info.id));
  if (endgames.empty()) {
    bench.SkipWithError("no such position");
    return;
  }
  int64_t nodes = 0;
  int64_t solved = 0;
  for (auto _ : bench) {
    bench.PauseTiming();
    EndgameSolver solver(
        {.table_bytes = int64_t{64} << 20, .node_limit = 200000});
    bench.ResumeTiming();
    for (const State& state : endgames) {
      solved += solver.SolveRedMargin(state).has_value();
      nodes += solver.progress().nodes;
    }
  }
  const auto positions =
      bench.iterations() * static_cast<int64_t>(endgames.size());
  bench.SetItemsProcessed(positions);
  bench.counters["nodes"] =
      static_cast<double>(nodes) / static_cast<double>(positions);
  bench.counters["solved"] =
      static_cast<double>(solved) / static_cast<double>(positions);
}
BENCHMARK(BM_Solve)
    ->ArgNames({"variant", "vacant"})
    ->ArgsProduct({benchmark::CreateDenseRange(0, kNumVariants - 1, 1),
                   {8, 10, 12}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tara::mcts
