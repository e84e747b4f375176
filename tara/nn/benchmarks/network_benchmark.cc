// Steps of learning. Run:
//   bazel run -c opt //tara/nn/benchmarks:network_benchmark

#include <benchmark/benchmark.h>

#include <vector>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/heads.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {
namespace {

// Positions of random games of the variant.
std::vector<State> MakePositions(Variant variant, int count) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  std::vector<State> positions;
  State state = InitialState(variant);
  while (static_cast<int>(positions.size()) < count) {
    positions.push_back(state);
    const LegalSet legal = LegalActions(state);
    ApplyAction(legal.Nth(static_cast<int>(
                    random.Below(static_cast<uint32_t>(legal.Count())))),
                state);
    if (state.finished()) state = InitialState(variant);
  }
  return positions;
}

void SetRate(benchmark::State& bench, int64_t positions) {
  bench.counters["positions/s"] =
      benchmark::Counter(static_cast<double>(bench.iterations() * positions),
                         benchmark::Counter::kIsRate);
}

// Arguments: channels, blocks, batch, threads, auxiliary heads.
void BM_TrainStep(benchmark::State& bench) {
  const int count = static_cast<int>(bench.range(2));
  const float auxiliary = bench.range(4) != 0 ? 0.1f : 0.0f;
  PerHead<float> weights = LossWeights();
  for (const HeadInfo& info : kHeads) {
    if (info.is_auxiliary) weights[info.head] = auxiliary;
  }
  const auto trainer = NewTrainer({.channels = static_cast<int>(bench.range(0)),
                                   .blocks = static_cast<int>(bench.range(1))},
                                  {.loss_weights = weights,
                                   .ema_decay = auxiliary,
                                   .threads = static_cast<int>(bench.range(3))},
                                  1);
  std::vector<Sample> samples;
  for (const State& state : MakePositions(Variant::kSacredHillL1, count)) {
    const Action action = LegalActions(state).Nth(0);
    samples.push_back({.state = state,
                       .symmetry = CanonicalSymmetry(state),
                       .policy = {{action, 1.0f}},
                       .reply = {{action, 1.0f}},
                       .result = {1, 0, 0},
                       .margin = 2,
                       .has_final = true});
  }
  for (auto _ : bench) {
    TARA_CHECK(trainer->Step(samples, 1e-4).ok(), "step");
  }
  SetRate(bench, count);
}
BENCHMARK(BM_TrainStep)
    ->ArgNames({"channels", "blocks", "batch", "threads", "auxiliary"})
    ->ArgsProduct({{32}, {4}, {256}, {1, 2}, {0, 1}})
    ->ArgsProduct({{64}, {6}, {256}, {1, 2}, {0, 1}})
    ->UseRealTime();

}  // namespace
}  // namespace tara::nn

BENCHMARK_MAIN();
