#ifndef TARA_NN_LIGHT_LIGHT_KERNEL_TEMPLATES_H_
#define TARA_NN_LIGHT_LIGHT_KERNEL_TEMPLATES_H_

// LightKernels for the vectors of an instruction set: a unit of each compiles
// it, with its vector and with -ffp-contract=off: a product and a sum in one
// step would be rounded otherwise. PlainVector is the twin.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn::internal {

// What compilers themselves compute with vectors of kSize bytes; an instruction
// set adds the rest. An Int is kShorts int16, kShorts / 2 int32 or 2 kShorts
// bytes; a Float is kShorts / 2 floats.
template <int kSize>
struct BasicVector {
  static constexpr int kShorts = kSize / 2;
  static constexpr int kInts = kSize / 4;
  // Partial sums of a product of a row and a matrix.
  static constexpr int kParts = 1;
  // Whether factors that are zero are left out.
  static constexpr bool kSkipsZeros = false;
  typedef long long Int __attribute__((vector_size(kSize)));
  typedef float Float __attribute__((vector_size(kSize)));
  typedef int16_t ShortLanes __attribute__((vector_size(kSize)));
  typedef int32_t IntLanes __attribute__((vector_size(kSize)));

  static Int Load(const void* from) { return Loaded<Int>(from); }
  static Float LoadFloats(const float* from) { return Loaded<Float>(from); }
  static void Store(Int x, void* to) { std::memcpy(to, &x, kSize); }
  static void StoreFloats(Float x, float* to) { std::memcpy(to, &x, kSize); }
  static Int Zero() { return Int{}; }
  static Int AllInts(int32_t x) {
    return reinterpret_cast<Int>(x - IntLanes{});
  }
  static Float AllFloats(float x) { return x - Float{}; }

  template <int kBits>
  static Int ShiftShortsLeft(Int x) {
    return reinterpret_cast<Int>(reinterpret_cast<ShortLanes>(x) << kBits);
  }
  template <int kBits>
  static Int ShiftShortsRight(Int x) {
    return reinterpret_cast<Int>(reinterpret_cast<ShortLanes>(x) >> kBits);
  }
  template <int kBits>
  static Int ShiftIntsRight(Int x) {
    return reinterpret_cast<Int>(reinterpret_cast<IntLanes>(x) >> kBits);
  }
  static Int AddInts(Int a, Int b) {
    return reinterpret_cast<Int>(reinterpret_cast<IntLanes>(a) +
                                 reinterpret_cast<IntLanes>(b));
  }

  static Float Add(Float a, Float b) { return a + b; }
  static Float Multiply(Float a, Float b) { return a * b; }
  static Float Relu(Float a) { return a > 0 ? a : Float{}; }

 private:
  template <typename Vector>
  static Vector Loaded(const void* from) {
    Vector result;
    std::memcpy(&result, from, kSize);
    return result;
  }
};

// The vectors of any processor. Instruction sets unpack and pack within lanes
// of 16 bytes; here is one.
struct PlainVector : BasicVector<16> {
  static constexpr bool kSkipsZeros = true;

