#ifndef TARA_NN_LIGHT_LIGHT_KERNEL_TEMPLATES_H_
#define TARA_NN_LIGHT_LIGHT_KERNEL_TEMPLATES_H_

// LightKernels for vectors of kLanes 32-bit numbers: a unit of each instruction
// set compiles it, with its vector and with -ffp-contract=off: a product and a
// sum in one step would be rounded otherwise. PlainVector is the twin.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn::internal {

// What the kernels are written in. Int holds kLanes int32, Float as many
// floats.
struct PlainVector {
  static constexpr int kLanes = 8;
  static constexpr int kBlockRows = 3;  // of a product of bytes
  static constexpr int kBlockVectors = 2;
  struct Int {
    std::array<int32_t, kLanes> lanes;
  };
  struct Float {
    std::array<float, kLanes> lanes;
  };

  template <typename To, typename Function>
  static To Each(const Function& function) {
    To result;
    for (int i = 0; i < kLanes; ++i) result.lanes[i] = function(i);
    return result;
  }

  static Int Load(const int32_t* from) {
    return Each<Int>([&](int i) { return from[i]; });
  }
  static Float Load(const float* from) {
    return Each<Float>([&](int i) { return from[i]; });
  }
  static Int LoadBytes(const uint8_t* from) {
    return Each<Int>([&](int i) { return from[i]; });
  }
  static Int LoadShorts(const int16_t* from) {
    return Each<Int>([&](int i) { return from[i]; });
  }
  static void Store(Int x, int32_t* to) {
    std::copy_n(x.lanes.begin(), kLanes, to);
  }
  static void Store(Float x, float* to) {
    std::copy_n(x.lanes.begin(), kLanes, to);
  }
  // What is beyond 0 or 255 becomes that.
  static void StoreBytes(Int x, uint8_t* to) {
    for (int i = 0; i < kLanes; ++i) {
      to[i] = static_cast<uint8_t>(std::clamp(x.lanes[i], 0, 255));
    }
  }
  static Int All(int32_t x) {
    return Each<Int>([&](int) { return x; });
  }
  static Float All(float x) {
    return Each<Float>([&](int) { return x; });
  }
  static Int Add(Int a, Int b) {
    return Each<Int>([&](int i) { return a.lanes[i] + b.lanes[i]; });
  }
  static Float Add(Float a, Float b) {
    return Each<Float>([&](int i) { return a.lanes[i] + b.lanes[i]; });
  }
  static Float Multiply(Float a, Float b) {
    return Each<Float>([&](int i) { return a.lanes[i] * b.lanes[i]; });
  }
  static Int Max(Int a, Int b) {
    return Each<Int>([&](int i) { return std::max(a.lanes[i], b.lanes[i]); });
  }
  static Float Relu(Float a) {
    return Each<Float>([&](int i) { return std::max(a.lanes[i], 0.0f); });
  }
  static Int ShiftRight(Int x, int bits) {
    return Each<Int>([&](int i) { return x.lanes[i] >> bits; });
  }
  // Returns low + 2^16 high, of numbers below 2^15 that are not negative.
  static Int Pair(Int low, Int high) {
    return Each<Int>([&](int i) { return low.lanes[i] | high.lanes[i] << 16; });
  }
  static Int Or(Int a, Int b) {
    return Each<Int>([&](int i) { return a.lanes[i] | b.lanes[i]; });
  }
  static Float ToFloat(Int x) {
    return Each<Float>([&](int i) { return static_cast<float>(x.lanes[i]); });
  }
  // Rounds to the nearest, ties to even.
  static Int ToInt(Float x) {
    return Each<Int>([&](int i) {
      return static_cast<int32_t>(std::nearbyint(x.lanes[i]));
    });
  }
  // sum + the products of two int16 each.
  static Int AddShorts(Int sum, Int a, Int b) {
    return Each<Int>([&](int i) {
      const auto low = [](int32_t x) { return static_cast<int16_t>(x); };
      return sum.lanes[i] + low(a.lanes[i]) * low(b.lanes[i]) +
             (a.lanes[i] >> 16) * (b.lanes[i] >> 16);
    });
  }
  // sum + the products of four bytes of `a` and four int8 of `b` each. The
  // products of two neighbours fit 16 bits.
  static Int AddBytes(Int sum, Int a, Int b) {
    return Each<Int>([&](int i) {
      int32_t total = sum.lanes[i];
      for (int shift = 0; shift < 32; shift += 8) {
        total += static_cast<uint8_t>(a.lanes[i] >> shift) *
                 static_cast<int8_t>(b.lanes[i] >> shift);
      }
      return total;
    });
  }
  // Returns the bits of `board` that `mask` has, at `positions`.
  static uint32_t Gather(Board board, const LightWindow& window) {
    uint32_t bits = window.outside;
    Board mask = window.mask;
    for (uint32_t rest = window.positions; rest != 0; rest &= rest - 1) {
      if ((board & mask & -mask) != 0) bits |= rest & -rest;
      mask &= mask - 1;
    }
    return bits;
  }
};

