#ifndef TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_
#define TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_

// The code of cpu_kernels.h, compiled once for each instruction set by the
// files that include it.

#include <algorithm>
#include <cstring>

#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::internal {

// Winograd's convolutions. `kSet` keeps the instances of different files apart.
template <InstructionSet kSet>
class WinogradCode {
 public:
  static void Convolve(const WinogradJob& job) {
    for (int first = 0; first < job.positions; first += kWinogradGroup) {
      WinogradJob part = job;
      part.positions = std::min(kWinogradGroup, job.positions - first);
      part.source += first * kNumSquares * job.layer->in;
      part.destination += first * kNumSquares * job.layer->out;
      ConvolveGroup(part);
    }
  }

 private:
  // The tiles of positions, ordered by the location of the tile: the first two
  // are at the top, the middle two at the left, so that rows of a point that
  // the others lack are adjacent.
  struct Place {
    int down;   // 0: outputs 0 to 3; 1: outputs 4 to 6
    int right;  // as above
  };
  static constexpr Place kPlaces[] = {{0, 1}, {0, 0}, {1, 0}, {1, 1}};

  static constexpr bool kWide = kSet == InstructionSet::kAvx512;
  // A full register, and eight channels.
  static constexpr int kLanes = kWide ? 16 : 8;
  typedef float Floats __attribute__((vector_size(sizeof(float) * kLanes)));
  typedef float Eight __attribute__((vector_size(sizeof(float) * 8)));

  template <typename Vector>
  static Vector Load(const float* from) {
    Vector values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }
  template <typename Vector>
  static void Store(const Vector& values, float* to) {
    std::memcpy(to, &values, sizeof(values));
  }

  // Points of a line, and outputs, of tiles at a place.
  static constexpr int Points(int at) { return kWinogradLine - at; }
  static constexpr int Outputs(int at) { return 4 - at; }

  // The rows with the point, for tiles of that many positions.
  static constexpr int FirstRow(int point, int positions) {
    return IsLeft(point) ? positions : 0;
  }
  static constexpr int EndRow(int point, int positions) {
    return (IsTop(point) ? 2 : IsLeft(point) ? 3 : 4) * positions;
  }

  // Output (y, x) of the tile at a place is on this square; -1 off the grid.
  // Input (y, x) is on that of output (y - 1, x - 1).
  static constexpr int SquareAt(const Place& place, int y, int x) {
    const int rank = 4 * place.down + y, file = 4 * place.right + x;
    const bool on_grid =
        rank >= 0 && rank < kBoardSize && file >= 0 && file < kBoardSize;
    return on_grid ? rank * kBoardSize + file : -1;
  }

