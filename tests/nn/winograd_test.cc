// Winograd's convolutions against the sum that defines a convolution.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

// Both sets of kernels; one and the same where the processor has no other.
std::vector<std::pair<std::string, const CpuKernels*>> AllKernels() {
  return {{"portable", &PortableCpuKernels()}, {"best", &BestCpuKernels()}};
}

std::vector<float> Uniform(size_t size, float low, float high, Random& random) {
  std::vector<float> values(size);
  for (float& value : values) {
    value = low + (high - low) * static_cast<float>(random.Uniform());
  }
  return values;
}

CpuConvolutionWeights RandomWeights(int in, int out, Random& random) {
  const float bound = 2 / std::sqrt(9.0f * in);
  return {.in = in,
          .out = out,
          .weight = Uniform(size_t{9} * in * out, -bound, bound, random),
          .bias = Uniform(out, -0.1f, 0.1f, random)};
}

// Calls visit(tap, square) for the taps of a filter over square p, counted over
// all positions, and the square beneath each, where that is on the grid.
template <typename Visit>
void ForEachTap(int p, const Visit& visit) {
  const int rank = p % kNumSquares / kBoardSize;
  const int file = p % kBoardSize;
  for (int tap = 0; tap < 9; ++tap) {
    const int down = tap / 3 - 1;
    const int right = tap % 3 - 1;
    if (rank + down < 0 || rank + down >= kBoardSize || file + right < 0 ||
        file + right >= kBoardSize) {
      continue;
    }
    visit(tap, p + kBoardSize * down + right);
  }
}

// By definition, in double precision.
std::vector<float> Convolve(const CpuConvolutionWeights& weights,
                            const std::vector<float>& source,
                            std::vector<float> destination, bool add) {
  const auto positions =
      static_cast<int>(source.size()) / kNumSquares / weights.in;
  for (int p = 0; p < positions * kNumSquares; ++p) {
    for (int o = 0; o < weights.out; ++o) {
      float& result = destination[p * weights.out + o];
      double sum = weights.bias[o] + (add ? result : 0);
      ForEachTap(p, [&](int tap, int square) {
        for (int i = 0; i < weights.in; ++i) {
          sum += double{weights.weight[(o * weights.in + i) * 9 + tap]} *
                 source[square * weights.in + i];
        }
      });
      result = static_cast<float>(std::max(sum, 0.0));
    }
  }
  return destination;
}

std::vector<float> RunKernels(const CpuKernels& kernels,
                              const WinogradLayer& layer,
                              const std::vector<float>& source,
                              std::vector<float> destination, bool add) {
  std::vector<float> scratch(WinogradScratchFloats(layer.in));
  const WinogradJob job = {
      .layer = &layer,
      .positions = static_cast<int>(source.size()) / kNumSquares / layer.in,
      .source = source.data(),
      .destination = destination.data(),
      .add_to_destination = add,
      .scratch = scratch.data()};
  kernels.convolve(job);
  return destination;
}

// The root of the mean square of the difference, beside that of `expected`.
double RelativeError(const std::vector<float>& expected,
                     const std::vector<float>& actual) {
  double error = 0;
  double square = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = double{actual[i]} - expected[i];
    error += difference * difference;
    square += double{expected[i]} * expected[i];
  }
  return std::sqrt(error / square);
}

TEST(WinogradTest, SumsAreThoseOfTheConvolution) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (const auto& [in, out] :
       {std::pair{24, 32}, {16, 16}, {48, 48}, {64, 64}, {128, 128}}) {
    const CpuConvolutionWeights weights = RandomWeights(in, out, random);
    const auto source = Uniform(size_t{5} * kNumSquares * in, 0, 3, random);
    const auto before = Uniform(size_t{5} * kNumSquares * out, -1, 1, random);
    for (const bool add : {false, true}) {
      const auto expected = Convolve(weights, source, before, add);
      for (const auto& [name, kernels] : AllKernels()) {
        SCOPED_TRACE(name + " " + std::to_string(in));
        EXPECT_LT(RelativeError(expected,
                                RunKernels(*kernels, MakeWinogradLayer(weights),
                                           source, before, add)),
                  3e-6);
      }
    }
  }
}

}  // namespace
}  // namespace tara::nn
