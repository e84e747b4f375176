#include "tara/nn/cpu/cpu_calibration.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/random_action.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/nn/cpu/cpu_network.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

constexpr char kTowerName[] = "calibration/tower";
constexpr char kInnerName[] = "calibration/inner";

// Counts of positive values on a logarithmic scale of eight bins an octave,
// from 2^-12 to 2^12.
class Histogram {
 public:
  void Add(float value) {
    const int bin =
        static_cast<int>(std::bit_cast<uint32_t>(value) >> kShift) - kFirst;
    // Without a branch, because half of the values are 0, in random places.
    ++counts_[std::clamp(bin, -1, kBins - 1) + 1];
  }

  void Add(const Histogram& other) {
    for (int i = 0; i <= kBins; ++i) counts_[i] += other.counts_[i];
  }

  // Returns the range in which `levels` integers have the least squared error:
  // a value within it is rounded to units of u = range / levels, which costs
  // u^2 / 12 on average, and one above it is cut. 0 without values.
  float BestRange(int levels) const {
    int top = kBins - 1;
    while (top >= 0 && Count(top) == 0) --top;
    float best = 0;
    double least = INFINITY;
    for (int end = top; end > std::max(top - kOctaves * kBinsOfOctave, -1);
         --end) {
      const float range = UpperEdge(end);
      const double unit = range / levels;
      double error = 0;
      for (int i = 0; i <= top; ++i) {
        const double excess = std::max(0.0f, Middle(i) - range);
        error += Count(i) * (i <= end ? unit * unit / 12 : excess * excess);
      }
      if (error < least) {
        least = error;
        best = range;
      }
    }
    return best;
  }

 private:
  static constexpr int kShift = 20;  // keeps three bits of the mantissa
  static constexpr int kBinsOfOctave = 8;
  static constexpr int kFirst = (127 - 12) * kBinsOfOctave;
  static constexpr int kBins = 24 * kBinsOfOctave;
  static constexpr int kOctaves = 4;  // how far below the maximum is tried

  int32_t Count(int bin) const { return counts_[bin + 1]; }
  static float UpperEdge(int bin) {
    return std::bit_cast<float>(static_cast<uint32_t>(kFirst + bin + 1)
                                << kShift);
  }
  static float Middle(int bin) {
    return std::bit_cast<float>(
        (static_cast<uint32_t>(kFirst + bin) << kShift) + (1u << (kShift - 1)));
  }

  // The first counts values below all bins.
  std::array<int32_t, kBins + 1> counts_ = {};
};

// A channel's range, shrunk towards that of its layer: with separate ranges,
// channels that these positions hardly use would be clipped at others.
std::vector<float> ComputeRanges(const std::vector<Histogram>& channels) {
  constexpr int kLevels = 255;
  Histogram layer;
  for (const Histogram& channel : channels) layer.Add(channel);
  const float common = std::max(layer.BestRange(kLevels), 1e-3f);
  std::vector<float> ranges;
  for (const Histogram& channel : channels) {
    const float own = std::max(channel.BestRange(kLevels), common / 64);
    ranges.push_back(std::sqrt(own * common));
  }
  return ranges;
}

// The rows of a matrix [rows, channels] with their padding.
NamedTensor ToTensor(const char* name,
                     const std::vector<std::vector<float>>& ranges,
                     int channels) {
  NamedTensor tensor = {
      .name = name,
      .shape = {static_cast<int64_t>(ranges.size()), channels},
      .values = {}};
  for (const std::vector<float>& row : ranges) {
    tensor.values.insert(tensor.values.end(), row.begin(),
                         row.begin() + channels);
  }
  return tensor;
}

absl::StatusOr<std::vector<std::vector<float>>> FromTensor(
    const Checkpoint& checkpoint, const char* name, int64_t rows) {
  const int channels = checkpoint.shape.channels;
  TARA_ASSIGN_OR_RETURN(const NamedTensor* const tensor,
                        checkpoint.Find(name, {rows, channels}));
  std::vector<std::vector<float>> ranges;
  for (int64_t row = 0; row < rows; ++row) {
    const float* const begin = tensor->values.data() + row * channels;
    for (int c = 0; c < channels; ++c) {
      if (!(begin[c] > 0) || !std::isfinite(begin[c])) {
        return absl::InvalidArgumentError(
            absl::StrCat("tensor ", name, " has ", begin[c], " at ", row, ", ",
                         c, "; expected a positive number"));
      }
    }
    ranges.emplace_back(begin, begin + channels);
    ranges.back().resize(WholeVectors(channels), 1);
  }
  return ranges;
}

}  // namespace

std::vector<State> PositionsOfRandomGames(int per_variant, uint64_t seed) {
  std::vector<State> positions;
  for (const VariantInfo& info : kVariants) {
    Random random(DeriveSeed(seed, static_cast<uint64_t>(info.variant),
                             StreamPurpose::kPlayouts));
    State state = InitialState(info.variant);
    for (int found = 0; found < per_variant;) {
      if (state.finished()) state = InitialState(info.variant);
      // About one in eight, so that positions of one game differ.
      if (random.Below(8) == 0) {
        positions.push_back(state);
        ++found;
      }
      ApplyAction(RandomAction(state, random), state);
    }
  }
  return positions;
}

CpuRanges CalibrateCpuRanges(const CpuWeights& weights,
                             absl::Span<const State> positions) {
  const CpuNetwork network(weights, Precision::kFloat32, {});
  CpuContext context(network);
  const int channels = weights.channels;
  const size_t blocks = weights.blocks.size();
  std::vector<std::vector<Histogram>> layers(2 * blocks + 1,
                                             std::vector<Histogram>(channels));
  const CpuContext::Observer observer = [&](int layer,
                                            absl::Span<const float> values) {
    for (size_t row = 0; row < values.size(); row += channels) {
      for (int c = 0; c < channels; ++c) layers[layer][c].Add(values[row + c]);
    }
  };
  EncodedBatch batch;
  batch.EncodeCanonical(positions);
  context.Run(batch, [](int, int, const CpuContext::Outputs&) {}, &observer);
  CpuRanges ranges;
  for (size_t i = 0; i < layers.size(); ++i) {
    (i <= blocks ? ranges.tower : ranges.inner)
        .push_back(ComputeRanges(layers[i]));
  }
  return ranges;
}

std::vector<NamedTensor> CpuRangesToTensors(const CpuRanges& ranges,
                                            const NetworkShape& shape) {
  return {ToTensor(kTowerName, ranges.tower, shape.channels),
          ToTensor(kInnerName, ranges.inner, shape.channels)};
}

absl::StatusOr<std::optional<CpuRanges>> CpuRangesOf(
    const Checkpoint& checkpoint) {
  const bool has_ranges = std::any_of(
      checkpoint.tensors.begin(), checkpoint.tensors.end(),
      [](const NamedTensor& tensor) {
        return tensor.name == kTowerName || tensor.name == kInnerName;
      });
  if (!has_ranges) return std::nullopt;
  const int64_t blocks = checkpoint.shape.blocks;
  CpuRanges ranges;
  TARA_ASSIGN_OR_RETURN(ranges.tower,
                        FromTensor(checkpoint, kTowerName, blocks + 1));
  TARA_ASSIGN_OR_RETURN(ranges.inner,
                        FromTensor(checkpoint, kInnerName, blocks));
  return ranges;
}

}  // namespace tara::nn