template <typename Vector>
struct LightKernelCode {
  using Int = typename Vector::Int;
  using Float = typename Vector::Float;
  static constexpr int kLanes = Vector::kLanes;
  static constexpr int kC = kLightChannels;
  static constexpr int kVectors = kC / kLanes;  // of a hill

  // The grid of LightScratch.pairs.
  static constexpr int kMargin = 2;
  static constexpr int kGridSize = kBoardSize + 2 * kMargin;
  static constexpr int kSquares = kGridSize * kGridSize;
  static constexpr int SquareAt(int file, int rank) {
    return (rank + kMargin) * kGridSize + file + kMargin;
  }
  static constexpr int FirstHillOf(int rank) {
    return rank == 0 ? 0 : kBoardSize * rank - 2;
  }
  static constexpr int FirstFileOf(int rank) {
    return (kBoardSize - LineSize(rank)) / 2;
  }

  // --- Inputs ----------------------------------------------------------------

  static void RunInput(const LightIntegers& network, const LightInput& input,
                       LightScratch& scratch) {
    int16_t* const globals = scratch.context + 2 * kC;
    for (int g = 0; g < kNumGlobals; ++g) {
      globals[g] =
          static_cast<int16_t>(std::nearbyint(input.globals[g] * kGlobalUnit));
    }
    std::fill(globals + kNumGlobals, scratch.context + kContextIntegers,
              int16_t{0});
    Int shared[kVectors];
    for (int n = 0; n < kVectors; ++n) {
      shared[n] = Vector::All(1 << (LightIntegers::kGlobalShift - 1));
    }
    for (size_t pair = 0; pair < network.globals.size(); ++pair) {
      const Packed two = PairAt(globals, pair);
      if (two == 0) continue;
      for (int n = 0; n < kVectors; ++n) {
        shared[n] = Vector::AddShorts(
            shared[n], Vector::All(two),
            Vector::Load(network.globals[pair].data() + kLanes * n));
      }
    }
    for (Int& sum : shared) {
      sum = Vector::Add(Vector::ShiftRight(sum, LightIntegers::kGlobalShift),
                        Vector::All(1 << (LightIntegers::kInputShift - 1)));
    }
    const int16_t* tables[kNumHills][kNumLightTables];
    for (int hill = 0; hill < kNumHills; ++hill) {
      for (int t = 0; t < kNumLightTables; ++t) {
        const LightWindow& window = kLightWindows[hill][t];
        const uint32_t row = Vector::Gather(input.own, window) |
                             Vector::Gather(input.enemy, window)
                                 << kPatternHills;
        tables[hill][t] = network.tables[t].data() + size_t{row} * kC;
        __builtin_prefetch(tables[hill][t]);
        __builtin_prefetch(tables[hill][t] + kC / 2);
      }
    }
    for (int hill = 0; hill < kNumHills; ++hill) {
      for (int n = 0; n < kVectors; ++n) {
        const auto row = [n](const int16_t* values) {
          return Vector::LoadShorts(values + kLanes * n);
        };
        Int sum = Vector::Add(shared[n], row(network.hills[hill].data()));
        for (const int16_t* const table : tables[hill]) {
          sum = Vector::Add(sum, row(table));
        }
        for (int i = 0; i < input.num_rows[hill]; ++i) {
          sum = Vector::Add(sum, row(network.rows[input.rows[hill][i]].data()));
        }
        Vector::StoreBytes(Vector::ShiftRight(sum, LightIntegers::kInputShift),
                           scratch.hills[0][hill] + kLanes * n);
      }
    }
  }