  // Element i of a vector, as the type.
  template <typename T>
  static T At(const Int& x, int i) {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(&x) + i * sizeof(T),
                sizeof(T));
    return value;
  }
  template <typename T, typename Function>
  static Int Each(const Function& function) {
    std::array<T, sizeof(Int) / sizeof(T)> result;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<T>(function(static_cast<int>(i)));
    }
    return Load(result.data());
  }
  static int16_t Clamp(int32_t x) {
    return static_cast<int16_t>(std::clamp(x, -32768, 32767));
  }

  // Stores int32 as bytes, saturated.
  static void StoreBytes(Int x, uint8_t* to) {
    for (int i = 0; i < kInts; ++i) {
      to[i] = static_cast<uint8_t>(std::clamp(At<int32_t>(x, i), 0, 255));
    }
  }

  // Of bytes.
  static Int MaxBytes(Int a, Int b) {
    return Each<uint8_t>(
        [&](int i) { return std::max(At<uint8_t>(a, i), At<uint8_t>(b, i)); });
  }
  // Returns the bytes of the lower, the upper halves of lanes, by turns.
  static Int MixLow(Int a, Int b) {
    return Each<uint8_t>(
        [&](int i) { return At<uint8_t>(i % 2 == 0 ? a : b, i / 2); });
  }
  static Int MixHigh(Int a, Int b) {
    return Each<uint8_t>(
        [&](int i) { return At<uint8_t>(i % 2 == 0 ? a : b, 8 + i / 2); });
  }
  // Returns the sums of two products of a byte of `a` and an int8 of `b`.
  static Int MultiplyBytes(Int a, Int b) {
    return Each<int16_t>([&](int i) {
      return Clamp(At<uint8_t>(a, 2 * i) * At<int8_t>(b, 2 * i) +
                   At<uint8_t>(a, 2 * i + 1) * At<int8_t>(b, 2 * i + 1));
    });
  }

  // Of int16. Sums stop at the greatest and the least.
  static Int AddShorts(Int a, Int b) {
    return Each<int16_t>(
        [&](int i) { return Clamp(At<int16_t>(a, i) + At<int16_t>(b, i)); });
  }
  // Returns a b / 2^15, rounded. REQUIRES: not both are -2^15.
  static Int MultiplyFactor(Int a, Int b) {
    return Each<int16_t>([&](int i) {
      return (At<int16_t>(a, i) * At<int16_t>(b, i) + (1 << 14)) >> 15;
    });
  }
  // Returns saturated bytes, first the ones from `a`.
  static Int PackShorts(Int a, Int b) {
    return Each<uint8_t>([&](int i) {
      return std::clamp<int>(At<int16_t>(i < 8 ? a : b, i % 8), 0, 255);
    });
  }

  // Of int32: returns saturated int16, first the ones from `a`.
  static Int PackInts(Int a, Int b) {
    return Each<int16_t>(
        [&](int i) { return Clamp(At<int32_t>(i < 4 ? a : b, i % 4)); });
  }
  // sum + the products of two int16 each.
  static Int AddProducts(Int sum, Int a, Int b) {
    return Each<int32_t>([&](int i) {
      return At<int32_t>(sum, i) +
             At<int16_t>(a, 2 * i) * At<int16_t>(b, 2 * i) +
             At<int16_t>(a, 2 * i + 1) * At<int16_t>(b, 2 * i + 1);
    });
  }
  // sum + the products of four bytes of `a` and four int8 of `b` each.
  static Int AddDots(Int sum, Int a, Int b) {
    return Each<int32_t>([&](int i) {
      int32_t total = At<int32_t>(sum, i);
      for (int k = 4 * i; k < 4 * i + 4; ++k) {
        total += At<uint8_t>(a, k) * At<int8_t>(b, k);
      }
      return total;
    });
  }

  // Returns which fours of bytes are not zero.
  template <int kFours>
  static unsigned NonZero(const uint8_t* bytes) {
    unsigned fours = 0;
    for (int i = 0; i < 4 * kFours; ++i) {
      if (bytes[i] != 0) fours |= 1u << (i / 4);
    }
    return fours;
  }

  static Float ToFloats(Int x) {
    return __builtin_convertvector(reinterpret_cast<IntLanes>(x), Float);
  }
  // Rounds to the nearest, ties to even.
  static Int ToInts(Float x) {
    return Each<int32_t>([&](int i) { return std::nearbyint(x[i]); });
  }

  // Returns the bits of the board where the mask has bits, without gaps.
  static unsigned Extract(Board board, Board mask) {
    unsigned bits = 0;
    for (int i = 0; mask != 0; mask &= mask - 1, ++i) {
      if ((board & mask & -mask) != 0) bits |= 1u << i;
    }
    return bits;
  }
};

