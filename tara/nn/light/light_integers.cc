#include "tara/nn/light/light_integers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/status_macros.h"
#include "tara/core/instruction_set.h"
#include "tara/core/state.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/light/light_learning.h"

namespace tara::nn {
namespace {

constexpr int kC = kLightChannels;

// Bytes reach a little beyond what was measured.
constexpr float kHeadroom = 1.02f;
constexpr double kMaxShort = 32767;
constexpr double kMaxSum = 1 << 30;
// What the greatest byte is in 16-bit sums: parts of a sum may reach twice as
// far.
constexpr double kReach = 16000;
constexpr double kFactor = 1 << 15;
constexpr double kMaxByteWeight = 127;

// The patterns of the hills of a window, as LightLearning::tabulate takes them,
// in the order of the rows.
std::vector<uint32_t> PatternsOf(int hill, int table) {
  std::vector<uint32_t> patterns = {0};
  for (int i = kPatternHills - 1; i >= 0; --i) {
    const uint32_t own = 1u << i, enemy = own << kPatternHills;
    if (kLightPatterns[table][hill][i] == kNumHills) {
      for (uint32_t& pattern : patterns) pattern |= own | enemy;
      continue;
    }
    // The last digit changes fastest, and is the first hill.
    std::vector<uint32_t> longer;
    for (const uint32_t pattern : patterns) {
      longer.insert(longer.end(), {pattern, pattern | own, pattern | enemy});
    }
    patterns = std::move(longer);
  }
  return patterns;
}

// Hills with the same hills around them share their rows: calls
// visit(hill, table, first row) for each hill with rows of its own.
template <typename Visitor>
auto MakeWindows(const Visitor& visit) {
  std::array<std::array<LightWindow, kNumLightTables>, kNumHills> windows{};
  uint32_t rows = 0;
  for (int table = 0; table < kNumLightTables; ++table) {
    std::map<std::array<bool, kPatternHills>, uint32_t> first_rows;
    for (int hill = 0; hill < kNumHills; ++hill) {
      LightWindow& window = windows[hill][table];
      std::array<bool, kPatternHills> on_board;
      uint32_t count = 1;
      for (int i = 0; i < kPatternHills; ++i) {
        const int other = kLightPatterns[table][hill][i];
        on_board[i] = other != kNumHills;
        if (!on_board[i]) continue;
        window.mask |= BoardOf(other);
        count *= 3;
      }
      const auto [it, is_new] = first_rows.try_emplace(on_board, rows);
      window.first_row = it->second;
      if (!is_new) continue;
      visit(hill, table, rows);
      rows += count;
    }
  }
  return windows;
}

Packed PackShorts(double low, double high) {
  const auto to_short = [](double value) {
    return static_cast<uint16_t>(static_cast<int16_t>(std::lround(value)));
  };
  return static_cast<Packed>(to_short(low) |
                             static_cast<uint32_t>(to_short(high)) << 16);
}

Packed PackBytes(const std::array<double, 4>& values) {
  uint32_t packed = 0;
  for (int i = 0; i < 4; ++i) {
    packed |= static_cast<uint32_t>(static_cast<uint8_t>(
                  static_cast<int8_t>(std::lround(values[i]))))
              << (8 * i);
  }
  return static_cast<Packed>(packed);
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
    sums_.resize(mixed_.size());
    totals_.resize(mixed_.size());
    for (size_t i = 0; i < mixed_.size(); ++i) {
      WidenMixed(i);
      WidenHills(i);
    }
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
    return parameters_[tensor.RowAt(row) + column];
  }
  template <typename Row>
  void CopyRow(const LightTensor& tensor, int row, Row& to) const {
    std::copy_n(parameters_ + tensor.RowAt(row), tensor.columns, to.begin());
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

  // The largest absolute value in a matrix's column.
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
          hills_[0][c], most * (1 << LightIntegers::kInputShift) / kMaxShort));
    }
  }
  // Returns the least unit in which two weights that are multiplied together,
  // times their scales, stay within kMaxPair when they are rounded.
  static double PairUnit(absl::Span<const double> weights) {
    double positive = 0, negative = 0, most = 0;
    for (const double weight : weights) {
      (weight > 0 ? positive : negative) += std::abs(weight);
      most = std::max(most, std::abs(weight));
    }
    return std::max(std::max(positive, negative) /
                        (kMaxPair - 0.5 * static_cast<double>(weights.size())),
                    most / kMaxByteWeight);
  }
  // The same of all pairs in a column of a matrix.
  double ColumnUnit(const LightTensor& tensor, const float* scales,
                    int column) const {
    double unit = 1e-12;
    for (int row = 0; row < tensor.rows; row += 2) {
      unit = std::max(
          unit, PairUnit({At(tensor, row, column) * scales[row],
                          At(tensor, row + 1, column) * scales[row + 1]}));
    }
    return unit;
  }

  double TapAt(const LightLayer& layer, int file, int rank, int c) const {
    for (int tap = 0; tap < kNumTaps; ++tap) {
      if (kLightTaps[tap].file == file && kLightTaps[tap].rank == rank) {
        return At(layer.taps, tap, c);
      }
    }
    return 0;
  }

  // Sets the units of the sums before `mixed`.
  void WidenMixed(size_t index) {
    const LightLayer& layer = tensors_.layers[index];
    for (int c = 0; c < kC; ++c) {
      const double in = hills_[index][c];
      double unit = mixed_[index][c] * 255 / kReach;
      for (const auto& [file, rank] : kLightTapPairs) {
        unit = std::max(
            unit, PairUnit({in * TapAt(layer, file, rank, c),
                            in * TapAt(layer, file + kPairFiles, rank, c)}));
      }
      const double line = std::max(std::abs(At(layer.rank, 0, c)),
                                   std::abs(At(layer.file, 0, c))) /
                          (kBoardSize - 2);
      unit =
          std::max(unit, line * in * kFactor / (1 << kLineShift) / kMaxShort);
      // The sum if all pooled numbers are at their greatest.
      double sum = 0;
      for (int i = 0; i < 2 * kC; ++i) {
        const double weight = std::abs(At(layer.pooled, ContextRow(i), c)) *
                              PooledUnit(hills_[index], i) *
                              (1 << kPooledShift);
        unit = std::max(unit, weight / kMaxShort);
        sum += weight * (i < kC ? 255 * kNumHills : 255 << kMaximumShift);
      }
      unit = std::max(
          {unit, sum / kMaxSum, std::abs(At(layer.bias, 0, c)) / kReach});
      sums_[index][c] = static_cast<float>(unit);
      mixed_[index][c] = std::max(mixed_[index][c], sums_[index][c]);
    }
  }

  // Sets the units of the totals before the layer's outputs.
  void WidenHills(size_t index) {
    const LightLayer& layer = tensors_.layers[index];
    for (int c = 0; c < kC; ++c) {
      float& out = hills_[index + 1][c];
      const double unit = std::max(
          {(1 << kMixShift) * ColumnUnit(layer.mix, mixed_[index].data(), c),
           out * 255 / kReach,
           hills_[index][c] * kFactor / (1 << kResidualShift) / kMaxShort,
           std::abs(At(layer.mix_bias, 0, c)) / kReach});
      totals_[index][c] = static_cast<float>(unit);
      out = std::max(out, totals_[index][c]);
    }
  }

  // Returns the value as an int16, saturated.
  static double Short(double value) {
    return std::clamp(value, -kMaxShort, kMaxShort);
  }

  static int16_t ToShort(double value) {
    return static_cast<int16_t>(std::lround(Short(value)));
  }

  // Returns the value of a hill's input in the unit of inputs, clipped to eight
  // times the range of a byte.
  int16_t InputShort(double value, int channel) const {
    return ToShort(value / hills_[0][channel] *
                   (1 << LightIntegers::kInputShift));
  }

  // The planes that follow from the owners of the hills around a hill.
  double PlanesOf(uint32_t pattern, int channel) const {
    constexpr int kMiddle = kPatternHills / 2;
    // The patterns' hills next to the middle.
    constexpr std::array kBeside = {1, 3, 5, 7};
    const auto owner = [&](int i) {
      return (pattern >> i & 1) + 2 * (pattern >> (kPatternHills + i) & 1);
    };
    constexpr std::array kOwners = {PlaneIndex("vacant"),
                                    PlaneIndex("own_ringfort"),
                                    PlaneIndex("enemy_ringfort")};
    constexpr int kOnBoard = PlaneIndex("on_board");
    constexpr int kOwnNeighbours = PlaneIndex("own_neighbours");
    constexpr int kEnemyNeighbours = PlaneIndex("enemy_neighbours");
    constexpr int kBesiegedByOwn = PlaneIndex("besieged_by_own");
    constexpr int kBesiegedByEnemy = PlaneIndex("besieged_by_enemy");
    static_assert(kNumPlanes == 24, "each in a group, or here");
    const auto plane = [&](int index) {
      return At(tensors_.planes, index, channel);
    };
    double sum = plane(kOnBoard) + plane(kOwners[owner(kMiddle)]);
    int own = 0, enemy = 0, off = 0;
    for (const int i : kBeside) {
      own += owner(i) == kOwnHill;
      enemy += owner(i) == kEnemyHill;
      off += owner(i) == kOffBoard;
    }
    sum += plane(kOwnNeighbours) * own / 4;
    sum += plane(kEnemyNeighbours) * enemy / 4;
    if (own + off == 4) sum += plane(kBesiegedByOwn);
    if (enemy + off == 4) sum += plane(kBesiegedByEnemy);
    return sum;
  }

  void MakeRows(int hill, int table, uint32_t first_row) {
    const std::vector<uint32_t> patterns = PatternsOf(hill, table);
    AlignedFloats values(patterns.size() * kC);
    BestLightLearning().tabulate(tensors_, parameters_, table, patterns,
                                 values.data());
    network_->rows.resize(first_row + patterns.size());
    for (size_t row = 0; row < patterns.size(); ++row) {
      for (int place = 0; place < kC; ++place) {
        const int c = ChannelOfShort(place);
        double value = values.data()[row * kC + c];
        if (table == 0) value += PlanesOf(patterns[row], c);
        network_->rows[first_row + row][place] = InputShort(value, c);
      }
    }
  }

  void MakeInputs() {
    MakeWindows([this](int hill, int table, uint32_t first_row) {
      MakeRows(hill, table, first_row);
    });
    for (int place = 0; place < kC; ++place) {
      const int c = ChannelOfShort(place);
      for (int group = 0; group < kLightGroups; ++group) {
        for (int value = 0; value < kGroupRows; ++value) {
          double sum = 0;
          for (int bit = 0; bit < 8; ++bit) {
            const int input = LightGroupInputs(group, value)[bit];
            if ((value >> bit & 1) == 0 || input < 0) continue;
            sum += input < kNumPlanes
                       ? At(tensors_.planes, input, c)
                       : At(tensors_.flags, input - kNumPlanes, c);
          }
          network_->groups[group][value][place] = InputShort(sum, c);
        }
      }
      for (int hill = 0; hill < kNumHills; ++hill) {
        network_->hills[hill][place] = InputShort(
            At(tensors_.hills, hill, c) + At(tensors_.bias, 0, c), c);
      }
    }
    for (size_t pair = 0; pair < network_->globals.size(); ++pair) {
      for (int place = 0; place < kC; ++place) {
        const int c = ChannelOfInt(place);
        const auto weight = [&](int global) {
          if (global >= kNumGlobals) return 0.0;
          return Short(At(tensors_.globals, global, c) / hills_[0][c] *
                       (1 << LightIntegers::kInputShift) *
                       (1 << LightIntegers::kGlobalShift) / kGlobalUnit);
        };
        const int first = static_cast<int>(2 * pair);
        network_->globals[pair][place] =
            PackShorts(weight(first), weight(first + 1));
      }
    }
  }

  void MakeLayer(size_t index) {
    const LightLayer& layer = tensors_.layers[index];
    LightIntegerLayer& out = network_->layers[index];
    for (int place = 0; place < kC; ++place) {
      const int c = ChannelOfShort(place);
      const double in = hills_[index][c];
      const double unit = sums_[index][c];
      for (int pair = 0; pair < kTapPairs; ++pair) {
        const auto [file, rank] = kLightTapPairs[pair];
        out.taps[pair][place] = static_cast<PackedBytes>(PackBytes(
            {TapAt(layer, file, rank, c) * in / unit,
             TapAt(layer, file + kPairFiles, rank, c) * in / unit, 0, 0}));
      }
      for (int is_end = 0; is_end < 2; ++is_end) {
        const double line = in / unit / LineSize(is_end != 0 ? 0 : 1) *
                            kFactor / (1 << kLineShift);
        out.lines[0][is_end][place] = ToShort(At(layer.rank, 0, c) * line);
        out.lines[1][is_end][place] = ToShort(At(layer.file, 0, c) * line);
      }
      out.sum_factor[place] = ToShort(unit / mixed_[index][c] * kFactor);
      const double total = totals_[index][c];
      out.residual[place] =
          ToShort(in / total * kFactor / (1 << kResidualShift));
      out.factor[place] = ToShort(total / hills_[index + 1][c] * kFactor);
    }
    for (int place = 0; place < kC; ++place) {
      const int c = ChannelOfInt(place);
      const double unit = sums_[index][c];
      for (int pair = 0; pair < kC; ++pair) {
        const auto weight = [&](int i) {
          return Short(At(layer.pooled, ContextRow(i), c) *
                       PooledUnit(hills_[index], i) / unit *
                       (1 << kPooledShift));
        };
        out.pooled[pair][place] =
            PackShorts(weight(2 * pair), weight(2 * pair + 1));
      }
      out.bias[place] =
          static_cast<int32_t>(std::lround(At(layer.bias, 0, c) / unit));
      const double mix = totals_[index][c] / (1 << kMixShift);
      PackBytesOf(layer.mix, mixed_[index].data(), c, mix, place, out.mix);
      out.mix_bias[place] =
          static_cast<int32_t>(std::lround(At(layer.mix_bias, 0, c) / mix)) +
          (1 << (kMixShift - 1));
    }
  }

  // The row of the i-th integer of the context, in tensors.
  static int ContextRow(int i) {
    return i < 2 * kC ? i / kC * kC + ChannelOfShort(i % kC) : i;
  }

  // The value of the integer 1 in a pooled sum or maximum.
  static double PooledUnit(const LightRanges::Channels& scale, int i) {
    const float channel = scale[ChannelOfShort(i % kC)];
    return i < kC ? channel / kNumHills : channel / (1 << kMaximumShift);
  }
  double ContextUnit(int i) const {
    return i < 2 * kC ? PooledUnit(hills_.back(), i) : 1 / kGlobalUnit;
  }

  // Makes bytes of a column, with the scales of its inputs in them, at a place.
  template <typename Matrix>
  void PackBytesOf(const LightTensor& tensor, const float* scales, int column,
                   double unit, int place, Matrix& out) {
    for (int four = 0; four < tensor.rows / 4; ++four) {
      std::array<double, 4> values;
      for (int i = 0; i < 4; ++i) {
        values[i] =
            At(tensor, 4 * four + i, column) * scales[4 * four + i] / unit;
      }
      out[four][place] = PackBytes(values);
    }
  }
  // The same in the best unit, which it returns.
  template <typename Matrix>
  float PackBytesOf(const LightTensor& tensor, const float* scales, int column,
                    Matrix& out) {
    const double unit = ColumnUnit(tensor, scales, column);
    PackBytesOf(tensor, scales, column, unit, column, out);
    return static_cast<float>(unit);
  }

  // Makes int16 of a column of what takes the context. Returns their unit.
  template <typename Matrix>
  float PackContext(const LightTensor& tensor, int column, Matrix& out) {
    double most = 1e-12;
    for (int i = 0; i < kContext; ++i) {
      most = std::max(
          most, std::abs(At(tensor, ContextRow(i), column) * ContextUnit(i)));
    }
    // A sum of all at their greatest stays below 2^31.
    constexpr double kMost = 1000;
    const double unit = most / kMost;
    for (int pair = 0; pair < kContextIntegers / 2; ++pair) {
      const auto weight = [&](int i) {
        return i < kContext
                   ? At(tensor, ContextRow(i), column) * ContextUnit(i) / unit
                   : 0;
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
    }
    CopyRow(tensors_.actions_bias, 0, network_->actions_bias);
    CopyRow(tensors_.directions, 0, network_->directions);
    for (int i = 0; i < kContext; ++i) {
      network_->pass[i] = static_cast<float>(
          At(tensors_.pass, 0, ContextRow(i)) * ContextUnit(i));
    }
  }

  void MakeValue() {
    for (int c = 0; c < kValueHidden; ++c) {
      network_->value1_scale[c] =
          PackContext(tensors_.value1, c, network_->value1);
      CopyRow(tensors_.value2, c, network_->value2[c]);
      CopyRow(tensors_.value, c, network_->value[c]);
    }
    CopyRow(tensors_.value1_bias, 0, network_->value1_bias);
    CopyRow(tensors_.value2_bias, 0, network_->value2_bias);
    CopyRow(tensors_.value_bias, 0, network_->value_bias);
  }

  const LightTensors& tensors_;
  const float* const parameters_;
  std::unique_ptr<LightIntegers> network_;
  // The scales of bytes, and of the sums and totals that they come from.
  std::vector<LightRanges::Channels> hills_, mixed_, sums_, totals_;
  std::array<float, kPolicyWidth> policy_;
};

