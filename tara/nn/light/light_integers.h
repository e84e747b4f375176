#ifndef TARA_NN_LIGHT_LIGHT_INTEGERS_H_
#define TARA_NN_LIGHT_LIGHT_INTEGERS_H_

// A light network in integers, as it plays. Activations are bytes, each channel
// with a scale of its own: a value is its byte times the scale. All kernels
// compute the same, bit for bit: sums of integers, and floats only where no
// order of sums can differ.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The largest activation of each channel that bytes must reach.
struct LightRanges {
  using Channels = std::array<float, kLightChannels>;

  // Of a network with a number of layers; zeros.
  explicit LightRanges(int layers) : hills(layers + 1), mixed(layers) {}

  std::vector<Channels> hills;  // [layers + 1]
  std::vector<Channels> mixed;  // [layers]
  std::array<float, kPolicyWidth> policy = {};
};

// Measures the ranges of the network in these positions.
LightRanges MeasureLightRanges(const LightTensors& tensors,
                               const float* parameters,
                               absl::Span<const State> positions);

// Returns the ranges of the checkpoint, or else measures them on positions of
// random games. INVALID_ARGUMENT as ReadLightRanges and LightTensors::Read.
absl::StatusOr<LightRanges> LightRangesOf(const Checkpoint& checkpoint);

// The ranges as tensors of a checkpoint, "calibration/...", and back; no value
// without any, INVALID_ARGUMENT where one is missing or misshapen.
void WriteLightRanges(LightRanges ranges, Checkpoint& checkpoint);
absl::StatusOr<std::optional<LightRanges>> ReadLightRanges(
    const Checkpoint& checkpoint, int layers);

// --- Numbers -----------------------------------------------------------------

// Two int8 of a pair that are multiplied together, in one int16; two int16 or
// four int8 in one int32; the first in the lowest bits.
using PackedBytes = int16_t;
using Packed = int32_t;

// A row of numbers that begins with a line of the cache.
template <typename T, size_t kSize>
struct alignas(64) LightRow : std::array<T, kSize> {};

// Bytes unpacked to 16 bits, and 16-bit numbers packed from 32 bits, come in
// another order, the same for vectors of every width: the channels of the
// places [kLightChannels] of each.
constexpr int ChannelOfShort(int place) {
  return place % 32 / 8 * 16 + place / 32 * 8 + place % 8;
}
constexpr int ChannelOfInt(int place) {
  return ChannelOfShort(place / 32 * 32 + place % 16 / 4 * 8 +
                        place % 32 / 16 * 4 + place % 4);
}

// The depthwise sums take hills two by two: those two files apart.
inline constexpr int kTapPairs = 10;
inline constexpr int kPairFiles = 2;
struct LightTapPair {
  int file;  // of the western one
  int rank;
};
// The taps by rank, then file, each with the one that pairs with it.
inline constexpr auto kLightTapPairs = [] {
  std::array<LightTapPair, kTapPairs> pairs{};
  int count = 0;
  for (const LightTap& tap : kLightTaps) {
    const bool is_paired = std::any_of(
        pairs.begin(), pairs.begin() + count, [&](const LightTapPair& pair) {
          return pair.rank == tap.rank && pair.file + kPairFiles == tap.file;
        });
    if (!is_paired) pairs[count++] = {tap.file, tap.rank};
  }
  return pairs;
}();

// What comes from pooled sums, pooled maxima and globals, as int16: sums of 45
// bytes, maxima times 32, both by places of shorts; globals times 2048; rounded
// up to pairs.
inline constexpr int kContextIntegers = (kContext + 1) / 2 * 2;
inline constexpr int kMaximumShift = 5;

// Rows of int16 and int32 are by places of shorts and ints. Sums of 16 bits
// stop at their greatest and least. A factor multiplies as x * factor / 2^15,
// rounded.
struct LightIntegerLayer {
  using Shorts = LightRow<int16_t, kLightChannels>;
  using Ints = LightRow<int32_t, kLightChannels>;

  // sum = taps + lines + pooled; `mixed` is the byte sum * sum_factor.
  std::array<Shorts, kTapPairs> taps;  // PackedBytes
  // [of the file, at an end]: factors of the sum of a rank or file <<
  // kLineShift.
  std::array<std::array<Shorts, 2>, 2> lines;
  // [pair of pooled]; a sum is shifted by kPooledShift.
  std::array<Ints, kLightChannels> pooled;
  Ints bias;
  Shorts sum_factor;
  // total = (mix * mixed + mix_bias) >> kMixShift; an output is the byte
  // (total + (input << kResidualShift) * residual) * factor.
  std::array<Ints, kLightChannels / 4> mix;
  Ints mix_bias;
  Shorts residual, factor;
};
inline constexpr int kLineShift = 4;
inline constexpr int kPooledShift = 6;
inline constexpr int kMixShift = 5;
inline constexpr int kResidualShift = 7;

