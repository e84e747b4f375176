#include "tara/nn/encode/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/encode/batch_encoder.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tests/core/core_testing.h"
#include "tests/nn/nn_testing.h"
#include "tests/nn/plain_features.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;

struct Encoding {
  std::vector<float> planes = std::vector<float>(kNumPlanes * kNumSquares, -1);
  std::vector<float> globals = std::vector<float>(kNumGlobals, -1);

  float At(absl::string_view plane, Hill hill) const {
    return planes.at(PlaneIndex(plane) * kNumSquares + SquareOf(hill));
  }
  float Global(absl::string_view name) const {
    return globals.at(GlobalIndex(name));
  }
};

Encoding Encode(const State& state, const Symmetry& symmetry) {
  Encoding encoding;
  EncodeFeatures(state, symmetry, absl::MakeSpan(encoding.planes),
                 absl::MakeSpan(encoding.globals));
  return encoding;
}

Encoding Encode(const State& state) {
  return Encode(state, CanonicalSymmetry(state));
}

// Planes of links in Stone of Destiny, of the kings' ways in High Kings: own,
// enemy's, and where the own or the enemy's is the shorter one.
constexpr absl::string_view kLinksOrWays[] = {
    "link_east_or_own_way", "link_north_or_enemy_way",
    "legal_link_east_or_own_nearer", "legal_link_north_or_enemy_nearer"};

TEST(FeaturesTest, EveryTurnedPlaneIsTheTurnOfThePlane) {
  // Links change their hill when they turn.
  const std::set<absl::string_view> links(std::begin(kLinksOrWays),
                                          std::end(kLinksOrWays));
  for (const State& state : RandomPositionsOfAllVariants(20, 2)) {
    const Encoding original = Encode(state);
    const State canonical = TransformState(CanonicalSymmetry(state), state);
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      if (symmetry.seat_shift != 0) continue;
      const Encoding turned = Encode(canonical, symmetry);
      EXPECT_EQ(turned.globals, original.globals);
      for (const FeatureInfo& plane : kPlanes) {
        if (state.variant == Variant::kStoneOfDestiny &&
            links.count(plane.name) > 0) {
          continue;
        }
        for (Hill hill = 0; hill < kNumHills; ++hill) {
          ASSERT_EQ(turned.At(plane.name, TransformHill(symmetry.board, hill)),
                    original.At(plane.name, hill))
              << plane.name;
        }
      }
    }
  }
}

TEST(FeaturesTest, EveryValueIsWrittenAndOfModestSize) {
  for (const State& state : RandomPositionsOfAllVariants(60, 3)) {
    const Encoding encoding = Encode(state);
    for (int i = 0; i < kNumPlanes * kNumSquares; ++i) {
      const int square = i % kNumSquares;
      const bool is_corner =
          square == 0 || square == 6 || square == 42 || square == 48;
      EXPECT_GE(encoding.planes[i], 0);
      EXPECT_LE(encoding.planes[i], is_corner ? 0 : 1);
    }
    for (int i = 0; i < kNumGlobals; ++i) {
      const bool is_signed = absl::StartsWith(kGlobals[i].name, "standing_");
      EXPECT_GE(encoding.globals[i], is_signed ? -5 : 0) << kGlobals[i].name;
      EXPECT_LE(encoding.globals[i], 5) << kGlobals[i].name;
    }
  }
}