  // Calls transform.operator()<Vector>(c) for vectors of channels from c on:
  // full registers while they fit, then eights. REQUIRES: whole eights.
  template <typename Function>
  static void ForEachVector(int channels, const Function& transform) {
    int c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      transform.template operator()<Floats>(c);
    }
    for (; c < channels; c += 8) transform.template operator()<Eight>(c);
  }

  // B^T d, as differences that points share.
  template <typename Vector>
  static void TransformInput(const Vector (&d)[6], Vector (&v)[6]) {
    const Vector even = d[4] - 4 * d[2];
    const Vector odd = d[3] - 4 * d[1];
    const Vector far_even = d[4] - d[2];
    const Vector far_odd = 2 * (d[3] - d[1]);
    v[0] = 4 * (d[0] - d[2]) + far_even;
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = far_even + far_odd;
    v[4] = far_even - far_odd;
    v[5] = 4 * (d[1] - d[3]) + (d[5] - d[3]);
  }

  // A^T m.
  static void TransformOutput(const Floats (&m)[6], Floats (&y)[4]) {
    const Floats near = m[1] + m[2];
    const Floats near_odd = m[1] - m[2];
    const Floats far = m[3] + m[4];
    const Floats far_odd = m[3] - m[4];
    y[0] = m[0] + near + far;
    y[1] = near_odd + 2 * far_odd;
    y[2] = near + 4 * far;
    y[3] = near_odd + 8 * far_odd + m[5];
  }

  // Calls store(point, values) with B^T d B of the tile at kPlaces[kPlace] of a
  // position, whose rows lie `channels` apart.
  template <int kPlace, typename Vector, typename StoreFunction>
  static void TransformTile(const float* source, int channels,
                            const StoreFunction& store) {
    constexpr Place kAt = kPlaces[kPlace];
    Vector lines[6][6];
    for (int x = 0; x < Points(kAt.right); ++x) {
      Vector column[6];
      for (int y = 0; y < 6; ++y) {
        const int square = SquareAt(kAt, y - 1, x - 1);
        column[y] =
            square >= 0 ? Load<Vector>(source + square * channels) : Vector{};
      }
      Vector transformed[6];
      TransformInput(column, transformed);
      for (int i = 0; i < Points(kAt.down); ++i) lines[i][x] = transformed[i];
    }
    for (int i = 0; i < Points(kAt.down); ++i) {
      if (kAt.right == 1) lines[i][5] = Vector{};
      Vector transformed[6];
      TransformInput(lines[i], transformed);
      for (int j = 0; j < Points(kAt.right); ++j) {
        store(kWinogradLine * i + j, transformed[j]);
      }
    }
  }

  static constexpr int kLast = kWinogradLine - 1;
  static constexpr bool IsTop(int point) {
    return point / kWinogradLine == kLast;
  }
  static constexpr bool IsLeft(int point) {
    return point % kWinogradLine == kLast;
  }

  // Rows whose sums and weights fill the registers.
#if defined(__wasm__)
  static constexpr int kMaxRows = 2;  // of four floats each
#else
  static constexpr int kMaxRows = kWide ? 12 : 6;
