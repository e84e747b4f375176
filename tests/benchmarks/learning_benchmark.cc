// Samples per second of the learner on the CPU: whole steps, and the
// convolutions of 3 x 3 with their gradients by our own kernels and LibTorch's.

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/heads.h"
#include "tara/nn/torch/layers_torch.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/trainer.h"

namespace tara::nn {
namespace {

constexpr int64_t kBatch = 256;

// Arguments: channels, blocks, threads, auxiliary heads.
void BM_TrainStep(benchmark::State& bench) {
  const float auxiliary = bench.range(3) != 0 ? 0.1f : 0.0f;
  PerHead<float> weights = LossWeights();
  for (const HeadInfo& info : kHeads) {
    if (info.is_auxiliary) weights[info.head] = auxiliary;
  }
  const auto trainer = NewTrainer({.channels = static_cast<int>(bench.range(0)),
                                   .blocks = static_cast<int>(bench.range(1))},
                                  {.loss_weights = weights,
                                   .ema_decay = auxiliary,
                                   .threads = static_cast<int>(bench.range(2))},
                                  1);
  Random random(1);
  std::vector<State> states =
      RandomPositions({InitialState(Variant::kSacredHillL1)}, kBatch, random);
  states.resize(kBatch);
  std::vector<Sample> samples;
  for (const State& state : states) {
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
  bench.SetItemsProcessed(bench.iterations() * kBatch);
}
BENCHMARK(BM_TrainStep)
    ->ArgNames({"channels", "blocks", "threads", "auxiliary"})
    ->ArgsProduct({{32}, {4}, {1, 2}, {0, 1}})
    ->ArgsProduct({{64}, {6}, {1, 2}, {0, 1}})
    ->UseRealTime();

at::Tensor Positions(int64_t channels) {
  return at::randn({kBatch, channels, 7, 7})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

// Arguments: channels, our own kernels.
void BM_LearnConvolution(benchmark::State& bench) {
  const int64_t channels = bench.range(0);
  const bool ours = bench.range(1) != 0;
  SetTorchThreads(1);
  torch::nn::Conv2d convolution(
      torch::nn::Conv2dOptions(channels, channels, 3).padding(1).bias(false));
  const at::Tensor input = Positions(channels).requires_grad_();
  const at::Tensor gradient = Positions(channels);
  for (auto _ : bench) {
    const at::Tensor output =
        ours ? Convolve(convolution, input) : convolution(input);
    output.backward(gradient);
  }
  bench.SetItemsProcessed(bench.iterations() * kBatch);
}
BENCHMARK(BM_LearnConvolution)
    ->ArgNames({"channels", "ours"})
    ->ArgsProduct({{32, 48, 64, 96, 128}, {0, 1}});

}  // namespace
}  // namespace tara::nn