template <typename Vector>
struct LightKernelCode {
  using Int = typename Vector::Int;
  using Float = typename Vector::Float;
  static constexpr int kC = kLightChannels;
  static constexpr int kShorts = Vector::kShorts;
  static constexpr int kInts = Vector::kInts;
  // Vectors of a hill's int16, and of its bytes. Bytes b unpack to the int16 b
  // and kBytes + b, and these pack to those.
  static constexpr int kVectors = kC / kShorts;
  static constexpr int kBytes = kVectors / 2;

  // The grid of LightScratch.pairs.
  static constexpr int kMargin = 2;
  static constexpr int kGridSize = kBoardSize + 2 * kMargin;
  static constexpr int SquareAt(int file, int rank) {
    return (rank + kMargin) * kGridSize + file + kMargin;
  }
  static constexpr int FirstHillOf(int rank) {
    return rank == 0 ? 0 : kBoardSize * rank - 2;
  }
  static constexpr int FirstFileOf(int rank) {
    return (kBoardSize - LineSize(rank)) / 2;
  }

  static Int LoadShorts(const LightIntegerLayer::Shorts& row, int n) {
    return Vector::Load(row.data() + kShorts * n);
  }
  static Int LoadBytes(const uint8_t* hill, int b) {
    return Vector::Load(hill + 2 * kShorts * b);
  }
  static void StoreBytes(Int low, Int high, uint8_t* hill, int b) {
    Vector::Store(Vector::PackShorts(low, high), hill + 2 * kShorts * b);
  }
  // Makes int16 n of the int32 of a hill.
  static Int PackInts(const Int (&ints)[2 * kVectors], int n) {
    const int first = n / kBytes * kVectors + n % kBytes;
    return Vector::PackInts(ints[first], ints[first + kBytes]);
  }

  // sums [columns] += the products of pairs of int16 with the matrix.
  template <size_t kColumns, size_t kPairs>
  static void AddProducts(
      const int16_t* values,
      const std::array<LightRow<Packed, kColumns>, kPairs>& matrix,
      Int (&sums)[kColumns / kInts]) {
    constexpr int kWide = static_cast<int>(kColumns) / kInts;
    // Partial sums, so that one need not wait for the other.
    constexpr int kParts = Vector::kParts;
    Int parts[kParts][kWide];
    for (int n = 0; n < kWide; ++n) {
      for (int part = 1; part < kParts; ++part) {
        parts[part][n] = Vector::Zero();
      }
      parts[0][n] = sums[n];
    }
    for (size_t pair = 0; pair < kPairs; pair += kParts) {
      for (size_t part = 0; part < kParts && pair + part < kPairs; ++part) {
        Packed packed;
        std::memcpy(&packed, values + 2 * (pair + part), sizeof(packed));
        const Int two = Vector::AllInts(packed);
        for (int n = 0; n < kWide; ++n) {
          parts[part][n] = Vector::AddProducts(
              parts[part][n], two,
              Vector::Load(matrix[pair + part].data() + kInts * n));
        }
      }
    }
    for (int n = 0; n < kWide; ++n) {
      sums[n] = parts[0][n];
      for (int part = 1; part < kParts; ++part) {
        sums[n] = Vector::AddInts(sums[n], parts[part][n]);
      }
    }
  }

  // --- Inputs ----------------------------------------------------------------