// Networks know an input by its place. A new one is appended here too.
TEST(FeaturesTest, InputsNeverMove) {
  const auto names = [](const auto& features) {
    return absl::StrJoin(features, " ",
                         [](std::string* out, const FeatureInfo& info) {
                           absl::StrAppend(out, info.name);
                         });
  };
  EXPECT_EQ(names(kPlanes),
            "on_board vacant own_ringfort enemy_ringfort own_king enemy_king "
            "own_stranded enemy_stranded link_east_or_own_way "
            "link_north_or_enemy_way legal_hill legal_origin legal_destination "
            "legal_sacrifice legal_link_east_or_own_nearer "
            "legal_link_north_or_enemy_nearer area besieged_by_own "
            "besieged_by_enemy own_single enemy_single own_neighbours "
            "enemy_neighbours enemy_reach");
  EXPECT_EQ(
      names(kGlobals),
      "sacred_hill_l1 sacred_hill_l2 sacred_hill_doubles_l1 "
      "sacred_hill_doubles_l2 four_treasures four_treasures_doubles "
      "high_kings_l1 high_kings_l2 poisoned_chalice stone_of_destiny "
      "placement manoeuvres battle link doubles option_no_progress_limit "
      "option_proximity_bound option_placement_captures_kings "
      "option_link_all_at_end option_shared_row_opening no_progress "
      "closing_out closing_passed closing_board_full turns_left "
      "own_kings_captured enemy_kings_captured vacant_hills own_territory "
      "enemy_territory own_kingdoms enemy_kingdoms own_bridges "
      "enemy_bridges standing_margin standing_result legal_actions "
      "legal_pass option_compensation option_pie_rule option_free_capture "
      "option_capture_first option_build_apart option_free_pass "
      "option_last_turns option_territory_breaks_ties "
      "option_opening_distance");
}

TEST(FeaturesTest, EveryVariantIsSeen) {
  for (const VariantInfo& info : kVariants) {
    for (const VariantInfo& other : kVariants) {
      EXPECT_EQ(Encode(InitialState(info.variant)).Global(other.id),
                info.variant == other.variant)
          << info.id << " " << other.id;
    }
  }
}

TEST(FeaturesTest, EveryValueOfEveryRuleOptionIsSeen) {
  for (const RuleOptionInfo& option : kRuleOptions) {
    const std::string name = absl::StrCat("option_", option.name);
    std::set<float> seen;
    for (int value = option.min_value; value <= option.max_value; ++value) {
      State state =
          InitialState(Variant::kFourTreasures);  // also those of others
      option.set(state.options, value);
      const float global = Encode(state).Global(name);
      seen.insert(global);
      if (option.is_switch()) {
        EXPECT_EQ(global, value) << name;
      } else if (value == option.DefaultValue()) {
        EXPECT_EQ(global, value == 0 ? 0 : 1) << name;
      }
    }
    EXPECT_EQ(static_cast<int>(seen.size()),
              option.max_value - option.min_value + 1)
        << name;
  }
}

TEST(FeaturesTest, PlanesSayWhatTheirNamesSay) {
  State state = InitialState(Variant::kFourTreasures);
  for (const char* action : {"D4", "D5", "E4"}) {
    ASSERT_TRUE(PlayAction(action, state).ok());
  }
  // Blue to move: its one ringfort at D5, Red's linked pair at D4 and E4.
  const Encoding encoding = Encode(state);
  const Hill d4 = *ParseHill("D4"), d5 = *ParseHill("D5"),
             e5 = *ParseHill("E5");
  EXPECT_EQ(encoding.At("own_ringfort", d5), 1);
  EXPECT_EQ(encoding.At("own_ringfort", d4), 0);
  EXPECT_EQ(encoding.At("enemy_ringfort", d4), 1);
  EXPECT_EQ(encoding.At("vacant", d4), 0);
  EXPECT_EQ(encoding.At("vacant", e5), 1);
  EXPECT_EQ(encoding.At("own_single", d5), 1);
  EXPECT_EQ(encoding.At("enemy_single", d4), 0);
  EXPECT_EQ(encoding.At("own_neighbours", e5), 0.25f);
  EXPECT_EQ(encoding.At("enemy_neighbours", e5), 0.25f);
  EXPECT_EQ(encoding.At("legal_hill", e5), 1);
  EXPECT_EQ(encoding.At("legal_hill", d5), 0);
  EXPECT_EQ(encoding.Global("own_territory"), 1 / 23.0f);
  EXPECT_EQ(encoding.Global("enemy_territory"), 2 / 23.0f);
  EXPECT_EQ(encoding.Global("enemy_bridges"), 1 / 40.0f);
  // One bridge to none: Red stands to win by 3 points.
  EXPECT_EQ(encoding.Global("standing_margin"), -0.3f);
  EXPECT_EQ(encoding.Global("standing_result"), -1);
  EXPECT_EQ(encoding.Global("vacant_hills"), 42 / 45.0f);
}

