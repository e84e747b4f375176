// A convolution of 3 x 3 and its gradients, of a batch of the learner on one
// thread: our own kernels beside LibTorch's. Run:
//   bazel run -c opt //tara/nn/benchmarks:convolution_benchmark

#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include <cstdint>

#include "tara/nn/torch/convolution_torch.h"
#include "tara/nn/torch/torch_runtime.h"

namespace tara::nn {
namespace {

constexpr int64_t kBatch = 256;

at::Tensor Positions(int64_t channels) {
  return at::randn({kBatch, channels, 7, 7})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

// Arguments: channels, and whether they are our own kernels.
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
  bench.counters["samples/s"] =
      benchmark::Counter(static_cast<double>(bench.iterations() * kBatch),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(BM_LearnConvolution)->ArgsProduct({{32, 48, 64, 96, 128}, {0, 1}});

}  // namespace
}  // namespace tara::nn

BENCHMARK_MAIN();