// The tensor of some ranges in a checkpoint.
struct RangeTensor {
  absl::string_view name;
  std::vector<int64_t> shape;
  absl::Span<float> values;
};

std::array<RangeTensor, 3> TensorsOf(LightRanges& ranges) {
  const auto of_channels = [](absl::string_view name,
                              std::vector<LightRanges::Channels>& channels) {
    const auto rows = static_cast<int64_t>(channels.size());
    return RangeTensor{
        name,
        {rows, kC},
        absl::MakeSpan(channels.data()->data(), channels.size() * kC)};
  };
  return {
      of_channels("calibration/hills", ranges.hills),
      of_channels("calibration/mixed", ranges.mixed),
      {"calibration/policy", {kPolicyWidth}, absl::MakeSpan(ranges.policy)}};
}

}  // namespace

const std::array<std::array<LightWindow, kNumLightTables>, kNumHills>
    kLightWindows = MakeWindows([](int, int, uint32_t) {});

LightRanges MeasureLightRanges(const LightTensors& tensors,
                               const float* parameters,
                               absl::Span<const State> positions) {
  const size_t layers = tensors.layers.size();
  LightRanges ranges(static_cast<int>(layers));
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

void WriteLightRanges(LightRanges ranges, Checkpoint& checkpoint) {
  for (const auto& [name, shape, values] : TensorsOf(ranges)) {
    checkpoint.tensors.push_back({.name = std::string(name),
                                  .shape = shape,
                                  .values = {values.begin(), values.end()}});
  }
}

absl::StatusOr<std::optional<LightRanges>> ReadLightRanges(
    const Checkpoint& checkpoint, int layers) {
  if (!checkpoint.HasPrefix("calibration/")) return std::nullopt;
  LightRanges ranges(layers);
  for (const auto& [name, shape, values] : TensorsOf(ranges)) {
    TARA_ASSIGN_OR_RETURN(const NamedTensor* const tensor,
                          checkpoint.Find(name, shape));
    std::copy(tensor->values.begin(), tensor->values.end(), values.begin());
  }
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
  if (sets.size() > 1) {
    kernels.push_back(internal::Avx2LightKernels());
    // The variable stands for processors that do not have it.
    if (std::getenv("TARA_INSTRUCTION_SET") == nullptr &&
        __builtin_cpu_supports("avxvnni")) {
      kernels.push_back(internal::AvxVnniLightKernels());
    }
  }
  if (sets.back() == InstructionSet::kAvx512 &&
      __builtin_cpu_supports("avx512vnni")) {
    kernels.push_back(internal::Avx512LightKernels());
  }
#elif defined(__ARM_NEON)
  kernels.push_back(internal::NeonLightKernels());
#elif defined(__wasm_simd128__)
  kernels.push_back(internal::WasmLightKernels());
#endif
  return kernels;
}

}  // namespace tara::nn