TEST(FeaturesTest, InDoublesTheAreaIsTheSouthOfWhoeverMoves) {
  for (const State& state :
       RandomPositions(Variant::kFourTreasuresDoubles, 20, 5)) {
    const Encoding encoding = Encode(state);
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      EXPECT_EQ(encoding.At("area", hill), RankOf(hill) <= 3 ? 1 : 0);
      if (encoding.At("legal_hill", hill) == 1) {
        EXPECT_EQ(encoding.At("area", hill), 1);
      }
    }
  }
}

// The hills of each of kLinksOrWays, in canonical order: "A3 C3".
std::vector<std::string> Ways(const State& state) {
  const Encoding encoding = Encode(state, Symmetry{});
  std::vector<std::string> ways;
  for (const absl::string_view plane : kLinksOrWays) {
    std::vector<std::string> hills;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      if (encoding.At(plane, hill) == 1) hills.push_back(HillToText(hill));
    }
    ways.push_back(absl::StrJoin(hills, " "));
  }
  return ways;
}

TEST(FeaturesTest, TheWaysOfKingsRunOverVacantHills) {
  const Board vacant = Hills("D1 A3 C3 D5 G6");
  State state = InitialState(Variant::kHighKingsL1);
  state.phase = Phase::kBattle;
  state.kings[kRed] = Hills("B1");
  state.kings[kBlue] = Hills("E7");
  state.ringforts[kBlue] = Hills("D6 E7");
  state.ringforts[kRed] = kAllHills & ~state.ringforts[kBlue] & ~vacant;
  // Red to move: B1-A3, B1-C3-D1, B1-C3-D5. Blue: E7-G6, E7-D5-C3-D1.
  EXPECT_THAT(Ways(state),
              ElementsAre("D1 A3 C3 D5", "D1 C3 D5 G6", "D1 A3 C3", "D5 G6"));
  // Until Battle hills next to a ringfort of one's own are in no way: D5 lies
  // next to D6.
  state.phase = Phase::kManoeuvres;
  state.ringforts[kRed] = state.kings[kRed];
  state.ringforts[kBlue] = kAllHills & ~state.ringforts[kRed] & ~vacant;
  EXPECT_THAT(Ways(state), ElementsAre("D1 A3 C3 D5", "", "D1 A3 C3 D5", ""));
  // Both come to C3 with one move: the own side is nearer.
  state.phase = Phase::kBattle;
  state.kings[kBlue] = Hills("E2");
  EXPECT_THAT(Ways(state),
              ElementsAre("D1 A3 C3 D5", "D1 C3 D5", "D1 A3 C3 D5", ""));
}

// --- Batch encoder -----------------------------------------------------------

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

