#ifndef TARA_NN_CPU_KERNEL_TEMPLATES_H_
#define TARA_NN_CPU_KERNEL_TEMPLATES_H_

// The code of cpu_kernels.h, compiled once for each instruction set by the
// files that include it. Vectors are of 16 floats everywhere, which the
// compiler splits where registers are shorter.

#include <cstdint>
#include <cstring>

#include "tara/core/instruction_set.h"
#include "tara/nn/cpu_kernels.h"
#include "tara/nn/features.h"

namespace tara::internal {

// `kSet` keeps the instances of different files apart.
template <InstructionSet kSet>
class CpuKernelCode {
 public:
  static constexpr CpuKernels Table() {
    return {.pool_floats = Pool<float>,
            .pool_bytes = Pool<uint8_t>,
            .pool_bfloats = Pool<Bfloat16>,
            .linear = ApplyLinear,
            .fill_rows = FillRows,
            .add_to_rows = AddToRows,
            .to_bytes = ToBytes,
            .to_bfloats = ToBfloats};
  }

 private:
  static constexpr int kWidth = kChannelVector;
  typedef float Floats __attribute__((vector_size(4 * kWidth)));
  typedef int32_t Ints __attribute__((vector_size(4 * kWidth)));
  typedef uint32_t Words __attribute__((vector_size(4 * kWidth)));
  typedef uint16_t Halves __attribute__((vector_size(2 * kWidth)));
  typedef uint8_t Bytes __attribute__((vector_size(kWidth)));

  static Floats Load(const float* from) {
    Floats values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }
  static Floats Load(const uint8_t* from) {
    Bytes bytes;
    std::memcpy(&bytes, from, sizeof(bytes));
    return __builtin_convertvector(__builtin_convertvector(bytes, Ints),
                                   Floats);
  }
  static Floats Load(const Bfloat16* from) {
    Halves halves;
    std::memcpy(&halves, from, sizeof(halves));
    return reinterpret_cast<Floats>(__builtin_convertvector(halves, Words)
                                    << 16);
  }
  template <typename Vector, typename Element>
  static void Store(const Vector& values, Element* to) {
    std::memcpy(to, &values, sizeof(values));
  }
  static Floats All(float value) { return Floats{} + value; }

  // Calls visit(square) for the 45 squares that are hills.
  template <typename Visit>
  static void ForEachHillSquare(Visit visit) {
    constexpr int kLast = kBoardSize - 1;
    for (int square = 1; square < kNumSquares - 1; ++square) {
      if (square == kLast || square == kNumSquares - 1 - kLast) continue;
      visit(square);
    }
  }

  template <typename Element>
  static void Pool(const Element* rows, int channels, float scale,
                   float* pooled) {
    for (int c = 0; c < channels; c += kWidth) {
      Floats sum = {};
      Floats maximum = {};
      ForEachHillSquare([&](int square) {
        const Floats values = Load(rows + square * channels + c);
        sum += values;
        maximum = values > maximum ? values : maximum;
      });
      Store(sum * (scale / kNumHills), pooled + c);
      Store(maximum * scale, pooled + channels + c);
    }
  }

  // kRows positions and kVectors vectors of outputs, whose sums stay in
  // registers. Each output is summed in the order of the inputs.
  template <int kRows, int kVectors>
  static void LinearPart(const CpuLinearWeights& layer, bool relu, int first,
                         const float* inputs, float* outputs) {
    Floats sums[kRows][kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const Floats bias = Load(layer.bias.data() + first + v * kWidth);
      for (int r = 0; r < kRows; ++r) sums[r][v] = bias;
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
  static void LinearRows(const CpuLinearWeights& layer, bool relu,
                         const float* inputs, float* outputs) {
    int first = 0;
    for (; first + 4 * kWidth <= layer.out; first += 4 * kWidth) {
      LinearPart<kRows, 4>(layer, relu, first, inputs, outputs);
    }
    for (; first < layer.out; first += kWidth) {
      LinearPart<kRows, 1>(layer, relu, first, inputs, outputs);
    }
  }

  static void ApplyLinear(const CpuLinearWeights& layer, int batch, bool relu,
                          const float* inputs, float* outputs) {
    constexpr int kRows = kSet == InstructionSet::kAvx512 ? 4 : 1;
    int row = 0;
    for (; row + kRows <= batch; row += kRows) {
      LinearRows<kRows>(layer, relu, inputs + row * layer.in,
                        outputs + row * layer.out);
    }
    for (; row < batch; ++row) {
      LinearRows<1>(layer, relu, inputs + row * layer.in,
                    outputs + row * layer.out);
    }
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

  static void ToBytes(const float* values, int size, float inverse_scale,
                      uint8_t* bytes) {
    const Floats highest = All(255.0f);
    for (int i = 0; i < size; i += kWidth) {
      const Floats scaled = Load(values + i) * inverse_scale + 0.5f;
      const Floats limited = scaled < highest ? scaled : highest;
      Store(__builtin_convertvector(__builtin_convertvector(limited, Ints),
                                    Bytes),
            bytes + i);
    }
  }

  static void ToBfloats(const float* values, int size, Bfloat16* bfloats) {
    for (int i = 0; i < size; i += kWidth) {
      const auto bits = reinterpret_cast<Words>(Load(values + i));
      const Words rounded = bits + 0x7fff + ((bits >> 16) & 1);
      Store(__builtin_convertvector(rounded >> 16, Halves), bfloats + i);
    }
  }
};

}  // namespace tara::internal

#endif  // TARA_NN_CPU_KERNEL_TEMPLATES_H_
