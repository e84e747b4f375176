#ifndef TARA_NN_CPU_WINOGRAD_LEARNING_TEMPLATES_H_
#define TARA_NN_CPU_WINOGRAD_LEARNING_TEMPLATES_H_

// Winograd convolutions (winograd.h) in learning: filters transformed for
// every batch, and their gradient; compiled once for each instruction
// set by the files that include it.
//
// With V = B^T d B, M = A dY A^T and dY the gradient of the outputs Y, that of
// a filter is
//
//   dg = G^T [sum over tiles of V * M] G        (* is element by element)
//
// which are 36 products of matrices, of inputs' channels by outputs'.

#include <algorithm>
#include <cstdint>

#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/winograd.h"
#include "tara/nn/cpu/winograd_templates.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::internal {

template <InstructionSet kSet>
class WinogradLearningCode {
 public:
  // Fills one block of `points` [out / 16, 36, in, 16], as of
  // WinogradLayer.floats.
  static void TransformFilters(const WinogradFilters& filters, int block,
                               float* points) {
    for (int input = 0; input < filters.in; ++input) {
      float* const to =
          points +
          (block * kWinogradPoints * filters.in + input) * kWinogradBlock;
      ForEachVector(kWinogradBlock, [&]<typename Vector>(int part) {
        TransformFilterVector<Vector>(filters, block * kWinogradBlock + part,
                                      input, to + part);
      });
    }
  }

  static void DifferentiateFilters(const WinogradGradientJob& job) {
    std::fill_n(SumsOf(job), kWinogradPoints * job.in * job.out, 0.0f);
    for (int first = 0; first < job.positions; first += kWinogradGroup) {
      WinogradGradientJob part = job;
      part.positions = std::min(kWinogradGroup, job.positions - first);
      part.source += first * kNumSquares * job.in;
      part.gradient += first * kNumSquares * job.out;
      AddGroup(part);
    }
    for (int input = 0; input < job.in; ++input) {
      ForEachVector(job.out, [&]<typename Vector>(int output) {
        FinishVector<Vector>(job, input, output);
      });
    }
  }

 private:
  using Tiles = WinogradTiles<kSet>;
  using Widest = typename Tiles::Widest;
  using Place = typename Tiles::Place;

  static constexpr bool kWide = kSet == InstructionSet::kAvx512;
  static constexpr int kLanes = kWide ? 16 : 8;
  using Lanes = typename Tiles::template VectorOf<float, kLanes>::Type;
  // Input channels, and vectors of output channels, whose sums fill the
  // registers.
  static constexpr int kInputs = kWide ? 8 : 4;
  static constexpr int kTaps = 3;

  template <typename Vector>
  static Vector Load(const float* from) {
    return Tiles::template Load<Vector>(from);
  }

  template <typename Function>
  static void ForEachVector(int channels, const Function& transform) {
    Tiles::template ForEachVector<Widest>(channels, transform);
  }

  // G g.
  template <typename Floats>
  static void TransformFilter(const Floats (&g)[3], Floats (&u)[6]) {
    const Floats sixth = (g[0] + g[2]) * (-1.0f / 6);
    const Floats middle = g[1] * (1.0f / 6);
    const Floats far = g[0] * (1.0f / 24) + g[2] * (1.0f / 6);
    const Floats far_middle = g[1] * (1.0f / 12);
    u[0] = g[0] * (1.0f / 4);
    u[1] = sixth - middle;
    u[2] = sixth + middle;
    u[3] = far + far_middle;
    u[4] = far - far_middle;
    u[5] = g[2];
  }

  // G^T p.
  template <typename Floats>
  static void TransformSums(const Floats (&p)[6], Floats (&g)[3]) {
    const Floats near = (p[1] + p[2]) * (-1.0f / 6);
    const Floats far = p[3] + p[4];
    g[0] = p[0] * (1.0f / 4) + near + far * (1.0f / 24);
    g[1] = (p[2] - p[1]) * (1.0f / 6) + (p[3] - p[4]) * (1.0f / 12);
    g[2] = near + far * (1.0f / 6) + p[5];
  }