  static Packed PairAt(const int16_t* values, size_t pair) {
    Packed two;
    std::memcpy(&two, values + 2 * pair, sizeof(two));
    return two;
  }

  // sums [columns] = the products of pairs [0, pairs) with the matrix.
  template <int kColumns, size_t kPairs>
  static void MultiplyShorts(
      const int16_t* values,
      const std::array<std::array<Packed, kColumns>, kPairs>& matrix,
      Int (&sums)[kColumns / kLanes]) {
    for (Int& sum : sums) sum = Vector::All(0);
    for (size_t pair = 0; pair < kPairs; ++pair) {
      const Int two = Vector::All(PairAt(values, pair));
      for (int n = 0; n < kColumns / kLanes; ++n) {
        sums[n] = Vector::AddShorts(
            sums[n], two, Vector::Load(matrix[pair].data() + kLanes * n));
      }
    }
  }

  // --- Layers ----------------------------------------------------------------

  // Sums of ranks and files, of one vector of channels; those of files are in
  // the upper halves.
  struct Lines {
    Int ranks[kBoardSize];
    Int files[kBoardSize];
  };

  // Pools the hills into scratch.context and, for a layer, fills lines
  // [kVectors] and scratch.pairs.
  static void Pool(const uint8_t (*hills)[kC], LightScratch& scratch,
                   Lines* lines) {
    for (int n = 0; n < kVectors; ++n) {
      Packed* const grid = scratch.pairs + size_t{kSquares} * kLanes * n;
      Int total = Vector::All(0), most = Vector::All(0);
      Int files[kBoardSize];
      for (Int& file : files) file = Vector::All(0);
      for (int rank = 0; rank < kBoardSize; ++rank) {
        Int sum = Vector::All(0), east = Vector::All(0);
        const int first = FirstFileOf(rank);
        for (int i = LineSize(rank) - 1; i >= 0; --i) {
          const Int x =
              Vector::LoadBytes(hills[FirstHillOf(rank) + i] + kLanes * n);
          sum = Vector::Add(sum, x);
          most = Vector::Max(most, x);
          files[first + i] = Vector::Add(files[first + i], x);
          if (lines == nullptr) continue;
          Vector::Store(Vector::Pair(x, east),
                        grid + kLanes * SquareAt(first + i, rank));
          east = x;
        }
        total = Vector::Add(total, sum);
        if (lines == nullptr) continue;
        Vector::Store(Vector::Pair(Vector::All(0), east),
                      grid + kLanes * SquareAt(first - 1, rank));
        lines[n].ranks[rank] = sum;
      }
      if (lines != nullptr) {
        for (int file = 0; file < kBoardSize; ++file) {
          lines[n].files[file] = Vector::Pair(Vector::All(0), files[file]);
        }
      }
      alignas(64) int32_t sums[kLanes], maxima[kLanes];
      Vector::Store(total, sums);
      Vector::Store(most, maxima);
      for (int i = 0; i < kLanes; ++i) {
        scratch.context[kLanes * n + i] = static_cast<int16_t>(sums[i]);
        scratch.context[kC + kLanes * n + i] =
            static_cast<int16_t>(maxima[i] << kMaximumShift);
      }
    }
  }