  static void RunInput(const LightIntegers& network, const LightBits& bits,
                       LightScratch& scratch) {
    const int16_t* tables[kNumHills][kNumLightTables];
    for (int hill = 0; hill < kNumHills; ++hill) {
      for (int t = 0; t < kNumLightTables; ++t) {
        const LightWindow& window = kLightWindows[hill][t];
        const size_t row =
            window.first_row +
            kTernary[Vector::Extract(bits.own, window.mask)] +
            2 * size_t{kTernary[Vector::Extract(bits.enemy, window.mask)]};
        tables[hill][t] = network.rows[row].data();
        __builtin_prefetch(tables[hill][t]);
        __builtin_prefetch(tables[hill][t] + kC / 2);
      }
    }
    std::copy_n(bits.globals, kContextIntegers - 2 * kC,
                scratch.context + 2 * kC);
    Int sums[2 * kVectors];
    for (Int& sum : sums) {
      sum = Vector::AllInts(1 << (LightIntegers::kGlobalShift - 1));
    }
    AddProducts(bits.globals, network.globals, sums);
    for (Int& sum : sums) {
      sum = Vector::template ShiftIntsRight<LightIntegers::kGlobalShift>(sum);
    }
    Int shared[kVectors];
    constexpr int kHalf = 1 << (LightIntegers::kInputShift - 1);
    for (int n = 0; n < kVectors; ++n) {
      shared[n] = Vector::AddShorts(PackInts(sums, n),
                                    Vector::AllInts(kHalf << 16 | kHalf));
    }
    for (int hill = 0; hill < kNumHills; ++hill) {
      const int16_t* rows[] = {network.hills[hill].data(),
                               tables[hill][0],
                               tables[hill][1],
                               network.groups[0][bits.groups[0][hill]].data(),
                               network.groups[1][bits.groups[1][hill]].data(),
                               network.groups[2][bits.groups[2][hill]].data()};
      static_assert(kLightGroups == 3 && kNumLightTables == 2);
      Int values[kVectors];
      for (int n = 0; n < kVectors; ++n) {
        Int sum = shared[n];
        for (const int16_t* const row : rows) {
          sum = Vector::AddShorts(sum, Vector::Load(row + kShorts * n));
        }
        values[n] =
            Vector::template ShiftShortsRight<LightIntegers::kInputShift>(sum);
      }
      for (int b = 0; b < kBytes; ++b) {
        StoreBytes(values[b], values[kBytes + b], scratch.hills[0][hill], b);
      }
    }
  }

  // --- Layers ----------------------------------------------------------------

  // Sums of ranks and files.
  struct Lines {
    Int ranks[kVectors][kBoardSize];
    Int files[kVectors][kBoardSize];
  };

  // Pools the hills into scratch.context and, for a layer, fills `lines` and
  // scratch.pairs.
  static void Pool(const uint8_t (*hills)[kC], LightScratch& scratch,
                   Lines* lines) {
    const Int zero = Vector::Zero();
    for (int b = 0; b < kBytes; ++b) {
      const int low = b, high = kBytes + b;
      Int most = zero, totals[2] = {zero, zero};
      Int files[2][kBoardSize];
      for (auto& half : files) std::fill_n(half, kBoardSize, zero);
      for (int rank = 0; rank < kBoardSize; ++rank) {
        // Off the board are zeros.
        Int row[kGridSize];
        std::fill_n(row, kGridSize, zero);
        Int sums[2] = {zero, zero};
        for (int i = 0; i < LineSize(rank); ++i) {
          const int file = FirstFileOf(rank) + i;
          const Int x = LoadBytes(hills[FirstHillOf(rank) + i], b);
          row[kMargin + file] = x;
          most = Vector::MaxBytes(most, x);
          const Int halves[2] = {Vector::MixLow(x, zero),
                                 Vector::MixHigh(x, zero)};
          for (int half = 0; half < 2; ++half) {
            sums[half] = Vector::AddShorts(sums[half], halves[half]);
            files[half][file] =
                Vector::AddShorts(files[half][file], halves[half]);
          }
        }
        for (int half = 0; half < 2; ++half) {
          totals[half] = Vector::AddShorts(totals[half], sums[half]);
        }
        if (lines == nullptr) continue;
        lines->ranks[low][rank] = sums[0];
        lines->ranks[high][rank] = sums[1];
        for (int i = 0; i + kPairFiles < kGridSize; ++i) {
          int16_t* const pair = scratch.pairs[SquareAt(i - kMargin, rank)];
          Vector::Store(Vector::MixLow(row[i], row[i + kPairFiles]),
                        pair + kShorts * low);
          Vector::Store(Vector::MixHigh(row[i], row[i + kPairFiles]),
                        pair + kShorts * high);
        }
      }
      if (lines != nullptr) {
        std::copy_n(files[0], kBoardSize, lines->files[low]);
        std::copy_n(files[1], kBoardSize, lines->files[high]);
      }
      const Int maxima[2] = {Vector::MixLow(most, zero),
                             Vector::MixHigh(most, zero)};
      for (int half = 0; half < 2; ++half) {
        int16_t* const place = scratch.context + kShorts * (half ? high : low);
        Vector::Store(totals[half], place);
        Vector::Store(
            Vector::template ShiftShortsLeft<kMaximumShift>(maxima[half]),
            place + kC);
      }
    }
  }

