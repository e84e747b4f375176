#ifndef TARA_NN_CPU_WINOGRAD_H_
#define TARA_NN_CPU_WINOGRAD_H_

// Convolutions of 3 x 3 over the 7 x 7 grid by Winograd's minimal filtering
// F(4 x 4, 3 x 3) (Lavin and Gray 2016, "Fast Algorithms for Convolutional
// Neural Networks", section 4.3): a tile of 4 x 4 outputs Y comes from 6 x 6
// inputs d and the filter g as
//
//   Y = A^T [(G g G^T) * (B^T d B)] A        (* is element by element)
//
// with 36 products a channel pair in place of 144; sums over input channels are
// taken between the inner and the outer transform, as 36 products of matrices.
// Four tiles cover the grid, those at its far edges with 3 outputs a line:
// these need no sixth point, and the four take 121 products in all, of the 441
// that a direct convolution has (361 of them within the grid).

#include <vector>

#include "tara/nn/cpu/cpu_weights.h"

namespace tara::nn {

// Points of a line, and of a tile: the place of (i, j) is 6 i + j.
inline constexpr int kWinogradLine = 6;
inline constexpr int kWinogradPoints = kWinogradLine * kWinogradLine;

// Output channels that are computed together.
inline constexpr int kWinogradBlock = 16;

// A convolution's weights, transformed.
struct WinogradLayer {
  int in = 0;                  // a multiple of 8
  int out = 0;                 // a multiple of kWinogradBlock
  std::vector<float> weights;  // [out / 16, 36, in, 16]
  std::vector<float> bias;     // [out]
};

// REQUIRES: the kernel is 3 x 3.
WinogradLayer MakeWinogradLayer(const CpuConvolutionWeights& weights);

// A convolution of positions whose rows are [49, channels]:
//   destination = convolution(source) + bias [+ destination], then ReLU
struct WinogradJob {
  const WinogradLayer* layer = nullptr;
  int positions = 0;
  const float* source = nullptr;
  float* destination = nullptr;
  bool add_to_destination = false;
  // Of WinogradScratchFloats(layer.in), aligned to 64 bytes.
  float* scratch = nullptr;
};

// Positions whose tiles are multiplied together: more use the weights oftener,
// but leave the second cache.
inline constexpr int kWinogradGroup = 4;

constexpr int WinogradScratchFloats(int in) {
  return kWinogradPoints * (4 * kWinogradGroup * (in + kWinogradBlock) + 64);
}

}  // namespace tara::nn

#endif  // TARA_NN_CPU_WINOGRAD_H_