  static void RunTaps(const LightIntegerLayer& layer, const Lines* lines,
                      LightScratch& scratch) {
    Int shared[kVectors];
    MultiplyShorts<kC>(scratch.context, layer.pooled, shared);
    for (int n = 0; n < kVectors; ++n) {
      const Int bias =
          Vector::Add(Vector::Add(Vector::ShiftRight(shared[n], kPooledShift),
                                  Vector::Load(layer.bias.data() + kLanes * n)),
                      Vector::All(1 << (kTapShift - 1)));
      Int weights[kTapPairs];
#pragma GCC unroll 16
      for (int pair = 0; pair < kTapPairs; ++pair) {
        weights[pair] = Vector::Load(layer.taps[pair].data() + kLanes * n);
      }
      const Packed* const grid = scratch.pairs + size_t{kSquares} * kLanes * n;
      for (int rank = 0; rank < kBoardSize; ++rank) {
        const int ends = LineSize(rank) < kBoardSize ? 2 : 0;
        const int first = FirstFileOf(rank);
        for (int i = 0; i < LineSize(rank); ++i) {
          const int file = first + i;
          const int end = ends + (LineSize(file) < kBoardSize ? 1 : 0);
          const Packed* const square = grid + kLanes * SquareAt(file, rank);
          // Two sums, so that one need not wait for the other.
          Int sum = Vector::AddShorts(
              bias, Vector::Or(lines[n].ranks[rank], lines[n].files[file]),
              Vector::Load(layer.lines[end].data() + kLanes * n));
          Int other = Vector::All(0);
#pragma GCC unroll 16
          for (int pair = 0; pair < kTapPairs; ++pair) {
            Int& one = pair % 2 == 0 ? sum : other;
            one = Vector::AddShorts(
                one, Vector::Load(square + kLanes * kOffsets[pair]),
                weights[pair]);
          }
          Vector::StoreBytes(
              Vector::ShiftRight(Vector::Add(sum, other), kTapShift),
              scratch.mixed[FirstHillOf(rank) + i] + kLanes * n);
        }
      }
    }
  }
  // Of the pairs, by rank, then file: kLightTapPairs.
  static constexpr std::array<int, kTapPairs> kOffsets = {-2 * kGridSize - 1,
                                                          -2 * kGridSize + 1,
                                                          -kGridSize - 2,
                                                          -kGridSize,
                                                          -kGridSize + 2,
                                                          -1,
                                                          1,
                                                          kGridSize - 2,
                                                          kGridSize,
                                                          kGridSize + 2,
                                                          2 * kGridSize - 1,
                                                          2 * kGridSize + 1};

  // sums [kRows][kWide] = rows of bytes [kRows, stride] times columns of the
  // matrix.
  template <int kRows, int kWide, size_t kColumns, size_t kFours>
  static void MultiplyBytes(
      const uint8_t* bytes, int stride,
      const std::array<std::array<Packed, kColumns>, kFours>& matrix,
      int column, Int (&sums)[kRows][kWide]) {
    for (auto& row : sums) {
      for (Int& sum : row) sum = Vector::All(0);
    }
    for (size_t four = 0; four < kFours; ++four) {
      Int weights[kWide];
      for (int n = 0; n < kWide; ++n) {
        weights[n] = Vector::Load(matrix[four].data() + column + kLanes * n);
      }
      for (int row = 0; row < kRows; ++row) {
        Packed packed;
        std::memcpy(&packed, bytes + row * stride + 4 * four, sizeof(packed));
        const Int values = Vector::All(packed);
        for (int n = 0; n < kWide; ++n) {
          sums[row][n] = Vector::AddBytes(sums[row][n], values, weights[n]);
        }
      }
    }
  }

  static void Mix(const LightIntegerLayer& layer, const uint8_t (*in)[kC],
                  LightScratch& scratch, uint8_t (*out)[kC]) {
    constexpr int kRows = Vector::kBlockRows;
    constexpr int kWide = Vector::kBlockVectors;
    static_assert(kNumHills % kRows == 0 && kVectors % kWide == 0);
    for (int column = 0; column < kC; column += kWide * kLanes) {
      for (int hill = 0; hill < kNumHills; hill += kRows) {
        Int sums[kRows][kWide];
        MultiplyBytes<kRows, kWide>(scratch.mixed[hill], kC, layer.mix, column,
                                    sums);
        for (int row = 0; row < kRows; ++row) {
          for (int n = 0; n < kWide; ++n) {
            const int c = column + kLanes * n;
            const Float residual = Vector::Add(
                Vector::Multiply(
                    Vector::ToFloat(Vector::LoadBytes(in[hill + row] + c)),
                    Vector::Load(layer.residual.data() + c)),
                Vector::Load(layer.mix_bias.data() + c));
            const Float value = Vector::Add(
                Vector::Multiply(Vector::ToFloat(sums[row][n]),
                                 Vector::Load(layer.scale.data() + c)),
                residual);
            Vector::StoreBytes(Vector::ToInt(value), out[hill + row] + c);
          }
        }
      }
    }
  }

  // --- Heads -----------------------------------------------------------------

