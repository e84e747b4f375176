#ifndef TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_
#define TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_

// The code of cpu_kernels.h, compiled once for each instruction set by the
// files that include it. Vectors are of 16 floats everywhere, which the
// compiler splits where registers are shorter.

#include <cstdint>
#include <cstring>

#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/cpu/winograd_learning_templates.h"
#include "tara/nn/cpu/winograd_templates.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::internal {

// `kSet` keeps the instances of different files apart.
template <InstructionSet kSet>
class CpuKernelCode {
 public:
  static constexpr CpuKernels Table() {
    return {.pool_floats = PoolFloats<float>,
            .pool_bfloats = PoolFloats<Bfloat16>,
            .pool_bytes = PoolBytes,
            .linear = ApplyLinear,
            .fill_rows = FillRows,
            .add_to_rows = AddToRows,
            .rows_to_bytes = RowsToBytes,
            .to_bytes = ToBytes,
            .to_bfloats = ToBfloats,
            .convolve_floats = WinogradCode<kSet, float>::Convolve,
            .convolve_integers = WinogradCode<kSet, int16_t>::Convolve,
            .transform_filters = WinogradLearningCode<kSet>::TransformFilters,
            .differentiate_filters =
                WinogradLearningCode<kSet>::DifferentiateFilters};
  }

 private:
  static constexpr int kWidth = kChannelVector;
  template <typename Element, int kLanes>
  struct VectorOf {
    typedef Element Type __attribute__((vector_size(sizeof(Element) * kLanes)));
  };
  template <int kLanes = kWidth>
  using FloatsOf = typename VectorOf<float, kLanes>::Type;
  using Floats = FloatsOf<>;

  template <typename Vector, typename Element>
  static Vector LoadAs(const Element* from) {
    Vector values;
    std::memcpy(&values, from, sizeof(values));
    return values;
  }
  template <int kLanes = kWidth>
  static FloatsOf<kLanes> Load(const float* from) {
    return LoadAs<FloatsOf<kLanes>>(from);
  }
  static Floats Load(const uint8_t* from) {
    using Bytes = typename VectorOf<uint8_t, kWidth>::Type;
    using Ints = typename VectorOf<int32_t, kWidth>::Type;
    return __builtin_convertvector(
        __builtin_convertvector(LoadAs<Bytes>(from), Ints), Floats);
  }
  static Floats Load(const Bfloat16* from) {
    using Halves = typename VectorOf<uint16_t, kWidth>::Type;
    using Words = typename VectorOf<uint32_t, kWidth>::Type;
    const Words words = __builtin_convertvector(LoadAs<Halves>(from), Words)
                        << 16;
    return reinterpret_cast<Floats>(words);
  }
  template <typename Vector, typename Element>
  static void Store(const Vector& values, Element* to) {
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

  // Sets the mean and the maximum of the vector of channels at `rows`.
  template <typename Element>
  static void PoolVector(const Element* rows, int channels, Floats& mean,
                         Floats& maximum) {
    Floats sum = {};
    maximum = Floats{};
    ForEachHillSquare([&](int square) {
      const Floats values = Load(rows + square * channels);
      sum += values;
      maximum = values > maximum ? values : maximum;
    });
    mean = sum * (1.0f / kNumHills);
  }

  template <typename Element>
  static void PoolFloats(const Element* rows, int channels, float* pooled) {
    for (int c = 0; c < channels; c += kWidth) {
      Floats mean;
      Floats maximum;
      PoolVector(rows + c, channels, mean, maximum);
      Store(mean, pooled + c);
      Store(maximum, pooled + channels + c);
    }
  }

  // Sums are exact in 16 bits: 45 bytes are less than 11476.
  template <int kLanes>
  static void PoolByteVector(const uint8_t* rows, int channels,
                             const float* scales, float* mean, float* maximum) {
    using Bytes = typename VectorOf<uint8_t, kLanes>::Type;
    using Halves = typename VectorOf<uint16_t, kLanes>::Type;
    Halves sums = {};
    Bytes highest = {};
    ForEachHillSquare([&](int square) {
      const auto values = LoadAs<Bytes>(rows + square * channels);
      sums += __builtin_convertvector(values, Halves);
      highest = values > highest ? values : highest;
    });
    uint16_t sums_of[kLanes];
    uint8_t highest_of[kLanes];
    Store(sums, sums_of);
    Store(highest, highest_of);
    for (int i = 0; i < kLanes; ++i) {
      mean[i] = static_cast<float>(sums_of[i]) * (scales[i] / kNumHills);
      maximum[i] = static_cast<float>(highest_of[i]) * scales[i];
    }
  }

  static void PoolBytes(const uint8_t* rows, int channels, const float* scales,
                        float* pooled) {
    int c = 0;
    for (; c + 32 <= channels; c += 32) {
      PoolByteVector<32>(rows + c, channels, scales + c, pooled + c,
                         pooled + channels + c);
    }
    if (c < channels) {
      PoolByteVector<kWidth>(rows + c, channels, scales + c, pooled + c,
                             pooled + channels + c);
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

  template <int kLanes>
  static void StoreBytes(const FloatsOf<kLanes>& scaled, uint8_t* bytes) {
    using Ints = typename VectorOf<int32_t, kLanes>::Type;
    using Bytes = typename VectorOf<uint8_t, kLanes>::Type;
    const FloatsOf<kLanes> rounded = scaled + 0.5f;
    const FloatsOf<kLanes> limited =
        rounded < 255.0f ? rounded : FloatsOf<kLanes>{} + 255.0f;
    Store(
        __builtin_convertvector(__builtin_convertvector(limited, Ints), Bytes),
        bytes);
  }

  static void RowsToBytes(const float* rows, int num_rows, int channels,
                          const float* inverse_scales, uint8_t* bytes) {
    for (int c = 0; c < channels; c += kWidth) {
      const Floats scale = Load(inverse_scales + c);
      for (int row = 0; row < num_rows; ++row) {
        StoreBytes<kWidth>(Load(rows + row * channels + c) * scale,
                           bytes + row * channels + c);
      }
    }
  }

  static void ToBytes(const float* values, int size, float inverse_scale,
                      uint8_t* bytes) {
    for (int i = 0; i < size; i += 8) {
      StoreBytes<8>(Load<8>(values + i) * inverse_scale, bytes + i);
    }
  }

  static void ToBfloats(const float* values, int size, Bfloat16* bfloats) {
    using Halves = typename VectorOf<uint16_t, 8>::Type;
    using Words = typename VectorOf<uint32_t, 8>::Type;
    for (int i = 0; i < size; i += 8) {
      const Words bits = LoadAs<Words>(values + i);
      const Words rounded = bits + 0x7fff + ((bits >> 16) & 1);
      Store(__builtin_convertvector(rounded >> 16, Halves), bfloats + i);
    }
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_CPU_CPU_KERNEL_TEMPLATES_H_
