// Random games to their ends, all rules, statistics gathered: plies a second
// of one core, scalar and batched, by variant and instruction set.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "tara/core/game_batch.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/playouts.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

// Calls play(first_game, games) for ever further games.
template <typename Play>
void Run(benchmark::State& state, int64_t games, Play&& play) {
  int64_t first_game = 0;
  int64_t plies = 0;
  for (auto _ : state) {
    plies += play(first_game, games).plies;
    first_game += games;
  }
  const auto rate = [](int64_t count) {
    return benchmark::Counter(static_cast<double>(count),
                              benchmark::Counter::kIsRate);
  };
  state.counters["plies"] = rate(plies);
  state.counters["games"] = rate(first_game);
}

void RegisterAll() {
  constexpr uint64_t kSeed = 1;
  for (const VariantInfo& info : kVariants) {
    const Variant variant = info.variant;
    benchmark::RegisterBenchmark(
        absl::StrCat(info.id, "/scalar").c_str(),
        [variant](benchmark::State& state) {
          Run(state, 256, [&](int64_t first_game, int64_t games) {
            return PlayRandomGamesByPublicRules(variant, {}, kSeed, first_game,
                                                games);
          });
        });
    for (const InstructionSet set : SupportedInstructionSets()) {
      benchmark::RegisterBenchmark(
          absl::StrCat(info.id, "/", InstructionSetName(set)).c_str(),
          [variant, set](benchmark::State& state) {
            Run(state, 4096, [&](int64_t first_game, int64_t games) {
              return PlayRandomGames(variant, {}, kSeed, first_game, games,
                                     set);
            });
          });
    }
  }
}

}  // namespace
}  // namespace tara

int main(int argc, char** argv) {
  tara::RegisterAll();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
