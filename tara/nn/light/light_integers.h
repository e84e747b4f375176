#ifndef TARA_NN_LIGHT_LIGHT_INTEGERS_H_
#define TARA_NN_LIGHT_LIGHT_INTEGERS_H_

// A light network in integers, as it plays. Activations are bytes, each channel
// with a scale of its own: a value is its byte times the scale. All kernels
// compute the same, bit for bit: sums of integers, and floats only where no
// order of sums can differ.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/state.h"
#include "tara/nn/heads.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// The largest activation of each channel that bytes must reach.
struct LightRanges {
  using Channels = std::array<float, kLightChannels>;

  std::vector<Channels> hills;  // [layers + 1]
  std::vector<Channels> mixed;  // [layers]
  std::array<float, kPolicyWidth> policy = {};
};

// Measures the ranges of the network in these positions.
LightRanges MeasureLightRanges(const LightTensors& tensors,
                               const float* parameters,
                               absl::Span<const State> positions);

// Returns the ranges that the checkpoint has, or those of positions of random
// games. INVALID_ARGUMENT as ReadLightRanges.
absl::StatusOr<LightRanges> LightRangesOf(const Checkpoint& checkpoint,
                                          const LightTensors& tensors,
                                          const float* parameters);

// The ranges as tensors of a checkpoint, "calibration/...", and back; no value
// where there are none, INVALID_ARGUMENT where one is missing or misshapen.
void WriteLightRanges(const LightRanges& ranges, Checkpoint& checkpoint);
absl::StatusOr<std::optional<LightRanges>> ReadLightRanges(
    const Checkpoint& checkpoint, int layers);

// The depthwise sums take hills two by two: those next to each other in a rank.
inline constexpr int kTapPairs = 12;
struct LightTapPair {
  int file;  // of the western one
  int rank;
};
extern const std::array<LightTapPair, kTapPairs> kLightTapPairs;

// Two int16 of a pair, or four int8, that are multiplied together, in one
// int32; the first in the lowest bits.
using Packed = int32_t;

// What comes from pooled sums, pooled maxima and globals, as int16: sums of 45
// bytes, maxima times 32, globals times 2048; rounded up to pairs.
inline constexpr int kContextIntegers = (kContext + 1) / 2 * 2;
inline constexpr int kMaximumShift = 5;
inline constexpr float kGlobalUnit = 2048;

struct LightIntegerLayer {
  // [pair, channel]; and [rank, file is at an end][channel] of the sums of rank
  // and file. In units of 2^-12 of `mixed`.
  std::array<std::array<Packed, kLightChannels>, kTapPairs> taps;
  std::array<std::array<Packed, kLightChannels>, 4> lines;
  // [pair of pooled, channel]: in units of 2^-18.
  std::array<std::array<Packed, kLightChannels>, kLightChannels> pooled;
  std::array<int32_t, kLightChannels> bias;  // 2^-12
  // [four inputs, output]. An output is sum * scale + input * residual + bias.
  std::array<std::array<Packed, kLightChannels>, kLightChannels / 4> mix;
  std::array<float, kLightChannels> scale, residual, mix_bias;
};
inline constexpr int kTapShift = 12;
inline constexpr int kPooledShift = 6;

struct LightIntegers {
  // Of a hill's inputs, in sixteenths of the first layer's bytes.
  static constexpr int kInputShift = 4;
  // [table][row, channel]
  std::array<std::vector<int16_t>, kNumLightTables> tables;
  std::array<std::array<int16_t, kLightChannels>,
             kLightLevels * kNumLightInputs>
      rows;
  std::array<std::array<int16_t, kLightChannels>, kNumHills> hills;
  // [pair of globals, channel]; a sum is shifted by kGlobalShift.
  static constexpr int kGlobalShift = 10;
  std::array<std::array<Packed, kLightChannels>, (kNumGlobals + 1) / 2> globals;

  std::vector<LightIntegerLayer> layers;

  // [pair of the context, output], what a sum is multiplied by, and a bias.
  std::array<std::array<Packed, kPolicyWidth>, kContextIntegers / 2>
      policy_context;
  std::array<float, kPolicyWidth> policy_context_scale, policy_bias;
  std::array<std::array<Packed, kPolicyWidth>, kLightChannels / 4> policy;
  std::array<float, kPolicyWidth> policy_scale;
  static constexpr int kOutputs = kHillOutputRoom;
  std::array<std::array<Packed, kOutputs>, kPolicyWidth / 4> actions;
  std::array<float, kOutputs> actions_scale, actions_bias;
  std::array<float, 16> directions;
  std::array<float, kContextIntegers> pass;

  std::array<std::array<Packed, kValueHidden>, kContextIntegers / 2> value1;
  std::array<float, kValueHidden> value1_scale, value1_bias;
  std::array<std::array<float, kValueHidden>, kValueHidden> value2;
  std::array<float, kValueHidden> value2_bias;
  static constexpr int kValues = 112;  // kNumValueOutputs, and zeros
  static_assert(kNumValueOutputs <= kValues);
  std::array<std::array<float, kValues>, kValueHidden> value;
  std::array<float, kValues> value_bias;
};

// The patterns of a hill: the row of a table is what Extract returns.
struct LightWindow {
  Board mask;          // its hills on the board
  uint32_t positions;  // the bits of the pattern that they are
  uint32_t outside;    // the others
};
extern const std::array<std::array<LightWindow, kNumLightTables>, kNumHills>
    kLightWindows;

// Memory for one position.
struct alignas(64) LightScratch {
  uint8_t hills[2][kNumHills + 3][kLightChannels];
  uint8_t mixed[kNumHills + 3][kLightChannels];
  // [channel block][square of the 7 x 7 with a margin of two][lane]: the byte
  // of a hill, and that of its eastern neighbour.
  Packed pairs[kLightChannels * 11 * 11] = {};
  int16_t context[kContextIntegers];
  uint8_t policy[kNumHills][kPolicyWidth];
  float outputs[kNumHills][LightIntegers::kOutputs];
  float value[LightIntegers::kValues];
};

// One implementation; chosen at run time.
struct LightKernels {
  InstructionSet set;
  // Computes the logits of the policy outputs that are given, into
  // policy [kNumPolicyOutputs] at their places, and scratch.value: those of
  // win, draw, loss and the margins. `scratch` is always that of these kernels.
  void (*run)(const LightIntegers& network, const LightInput& input,
              absl::Span<const int16_t> outputs, LightScratch& scratch,
              float* policy);
};

// Returns the network in integers. Where the ranges are too small for the
// weights, scales are larger: no sum overflows. REQUIRES: finite parameters.
std::unique_ptr<LightIntegers> MakeLightIntegers(const LightTensors& tensors,
                                                 const float* parameters,
                                                 const LightRanges& ranges);

// Returns those that this processor supports, slowest first: the plain twin is
// the first.
std::vector<LightKernels> SupportedLightKernels();

namespace internal {

LightKernels PlainLightKernels();
// REQUIRES: the processor has AVX2; AVX-512 with VNNI.
LightKernels Avx2LightKernels();
LightKernels Avx512LightKernels();

}  // namespace internal
}  // namespace tara::nn

#endif  // TARA_NN_LIGHT_LIGHT_INTEGERS_H_