  static Float Linear(Int sum, const float* scale, Float bias) {
    return Vector::Add(
        Vector::Multiply(Vector::ToFloat(sum), Vector::Load(scale)), bias);
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
    constexpr int kWide = kPolicyWidth / kLanes;
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
    Float shared[kWide];
    MultiplyShorts<kPolicyWidth>(scratch.context, network.policy_context, sums);
    for (int n = 0; n < kWide; ++n) {
      shared[n] =
          Linear(sums[n], network.policy_context_scale.data() + kLanes * n,
                 Vector::Load(network.policy_bias.data() + kLanes * n));
    }
    ForEachHill(concerned, [&](Hill hill) {
      Int hidden[1][kWide];
      MultiplyBytes<1, kWide>(hills[hill], kC, network.policy, 0, hidden);
      for (int n = 0; n < kWide; ++n) {
        Vector::StoreBytes(
            Vector::ToInt(Linear(hidden[0][n],
                                 network.policy_scale.data() + kLanes * n,
                                 shared[n])),
            scratch.policy[hill] + kLanes * n);
      }
      // Without moves and links only the first output is of use.
      constexpr int kAll = LightIntegers::kOutputs / kLanes;
      const auto compute = [&](auto width) {
        constexpr int kOutputVectors = decltype(width)::value;
        Int values[1][kOutputVectors];
        MultiplyBytes<1, kOutputVectors>(scratch.policy[hill], kPolicyWidth,
                                         network.actions, 0, values);
        for (int n = 0; n < kOutputVectors; ++n) {
          Vector::Store(
              Linear(values[0][n], network.actions_scale.data() + kLanes * n,
                     Vector::Load(network.actions_bias.data() + kLanes * n)),
              scratch.outputs[hill] + kLanes * n);
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
      const std::array<std::array<float, kColumns>, kRows>& matrix,
      const std::array<float, kColumns>& bias, bool relu, float* out) {
    constexpr int kWide = static_cast<int>(kColumns) / kLanes;
    Float sums[kWide];
    for (int n = 0; n < kWide; ++n) {
      sums[n] = Vector::Load(bias.data() + kLanes * n);
    }
    for (size_t row = 0; row < kRows; ++row) {
      const Float x = Vector::All(in[row]);
      for (int n = 0; n < kWide; ++n) {
        sums[n] = Vector::Add(
            sums[n],
            Vector::Multiply(x, Vector::Load(matrix[row].data() + kLanes * n)));
      }
    }
    for (int n = 0; n < kWide; ++n) {
      Vector::Store(relu ? Vector::Relu(sums[n]) : sums[n], out + kLanes * n);
    }
  }

  static void RunValue(const LightIntegers& network, LightScratch& scratch) {
    constexpr int kWide = kValueHidden / kLanes;
    alignas(64) float hidden1[kValueHidden], hidden2[kValueHidden];
    Int sums[kWide];
    MultiplyShorts<kValueHidden>(scratch.context, network.value1, sums);
    for (int n = 0; n < kWide; ++n) {
      Vector::Store(Vector::Relu(Linear(
                        sums[n], network.value1_scale.data() + kLanes * n,
                        Vector::Load(network.value1_bias.data() + kLanes * n))),
                    hidden1 + kLanes * n);
    }
    MultiplyFloats(hidden1, network.value2, network.value2_bias, true, hidden2);
    MultiplyFloats(hidden2, network.value, network.value_bias, false,
                   scratch.value);
  }

  static void Run(const LightIntegers& network, const LightInput& input,
                  absl::Span<const int16_t> outputs, LightScratch& scratch,
                  float* policy) {
    RunInput(network, input, scratch);
    int current = 0;
    Lines lines[kVectors];
    for (const LightIntegerLayer& layer : network.layers) {
      Pool(scratch.hills[current], scratch, lines);
      RunTaps(layer, lines, scratch);
      Mix(layer, scratch.hills[current], scratch, scratch.hills[1 - current]);
      current = 1 - current;
    }
    Pool(scratch.hills[current], scratch, nullptr);
    RunPolicy(network, outputs, scratch.hills[current], scratch, policy);
    RunValue(network, scratch);
  }

  static LightKernels Table(InstructionSet set) {
    return {.set = set, .run = Run};
  }
};

}  // namespace tara::nn::internal

#endif  // TARA_NN_LIGHT_LIGHT_KERNEL_TEMPLATES_H_