#endif

  static constexpr int kVectors = kWinogradBlock / kLanes;

  // Numbers from one point's to the next's: not a power of two, or all would
  // want the same lines of the first cache.
  static int InputPlane(const WinogradJob& job) {
    return 4 * job.positions * job.layer->in + 16;
  }
  static int ProductPlane(const WinogradJob& job) {
    return 4 * job.positions * kWinogradBlock + 16;
  }

  template <int kPlace>
  static void TransformPlace(const WinogradJob& job, float* inputs) {
    const int in = job.layer->in;
    const int plane = InputPlane(job);
    for (int i = 0; i < job.positions; ++i) {
      const float* const source = job.source + i * kNumSquares * in;
      float* const row = inputs + (kPlace * job.positions + i) * in;
      ForEachVector(in, [&]<typename Vector>(int c) {
        TransformTile<kPlace, Vector>(source + c, in,
                                      [&](int point, const Vector& values) {
                                        Store(values, row + c + point * plane);
                                      });
      });
    }
  }

  // products[r] = inputs[r] weights, of kRows rows, which stay in registers.
  template <int kRows>
  static void MultiplyRows(const float* inputs, const float* weights, int in,
                           float* products) {
    // Unrolled, or the sums would be kept in memory.
    Floats sums[kRows * kVectors];
#pragma GCC unroll 12
    for (int s = 0; s < kRows * kVectors; ++s) sums[s] = Floats{};
    for (int i = 0; i < in; ++i, weights += kWinogradBlock) {
      Floats factors[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        factors[v] = Load<Floats>(weights + v * kLanes);
#pragma GCC unroll 12
      for (int s = 0; s < kRows * kVectors; ++s) {
        // A zero of either sign would survive an addition.
        const Floats input = inputs[s / kVectors * in + i] - Floats{};
        sums[s] += input * factors[s % kVectors];
      }
    }
#pragma GCC unroll 12
    for (int s = 0; s < kRows * kVectors; ++s) {
      Store(sums[s], products + s * kLanes);
    }
  }

  // The same of the rows from `row` to `end`: kRows at a time, then fewer.
  template <int kRows = kMaxRows>
  static void Multiply(int row, int end, const float* inputs,
                       const float* weights, int in, float* products) {
    for (; row + kRows <= end; row += kRows) {
      MultiplyRows<kRows>(inputs + row * in, weights, in,
                          products + row * kWinogradBlock);
    }
    if constexpr (kRows > 1) {
      constexpr int kFewer = kRows > 8 ? 8 : kRows > 4 ? 4 : kRows / 2;
      Multiply<kFewer>(row, end, inputs, weights, in, products);
    }
  }

  // kLanes output channels of a tile.
  template <int kPlace>
  static void FinishTile(const WinogradJob& job, const float* products,
                         const Floats& bias, float* destination) {
    const int plane = ProductPlane(job);
    constexpr Place kAt = kPlaces[kPlace];
    Floats lines[4][6];
    for (int j = 0; j < Points(kAt.right); ++j) {
      Floats column[6] = {};
      for (int i = 0; i < Points(kAt.down); ++i) {
        column[i] = Load<Floats>(products + (kWinogradLine * i + j) * plane);
      }
      Floats outputs[4];
      TransformOutput(column, outputs);
      for (int y = 0; y < Outputs(kAt.down); ++y) {
        lines[y][j] = outputs[y];
      }
    }
    for (int y = 0; y < Outputs(kAt.down); ++y) {
      if (kAt.right == 1) lines[y][5] = Floats{};
      Floats outputs[4];
      TransformOutput(lines[y], outputs);
      for (int x = 0; x < Outputs(kAt.right); ++x) {
        float* const to = destination + SquareAt(kAt, y, x) * job.layer->out;
        Floats value = outputs[x] + bias;
        if (job.add_to_destination) value += Load<Floats>(to);
        Store(value > 0 ? value : Floats{}, to);
      }
    }
  }

  template <int kPlace>
  static void FinishPlace(const WinogradJob& job, const float* products,
                          int block) {
    const int out = job.layer->out;
    for (int i = 0; i < job.positions; ++i) {
      const float* const row =
          products + (kPlace * job.positions + i) * kWinogradBlock;
      for (int c = 0; c < kWinogradBlock; c += kLanes) {
        const int channel = block * kWinogradBlock + c;
        FinishTile<kPlace>(job, row + c,
                           Load<Floats>(job.layer->bias.data() + channel),
                           job.destination + i * kNumSquares * out + channel);
      }
    }
  }

  // Convolves some positions. A row is a tile: of a place, of a position.
  static void ConvolveGroup(const WinogradJob& job) {
    const WinogradLayer& layer = *job.layer;
    // [36, rows, in], then [36, rows, 16].
    float* const inputs = job.scratch;
    float* const products = job.scratch + kWinogradPoints * InputPlane(job);
    // 1. The inputs of all tiles, transformed: B^T d B.
    TransformPlace<0>(job, inputs);
    TransformPlace<1>(job, inputs);
    TransformPlace<2>(job, inputs);
    TransformPlace<3>(job, inputs);
    const float* weights = layer.weights.data();
    for (int block = 0; block < layer.out / kWinogradBlock; ++block) {
      // 2. For a block of output channels, at each point the product of a
      //    matrix of inputs [rows, in] and one of weights [in, 16].
      for (int point = 0; point < kWinogradPoints; ++point) {
        Multiply(FirstRow(point, job.positions), EndRow(point, job.positions),
                 inputs + point * InputPlane(job), weights, layer.in,
                 products + point * ProductPlane(job));
        weights += layer.in * kWinogradBlock;
      }
      // 3. The outputs of its tiles, transformed back: A^T m A; with bias, sum
      //    and ReLU.
      FinishPlace<0>(job, products, block);
      FinishPlace<1>(job, products, block);
      FinishPlace<2>(job, products, block);
      FinishPlace<3>(job, products, block);
    }
  }
};

// The table, and all other kernels: their vectors are of 16 floats everywhere,
// which the compiler splits where registers are shorter.
template <InstructionSet kSet>
class CpuKernelCode {
 public:
  static constexpr CpuKernels Table() {
    return {.pool = Pool,
            .linear = ApplyLinear,
            .add_to_rows = AddToRows,
            .convolve = WinogradCode<kSet>::Convolve};
  }

