#include "tara/nn/light/light_integers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/core/instruction_set.h"
#include "tara/core/state.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/light/light_learning.h"

namespace tara::nn {
namespace {

constexpr int kC = kLightChannels;

// Bytes reach a little beyond what was measured.
constexpr float kHeadroom = 1.02f;
// Two products of a byte and such a weight fit 16 bits.
constexpr double kMostByteWeight = 64;
constexpr double kMostShort = 32767;
constexpr double kMostSum = 1 << 30;

// The taps by rank, then file, each with its eastern neighbour where that is
// one, too.
std::array<LightTapPair, kTapPairs> MakeTapPairs() {
  std::array<LightTapPair, kTapPairs> pairs{};
  int count = 0;
  for (const LightTap& tap : kLightTaps) {
    const bool is_second = count > 0 && pairs[count - 1].rank == tap.rank &&
                           pairs[count - 1].file + 1 == tap.file;
    if (!is_second) pairs[count++] = {tap.file, tap.rank};
  }
  return pairs;
}

std::array<std::array<LightWindow, kNumLightTables>, kNumHills> MakeWindows() {
  std::array<std::array<LightWindow, kNumLightTables>, kNumHills> windows{};
  for (int hill = 0; hill < kNumHills; ++hill) {
    for (int table = 0; table < kNumLightTables; ++table) {
      LightWindow& window = windows[hill][table];
      for (int i = 0; i < kPatternHills; ++i) {
        const int other = kLightPatterns[table][hill][i];
        if (other == kNumHills) {
          window.outside |= 1u << i;
        } else {
          window.mask |= BoardOf(other);
          window.positions |= 1u << i;
        }
      }
    }
  }
  return windows;
}

Packed PackShorts(double low, double high) {
  const auto to_short = [](double value) {
    return static_cast<uint16_t>(static_cast<int16_t>(std::lround(value)));
  };
  return std::bit_cast<Packed>(to_short(low) |
                               static_cast<uint32_t>(to_short(high)) << 16);
}

Packed PackBytes(const std::array<double, 4>& values) {
  uint32_t packed = 0;
  for (int i = 0; i < 4; ++i) {
    packed |= static_cast<uint32_t>(static_cast<uint8_t>(
                  static_cast<int8_t>(std::lround(values[i]))))
              << (8 * i);
  }
  return std::bit_cast<Packed>(packed);
}

// Makes integers of one network.
class Maker {
 public:
  Maker(const LightTensors& tensors, const float* parameters,
        const LightRanges& ranges)
      : tensors_(tensors),
        parameters_(parameters),
        network_(std::make_unique<LightIntegers>()) {
    for (const auto& range : ranges.hills) hills_.push_back(ToScales(range));
    for (const auto& range : ranges.mixed) mixed_.push_back(ToScales(range));
    policy_ = ToScales(ranges.policy);
    WidenInputs();
    for (size_t i = 0; i < mixed_.size(); ++i) WidenMixed(i);
  }

  std::unique_ptr<LightIntegers> Make() {
    network_->layers.resize(tensors_.layers.size());
    MakeInputs();
    for (size_t i = 0; i < tensors_.layers.size(); ++i) MakeLayer(i);
    MakePolicy();
    MakeValue();
    return std::move(network_);
  }

 private:
  double At(const LightTensor& tensor, int row, int column) const {
    return parameters_[tensor.offset +
                       static_cast<size_t>(row) * tensor.stride + column];
  }

  // Returns what a byte of each channel stands for. Channels that were hardly
  // active in the positions measured may be in others.
  template <typename Ranges>
  static Ranges ToScales(const Ranges& ranges) {
    const double mean =
        std::accumulate(ranges.begin(), ranges.end(), 0.0) / ranges.size();
    Ranges scales;
    for (size_t c = 0; c < ranges.size(); ++c) {
      scales[c] = static_cast<float>(
          std::max({static_cast<double>(ranges[c]), 0.1 * mean, 1e-6}) *
          kHeadroom / 255);
    }
    return scales;
  }

