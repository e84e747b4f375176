#include "tara/nn/cpu/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tara/base/check.h"

namespace tara::nn {
namespace {

constexpr int kTaps = 3;

// G, and B^T for its signs: the points are 0, 1, -1, 2, -2 and infinity.
constexpr double kFilter[kWinogradLine][kTaps] = {
    {1.0 / 4, 0, 0},
    {-1.0 / 6, -1.0 / 6, -1.0 / 6},
    {-1.0 / 6, 1.0 / 6, -1.0 / 6},
    {1.0 / 24, 1.0 / 12, 1.0 / 6},
    {1.0 / 24, -1.0 / 12, 1.0 / 6},
    {0, 0, 1}};
constexpr double kInput[kWinogradLine][kWinogradLine] = {
    {4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
    {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};

constexpr int kLargestInput = 32767;
// Limit of all sums, including the rounding of weights.
constexpr double kLargestSum = 2147483647.0;

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

// The largest |B^T d B| at each point, of inputs from 0 to 1.
Points LargestInputs() {
  Points largest;
  for (int i = 0; i < kWinogradLine; ++i) {
    for (int j = 0; j < kWinogradLine; ++j) {
      double above = 0;
      double below = 0;
      for (const double down : kInput[i]) {
        for (const double right : kInput[j]) {
          (down * right > 0 ? above : below) += std::abs(down * right);
        }
      }
      largest[kWinogradLine * i + j] = std::max(above, below);
    }
  }
  return largest;
}

// The index of the weight of a channel pair within its block and point.
size_t PlaceOf(const WinogradLayer& layer, int output, int point, int input,
               int together) {
  const size_t block = output / kWinogradBlock;
  const size_t row = (block * kWinogradPoints + point) * layer.in / together +
                     input / together;
  return (row * kWinogradBlock + output % kWinogradBlock) * together +
         input % together;
}

WinogradLayer EmptyLayer(const CpuConvolutionWeights& weights) {
  TARA_CHECK(weights.kernel == kTaps, "a convolution of 3 x 3");
  WinogradLayer layer;
  layer.in = weights.in;
  layer.out = weights.out;
  layer.bias = weights.bias;
  return layer;
}

size_t NumProducts(const WinogradLayer& layer) {
  return size_t{1} * layer.out * kWinogradPoints * layer.in;
}

}  // namespace

WinogradLayer FloatWinogradLayer(const CpuConvolutionWeights& weights) {
  WinogradLayer layer = EmptyLayer(weights);
  layer.floats.resize(NumProducts(layer));
  for (int o = 0; o < layer.out; ++o) {
    for (int i = 0; i < layer.in; ++i) {
      const Points points = TransformFilter(weights, o, i);
      for (int point = 0; point < kWinogradPoints; ++point) {
        layer.floats[PlaceOf(layer, o, point, i, 1)] =
            static_cast<float>(points[point]);
      }
    }
  }
  return layer;
}

WinogradLayer IntegerWinogradLayer(const CpuConvolutionWeights& weights,
                                   float range) {
  WinogradLayer layer = EmptyLayer(weights);
  layer.integers.resize(NumProducts(layer));
  layer.units.resize(size_t{1} * layer.out * kWinogradPoints);
  const Points largest = LargestInputs();
  for (int point = 0; point < kWinogradPoints; ++point) {
    layer.scales[point] =
        static_cast<float>(kLargestInput / (largest[point] * range));
  }
  std::vector<Points> filters(layer.in);
  for (int o = 0; o < layer.out; ++o) {
    for (int i = 0; i < layer.in; ++i) {
      filters[i] = TransformFilter(weights, o, i);
    }
    for (int point = 0; point < kWinogradPoints; ++point) {
      double sum = 0;
      double most = 0;
      for (const Points& filter : filters) {
        sum += std::abs(filter[point]);
        most = std::max(most, std::abs(filter[point]));
      }
      // Integers a weight of 1 is worth: rounded, they are at most 16 bits, and
      // a half each more in their sum.
      double scale = 1;
      if (most > 0) {
        scale = std::min(
            kLargestInput / most,
            (kLargestSum / (kLargestInput + 1) - 0.5 * layer.in) / sum);
      }
      for (int i = 0; i < layer.in; ++i) {
        layer.integers[PlaceOf(layer, o, point, i, 2)] =
            static_cast<int16_t>(std::lround(filters[i][point] * scale));
      }
      layer.units[(size_t{1} * (o / kWinogradBlock) * kWinogradPoints + point) *
                      kWinogradBlock +
                  o % kWinogradBlock] =
          static_cast<float>(1 / (scale * layer.scales[point]));
    }
  }
  return layer;
}

}  // namespace tara::nn
