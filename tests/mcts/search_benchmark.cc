// Costs of search: bazel run //tests/mcts:search_benchmark

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/tree/tree.h"

namespace tara::mcts {
namespace {

constexpr int kSimulations = 400;
constexpr int kTrees = 32;

// Searches kTrees games from the start, each with kSimulations simulations.
void RunTrees(Evaluator& evaluator, benchmark::State& benchmark) {
  const VariantInfo& info = kVariants[benchmark.range(0)];
  benchmark.SetLabel(std::string(info.id));
  for (auto _ : benchmark) {
    std::vector<Tree> trees;
    std::vector<Tree*> pointers;
    trees.reserve(kTrees);
    for (int i = 0; i < kTrees; ++i) {
      trees.emplace_back(SearchOptions{.simulations = kSimulations,
                                       .dirichlet_fraction = 0.25f},
                         InitialState(info.variant), i);
      pointers.push_back(&trees.back());
    }
    benchmark::DoNotOptimize(RunSearches(pointers, evaluator).ok());
  }
  benchmark.counters["simulations"] = benchmark::Counter(
      static_cast<double>(benchmark.iterations()) * kTrees * kSimulations,
      benchmark::Counter::kIsRate);
}

void BM_Uniform(benchmark::State& benchmark) {
  UniformEvaluator evaluator;
  RunTrees(evaluator, benchmark);
}
BENCHMARK(BM_Uniform)->DenseRange(0, kNumVariants - 1);

void BM_UniformCached(benchmark::State& benchmark) {
  UniformEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 1 << 16);
  RunTrees(cache, benchmark);
}
BENCHMARK(BM_UniformCached)->Arg(0);

void BM_Playouts(benchmark::State& benchmark) {
  PlayoutEvaluator evaluator(1, 1);
  RunTrees(evaluator, benchmark);
}
BENCHMARK(BM_Playouts)->DenseRange(0, kNumVariants - 1);

void BM_PlayoutsCached(benchmark::State& benchmark) {
  PlayoutEvaluator evaluator(1, 1);
  CachingEvaluator cache(&evaluator, 1 << 16);
  RunTrees(cache, benchmark);
}
BENCHMARK(BM_PlayoutsCached)->Arg(0);

}  // namespace
}  // namespace tara::mcts
