// Evaluations per second of a network of the quickstart's size, on one thread,
// and what of it is encoding. Run:
//   bazel run -c opt //tara/nn/benchmarks:network_benchmark

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/torch/torch_runtime.h"
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

// Arguments: variant.
void BM_Encode(benchmark::State& bench) {
  const auto positions =
      MakePositions(static_cast<Variant>(bench.range(0)), 64);
  EncodedBatch batch;
  for (auto _ : bench) {
    batch.EncodeCanonical(positions);
    benchmark::DoNotOptimize(batch.planes());
  }
  SetRate(bench, 64);
}
BENCHMARK(BM_Encode)->DenseRange(0, kNumVariants - 1);

// Arguments: channels, blocks, batch.
void BM_Evaluate(benchmark::State& bench) {
  const std::string path =
      absl::StrCat("/tmp/network_benchmark.", ::getpid(), ".checkpoint");
  const NetworkShape shape = {.channels = static_cast<int>(bench.range(0)),
                              .blocks = static_cast<int>(bench.range(1))};
  TARA_CHECK(NewTrainer(shape, {.threads = 1}, 1)->Save(path, {}).ok(),
             "the checkpoint must be written");
  const auto evaluator = LoadNetworkEvaluator(path);
  std::remove(path.c_str());
  TARA_CHECK(evaluator.ok(), "the checkpoint must load");
  const int count = static_cast<int>(bench.range(2));
  const auto positions = MakePositions(Variant::kSacredHillL1, count);
  std::vector<mcts::Evaluation> results(positions.size());
  for (auto _ : bench) {
    TARA_CHECK((*evaluator)->Evaluate(positions, absl::MakeSpan(results)).ok(),
               "evaluation");
  }
  SetRate(bench, count);
}
BENCHMARK(BM_Evaluate)
    ->ArgNames({"channels", "blocks", "batch"})
    ->ArgsProduct({{32}, {4}, {1, 8, 32, 64, 128, 256}})
    ->Args({64, 6, 64});

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