  // A y.
  template <typename Floats>
  static void TransformGradient(const Floats (&y)[4], Floats (&m)[6]) {
    const Floats even = y[0] + y[2];
    const Floats odd = y[1] + y[3];
    const Floats far_even = y[0] + 4 * y[2];
    const Floats far_odd = 2 * y[1] + 8 * y[3];
    m[0] = y[0];
    m[1] = even + odd;
    m[2] = even - odd;
    m[3] = far_even + far_odd;
    m[4] = far_even - far_odd;
    m[5] = y[3];
  }

  // The filters of a vector of output channels and an input channel; their
  // points lie in * 16 floats apart.
  template <typename Floats>
  static void TransformFilterVector(const WinogradFilters& filters, int output,
                                    int input, float* to) {
    const float* const weights = filters.weights +
                                 output * filters.output_stride +
                                 input * filters.input_stride;
    Floats lines[kWinogradLine][kTaps];
    for (int x = 0; x < kTaps; ++x) {
      Floats column[kTaps];
      for (int y = 0; y < kTaps; ++y) {
        constexpr int kOutputs = Tiles::template kChannels<Floats>;
        float taps[kOutputs];
        for (int o = 0; o < kOutputs; ++o) {
          taps[o] = weights[o * filters.output_stride + y * filters.y_stride +
                            x * filters.x_stride];
        }
        column[y] = Load<Floats>(taps);
      }
      Floats transformed[kWinogradLine];
      TransformFilter(column, transformed);
      for (int i = 0; i < kWinogradLine; ++i) lines[i][x] = transformed[i];
    }
    for (int i = 0; i < kWinogradLine; ++i) {
      Floats transformed[kWinogradLine];
      TransformFilter(lines[i], transformed);
      for (int j = 0; j < kWinogradLine; ++j) {
        Tiles::Store(transformed[j], to + (kWinogradLine * i + j) * filters.in *
                                              kWinogradBlock);
      }
    }
  }

  // Scratch: the sums [36, in, out], then V [36, rows, in] and M [36, rows,
  // out].
  static float* SumsOf(const WinogradGradientJob& job) { return job.scratch; }
  static float* InputsOf(const WinogradGradientJob& job) {
    return job.scratch + kWinogradPoints * job.in * job.out;
  }
  static float* GradientsOf(const WinogradGradientJob& job) {
    return InputsOf(job) + kWinogradPoints * Plane(job, job.in);
  }
  // Floats from one point's to the next's: not a power of two, or all would
  // want the same lines of the first cache.
  static int Plane(const WinogradGradientJob& job, int channels) {
    return 4 * job.positions * channels + kWinogradBlock;
  }

  // A dY A^T of the tile at kPlaces[kPlace] of a position, of a vector of
  // channels.
  template <int kPlace, typename Floats>
  static void TransformGradientTile(const float* gradient, int channels,
                                    int plane, float* to) {
    constexpr Place kAt = Tiles::kPlaces[kPlace];
    Floats lines[kWinogradLine][4];
    for (int x = 0; x < 4; ++x) {
      Floats column[4];
      for (int y = 0; y < 4; ++y) {
        const int square = Tiles::template OutputSquare<kPlace>(y, x);
        column[y] =
            square >= 0 ? Load<Floats>(gradient + square * channels) : Floats{};
      }
      Floats transformed[kWinogradLine];
      TransformGradient(column, transformed);
      for (int i = 0; i < kWinogradLine; ++i) lines[i][x] = transformed[i];
    }
    for (int i = 0; i < Tiles::Points(kAt.down); ++i) {
      Floats transformed[kWinogradLine];
      TransformGradient(lines[i], transformed);
      for (int j = 0; j < Tiles::Points(kAt.right); ++j) {
        Tiles::Store(transformed[j], to + (kWinogradLine * i + j) * plane);
      }
    }
  }