 private:
  static constexpr int kWidth = kChannelVector;
  typedef float Floats __attribute__((vector_size(sizeof(float) * kWidth)));

  static Floats Load(const float* from) {
    Floats values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }
  static void Store(const Floats& values, float* to) {
    std::memcpy(to, &values, sizeof(values));
  }

  // Calls visit(square) for the 45 squares that are hills.
  template <typename Visit>
  static void ForEachHillSquare(Visit visit) {
    constexpr int kLast = kBoardSize - 1;
    for (int square = 1; square < kNumSquares - 1; ++square) {
      if (square == kLast || square == kNumSquares - 1 - kLast) continue;
      visit(square);
    }
  }

  static void Pool(const float* rows, int channels, float* pooled) {
    for (int c = 0; c < channels; c += kWidth) {
      Floats sum = {};
      Floats maximum = {};
      ForEachHillSquare([&](int square) {
        const Floats values = Load(rows + square * channels + c);
        sum += values;
        maximum = values > maximum ? values : maximum;
      });
      Store(sum * (1.0f / kNumHills), pooled + c);
      Store(maximum, pooled + channels + c);
    }
  }

  // kRows positions and kVectors vectors of outputs, whose sums stay in
  // registers. Each output is summed in the order of the inputs.
  template <int kRows, int kVectors>
  static void LinearPart(const CpuLinearWeights& layer, const float* bias,
                         bool relu, int first, const float* inputs,
                         float* outputs) {
    Floats sums[kRows][kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const Floats biases = Load(bias + first + v * kWidth);
      for (int r = 0; r < kRows; ++r) sums[r][v] = biases;
    }
    const float* weight = layer.weight.data() + first;
    for (int i = 0; i < layer.in; ++i, weight += layer.out) {
      for (int v = 0; v < kVectors; ++v) {
        const Floats weights = Load(weight + v * kWidth);
        for (int r = 0; r < kRows; ++r) {
          sums[r][v] += weights * inputs[r * layer.in + i];
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        if (relu) sums[r][v] = sums[r][v] > 0 ? sums[r][v] : Floats{};
        Store(sums[r][v], outputs + r * layer.out + first + v * kWidth);
      }
    }
  }

  // The outputs from `first` on: kVectors at a time, then fewer.
  template <int kRows, int kVectors>
  static void LinearRows(const CpuLinearWeights& layer, const float* bias,
                         bool relu, int first, const float* inputs,
                         float* outputs) {
    for (; first + kVectors * kWidth <= layer.out; first += kVectors * kWidth) {
      LinearPart<kRows, kVectors>(layer, bias, relu, first, inputs, outputs);
    }
    if constexpr (kVectors > 1) {
      LinearRows<kRows, kVectors - 1>(layer, bias, relu, first, inputs,
                                      outputs);
    }
  }

  static void ApplyLinear(const CpuLinearWeights& layer, const float* bias,
                          int batch, bool relu, const float* inputs,
                          float* outputs) {
    int row = 0;
    const auto apply = [&]<int kRows>() {
      // As many sums as there are registers for.
      constexpr int kVectors = kSet != InstructionSet::kAvx512 ? 4 / kRows
                               : kRows > 4                     ? 3
                                                               : 4;
      for (; row + kRows <= batch; row += kRows) {
        LinearRows<kRows, kVectors>(layer, bias, relu, 0,
                                    inputs + row * layer.in,
                                    outputs + row * layer.out);
      }
    };
    if constexpr (kSet == InstructionSet::kAvx512) {
      apply.template operator()<8>();
    }
    apply.template operator()<4>();
    apply.template operator()<1>();
  }

  static void AddToRows(const float* bias, int channels, float* rows) {
    for (int c = 0; c < channels; c += kWidth) {
      const Floats addend = Load(bias + c);
      for (int square = 0; square < kNumSquares; ++square) {
        float* const row = rows + square * channels + c;
        Store(Load(row) + addend, row);
      }
    }
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_