  // Of a matrix's column.
  double LargestOf(const LightTensor& tensor, int column) const {
    double most = 0;
    for (int row = 0; row < tensor.rows; ++row) {
      most = std::max(most, std::abs(At(tensor, row, column)));
    }
    return most;
  }

  // Makes scales so large that the weights, divided by them, fit 16 bits, and
  // sums of them 32.
  void WidenInputs() {
    for (int c = 0; c < kC; ++c) {
      const double most = std::max(
          {LargestOf(tensors_.planes, c), LargestOf(tensors_.flags, c),
           LargestOf(tensors_.hills, c) + std::abs(At(tensors_.bias, 0, c)),
           LargestOf(tensors_.globals, c)});
      hills_[0][c] = static_cast<float>(std::max<double>(
          hills_[0][c], most * (1 << LightIntegers::kInputShift) / kMostShort));
    }
  }
  void WidenMixed(size_t index) {
    const LightLayer& layer = tensors_.layers[index];
    for (int c = 0; c < kC; ++c) {
      const double line = std::max(std::abs(At(layer.rank, 0, c)),
                                   std::abs(At(layer.file, 0, c))) /
                          (kBoardSize - 2);
      double most = std::max(LargestOf(layer.taps, c), line) *
                    hills_[index][c] * (1 << kTapShift) / kMostShort;
      // Of all pooled numbers at their greatest.
      double sum = 0;
      for (int i = 0; i < 2 * kC; ++i) {
        const double weight = std::abs(At(layer.pooled, i, c)) *
                              PooledUnit(hills_[index], i) *
                              (1 << (kTapShift + kPooledShift));
        most = std::max(most, weight / kMostShort);
        sum += weight * (i < kC ? 255 * kNumHills : 255 << kMaximumShift);
      }
      const double bias = std::abs(At(layer.bias, 0, c)) * (1 << kTapShift);
      mixed_[index][c] = static_cast<float>(std::max<double>(
          {mixed_[index][c], most, sum / kMostSum, bias / kMostSum}));
    }
  }

  // Returns the value as an int16; what is beyond is as far as it goes.
  static double Short(double value) {
    return std::clamp(value, -kMostShort, kMostShort);
  }

  void MakeInputs() {
    // A pattern that no position has may lie beyond: eight times what a byte
    // reaches, with any sign, is as good as more.
    const auto unit = [&](double value, int c) {
      return static_cast<int16_t>(std::lround(
          Short(value / hills_[0][c] * (1 << LightIntegers::kInputShift))));
    };
    for (int t = 0; t < kNumLightTables; ++t) {
      AlignedFloats values(static_cast<size_t>(kPatternRows) * kC);
      BestLightLearning().tabulate(tensors_, parameters_, t, values.data());
      network_->tables[t].resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        network_->tables[t][i] = unit(values.data()[i], i % kC);
      }
    }
    for (int input = 0; input < kNumLightInputs; ++input) {
      const bool plane = input < kNumPlanes;
      const LightTensor& tensor = plane ? tensors_.planes : tensors_.flags;
      const int row = plane ? input : input - kNumPlanes;
      for (int level = 0; level < kLightLevels; ++level) {
        for (int c = 0; c < kC; ++c) {
          network_->rows[kLightLevels * input + level][c] =
              unit(At(tensor, row, c) * level / 4, c);
        }
      }
    }
    for (int hill = 0; hill < kNumHills; ++hill) {
      for (int c = 0; c < kC; ++c) {
        network_->hills[hill][c] =
            unit(At(tensors_.hills, hill, c) + At(tensors_.bias, 0, c), c);
      }
    }
    for (size_t pair = 0; pair < network_->globals.size(); ++pair) {
      for (int c = 0; c < kC; ++c) {
        const auto weight = [&](int global) {
          if (global >= kNumGlobals) return 0.0;
          return Short(At(tensors_.globals, global, c) / hills_[0][c] *
                       (1 << LightIntegers::kInputShift) *
                       (1 << LightIntegers::kGlobalShift) / kGlobalUnit);
        };
        const int first = static_cast<int>(2 * pair);
        network_->globals[pair][c] =
            PackShorts(weight(first), weight(first + 1));
      }
    }
  }

