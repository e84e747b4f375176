#ifndef TARA_NN_CPU_WINOGRAD_TEMPLATES_H_
#define TARA_NN_CPU_WINOGRAD_TEMPLATES_H_

// The code of Winograd convolutions (winograd_layer.h), compiled once for each
// instruction set by the files that include it.

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tara/core/instruction_set.h"
#include "tara/nn/cpu/winograd_layer.h"
#include "tara/nn/cpu/winograd_tiles.h"
#include "tara/nn/encode/features.h"

namespace tara::nn::internal {

// `Number` is what is multiplied: float, or int16_t with sums in 32 bits.
// `kSet` keeps the instances of different files apart.
template <InstructionSet kSet, typename Number>
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
  static constexpr bool kIntegers = std::is_same_v<Number, int16_t>;
  using Sum = std::conditional_t<kIntegers, int32_t, float>;

  static constexpr bool kWide = kSet == InstructionSet::kAvx512;
  static constexpr int kLanes = kWide ? 16 : 8;
  static constexpr int kVectors = kWinogradBlock / kLanes;
  // Rows whose sums fill the registers, beside the weights.
  static constexpr int kMostRows = kWide ? 12 : 6;

  using Tiles = WinogradTiles<kSet>;
  // Transformed inputs become 16 bits by eights.
  using Inputs = std::conditional_t<kIntegers, typename Tiles::Eight,
                                    typename Tiles::Widest>;
  using Floats = typename Tiles::Widest;
  static constexpr int kFinished = Tiles::template kChannels<Floats>;
  using Sums = typename Tiles::template VectorOf<Sum, kLanes>::Type;
  using Place = typename Tiles::Place;

  static constexpr int kLine = 64;  // bytes of the caches

  template <typename Vector, typename Element>
  static Vector Load(const Element* from) {
    return Tiles::template Load<Vector>(from);
  }
  template <typename Vector, typename Element>
  static void Store(const Vector& values, Element* to) {
    Tiles::Store(values, to);
  }

  // Numbers from one point's to the next's: not a power of two, or all would
  // want the same lines of the first cache.
  static int InputPlane(const WinogradJob& job) {
    return 4 * job.positions * job.layer->in + kLine / sizeof(Number);
  }
  static int ProductPlane(const WinogradJob& job) {
    return 4 * job.positions * kWinogradBlock + kLine / sizeof(Sum);
  }

