#include "tara/nn/encode/features.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tests/core/core_testing.h"
#include "tests/nn/test_positions.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;

struct Encoding {
  std::vector<float> planes = std::vector<float>(kNumPlanes * kNumSquares, -1);
  std::vector<float> globals = std::vector<float>(kNumGlobals, -1);

  float At(absl::string_view plane, Hill hill) const {
    const auto info = std::find_if(
        kPlanes.begin(), kPlanes.end(),
        [&](const FeatureInfo& candidate) { return candidate.name == plane; });
    EXPECT_NE(info, kPlanes.end()) << plane;
    return planes[(info - kPlanes.begin()) * kNumSquares + SquareOf(hill)];
  }
  float Global(absl::string_view name) const {
    const auto info = std::find_if(
        kGlobals.begin(), kGlobals.end(),
        [&](const FeatureInfo& candidate) { return candidate.name == name; });
    EXPECT_NE(info, kGlobals.end()) << name;
    return globals[info - kGlobals.begin()];
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

TEST(FeaturesTest, APositionAndItsImageEncodeToTheSameUnderMatchingSymmetries) {
  for (const State& state : RandomPositionsOfAllVariants(40, 1)) {
    const Encoding expected = Encode(state);
    const State canonical = TransformState(CanonicalSymmetry(state), state);
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      const State image = TransformState(symmetry, state);
      // One of the image's symmetries leads to the same canonical position.
      bool found = false;
      for (const Symmetry& back : PositionSymmetries(state.variant)) {
        if (!(TransformState(back, image) == canonical)) continue;
        found = true;
        const Encoding encoding = Encode(image, back);
        EXPECT_EQ(encoding.planes, expected.planes);
        EXPECT_EQ(encoding.globals, expected.globals);
      }
      EXPECT_TRUE(found) << Info(state.variant).id;
    }
  }
}

TEST(FeaturesTest, EveryTurnedPlaneIsTheTurnOfThePlane) {
  // Links change their hill when they turn: those planes are tested through
  // the equality above.
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
    for (const float value : encoding.planes) {
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1);
    }
    for (int i = 0; i < kNumGlobals; ++i) {
      EXPECT_GE(encoding.globals[i], -5) << kGlobals[i].name;
      EXPECT_LE(encoding.globals[i], 5) << kGlobals[i].name;
      if (kGlobals[i].name != "standing_margin" &&
          kGlobals[i].name != "standing_result") {
        EXPECT_GE(encoding.globals[i], 0) << kGlobals[i].name;
      }
    }
  }
}

TEST(FeaturesTest, CornersAreZeroInEveryPlane) {
  for (const State& state : RandomPositionsOfAllVariants(20, 4)) {
    const Encoding encoding = Encode(state);
    for (int plane = 0; plane < kNumPlanes; ++plane) {
      for (const int corner : {0, 6, 42, 48}) {
        EXPECT_EQ(encoding.planes[plane * kNumSquares + corner], 0)
            << kPlanes[plane].name;
      }
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

TEST(FeaturesTest, NamesAreUnique) {
  std::set<absl::string_view> names;
  for (const FeatureInfo& info : kPlanes) names.insert(info.name);
  for (const FeatureInfo& info : kGlobals) names.insert(info.name);
  EXPECT_EQ(names.size(), kPlanes.size() + kGlobals.size());
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

}  // namespace
}  // namespace tara::nn