  // The row of the tap, or -1.
  static int TapAt(int file, int rank) {
    for (int tap = 0; tap < kNumTaps; ++tap) {
      if (kLightTaps[tap].file == file && kLightTaps[tap].rank == rank) {
        return tap;
      }
    }
    return -1;
  }

  void MakeLayer(size_t index) {
    const LightLayer& layer = tensors_.layers[index];
    LightIntegerLayer& out = network_->layers[index];
    const auto& in_scale = hills_[index];
    const auto& mixed_scale = mixed_[index];
    const auto& out_scale = hills_[index + 1];
    for (int c = 0; c < kC; ++c) {
      const double unit = in_scale[c] / mixed_scale[c] * (1 << kTapShift);
      for (int pair = 0; pair < kTapPairs; ++pair) {
        const auto [file, rank] = kLightTapPairs[pair];
        const auto weight = [&](int tap) {
          return tap < 0 ? 0 : Short(At(layer.taps, tap, c) * unit);
        };
        out.taps[pair][c] = PackShorts(weight(TapAt(file, rank)),
                                       weight(TapAt(file + 1, rank)));
      }
      for (int ends = 0; ends < 4; ++ends) {
        out.lines[ends][c] = PackShorts(Short(At(layer.rank, 0, c) * unit /
                                              LineSize(ends / 2 != 0 ? 0 : 1)),
                                        Short(At(layer.file, 0, c) * unit /
                                              LineSize(ends % 2 != 0 ? 0 : 1)));
      }
      const double pooled_unit =
          (1 << (kTapShift + kPooledShift)) / mixed_scale[c];
      for (int pair = 0; pair < kC; ++pair) {
        const auto weight = [&](int i) {
          return Short(At(layer.pooled, i, c) * pooled_unit *
                       PooledUnit(in_scale, i));
        };
        out.pooled[pair][c] =
            PackShorts(weight(2 * pair), weight(2 * pair + 1));
      }
      out.bias[c] = static_cast<int32_t>(std::lround(
          At(layer.bias, 0, c) / mixed_scale[c] * (1 << kTapShift)));
      out.scale[c] =
          PackBytesOf(layer.mix, mixed_scale.data(), c, out.mix) / out_scale[c];
      out.residual[c] = in_scale[c] / out_scale[c];
      out.mix_bias[c] =
          static_cast<float>(At(layer.mix_bias, 0, c) / out_scale[c]);
    }
  }

  // What a pooled sum or maximum, as an integer, stands for.
  static double PooledUnit(const LightRanges::Channels& scale, int i) {
    return i < kC ? scale[i] / kNumHills : scale[i - kC] / (1 << kMaximumShift);
  }
  double ContextUnit(int i) const {
    return i < 2 * kC ? PooledUnit(hills_.back(), i) : 1 / kGlobalUnit;
  }

  // Makes bytes of a column, with the scales of its inputs in them. Returns
  // what a sum stands for.
  template <typename Matrix>
  float PackBytesOf(const LightTensor& tensor, const float* scales, int column,
                    Matrix& out) {
    double most = 1e-9;
    for (int i = 0; i < tensor.rows; ++i) {
      most = std::max(most, std::abs(At(tensor, i, column) * scales[i]));
    }
    const double unit = most / kMostByteWeight;
    for (int four = 0; four < tensor.rows / 4; ++four) {
      std::array<double, 4> values;
      for (int i = 0; i < 4; ++i) {
        values[i] =
            At(tensor, 4 * four + i, column) * scales[4 * four + i] / unit;
      }
      out[four][column] = PackBytes(values);
    }
    return static_cast<float>(unit);
  }