  static void StoreInput(const auto& values, float scale, Number* to) {
    if constexpr (kIntegers) {
      // Rounded; what is beyond 16 bits becomes the outermost number.
      const __m256i rounded = _mm256_cvtps_epi32((__m256)(values * scale));
      const __m128i packed =
          _mm_packs_epi32(_mm256_castsi256_si128(rounded),
                          _mm256_extracti128_si256(rounded, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
    } else {
      Store(values, to);
    }
  }

  template <int kPlace>
  static void TransformPlace(const WinogradJob& job, Number* inputs) {
    const int in = job.layer->in;
    const int plane = InputPlane(job);
    for (int i = 0; i < job.positions; ++i) {
      const float* const source = job.source + i * kNumSquares * in;
      Number* const row = inputs + (kPlace * job.positions + i) * in;
      Tiles::template ForEachVector<Inputs>(in, [&]<typename Vector>(int c) {
        Tiles::template TransformTile<kPlace, Vector>(
            source + c, in, [&](int point, const Vector& values) {
              StoreInput(values, job.layer->scales[point],
                         row + c + point * plane);
            });
      });
    }
  }

  static Sums MultiplyAdd(const Sums& sum, const Sums& inputs,
                          const Sums& weights) {
    if constexpr (!kIntegers) {
      return sum + inputs * weights;
    } else if constexpr (kWide) {
      return sum + (Sums)_mm512_madd_epi16((__m512i)inputs, (__m512i)weights);
    } else {
      return sum + (Sums)_mm256_madd_epi16((__m256i)inputs, (__m256i)weights);
    }
  }

  // One input, or two that lie together as integers, in every lane.
  static Sums Broadcast(const Number* from) {
    Sum value;
    std::memcpy(&value, from, sizeof(value));
    return value - Sums{};  // a zero of either sign would survive
  }

  // products[r] = inputs[r] weights, of kRows rows, which stay in registers.
  template <int kRows>
  static void MultiplyRows(const Number* inputs, const Number* weights, int in,
                           Sum* products) {
    constexpr int kStep = sizeof(Sum) / sizeof(Number);
    // Unrolled, or the sums would be kept in memory.
    Sums sums[kRows * kVectors];
#pragma GCC unroll 12
    for (int s = 0; s < kRows * kVectors; ++s) sums[s] = Sums{};
    for (int i = 0; i < in; i += kStep) {
      Sums factors[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        factors[v] = Load<Sums>(weights + v * kLanes * kStep);
      }
      weights += kWinogradBlock * kStep;
#pragma GCC unroll 12
      for (int s = 0; s < kRows * kVectors; ++s) {
        sums[s] =
            MultiplyAdd(sums[s], Broadcast(inputs + s / kVectors * in + i),
                        factors[s % kVectors]);
      }
    }
#pragma GCC unroll 12
    for (int s = 0; s < kRows * kVectors; ++s) {
      Store(sums[s], products + s * kLanes);
    }
  }

  template <int kRows>
  static void MultiplyWhile(int& row, int end, const Number* inputs,
                            const Number* weights, int in, Sum* products) {
    for (; row + kRows <= end; row += kRows) {
      MultiplyRows<kRows>(inputs + row * in, weights, in,
                          products + row * kWinogradBlock);
    }
  }

  static void Multiply(int row, int end, const Number* inputs,
                       const Number* weights, int in, Sum* products) {
    MultiplyWhile<kMostRows>(row, end, inputs, weights, in, products);
    if constexpr (kWide) {
      MultiplyWhile<8>(row, end, inputs, weights, in, products);
    }
    MultiplyWhile<4>(row, end, inputs, weights, in, products);
    MultiplyWhile<2>(row, end, inputs, weights, in, products);
    MultiplyWhile<1>(row, end, inputs, weights, in, products);
  }

  static Floats LoadProduct(const Sum* product, const float* unit) {
    if constexpr (kIntegers) {
      using Integers =
          typename Tiles::template VectorOf<int32_t, kFinished>::Type;
      return __builtin_convertvector(Load<Integers>(product), Floats) *
             Load<Floats>(unit);
    } else {
      return Load<Floats>(product);
    }
  }

  // kFinished output channels of a tile.
  template <int kPlace>
  static void FinishTile(const WinogradJob& job, const Sum* products,
                         const float* units, const Floats& bias,
                         float* destination) {
    const int plane = ProductPlane(job);
    constexpr Place kAt = Tiles::kPlaces[kPlace];
    Floats lines[4][6];
    for (int j = 0; j < Tiles::Points(kAt.right); ++j) {
      Floats column[6] = {};
      for (int i = 0; i < Tiles::Points(kAt.down); ++i) {
        const int point = kWinogradLine * i + j;
        column[i] = LoadProduct(products + point * plane,
                                units + point * kWinogradBlock);
      }
      Floats outputs[4];
      Tiles::TransformOutput(column, outputs);
      for (int y = 0; y < Tiles::Outputs(kAt.down); ++y) {
        lines[y][j] = outputs[y];
      }
    }
    for (int y = 0; y < Tiles::Outputs(kAt.down); ++y) {
      if (kAt.right == 1) lines[y][5] = Floats{};
      Floats outputs[4];
      Tiles::TransformOutput(lines[y], outputs);
      for (int x = 0; x < Tiles::Outputs(kAt.right); ++x) {
        float* const to =
            destination +
            Tiles::template OutputSquare<kPlace>(y, x) * job.layer->out;
        Floats value = outputs[x] + bias;
        if (job.add_to_destination) value += Load<Floats>(to);
        if (job.relu) value = value > 0 ? value : Floats{};
        Store(value, to);
      }
    }
  }

  template <int kPlace>
  static void FinishPlace(const WinogradJob& job, const Sum* products,
                          int block) {
    const int out = job.layer->out;
    for (int i = 0; i < job.positions; ++i) {
      const Sum* const row =
          products + (kPlace * job.positions + i) * kWinogradBlock;
      for (int c = 0; c < kWinogradBlock; c += kFinished) {
        const int channel = block * kWinogradBlock + c;
        const float* const units =
            kIntegers ? job.layer->units.data() +
                            block * kWinogradPoints * kWinogradBlock + c
                      : nullptr;
        FinishTile<kPlace>(job, row + c, units,
                           Load<Floats>(job.layer->bias.data() + channel),
                           job.destination + i * kNumSquares * out + channel);
      }
    }
  }

  static void ConvolveGroup(const WinogradJob& job) {
    const WinogradLayer& layer = *job.layer;
    // [36, rows, in], then [36, rows, 16].
    Number* const inputs = reinterpret_cast<Number*>(job.scratch);
    Sum* const products =
        reinterpret_cast<Sum*>(job.scratch + kWinogradPoints * InputPlane(job));
    TransformPlace<0>(job, inputs);
    TransformPlace<1>(job, inputs);
    TransformPlace<2>(job, inputs);
    TransformPlace<3>(job, inputs);
    const Number* weights;
    if constexpr (kIntegers) {
      weights = layer.integers.data();
    } else {
      weights = layer.floats.data();
    }
    for (int block = 0; block < layer.out / kWinogradBlock; ++block) {
      for (int point = 0; point < kWinogradPoints; ++point) {
        Multiply(Tiles::FirstRow(point, job.positions),
                 Tiles::EndRow(point, job.positions),
                 inputs + point * InputPlane(job), weights, layer.in,
                 products + point * ProductPlane(job));
        weights += layer.in * kWinogradBlock;
      }
      FinishPlace<0>(job, products, block);
      FinishPlace<1>(job, products, block);
      FinishPlace<2>(job, products, block);
      FinishPlace<3>(job, products, block);
    }
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_CPU_WINOGRAD_TEMPLATES_H_