class BatchEncoderTest : public ::testing::TestWithParam<PlaneLayout> {
 protected:
  // Encodes a part of the positions, `offset` floats behind a cache line, and
  // compares it with what EncodeFeatures makes of each, also around it.
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
    for (size_t i = 0; i < count; ++i) {
      const Encoding plain = Encode(input.states[i], input.symmetries[i]);
      const float* const found = planes + i * kPlaneValues;
      int value = 0;
      while (value < kPlaneValues &&
             found[value] ==
                 plain.planes[layout == PlaneLayout::kChannelsFirst
                                  ? value
                                  : value % kNumPlanes * kNumSquares +
                                        value / kNumPlanes]) {
        ++value;
      }
      ASSERT_EQ(value, kPlaneValues)
          << Info(input.states[i].variant).id << ", position " << i
          << ", symmetry " << int{input.symmetries[i].board};
      int global = 0;
      while (global < kNumGlobals &&
             globals[i * kNumGlobals + global] == plain.globals[global]) {
        ++global;
      }
      ASSERT_EQ(global, kNumGlobals) << Info(input.states[i].variant).id;
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
  // Planes of 33 MiB and more may be written around the caches.
  Positions positions;
  for (const State& state : RandomPositionsOfAllVariants(743, 5)) {
    positions.Add(state, Views(state)[0]);
  }
  for (const int offset : {0, 8, 3}) {
    ExpectEqual(positions, 0, positions.states.size(), offset);
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

// --- Encoded batch -----------------------------------------------------------

TEST(IsFiniteTest, FindsWhatIsNotFiniteWhereverItIs) {
  using Limits = std::numeric_limits<float>;
  for (size_t count = 0; count <= 50; ++count) {
    mcts::Evaluation evaluation;
    // As large as numbers are: their sum is not finite, and need not be.
    evaluation.priors.assign(count, Limits::max());
    EXPECT_TRUE(IsFinite(evaluation)) << count;
    std::vector<float*> numbers = {&evaluation.win, &evaluation.draw,
                                   &evaluation.loss, &evaluation.margin};
    for (float& prior : evaluation.priors) numbers.push_back(&prior);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float finite = *numbers[i];
      for (const float other : {Limits::infinity(), -Limits::infinity(),
                                Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
        *numbers[i] = other;
        EXPECT_FALSE(IsFinite(evaluation)) << other << " at " << i;
      }
      *numbers[i] = finite;
    }
  }
}

// --- Policy map --------------------------------------------------------------

Action Parsed(const char* text) { return *ParseAction(text); }

TEST(PolicyMapTest, EveryActionHasAnOutputOfItsOwn) {
  std::set<int> outputs;
  for (int index = 0; index < kNumActions; ++index) {
    const int output = PolicyOutput(static_cast<Action>(index));
    EXPECT_GE(output, 0);
    EXPECT_LT(output, kNumPolicyOutputs);
    EXPECT_TRUE(outputs.insert(output).second)
        << ActionToText(static_cast<Action>(index));
  }
}

TEST(PolicyMapTest, OutputsAreWhereTheDrawingSays) {
  constexpr int kD4 = 3 * 7 + 3;  // rank 4, file D
  EXPECT_EQ(PolicyOutput(Parsed("D4")), kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-E6")), 1 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-F5")), 2 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-C6")), 8 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-E6*")), 9 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4=E4")), 17 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4=D5")), 18 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(kPass), 931);
}

// The square of an output turns with the board, whatever the action (a link's
// square is its western or southern hill, which a turn may exchange).
TEST(PolicyMapTest, OutputsTurnWithTheBoard) {
  for (uint8_t board = 0; board < kNumBoardTransforms; ++board) {
    for (int index = 0; index < kFirstLink; ++index) {
      const auto action = static_cast<Action>(index);
      const Action image = TransformAction({board, 0}, action);
      const ActionParts parts = Parts(action);
      const Hill hill = parts.from >= 0 ? parts.from : parts.to;
      EXPECT_EQ(PolicyOutput(image) % kNumSquares,
                SquareOf(TransformHill(board, hill)));
      EXPECT_EQ(Parts(image).kind, parts.kind);
    }
  }
}

// All moves of one direction share a plane, and a turn takes planes to planes:
// a convolution sees one pattern, not 224 moves.
TEST(PolicyMapTest, ATurnTakesEachPlaneToOnePlane) {
  for (uint8_t board = 0; board < kNumBoardTransforms; ++board) {
    int image_plane[kNumPolicyPlanes];
    for (int& plane : image_plane) plane = -1;
    for (int index = 0; index < kPassIndex; ++index) {
      const auto action = static_cast<Action>(index);
      const int from = PolicyOutput(action) / kNumSquares;
      const int to =
          PolicyOutput(TransformAction({board, 0}, action)) / kNumSquares;
      if (image_plane[from] < 0) image_plane[from] = to;
      EXPECT_EQ(to, image_plane[from]) << ActionToText(action);
    }
  }
}