  // Fills scratch.mixed.
  static void RunTaps(const LightIntegerLayer& layer, const Lines& lines,
                      LightScratch& scratch) {
    Int pooled[2 * kVectors];
    for (Int& sum : pooled) sum = Vector::AllInts(1 << (kPooledShift - 1));
    AddProducts(scratch.context, layer.pooled, pooled);
    for (int n = 0; n < 2 * kVectors; ++n) {
      pooled[n] = Vector::AddInts(
          Vector::template ShiftIntsRight<kPooledShift>(pooled[n]),
          Vector::Load(layer.bias.data() + kInts * n));
    }
    Int lower[kNumHills];
    for (int b = 0; b < kBytes; ++b) {
      for (const int n : {b, kBytes + b}) {
        Int weights[kTapPairs];
        for (int pair = 0; pair < kTapPairs; ++pair) {
          weights[pair] = LoadShorts(layer.taps[pair], n);
        }
        const auto line = [&](Int sum, int of_file, int index) {
          const bool is_end = LineSize(index) < kBoardSize;
          return Vector::MultiplyFactor(
              Vector::template ShiftShortsLeft<kLineShift>(sum),
              LoadShorts(layer.lines[of_file][is_end], n));
        };
        Int files[kBoardSize];
        for (int file = 0; file < kBoardSize; ++file) {
          files[file] = line(lines.files[n][file], 1, file);
        }
        const Int shared = PackInts(pooled, n);
        const Int factor = LoadShorts(layer.sum_factor, n);
        for (int rank = 0; rank < kBoardSize; ++rank) {
          const Int base =
              Vector::AddShorts(shared, line(lines.ranks[n][rank], 0, rank));
          for (int i = 0; i < LineSize(rank); ++i) {
            const int file = FirstFileOf(rank) + i;
            const int16_t* const square =
                scratch.pairs[SquareAt(file, rank)] + kShorts * n;
            Int sum = Vector::AddShorts(base, files[file]);
#pragma GCC unroll 16
            for (int pair = 0; pair < kTapPairs; ++pair) {
              sum = Vector::AddShorts(
                  sum, Vector::MultiplyBytes(
                           Vector::Load(square + kC * kOffsets[pair]),
                           weights[pair]));
            }
            sum = Vector::MultiplyFactor(sum, factor);
            const int hill = FirstHillOf(rank) + i;
            if (n == b) {
              lower[hill] = sum;
            } else {
              StoreBytes(lower[hill], sum, scratch.mixed[hill], b);
            }
          }
        }
      }
    }
  }
  // Offsets of kLightTapPairs.
  static constexpr auto kOffsets = [] {
    std::array<int, kTapPairs> offsets{};
    for (int pair = 0; pair < kTapPairs; ++pair) {
      const auto [file, rank] = kLightTapPairs[pair];
      offsets[pair] = rank * kGridSize + file;
    }
    return offsets;
  }();

