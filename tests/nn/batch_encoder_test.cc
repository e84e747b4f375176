#include "tara/nn/encode/batch_encoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/features.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

constexpr int kPlaneValues = kNumPlanes * kNumSquares;

// Positions, each with a symmetry.
struct Positions {
  std::vector<State> states;
  std::vector<Symmetry> symmetries;
  std::vector<LegalSet> legal;

  void Add(const State& state, const Symmetry& symmetry) {
    states.push_back(state);
    symmetries.push_back(symmetry);
    legal.push_back(LegalActions(state));
  }
  EncoderInput Span(size_t begin, size_t count) const {
    return {.states = absl::MakeConstSpan(states).subspan(begin, count),
            .symmetries = absl::MakeConstSpan(symmetries).subspan(begin, count),
            .legal = absl::MakeConstSpan(legal).subspan(begin, count)};
  }
};

// The symmetries under which a network may see the position.
std::vector<Symmetry> Views(const State& state) {
  std::vector<Symmetry> views;
  for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
    if (TransformState(symmetry, state).seat == 0) views.push_back(symmetry);
  }
  return views;
}

// What EncodeFeatures, one position after the other, makes of a batch.
struct Encoding {
  std::vector<float> planes;
  std::vector<float> globals;
};

Encoding Expected(const EncoderInput& input, PlaneLayout layout) {
  Encoding encoding;
  std::vector<float> planes(kPlaneValues), globals(kNumGlobals);
  for (size_t i = 0; i < input.states.size(); ++i) {
    EncodeFeatures(input.states[i], input.symmetries[i], absl::MakeSpan(planes),
                   absl::MakeSpan(globals));
    for (int j = 0; j < kPlaneValues; ++j) {
      encoding.planes.push_back(
          layout == PlaneLayout::kChannelsFirst
              ? planes[j]
              : planes[j % kNumPlanes * kNumSquares + j / kNumPlanes]);
    }
    encoding.globals.insert(encoding.globals.end(), globals.begin(),
                            globals.end());
  }
  return encoding;
}

class BatchEncoderTest : public ::testing::TestWithParam<PlaneLayout> {
 protected:
  // Encodes a part of the positions, `offset` floats behind a cache line, and
  // compares it with what is expected, also around it.
  void ExpectEqual(const Positions& positions, size_t begin, size_t count,
                   int offset) {
    const PlaneLayout layout = GetParam();
    const EncoderInput input = positions.Span(begin, count);
    constexpr float kGuard = -7;
    constexpr int kGuards = 64;
    const size_t plane_values = count * kPlaneValues;
    std::vector<float> memory(plane_values + 3 * kGuards, kGuard);
    std::vector<float> globals(count * kNumGlobals + kGuards, kGuard);
    float* planes = memory.data() + kGuards;
    while (reinterpret_cast<uintptr_t>(planes) % 64 != 0) ++planes;
    planes += offset;
    EncodeBatch(
        input, {.layout = layout,
                .planes = absl::MakeSpan(planes, plane_values),
                .globals = absl::MakeSpan(globals).first(count * kNumGlobals)});
    const Encoding expected = Expected(input, layout);
    for (size_t i = 0; i < plane_values; ++i) {
      ASSERT_EQ(planes[i], expected.planes[i])
          << Info(input.states[i / kPlaneValues].variant).id << ", value "
          << i % kPlaneValues << " of position " << i / kPlaneValues
          << ", symmetry " << int{input.symmetries[i / kPlaneValues].board};
    }
    for (size_t i = 0; i < count * kNumGlobals; ++i) {
      ASSERT_EQ(globals[i], expected.globals[i])
          << Info(input.states[i / kNumGlobals].variant).id << ", "
          << kGlobals[i % kNumGlobals].name;
    }
    // Nothing beside the spans.
    EXPECT_EQ(planes[-1], kGuard);
    EXPECT_EQ(planes[plane_values], kGuard);
    EXPECT_EQ(std::count(memory.begin(), memory.end(), kGuard), 3 * kGuards);
    EXPECT_EQ(globals[count * kNumGlobals], kGuard);
  }
};