// --- Softmax -----------------------------------------------------------------

// Every test runs for each of them.
class SoftmaxTest : public testing::TestWithParam<void (*)(float*, int)> {
 protected:
  static std::vector<float> SoftmaxOf(const std::vector<float>& logits);
};

std::vector<float> SoftmaxTest::SoftmaxOf(const std::vector<float>& logits) {
  alignas(32) std::array<float, SoftmaxRoom(kSoftmaxMost)> buffer;
  buffer.fill(std::numeric_limits<float>::quiet_NaN());
  std::copy(logits.begin(), logits.end(), buffer.begin());
  GetParam()(buffer.data(), static_cast<int>(logits.size()));
  return {buffer.begin(),
          buffer.begin() + static_cast<std::ptrdiff_t>(logits.size())};
}

// The plain twin, in double precision.
std::vector<double> PlainSoftmax(const std::vector<float>& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> result;
  for (const float logit : logits) result.push_back(std::exp(logit - highest));
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= sum;
  return result;
}

std::vector<float> Logits(Random& random, size_t count, double deviation) {
  std::vector<float> logits;
  for (size_t i = 0; i < count; ++i) {
    logits.push_back(static_cast<float>(deviation * random.Normal()));
  }
  return logits;
}

TEST_P(SoftmaxTest, IsThatOfThePlainFormulaForAnyNumberOfLogits) {
  Random random(1);
  for (size_t count = 1; count <= kSoftmaxMost; ++count) {
    for (const double deviation : {0.0, 1.0, 20.0}) {
      const std::vector<float> logits = Logits(random, count, deviation);
      const std::vector<float> result = SoftmaxOf(logits);
      const std::vector<double> expected = PlainSoftmax(logits);
      for (size_t i = 0; i < count; ++i) {
        // A logit of 60 is known to 4e-6, and so is what it becomes.
        EXPECT_NEAR(result[i], expected[i], 5e-6 * expected[i] + 1e-30)
            << count << " logits of deviation " << deviation;
      }
      EXPECT_NEAR(std::accumulate(result.begin(), result.end(), 0.0), 1, 1e-4);
    }
  }
}

TEST_P(SoftmaxTest, TheOrderOfTheLogitsChangesNoBit) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<float> logits = Logits(random, 1 + random.Below(100), 3);
    std::vector<size_t> order(logits.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<float> shuffled;
    for (const size_t k : order) shuffled.push_back(logits[k]);
    const std::vector<float> result = SoftmaxOf(logits);
    const std::vector<float> of_shuffled = SoftmaxOf(shuffled);
    for (size_t k = 0; k < order.size(); ++k) {
      EXPECT_EQ(of_shuffled[k], result[order[k]]);
    }
  }
}

TEST_P(SoftmaxTest, FarApartLogitsGiveNoInfinityAndNoNan) {
  const std::vector<float> result = SoftmaxOf({-1e30f, 0, 1e30f});
  EXPECT_EQ(result[2], 1);
  EXPECT_LT(result[0], 1e-30);
  EXPECT_LT(result[1], 1e-30);
}

// Subnormal numbers cost some processors a hundred cycles each.
TEST_P(SoftmaxTest, NoProbabilityIsSubnormal) {
  std::vector<float> logits(kSoftmaxMost, 0.0f);
  logits[0] = -1e30f;
  logits[1] = -81;
  logits[2] = -79;
  for (const float probability : SoftmaxOf(logits)) {
    EXPECT_GE(probability, std::numeric_limits<float>::min());
  }
}

INSTANTIATE_TEST_SUITE_P(OfVectorsAndPortable, SoftmaxTest,
                         testing::Values(&Softmax, &SoftmaxPortable));

}  // namespace
}  // namespace tara::nn