  // sums [kColumns] += a row of bytes times the matrix. After a ReLU a fifth of
  // the fours is zero: leaving these out pays where products are slow.
  template <int kWide, size_t kColumns, size_t kFours>
  static void AddMatrix(
      const uint8_t* bytes,
      const std::array<LightRow<Packed, kColumns>, kFours>& matrix,
      Int (&sums)[kWide]) {
    const auto add = [&](size_t four) {
      Packed packed;
      std::memcpy(&packed, bytes + 4 * four, sizeof(packed));
      const Int values = Vector::AllInts(packed);
      for (int n = 0; n < kWide; ++n) {
        sums[n] = Vector::AddDots(
            sums[n], values, Vector::Load(matrix[four].data() + kInts * n));
      }
    };
    if constexpr (Vector::kSkipsZeros) {
      for (unsigned fours = Vector::template NonZero<kFours>(bytes); fours != 0;
           fours &= fours - 1) {
        add(std::countr_zero(fours));
      }
    } else {
      for (size_t four = 0; four < kFours; ++four) add(four);
    }
  }

  static void Mix(const LightIntegerLayer& layer, const uint8_t (*in)[kC],
                  const LightScratch& scratch, uint8_t (*out)[kC]) {
    const Int zero = Vector::Zero();
    for (int hill = 0; hill < kNumHills; ++hill) {
      Int sums[2 * kVectors];
      for (int n = 0; n < 2 * kVectors; ++n) {
        sums[n] = Vector::Load(layer.mix_bias.data() + kInts * n);
      }
      AddMatrix(scratch.mixed[hill], layer.mix, sums);
      for (Int& sum : sums) {
        sum = Vector::template ShiftIntsRight<kMixShift>(sum);
      }
      for (int b = 0; b < kBytes; ++b) {
        const Int x = LoadBytes(in[hill], b);
        const auto output = [&](Int residual, int n) {
          residual = Vector::MultiplyFactor(
              Vector::template ShiftShortsLeft<kResidualShift>(residual),
              LoadShorts(layer.residual, n));
          return Vector::MultiplyFactor(
              Vector::AddShorts(PackInts(sums, n), residual),
              LoadShorts(layer.factor, n));
        };
        StoreBytes(output(Vector::MixLow(x, zero), b),
                   output(Vector::MixHigh(x, zero), kBytes + b), out[hill], b);
      }
    }
  }

  // --- Heads -----------------------------------------------------------------

  static Float Linear(Int sum, const float* scale, Float bias) {
    return Vector::Add(
        Vector::Multiply(Vector::ToFloats(sum), Vector::LoadFloats(scale)),
        bias);
  }

  static float PassLogit(const LightIntegers& network,
                         const LightScratch& scratch) {
    float logit = 0;
    for (int i = 0; i < kContext; ++i) {
      logit += network.pass[i] * static_cast<float>(scratch.context[i]);
    }
    return logit;
  }

  static void RunPolicy(const LightIntegers& network,
                        absl::Span<const int16_t> outputs,
                        const uint8_t (*hills)[kC], LightScratch& scratch,
                        float* policy) {
    constexpr int kWide = kPolicyWidth / kInts;
    Board concerned = 0;
    bool pairs = false;
    for (const int16_t output : outputs) {
      const PolicyPart& part = kPolicyParts[output];
      if (part.to >= 0) concerned |= BoardOf(part.to);
      if (!part.has_pair()) continue;
      concerned |= BoardOf(part.from);
      pairs = true;
    }
    Int sums[kWide];
    std::fill_n(sums, kWide, Vector::Zero());
    AddProducts(scratch.context, network.policy_context, sums);
    Float shared[kWide];
    for (int n = 0; n < kWide; ++n) {
      shared[n] =
          Linear(sums[n], network.policy_context_scale.data() + kInts * n,
                 Vector::LoadFloats(network.policy_bias.data() + kInts * n));
    }
    ForEachHill(concerned, [&](Hill hill) {
      Int hidden[kWide];
      std::fill_n(hidden, kWide, Vector::Zero());
      AddMatrix(hills[hill], network.policy, hidden);
      for (int n = 0; n < kWide; ++n) {
        Vector::StoreBytes(
            Vector::ToInts(Linear(
                hidden[n], network.policy_scale.data() + kInts * n, shared[n])),
            scratch.policy[hill] + kInts * n);
      }
      // Without moves and links only the first output is of use.
      constexpr int kAll = LightIntegers::kOutputs / kInts;
      const auto compute = [&](auto width) {
        constexpr int kOutputVectors = decltype(width)::value;
        Int values[kOutputVectors];
        std::fill_n(values, kOutputVectors, Vector::Zero());
        AddMatrix(scratch.policy[hill], network.actions, values);
        for (int n = 0; n < kOutputVectors; ++n) {
          Vector::StoreFloats(
              Linear(
                  values[n], network.actions_scale.data() + kInts * n,
                  Vector::LoadFloats(network.actions_bias.data() + kInts * n)),
              scratch.outputs[hill] + kInts * n);
        }
      };
      pairs ? compute(std::integral_constant<int, kAll>())
            : compute(std::integral_constant<int, 1>());
    });
    for (const int16_t output : outputs) {
      const PolicyPart& part = kPolicyParts[output];
      policy[output] =
          part.kind == PolicyPart::kPass
              ? PassLogit(network, scratch)
              : LogitOf(part, scratch.outputs, network.directions.data());
    }
  }

