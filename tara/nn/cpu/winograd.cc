#include "tara/nn/cpu/winograd.h"

#include <array>
#include <cstddef>

#include "tara/base/check.h"

namespace tara::nn {
namespace {

constexpr int kTaps = 3;

// G: the points are 0, 1, -1, 2, -2 and infinity.
constexpr double kFilter[kWinogradLine][kTaps] = {
    {1.0 / 4, 0, 0},
    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
    {1.0 / 24, 1.0 / 12, 1.0 / 6},
    {1.0 / 24, -1.0 / 12, 1.0 / 6},
    {0, 0, 1}};

using Points = std::array<double, kWinogradPoints>;

// G g G^T of the filter of an output and an input channel.
Points TransformFilter(const CpuConvolutionWeights& weights, int output,
                       int input) {
  const float* const filter =
      weights.weight.data() +
      (size_t{1} * output * weights.in + input) * kTaps * kTaps;
  Points points = {};
  for (int i = 0; i < kWinogradLine; ++i) {
    for (int j = 0; j < kWinogradLine; ++j) {
      for (int y = 0; y < kTaps; ++y) {
        for (int x = 0; x < kTaps; ++x) {
          points[kWinogradLine * i + j] +=
              kFilter[i][y] * filter[kTaps * y + x] * kFilter[j][x];
        }
      }
    }
  }
  return points;
}

}  // namespace

WinogradLayer MakeWinogradLayer(const CpuConvolutionWeights& weights) {
  TARA_CHECK(weights.kernel == kTaps, "a convolution of 3 x 3");
  WinogradLayer layer = {
      .in = weights.in,
      .out = weights.out,
      .weights = std::vector<float>(size_t{1} * weights.out * kWinogradPoints *
                                    weights.in),
      .bias = weights.bias};
  for (int o = 0; o < layer.out; ++o) {
    const size_t block = o / kWinogradBlock;
    for (int i = 0; i < layer.in; ++i) {
      const Points points = TransformFilter(weights, o, i);
      for (int point = 0; point < kWinogradPoints; ++point) {
        const size_t row = (block * kWinogradPoints + point) * layer.in + i;
        layer.weights[row * kWinogradBlock + o % kWinogradBlock] =
            static_cast<float>(points[point]);
      }
    }
  }
  return layer;
}

}  // namespace tara::nn