// Two products of a byte add up in 16 bits: the weights of a pair are of
// different signs, or do not add up to more.
inline constexpr int kMaxPair = 128;

struct LightIntegers {
  using Shorts = LightIntegerLayer::Shorts;

  // Of a hill's inputs, in sixteenths of the first layer's bytes.
  static constexpr int kInputShift = 4;
  // [row of kLightWindows, place]; near, then knight.
  std::vector<Shorts> rows;
  std::array<std::array<Shorts, kGroupRows>, kLightGroups> groups;
  std::array<Shorts, kNumHills> hills;
  // [pair of globals]; a sum is shifted by kGlobalShift.
  static constexpr int kGlobalShift = 10;
  std::array<LightIntegerLayer::Ints, (kNumGlobals + 1) / 2> globals;

  std::vector<LightIntegerLayer> layers;

  // [pair of the context, output], the factor of a sum, and a bias.
  std::array<LightRow<Packed, kPolicyWidth>, kContextIntegers / 2>
      policy_context;
  LightRow<float, kPolicyWidth> policy_context_scale, policy_bias;
  std::array<LightRow<Packed, kPolicyWidth>, kLightChannels / 4> policy;
  LightRow<float, kPolicyWidth> policy_scale;
  static constexpr int kOutputs = kHillOutputRoom;
  std::array<LightRow<Packed, kOutputs>, kPolicyWidth / 4> actions;
  LightRow<float, kOutputs> actions_scale, actions_bias;
  std::array<float, 16> directions;
  std::array<float, kContextIntegers> pass;

  std::array<LightRow<Packed, kValueHidden>, kContextIntegers / 2> value1;
  LightRow<float, kValueHidden> value1_scale, value1_bias;
  std::array<LightRow<float, kValueHidden>, kValueHidden> value2;
  LightRow<float, kValueHidden> value2_bias;
  static constexpr int kValues = 112;  // kNumValueOutputs, and zeros
  static_assert(kNumValueOutputs <= kValues);
  std::array<LightRow<float, kValues>, kValueHidden> value;
  LightRow<float, kValues> value_bias;
};

// The patterns of a hill: its row is first_row + the owners of the hills of
// `mask`, a number of base 3, the first hill the lowest digit.
struct LightWindow {
  Board mask;
  uint32_t first_row;
};
extern const std::array<std::array<LightWindow, kNumLightTables>, kNumHills>
    kLightWindows;

// [bits]: the number of base 3 with these digits.
inline constexpr auto kTernary = [] {
  std::array<uint16_t, 1 << kPatternHills> numbers{};
  for (unsigned bits = 1; bits < numbers.size(); ++bits) {
    numbers[bits] = static_cast<uint16_t>(3 * numbers[bits >> 1] + (bits & 1));
  }
  return numbers;
}();

// Memory for one position.
struct alignas(64) LightScratch {
  uint8_t hills[2][kNumHills][kLightChannels];
  uint8_t mixed[kNumHills][kLightChannels];
  // [square of the 7 x 7 with a margin of two][place of a short]: the byte of a
  // hill, and that of the hill kPairFiles to the east.
  int16_t pairs[11 * 11][kLightChannels] = {};
  int16_t context[kContextIntegers];
  uint8_t policy[kNumHills][kPolicyWidth];
  float outputs[kNumHills][LightIntegers::kOutputs];
  float value[LightIntegers::kValues];
};

// One implementation; chosen at run time.
struct LightKernels {
  absl::string_view name;  // as LightKernelNames
  // Computes the logits of the policy outputs that are given, into
  // policy [kNumPolicyOutputs] at their places, and scratch.value: the logits
  // of win, draw, loss and the margins. `scratch` always belongs to these
  // kernels.
  void (*run)(const LightIntegers& network, const LightBits& bits,
              absl::Span<const int16_t> outputs, LightScratch& scratch,
              float* policy);
};

// Returns the network in integers. Where the ranges are too small for the
// weights, scales are larger: no sum overflows. REQUIRES: finite parameters.
std::unique_ptr<LightIntegers> MakeLightIntegers(const LightTensors& tensors,
                                                 const float* parameters,
                                                 const LightRanges& ranges);

// Returns the kernels that this processor supports, slowest first: the plain
// twin is the first.
std::vector<LightKernels> SupportedLightKernels();

namespace internal {

LightKernels PlainLightKernels();
LightKernels WasmLightKernels();
LightKernels NeonLightKernels();
// REQUIRES: the processor has AVX2; AVX-VNNI too; AVX-512 with VNNI.
LightKernels Avx2LightKernels();
LightKernels AvxVnniLightKernels();
LightKernels Avx512LightKernels();

}  // namespace internal
}  // namespace tara::nn

#endif  // TARA_NN_LIGHT_LIGHT_INTEGERS_H_