  template <int kPlace>
  static void TransformPlace(const WinogradGradientJob& job) {
    const int input_plane = Plane(job, job.in);
    const int gradient_plane = Plane(job, job.out);
    for (int i = 0; i < job.positions; ++i) {
      const int row = kPlace * job.positions + i;
      float* const inputs = InputsOf(job) + row * job.in;
      ForEachVector(job.in, [&]<typename Vector>(int c) {
        Tiles::template TransformTile<kPlace, Vector>(
            job.source + i * kNumSquares * job.in + c, job.in,
            [&](int point, const Vector& values) {
              Tiles::Store(values, inputs + c + point * input_plane);
            });
      });
      float* const gradients = GradientsOf(job) + row * job.out;
      ForEachVector(job.out, [&]<typename Vector>(int c) {
        TransformGradientTile<kPlace, Vector>(
            job.gradient + i * kNumSquares * job.out + c, job.out,
            gradient_plane, gradients + c);
      });
    }
  }

  // sums[i][o] += inputs[row][i] gradients[row][o] over rows, of kInputs input
  // channels and kVectors vectors of output channels.
  template <int kVectors>
  static void AddProducts(int rows, const float* inputs, int in,
                          const float* gradients, int out, float* sums) {
    // Unrolled, or the sums would be kept in memory.
    Lanes parts[kInputs * kVectors];
#pragma GCC unroll 16
    for (int s = 0; s < kInputs * kVectors; ++s) {
      parts[s] = Load<Lanes>(sums + s / kVectors * out + s % kVectors * kLanes);
    }
    for (int row = 0; row < rows; ++row) {
      Lanes factors[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        factors[v] = Load<Lanes>(gradients + row * out + v * kLanes);
      }
#pragma GCC unroll 16
      for (int s = 0; s < kInputs * kVectors; ++s) {
        parts[s] += inputs[row * in + s / kVectors] * factors[s % kVectors];
      }
    }
#pragma GCC unroll 16
    for (int s = 0; s < kInputs * kVectors; ++s) {
      Tiles::Store(parts[s], sums + s / kVectors * out + s % kVectors * kLanes);
    }
  }

  static void AddGroup(const WinogradGradientJob& job) {
    TransformPlace<0>(job);
    TransformPlace<1>(job);
    TransformPlace<2>(job);
    TransformPlace<3>(job);
    for (int point = 0; point < kWinogradPoints; ++point) {
      const int first = Tiles::FirstRow(point, job.positions);
      const int rows = Tiles::EndRow(point, job.positions) - first;
      const float* const inputs =
          InputsOf(job) + point * Plane(job, job.in) + first * job.in;
      const float* const gradients =
          GradientsOf(job) + point * Plane(job, job.out) + first * job.out;
      for (int input = 0; input < job.in; input += kInputs) {
        float* const sums = SumsOf(job) + (point * job.in + input) * job.out;
        int output = 0;
        for (; output + 2 * kLanes <= job.out; output += 2 * kLanes) {
          AddProducts<2>(rows, inputs + input, job.in, gradients + output,
                         job.out, sums + output);
        }
        for (; output < job.out; output += kLanes) {
          AddProducts<1>(rows, inputs + input, job.in, gradients + output,
                         job.out, sums + output);
        }
      }
    }
  }

  // The filters of an input channel and a vector of output channels.
  template <typename Floats>
  static void FinishVector(const WinogradGradientJob& job, int input,
                           int output) {
    const float* const sums = SumsOf(job) + input * job.out + output;
    Floats lines[kTaps][kWinogradLine];
    for (int j = 0; j < kWinogradLine; ++j) {
      Floats column[kWinogradLine];
      for (int i = 0; i < kWinogradLine; ++i) {
        column[i] =
            Load<Floats>(sums + (kWinogradLine * i + j) * job.in * job.out);
      }
      Floats transformed[kTaps];
      TransformSums(column, transformed);
      for (int y = 0; y < kTaps; ++y) lines[y][j] = transformed[y];
    }
    for (int y = 0; y < kTaps; ++y) {
      Floats transformed[kTaps];
      TransformSums(lines[y], transformed);
      for (int x = 0; x < kTaps; ++x) {
        Tiles::Store(
            transformed[x],
            job.result + ((y * kTaps + x) * job.in + input) * job.out + output);
      }
    }
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_CPU_WINOGRAD_LEARNING_TEMPLATES_H_
