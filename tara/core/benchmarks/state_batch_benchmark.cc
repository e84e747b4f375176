// Games in step by given actions, by variant and number of games: through
// ApplyAction and LegalActions, and by StateBatch.
//   bazel run //tara/core/benchmarks:state_batch_benchmark --
//       --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
// Items are plies; time is CPU time of one thread. The actions are found
// beforehand.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/state_batch.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

constexpr int kSteps = 200;

// Random actions of each step, by slot.
std::vector<std::vector<Action>> Record(StateBatch batch) {
  std::vector<std::vector<Action>> steps(kSteps);
  for (std::vector<Action>& actions : steps) {
    for (int slot = 0; slot < batch.slots(); ++slot) {
      const LegalSet& legal = batch.legal()[slot];
      actions.push_back(
          legal.Nth(ChooseNth(batch.random(slot)(), legal.Count())));
    }
    batch.Step(actions);
  }
  return steps;
}

void RunBatch(benchmark::State& run, Variant variant, int slots) {
  const StateBatch start(variant, {}, slots, /*seed=*/1);
  const auto steps = Record(start);
  int64_t margins = 0;
  for (auto _ : run) {
    StateBatch batch = start;
    for (const std::vector<Action>& actions : steps) {
      batch.Step(actions);
      for (const StateBatch::Finished& finished : batch.finished()) {
        margins += finished.outcome.margin();
      }
    }
    benchmark::DoNotOptimize(batch.legal().data());
  }
  benchmark::DoNotOptimize(margins);
  run.SetItemsProcessed(static_cast<int64_t>(run.iterations()) * kSteps *
                        slots);
}

void RunPublic(benchmark::State& run, Variant variant, int slots) {
  const auto steps = Record(StateBatch(variant, {}, slots, /*seed=*/1));
  const State start = InitialState(variant);
  int64_t margins = 0;
  for (auto _ : run) {
    std::vector<State> states(slots, start);
    std::vector<LegalSet> legal(slots, LegalActions(start));
    for (const std::vector<Action>& actions : steps) {
      for (int i = 0; i < slots; ++i) {
        ApplyAction(actions[i], states[i]);
        if (states[i].finished()) {
          margins += Score(states[i]).margin();
          states[i] = start;
        }
        legal[i] = LegalActions(states[i]);
      }
    }
    benchmark::DoNotOptimize(legal.data());
  }
  benchmark::DoNotOptimize(margins);
  run.SetItemsProcessed(static_cast<int64_t>(run.iterations()) * kSteps *
                        slots);
}

void RegisterAll() {
  for (const VariantInfo& info : kVariants) {
    for (const int slots : {8, 64, 1024}) {
      const std::string name = absl::StrCat(info.id, "/", slots);
      benchmark::RegisterBenchmark(absl::StrCat(name, "/public").c_str(),
                                   RunPublic, info.variant, slots);
      benchmark::RegisterBenchmark(absl::StrCat(name, "/batch").c_str(),
                                   RunBatch, info.variant, slots);
    }
  }
}

}  // namespace
}  // namespace tara

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  tara::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
