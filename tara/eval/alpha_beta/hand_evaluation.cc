#include "tara/eval/alpha_beta/hand_evaluation.h"

#include <algorithm>

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/rules/view.h"
#include "tara/core/traits.h"
#include "tara/eval/alpha_beta/hand_features.h"

namespace tara::eval {
namespace {

namespace f = hand_features;
using f::SideView;

struct Feature {
  absl::string_view name = "";
  int (*count)(const SideView&) = nullptr;
};

// The first shared features are filled by other means: the tempo, which no side
// counts, and the kingdoms, counted side by side.
constexpr int kTempo = 0;     // 1 for the side to move
constexpr int kOddTempo = 1;  // the same if an odd number of hills is vacant
constexpr int kFirstKingdoms = 2;
constexpr int kFirstCounted = 6;

using SharedFeatures = std::array<Feature, kNumSharedFeatures>;
constexpr SharedFeatures kSharedFeatures = {{
    {"tempo", nullptr},
    {"odd_tempo", nullptr},
    {"kingdoms", nullptr},
    {"possible_kingdoms", nullptr},
    {"merged_kingdoms", nullptr},
    {"near_kingdoms", nullptr},
    {"territory", f::Territory},
    {"bridges", f::Bridges},
    {"on_edge", f::OnEdge},
    {"beside_corners", f::BesideCorners},
    {"in_centre", f::InCentre},
    {"full_squares", f::FullSquares},
    {"squares_missing_open", f::SquaresMissingOpen},
    {"squares_missing_enemy", f::SquaresMissingEnemy},
    {"safe_diagonals", f::SafeDiagonals},
    {"half_cut_diagonals", f::HalfCutDiagonals},
    {"free_side_pairs", f::FreeSidePairs},
    {"half_free_side_pairs", f::HalfFreeSidePairs},
    {"lonely_squares", f::LonelySquares},
    {"open_lines", f::OpenLines},
    {"cut_lines", f::CutLines},
    {"long_diagonals", f::LongDiagonals},
    {"knight_pairs", f::KnightPairs},
    {"singles_lost", f::SinglesLost},
    {"singles_with_one_way_out", f::SinglesWithOneWayOut},
    {"singles_with_two_ways_out", f::SinglesWithTwoWaysOut},
    {"free_singles", f::FreeSingles},
    {"enclosed", f::Enclosed},
    {"reach", f::Reach},
    {"hills_with_two", f::HillsWithTwo},
    {"hills_with_three", f::HillsWithThree},
    {"besieged_hills", f::BesiegedHills},
}};

using FamilyFeatures = std::array<Feature, kNumFamilyFeatures>;

constexpr FamilyFeatures kSacredHillFeatures = {{
    {"manoeuvres_targets", f::ManoeuvresTargets},
    {"contested_hills", f::ContestedHills},
}};
constexpr FamilyFeatures kFourTreasuresFeatures = {{
    {"contested_hills", f::ContestedHills},
}};
constexpr FamilyFeatures kHighKingsFeatures = {{
    {"kings_captured", f::KingsCaptured},
    {"king_mobility", f::KingMobility},
    {"kings_stuck", f::KingsStuck},
    {"kings_on_singles", f::KingsOnSingles},
    {"kings_in_danger", f::KingsInDanger},
    {"kings_attacked", f::KingsAttacked},
    {"kings_besieged", f::KingsBesieged},
    {"kings_on_edge", f::KingsOnEdge},
}};
constexpr FamilyFeatures kPoisonedChaliceFeatures = {{
    {"qualified_vacant", f::QualifiedVacant},
    {"none_qualified", f::NoneQualified},
    {"qualified_reach", f::QualifiedReach},
    {"qualified_merges", f::QualifiedMerges},
    {"contested_hills", f::ContestedHills},
}};
constexpr FamilyFeatures kStoneOfDestinyFeatures = {{
    {"linked", f::Linked},
    {"linked_kingdoms", f::LinkedKingdoms},
    {"swappable_singles", f::SwappableSingles},
    {"king_on_linked", f::KingOnLinked},
    {"linked_squares", f::LinkedSquares},
    {"linked_diagonals", f::LinkedDiagonals},
    {"swappable_merges", f::SwappableMerges},
    {"contested_hills", f::ContestedHills},
}};

// By family, in the order of the enumeration.
constexpr std::array<FamilyFeatures, kNumFamilies> kFamilyFeatures =
    std::to_array({kSacredHillFeatures, kFourTreasuresFeatures,
                   kHighKingsFeatures, kPoisonedChaliceFeatures,
                   kStoneOfDestinyFeatures});

// Hills whose ringforts cannot be swapped in Stone of Destiny.
Board LinkedHills(const State& state) {
  return state.links_east | East(state.links_east) | state.links_north |
         North(state.links_north);
}

// The vacant hills of a side's qualified rows.
Board QualifiedHills(const State& state, Side side) {
  rules::View view(state);
  if (view.side() != side) {
    view.ExchangeSides<rules::PoisonedChalice>();
    view.seat ^= 1;
  }
  return rules::PoisonedChalice::QualifiedRows(view) & view.vacant();
}

SideView ViewOf(const State& state, Side side) {
  const Side enemy = Opponent(side);
  SideView view = {.own = state.ringforts[side],
                   .enemy = state.ringforts[enemy],
                   .open = state.vacant(),
                   .own_kings = state.kings[side],
                   .enemy_kings = state.kings[enemy],
                   .own_linked = 0,
                   .qualified = 0,
                   .kings_captured = state.kings_captured[side],
                   .phase = state.phase};
  const FamilyTraits& traits = TraitsOf(state.variant);
  if (traits.has_links && state.phase != Phase::kManoeuvres) {
    const Board linked = LinkedHills(state);
    view.own_linked = view.own & linked;
    view.open = view.enemy & ~(linked | view.enemy_kings);
    view.enemy &= ~view.open;
  }
  if (traits.rows_by_side && state.phase == Phase::kBattle) {
    view.qualified = QualifiedHills(state, side);
  }
  return view;
}

template <int kFamily>
void CountFamilyFeatures(const SideView& red, const SideView& blue,
                         HandFeatures& features) {
  Unrolled<kNumFamilyFeatures>([&](auto i) {
    constexpr Feature kFeature = kFamilyFeatures[kFamily][i];
    if constexpr (!kFeature.name.empty()) {
      features[kNumSharedFeatures + i] =
          static_cast<int16_t>(kFeature.count(red) - kFeature.count(blue));
    }
  });
}

std::array<int, 4> CountKingdoms(const SideView& view) {
  return CountComponentsOfFour({f::Ringforts(view), f::PossibleRingforts(view),
                                f::MergedRingforts(view),
                                f::NearRingforts(view)});
}

}  // namespace

HandFeatures ComputeHandFeatures(const State& state) {
  const SideView red = ViewOf(state, kRed);
  const SideView blue = ViewOf(state, kBlue);
  HandFeatures features = {};
  Unrolled<kNumSharedFeatures>([&](auto i) {
    constexpr Feature kFeature = kSharedFeatures[i];
    if constexpr (i >= kFirstCounted) {
      features[i] =
          static_cast<int16_t>(kFeature.count(red) - kFeature.count(blue));
    }
  });
  const std::array<int, 4> red_kingdoms = CountKingdoms(red);
  const std::array<int, 4> blue_kingdoms = CountKingdoms(blue);
  for (int i = 0; i < 4; ++i) {
    features[kFirstKingdoms + i] =
        static_cast<int16_t>(red_kingdoms[i] - blue_kingdoms[i]);
  }
  const int16_t tempo = state.side() == kRed ? 1 : -1;
  features[kTempo] = tempo;
  features[kOddTempo] = (Count(state.vacant()) & 1) != 0 ? tempo : int16_t{0};
  const Family family = Info(state.variant).family;
  Unrolled<static_cast<int>(kFamilyFeatures.size())>([&](auto i) {
    if (family == static_cast<Family>(int{i})) {
      CountFamilyFeatures<i>(red, blue, features);
    }
  });
  return features;
}

int HandStage(const State& state) {
  int open = 2 * Count(state.vacant());
  if (TraitsOf(state.variant).has_links) {
    // Half of the game fills the board, half of it links.
    open = Count(state.vacant()) + Count(kAllHills & ~LinkedHills(state));
  }
  return open * kFirstStage / (2 * kNumHills);
}

absl::string_view HandFeatureName(Variant variant, int feature) {
  if (feature < kNumSharedFeatures) return kSharedFeatures[feature].name;
  return kFamilyFeatures[static_cast<int>(Info(variant).family)]
                        [feature - kNumSharedFeatures]
                            .name;
}

namespace {

// What half a point of compensation counts, in thousandths of a logit. Taking
// margins for logistic, a point is worth pi / sqrt(3) over their deviation,
// which is 3.4 to 6.3 (utility.cc): 0.29 to 0.53 logits.
constexpr int kHalfPointWorth = 200;

}  // namespace

int HandEvaluation(const State& state) {
  return HandEvaluation(state, kHandWeights[static_cast<int>(state.variant)]);
}

int HandEvaluation(const State& state, const HandWeights& weights) {
  const HandFeatures features = ComputeHandFeatures(state);
  int first = 0;
  int last = 0;
  for (int i = 0; i < kNumHandFeatures; ++i) {
    first += features[i] * weights.first[i];
    last += features[i] * weights.last[i];
  }
  const int stage = HandStage(state);
  const int red = (first * stage + last * (kFirstStage - stage)) / kFirstStage -
                  kHalfPointWorth * state.options.compensation_halves;
  return std::clamp(red, -kMaxHandEvaluation, kMaxHandEvaluation);
}

// Fitted to 5,000 games of mcts:sims=120 in each variant.

const std::array<HandWeights, kNumVariants> kHandWeights = std::to_array({
    HandWeights{
        // sacred_hill_l1
        .first =
            {
                398, -301, -15,  1500, 591,  654, 32,  -163, -369, 184,
                194, -113, 175,  732,  -186, 511, 229, 543,  -247, 119,
                70,  61,   -22,  472,  -244, 119, 765, 29,   -35,  187,
                -32, 527,  -146, 281,  0,    0,   0,   0,    0,    0,
            },
        .last =
            {
                994, 394,  -1122, -1461, -925, -920, 747,  574,  13,  -30,
                13,  -603, -217,  131,   946,  132,  -15,  -101, 487, 11,
                -75, 19,   41,    1942,  845,  296,  -461, -134, 675, 270,
                128, -346, -164,  -514,  0,    0,    0,    0,    0,   0,
            }},
    HandWeights{
        // sacred_hill_l2
        .first =
            {
                136, -29,  417,  1115, 14,   532, 29,   -163, -282, 436,
                195, 414,  316,  196,  3,    366, -333, 102,  -160, -207,
                107, -18,  -198, -350, -376, -26, -45,  367,  151,  -50,
                185, -102, -34,  641,  0,    0,   0,    0,    0,    0,
            },
        .last =
            {
                651, 6,    -904, -1045, -1288, -807, 312,  348,  272, 141,
                35,  -41,  -400, 201,   157,   -382, -148, -16,  64,  163,
                -98, -111, 6,    2809,  955,   82,   -147, -263, 686, -636,
                87,  -395, -311, -136,  0,     0,    0,    0,    0,   0,
            }},
    HandWeights{
        // sacred_hill_doubles_l1
        .first =
            {
                462, -456, -145, 590,  -107, 301, -25,  -216, 46,   -143,
                362, -188, -172, 429,  -416, 145, -185, 200,  -191, -230,
                -80, -45,  -81,  1576, -45,  46,  125,  123,  294,  163,
                358, 95,   -80,  335,  0,    0,   0,    0,    0,    0,
            },
        .last =
            {
                619,  248,  -953, -688, -754, -706, 442, 164,  48,  21,
                -207, -154, -10,  169,  771,  43,   214, 97,   492, -225,
                -107, 86,   181,  983,  641,  243,  131, -157, 346, 193,
                58,   -154, -207, -489, 0,    0,    0,   0,    0,   0,
            }},
    HandWeights{
        // sacred_hill_doubles_l2
        .first =
            {
                372, -358, 53,   594,  253,  82,  153,  170,  -158, 394,
                356, 213,  -458, 262,  380,  336, -63,  475,  -222, -236,
                83,  -93,  -291, -432, -213, 31,  -160, -177, 292,  -513,
                268, 107,  15,   819,  0,    0,   0,    0,    0,    0,
            },
        .last =
            {
                500,  426,  -754, -725, -1015, -418, 123, 103,  183, 88,
                -195, -450, 16,   -125, -329,  -209, -25, -128, 259, 460,
                -176, 73,   211,  1743, 561,   329,  462, 1,    251, 41,
                -252, -123, -48,  -471, 0,     0,    0,   0,    0,   0,
            }},
    HandWeights{
        // four_treasures
        .first =
            {
                -386, 264,  184,  170,  5,    -55, 240,  -272, -348, -345,
                195,  -420, -200, 10,   -491, -79, -306, -53,  -221, 54,
                68,   45,   -92,  1348, 241,  53,  61,   235,  -145, -68,
                -123, -286, 10,   0,    0,    0,   0,    0,    0,    0,
            },
        .last =
            {
                1809, -88,  385,  -335,  -72,  266,  1795, 982, -451, -252,
                -117, -446, 166,  -37,   683,  389,  -379, -40, -454, 642,
                113,  -88,  58,   -2317, -632, -357, 20,   -35, 1123, 234,
                -202, 606,  -461, 0,     0,    0,    0,    0,   0,    0,
            }},
    HandWeights{
        // four_treasures_doubles
        .first =
            {
                816, -106, 168,  176,  644,  -201, 1108, 333, -541, -453,
                109, -661, -392, 297,  -504, 324,  -318, 85,  -403, 527,
                83,  173,  -111, -322, -410, -350, -136, 315, 402,  664,
                422, 25,   -204, 0,    0,    0,    0,    0,   0,    0,
            },
        .last =
            {
                937,  64,   606, -294,  -668, 339, 1296, 527,  -404, -68,
                -398, -564, 80,  -234,  343,  -74, -222, -95,  25,   -119,
                137,  -95,  249, -1261, -109, 123, 44,   -191, -123, -526,
                -378, 324,  -93, 0,     0,    0,   0,    0,    0,    0,
            }},
    HandWeights{
        // high_kings_l1
        .first =
            {
                164,  184,  -164, 508,  230,  -4,   53,   -708, 169,  -176,
                -35,  -410, -296, 33,   192,  369,  134,  140,  -177, 215,
                83,   18,   -17,  -175, -150, -321, -238, 189,  340,  197,
                -261, 313,  392,  -95,  279,  272,  -196, -32,  157,  38,
            },
        .last =
            {
                219, 96,  -1073, -319, -312, -105, 270, -162, 148, 112,
                423, 888, 538,   400,  594,  53,   498, 194,  415, -77,
                24,  1,   -174,  -60,  -11,  146,  89,  7,    -27, -67,
                162, -25, 537,   299,  189,  -464, 96,  159,  46,  -89,
            }},
    HandWeights{
        // high_kings_l2
        .first =
            {
                476,  -144, 90,   420,  104,  23,   45,   -366, 6,    -145,
                29,   -75,  120,  97,   113,  433,  -361, -98,  -267, 276,
                115,  160,  -101, -197, -184, -328, -459, 57,   574,  264,
                -206, 377,  449,  -92,  103,  311,  -289, -122, 607,  76,
            },
        .last =
            {
                125,  141,  -1164, -377, -277, 34,   123, -35, 82,  120,
                261,  392,  237,   198,  578,  12,   470, 169, 364, 48,
                -28,  -117, -65,   -171, 6,    168,  231, -30, -19, -80,
                -125, -161, 420,   314,  231,  -695, 273, 213, -66, -55,
            }},
    HandWeights{
        // poisoned_chalice
        .first =
            {
                -270, 14,   -292, 18,   -253, 53,  308,  -385, -236, -525,
                15,   -935, -468, -136, -46,  -68, -371, -143, -11,  -163,
                135,  76,   -35,  60,   27,   -36, -81,  -3,   -37,  -254,
                202,  222,  -39,  -298, -122, 31,  113,  0,    0,    0,
            },
        .last =
            {
                907,  -1705, -793, -99,  -305, 30, 826,  -381, -188, -243,
                130,  -116,  -172, 88,   36,   89, 100,  120,  43,   28,
                28,   -91,   41,   -129, -35,  17, 60,   33,   206,  -7,
                -122, -85,   132,  -710, 179,  32, -115, 0,    0,    0,
            }},
    HandWeights{
        // stone_of_destiny
        .first =
            {
                6,    -413, 649,  281,  125,  12,  -115, 115,  -295, -283,
                23,   -558, -39,  -132, -156, -83, 66,   31,   -38,  96,
                -38,  54,   -33,  -119, -38,  42,  77,   1,    -227, -139,
                -152, 20,   -504, 966,  -38,  125, -446, -603, 207,  48,
            },
        .last =
            {
                532, -837, -658, -507, -163, 57,  -111, 231, 71,  126,
                -37, 29,   -103, 95,   227,  113, -73,  25,  61,  -37,
                -37, 5,    -17,  91,   52,   22,  -96,  -38, 286, 200,
                165, -36,  497,  -441, 69,   276, 212,  201, -36, -66,
            }},
});

}  // namespace tara::eval
