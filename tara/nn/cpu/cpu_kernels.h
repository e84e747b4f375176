#ifndef TARA_NN_CPU_CPU_KERNELS_H_
#define TARA_NN_CPU_CPU_KERNELS_H_

// The vectorised parts of a network: linear layers, pooling, biases and
// Winograd's convolutions. The rows belong to one position: [49, C], the
// squares by rank, then file, channels last; C is a multiple of kChannelVector.
// All are pure: the result for a position does not depend on its batch.

#include <vector>

namespace tara::nn {

// Channels come in vectors of this many floats.
inline constexpr int kChannelVector = 16;

constexpr int WholeVectors(int channels) {
  return (channels + kChannelVector - 1) / kChannelVector * kChannelVector;
}

// A convolution of 3 x 3 over the 7 x 7 grid that keeps its size.
struct CpuConvolutionWeights {
  int in = 0;
  int out = 0;                // a multiple of kChannelVector
  std::vector<float> weight;  // [out, in, 3, 3]
  std::vector<float> bias;    // [out]
};

// output[o] = bias[o] + sum over i of input[i] * weight[i][o]
struct CpuLinearWeights {
  int in = 0;
  int out = 0;                // a multiple of kChannelVector
  std::vector<float> weight;  // [in, out]
  std::vector<float> bias;    // [out]
};

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

// One implementation; chosen at run time.
struct CpuKernels {
  // Means over the 45 hills of each channel, then maxima: [2C]. Values are
  // not negative.
  void (*pool)(const float* rows, int channels, float* pooled);

  // [B, in] -> [B, out], with ReLU where `relu`; with `bias` [out], which is
  // the layer's or another.
  void (*linear)(const CpuLinearWeights& layer, const float* bias, int batch,
                 bool relu, const float* inputs, float* outputs);

  // Adds `bias` [C] to each row.
  void (*add_to_rows)(const float* bias, int channels, float* rows);

  void (*convolve)(const WinogradJob& job);
};

// Returns the fastest that this processor supports.
const CpuKernels& BestCpuKernels();

// For tests: what runs on any processor that the project supports.
const CpuKernels& PortableCpuKernels();

namespace internal {

// REQUIRES: the processor supports InstructionSet::kAvx512.
CpuKernels Avx512CpuKernels();

}  // namespace internal
}  // namespace tara::nn

#endif  // TARA_NN_CPU_CPU_KERNELS_H_