  // The same of 16 bits, of what takes the context.
  template <typename Matrix>
  float PackContext(const LightTensor& tensor, int column, Matrix& out) {
    double most = 1e-12;
    for (int i = 0; i < kContext; ++i) {
      most = std::max(most, std::abs(At(tensor, i, column) * ContextUnit(i)));
    }
    // A sum of all at their greatest stays below 2^31.
    constexpr double kMost = 1000;
    const double unit = most / kMost;
    for (int pair = 0; pair < kContextIntegers / 2; ++pair) {
      const auto weight = [&](int i) {
        return i < kContext ? At(tensor, i, column) * ContextUnit(i) / unit : 0;
      };
      out[pair][column] = PackShorts(weight(2 * pair), weight(2 * pair + 1));
    }
    return static_cast<float>(unit);
  }

  void MakePolicy() {
    for (int c = 0; c < kPolicyWidth; ++c) {
      network_->policy_context_scale[c] =
          PackContext(tensors_.policy_context, c, network_->policy_context) /
          policy_[c];
      network_->policy_bias[c] =
          static_cast<float>(At(tensors_.policy_bias, 0, c) / policy_[c]);
      network_->policy_scale[c] =
          PackBytesOf(tensors_.policy, hills_.back().data(), c,
                      network_->policy) /
          policy_[c];
    }
    for (int output = 0; output < kNumHillOutputs; ++output) {
      network_->actions_scale[output] = PackBytesOf(
          tensors_.actions, policy_.data(), output, network_->actions);
      network_->actions_bias[output] =
          static_cast<float>(At(tensors_.actions_bias, 0, output));
    }
    for (int i = 0; i < 16; ++i) {
      network_->directions[i] =
          static_cast<float>(At(tensors_.directions, 0, i));
    }
    for (int i = 0; i < kContext; ++i) {
      network_->pass[i] =
          static_cast<float>(At(tensors_.pass, 0, i) * ContextUnit(i));
    }
  }

  void MakeValue() {
    for (int c = 0; c < kValueHidden; ++c) {
      network_->value1_scale[c] =
          PackContext(tensors_.value1, c, network_->value1);
      network_->value1_bias[c] =
          static_cast<float>(At(tensors_.value1_bias, 0, c));
      network_->value2_bias[c] =
          static_cast<float>(At(tensors_.value2_bias, 0, c));
      for (int i = 0; i < kValueHidden; ++i) {
        network_->value2[i][c] = static_cast<float>(At(tensors_.value2, i, c));
      }
      for (int output = 0; output < kNumValueOutputs; ++output) {
        network_->value[c][output] =
            static_cast<float>(At(tensors_.value, c, output));
        network_->value_bias[output] =
            static_cast<float>(At(tensors_.value_bias, 0, output));
      }
    }
  }

  const LightTensors& tensors_;
  const float* const parameters_;
  std::unique_ptr<LightIntegers> network_;
  std::vector<LightRanges::Channels> hills_, mixed_;  // scales
  std::array<float, kPolicyWidth> policy_;
};

constexpr absl::string_view kHillRanges = "calibration/hills";
constexpr absl::string_view kMixedRanges = "calibration/mixed";
constexpr absl::string_view kPolicyRanges = "calibration/policy";

NamedTensor RangesTensor(absl::string_view name,
                         const std::vector<LightRanges::Channels>& ranges) {
  NamedTensor tensor = {.name = std::string(name),
                        .shape = {static_cast<int64_t>(ranges.size()), kC},
                        .values = {}};
  for (const auto& range : ranges) {
    tensor.values.insert(tensor.values.end(), range.begin(), range.end());
  }
  return tensor;
}

}  // namespace

