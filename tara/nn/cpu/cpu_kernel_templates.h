#ifndef TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_
#define TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_

// The code of cpu_kernels.h, compiled once for each instruction set by the
// files that include it. Vectors are of 16 floats everywhere, which the
// compiler splits where registers are shorter.

#include <cstring>

#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/cpu/winograd_templates.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::internal {

// `kSet` keeps the instances of different files apart.
template <InstructionSet kSet>
class CpuKernelCode {
 public:
  static constexpr CpuKernels Table() {
    return {.pool = Pool,
            .linear = ApplyLinear,
            .fill_rows = FillRows,
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

  template <int kRows>
  static void LinearRows(const CpuLinearWeights& layer, const float* bias,
                         bool relu, const float* inputs, float* outputs) {
    // As many sums as there are registers for.
    constexpr int kVectors = kSet != InstructionSet::kAvx512 ? 4 / kRows
                             : kRows > 4                     ? 3
                                                             : 4;
    int first = 0;
    for (; first + kVectors * kWidth <= layer.out; first += kVectors * kWidth) {
      LinearPart<kRows, kVectors>(layer, bias, relu, first, inputs, outputs);
    }
    switch ((layer.out - first) / kWidth) {
      case 3:
        LinearPart<kRows, 3>(layer, bias, relu, first, inputs, outputs);
        break;
      case 2:
        LinearPart<kRows, 2>(layer, bias, relu, first, inputs, outputs);
        break;
      case 1:
        LinearPart<kRows, 1>(layer, bias, relu, first, inputs, outputs);
        break;
      default:
        break;
    }
  }

  static void ApplyLinear(const CpuLinearWeights& layer, const float* bias,
                          int batch, bool relu, const float* inputs,
                          float* outputs) {
    int row = 0;
    const auto apply = [&]<int kRows>() {
      for (; row + kRows <= batch; row += kRows) {
        LinearRows<kRows>(layer, bias, relu, inputs + row * layer.in,
                          outputs + row * layer.out);
      }
    };
    if constexpr (kSet == InstructionSet::kAvx512) {
      apply.template operator()<8>();
    }
    apply.template operator()<4>();
    apply.template operator()<1>();
  }

  static void FillRows(const float* bias, int channels, float* rows) {
    for (int square = 0; square < kNumSquares; ++square) {
      std::memcpy(rows + square * channels, bias, sizeof(float) * channels);
    }
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
