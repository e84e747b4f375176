// Random play on the scalar core, by variant, and what it is made of:
//   bazel run //tara/core/benchmarks:scalar_benchmark
// Items are plies; time is CPU time of one thread.

#include <cstdint>
#include <string>

#include "benchmark/benchmark.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

constexpr int64_t kGames = 256;

using Playouts = PlayoutStatistics (*)(Variant, const RuleOptions&, uint64_t,
                                       int64_t, int64_t);

void BenchmarkPlayouts(benchmark::State& run, Variant variant,
                       Playouts playouts) {
  int64_t plies = 0;
  int64_t games = 0;
  for (auto _ : run) {
    plies += playouts(variant, {}, /*seed=*/1, games, kGames).plies;
    games += kGames;
  }
  run.SetItemsProcessed(plies);
}

void BenchmarkKingdoms(benchmark::State& run) {
  Random random(1);
  for (auto _ : run) {
    benchmark::DoNotOptimize(CountComponents(random() & kAllHills));
  }
}

void RegisterAll() {
  for (const VariantInfo& info : kVariants) {
    const std::string id(info.id);
    benchmark::RegisterBenchmark(("playouts/" + id).c_str(), BenchmarkPlayouts,
                                 info.variant, &PlayRandomGamesScalar);
    benchmark::RegisterBenchmark(("public_rules/" + id).c_str(),
                                 BenchmarkPlayouts, info.variant,
                                 &PlayRandomGamesByPublicRules);
  }
  benchmark::RegisterBenchmark("count_components", BenchmarkKingdoms);
}

}  // namespace
}  // namespace tara

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  tara::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