const std::array<LightTapPair, kTapPairs> kLightTapPairs = MakeTapPairs();
const std::array<std::array<LightWindow, kNumLightTables>, kNumHills>
    kLightWindows = MakeWindows();

LightRanges MeasureLightRanges(const LightTensors& tensors,
                               const float* parameters,
                               absl::Span<const State> positions) {
  const size_t layers = tensors.layers.size();
  LightRanges ranges = {.hills = std::vector<LightRanges::Channels>(layers + 1),
                        .mixed = std::vector<LightRanges::Channels>(layers)};
  const auto widen = [](const float* values, auto& range) {
    for (size_t c = 0; c < range.size(); ++c) {
      range[c] = std::max(range[c], values[c]);
    }
  };
  EncodedBatch batch;
  LightInput input;
  const auto activations = std::make_unique<LightActivations>();
  for (const State& position : positions) {
    batch.EncodeCanonical(absl::MakeConstSpan(&position, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    BestLightLearning().forward(tensors, parameters, input, batch.OutputsOf(0),
                                *activations);
    for (int hill = 0; hill < kNumHills; ++hill) {
      for (size_t i = 0; i <= layers; ++i) {
        widen(activations->hills[i][hill], ranges.hills[i]);
      }
      for (size_t i = 0; i < layers; ++i) {
        widen(activations->mixed[i][hill], ranges.mixed[i]);
      }
      if (activations->is_concerned[hill]) {
        widen(activations->policy[hill], ranges.policy);
      }
    }
  }
  return ranges;
}

void WriteLightRanges(const LightRanges& ranges, Checkpoint& checkpoint) {
  checkpoint.tensors.push_back(RangesTensor(kHillRanges, ranges.hills));
  checkpoint.tensors.push_back(RangesTensor(kMixedRanges, ranges.mixed));
  checkpoint.tensors.push_back(
      {.name = std::string(kPolicyRanges),
       .shape = {kPolicyWidth},
       .values = {ranges.policy.begin(), ranges.policy.end()}});
}

absl::StatusOr<std::optional<LightRanges>> ReadLightRanges(
    const Checkpoint& checkpoint, int layers) {
  if (!checkpoint.HasPrefix("calibration/")) return std::nullopt;
  LightRanges ranges;
  const auto read = [&](absl::string_view name, int count,
                        std::vector<LightRanges::Channels>& out) {
    const auto tensor = checkpoint.Find(name, {count, kC});
    if (!tensor.ok()) return tensor.status();
    out.resize(count);
    for (int i = 0; i < count; ++i) {
      std::copy_n((*tensor)->values.begin() + i * kC, kC, out[i].begin());
    }
    return absl::OkStatus();
  };
  TARA_RETURN_IF_ERROR(read(kHillRanges, layers + 1, ranges.hills));
  TARA_RETURN_IF_ERROR(read(kMixedRanges, layers, ranges.mixed));
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const policy,
                        checkpoint.Find(kPolicyRanges, {kPolicyWidth}));
  std::copy_n(policy->values.begin(), kPolicyWidth, ranges.policy.begin());
  return ranges;
}

std::unique_ptr<LightIntegers> MakeLightIntegers(const LightTensors& tensors,
                                                 const float* parameters,
                                                 const LightRanges& ranges) {
  return Maker(tensors, parameters, ranges).Make();
}

std::vector<LightKernels> SupportedLightKernels() {
  std::vector<LightKernels> kernels = {internal::PlainLightKernels()};
#if defined(__x86_64__)
  const std::vector<InstructionSet> sets = SupportedInstructionSets();
  if (sets.size() > 1) kernels.push_back(internal::Avx2LightKernels());
  if (sets.back() == InstructionSet::kAvx512 &&
      __builtin_cpu_supports("avx512vnni")) {
    kernels.push_back(internal::Avx512LightKernels());
  }
#endif
  return kernels;
}

}  // namespace tara::nn