TEST_P(BatchEncoderTest, EncodesAsTheSimpleEncoderUnderEverySymmetry) {
  Positions positions;
  for (const State& state : RandomPositionsOfAllVariants(150, 1)) {
    for (const Symmetry& view : Views(state)) positions.Add(state, view);
  }
  ExpectEqual(positions, 0, positions.states.size(), 0);
}

TEST_P(BatchEncoderTest, EncodesBatchesOfAnySizeAtAnyPlace) {
  Positions positions;
  Random random(2);
  std::vector<State> states = RandomPositionsOfAllVariants(20, 3);
  // Neighbours in a block are of different variants.
  std::shuffle(states.begin(), states.end(), random);
  for (const State& state : states) {
    const std::vector<Symmetry> views = Views(state);
    positions.Add(state,
                  views[random.Below(static_cast<uint32_t>(views.size()))]);
  }
  size_t begin = 0;
  for (const size_t count : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 64}) {
    for (const int offset : {0, 8, 3, 12}) {
      ExpectEqual(positions, begin, count, offset);
    }
    begin += count;
  }
}

TEST_P(BatchEncoderTest, EncodesPositionsUnderChangedRules) {
  Positions positions;
  // Every option away from its default.
  RuleOptions options;
  for (const RuleOptionInfo& option : kRuleOptions) {
    int value = (option.min_value + option.DefaultValue()) / 2;
    if (value == option.DefaultValue()) value = option.max_value;
    ASSERT_NE(value, option.DefaultValue()) << option.name;
    option.set(options, value);
  }
  for (State state : RandomPositionsOfAllVariants(20, 4)) {
    state.options = options;
    state.no_progress %= options.no_progress_limit;
    state = Settled(state);
    if (!state.finished()) positions.Add(state, Views(state)[0]);
  }
  ExpectEqual(positions, 0, positions.states.size(), 0);
}

TEST_P(BatchEncoderTest, EncodesWhatDoesNotFitTheCaches) {
  // Planes of 33 MiB and more may be written around the caches; the simple
  // encoder's are compared a period at a time.
  constexpr size_t kPeriod = 64, kCount = 7424;
  const PlaneLayout layout = GetParam();
  const std::vector<State> states = RandomPositionsOfAllVariants(8, 5);
  Positions positions;
  for (size_t i = 0; i < kCount; ++i) {
    const State& state = states[i % kPeriod];
    positions.Add(state, Views(state)[0]);
  }
  const Encoding expected = Expected(positions.Span(0, kPeriod), layout);
  constexpr float kGuard = -7;
  constexpr size_t kGuards = 16, kValues = kCount * kPlaneValues;
  std::vector<float> memory(kValues + 4 * kGuards, kGuard);
  std::vector<float> globals(kCount * kNumGlobals);
  float* line = memory.data() + kGuards;
  while (reinterpret_cast<uintptr_t>(line) % 64 != 0) ++line;
  for (const int offset : {0, 8, 3}) {
    float* const planes = line + offset;
    std::fill(memory.begin(), memory.end(), kGuard);
    EncodeBatch(positions.Span(0, kCount),
                {.layout = layout,
                 .planes = absl::MakeSpan(planes, kValues),
                 .globals = absl::MakeSpan(globals)});
    for (size_t i = 0; i < kCount; i += kPeriod) {
      ASSERT_EQ(std::memcmp(planes + i * kPlaneValues, expected.planes.data(),
                            kPeriod * kPlaneValues * sizeof(float)),
                0)
          << "positions from " << i << " on, offset " << offset;
    }
    EXPECT_EQ(planes[-1], kGuard);
    EXPECT_EQ(planes[kValues], kGuard);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLayout, BatchEncoderTest,
                         ::testing::Values(PlaneLayout::kChannelsFirst,
                                           PlaneLayout::kChannelsLast),
                         [](const ::testing::TestParamInfo<PlaneLayout>& info) {
                           return info.param == PlaneLayout::kChannelsFirst
                                      ? "channels_first"
                                      : "channels_last";
                         });

}  // namespace
}  // namespace tara::nn