  // out = relu?(bias + in matrix), in floats, summed in the order of the rows.
  template <size_t kColumns, size_t kRows>
  static void MultiplyFloats(
      const float* in,
      const std::array<LightRow<float, kColumns>, kRows>& matrix,
      const LightRow<float, kColumns>& bias, bool relu, float* out) {
    constexpr int kWide = static_cast<int>(kColumns) / kInts;
    Float sums[kWide];
    for (int n = 0; n < kWide; ++n) {
      sums[n] = Vector::LoadFloats(bias.data() + kInts * n);
    }
    for (size_t row = 0; row < kRows; ++row) {
      const Float x = Vector::AllFloats(in[row]);
      for (int n = 0; n < kWide; ++n) {
        sums[n] = Vector::Add(
            sums[n], Vector::Multiply(x, Vector::LoadFloats(matrix[row].data() +
                                                            kInts * n)));
      }
    }
    for (int n = 0; n < kWide; ++n) {
      Vector::StoreFloats(relu ? Vector::Relu(sums[n]) : sums[n],
                          out + kInts * n);
    }
  }

  static void RunValue(const LightIntegers& network, LightScratch& scratch) {
    constexpr int kWide = kValueHidden / kInts;
    alignas(64) float hidden1[kValueHidden], hidden2[kValueHidden];
    Int sums[kWide];
    std::fill_n(sums, kWide, Vector::Zero());
    AddProducts(scratch.context, network.value1, sums);
    for (int n = 0; n < kWide; ++n) {
      Vector::StoreFloats(
          Vector::Relu(Linear(
              sums[n], network.value1_scale.data() + kInts * n,
              Vector::LoadFloats(network.value1_bias.data() + kInts * n))),
          hidden1 + kInts * n);
    }
    MultiplyFloats(hidden1, network.value2, network.value2_bias, true, hidden2);
    MultiplyFloats(hidden2, network.value, network.value_bias, false,
                   scratch.value);
  }

  static void Run(const LightIntegers& network, const LightBits& bits,
                  absl::Span<const int16_t> outputs, LightScratch& scratch,
                  float* policy) {
    RunInput(network, bits, scratch);
    int current = 0;
    Lines lines;
    for (const LightIntegerLayer& layer : network.layers) {
      Pool(scratch.hills[current], scratch, &lines);
      RunTaps(layer, lines, scratch);
      Mix(layer, scratch.hills[current], scratch, scratch.hills[1 - current]);
      current = 1 - current;
    }
    Pool(scratch.hills[current], scratch, nullptr);
    RunPolicy(network, outputs, scratch.hills[current], scratch, policy);
    RunValue(network, scratch);
  }

  static LightKernels Table(absl::string_view name) {
    return {.name = name, .run = Run};
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_LIGHT_LIGHT_KERNEL_TEMPLATES_H_
