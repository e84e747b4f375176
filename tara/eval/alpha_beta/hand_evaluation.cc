#include <algorithm>
#include <cstring>
#include <iterator>

#include "tara/core/bits.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/rules/sacred_hill.h"
#include "tara/core/rules/view.h"
#include "tara/eval/alpha_beta/alpha_beta.h"

namespace tara::eval {
namespace {

// Four boards side by side: one register with AVX2.
typedef uint64_t FourBoards __attribute__((vector_size(32)));

// Adds `x` and `y` to the lowest bit of counters, cell by cell, and returns
// the carries. `low` is the bit.
FourBoards AddCells(FourBoards x, FourBoards y, FourBoards& low) {
  const FourBoards either = x ^ y;
  const FourBoards carry = (x & y) | (either & low);
  low ^= either;
  return carry;
}

// A position as one side sees it.
struct SideView {
  Board own;    // ringforts
  Board enemy;  // ringforts that stay the enemy's unless captured
  Board open;   // hills that may yet become own: vacant ones, and in Stone of
                // Destiny's Battle those of the enemy that can be swapped
  Board own_kings;
  Board enemy_kings;
  Board own_linked;  // own ringforts that have a link (Stone of Destiny)
  Board qualified;   // vacant hills of qualified rows (Poisoned Chalice)
  int kings_captured;
  Phase phase;
};

// Hills with at least one, two, ... adjacent hills in a board.
struct Neighbours {
  Board one, two, three, four;
};
constexpr Neighbours NeighboursIn(Board board) {
  const Board n = board << kRankStride, s = board >> kRankStride;
  const Board e = board << 1, w = board >> 1;
  const Board both_ns = n & s, any_ns = n | s;
  const Board both_ew = e & w, any_ew = e | w;
  return {.one = (any_ns | any_ew) & kAllHills,
          .two = (both_ns | both_ew | (any_ns & any_ew)) & kAllHills,
          .three = ((both_ns & any_ew) | (both_ew & any_ns)) & kAllHills,
          .four = both_ns & both_ew & kAllHills};
}

// The four hills of each 2 x 2 square of hills, each at the bit of the
// square's south-western hill.
struct Squares {
  Board southwest, southeast, northwest, northeast;

  explicit constexpr Squares(Board board)
      : southwest(board & kWhole),
        southeast((board >> 1) & kWhole),
        northwest((board >> kRankStride) & kWhole),
        northeast((board >> (kRankStride + 1)) & kWhole) {}

  static constexpr Board kWhole = kAllHills & (kAllHills >> 1) &
                                  (kAllHills >> kRankStride) &
                                  (kAllHills >> (kRankStride + 1));
};

Board Singles(const SideView& view) { return view.own & ~Adjacent(view.own); }

// Squares with three hills of a board whose fourth is in `fourth`.
int SquaresOfThree(Board own_board, Board fourth) {
  const Squares own(own_board), other(fourth);
  const Board south = own.southwest & own.southeast;
  const Board north = own.northwest & own.northeast;
  return Count((south & ((own.northwest & other.northeast) |
                         (own.northeast & other.northwest))) |
               (north & ((own.southwest & other.southeast) |
                         (own.southeast & other.southwest))));
}

// Squares with two own ringforts on a diagonal and `one`, `other` (in either
// order) on the other diagonal. Each square counts once.
int DiagonalPairs(Board own_board, Board one_board, Board other_board) {
  const Squares own(own_board), one(one_board), other(other_board);
  const Board rising =
      own.southwest & own.northeast &
      ((one.northwest & other.southeast) | (one.southeast & other.northwest));
  const Board falling =
      own.southeast & own.northwest &
      ((one.southwest & other.northeast) | (one.northeast & other.southwest));
  return Count(rising) + Count(falling);
}

// Squares with two adjacent own ringforts and `one`, `other` beyond them.
int SidePairs(Board own_board, Board one_board, Board other_board) {
  const Squares own(own_board), one(one_board), other(other_board);
  const auto beyond = [](Board a, Board b, Board c, Board d) {
    return (a & d) | (b & c);
  };
  return Count(
      (own.southwest & own.southeast &
       beyond(one.northwest, one.northeast, other.northwest, other.northeast)) |
      (own.northwest & own.northeast &
       beyond(one.southwest, one.southeast, other.southwest, other.southeast)) |
      (own.southwest & own.northwest &
       beyond(one.southeast, one.northeast, other.southeast, other.northeast)) |
      (own.southeast & own.northeast &
       beyond(one.southwest, one.northwest, other.southwest, other.northwest)));
}

// Pairs of own ringforts two steps apart with a hill of `middle` between.
int LinesAround(Board own, Board middle) {
  return Count((own << 1) & (own >> 1) & middle) +
         Count((own << kRankStride) & (own >> kRankStride) & middle);
}

int ContestedHills(const SideView& view) {
  return Count(view.open & NeighboursIn(view.own).two & Adjacent(view.enemy));
}

Board KingTargets(const SideView& view) {
  const Board keep_away =
      view.phase == Phase::kBattle ? view.own_kings : view.own;
  return view.open & KnightMoves(view.own_kings) & ~Adjacent(keep_away);
}

// The features of the hand-made evaluation: the counts of the functions below,
// each for the side that calls itself `own`. All are invariant under the
// board's symmetries, except Poisoned Chalice's rows, which a symmetry may give
// to the other side.
constexpr absl::string_view kSharedNames[kNumSharedFeatures] = {
    "tempo",      // 1 for the side to move
    "odd_tempo",  // the same if an odd number of hills is vacant
    "kingdoms", "possible_kingdoms", "merged_kingdoms", "near_kingdoms",
    "territory", "bridges", "on_edge", "beside_corners", "in_centre",
    "full_squares", "squares_missing_open", "squares_missing_enemy",
    // Linked for certain if play alternates: two ways to do it.
    "safe_diagonals", "half_cut_diagonals", "free_side_pairs",
    "half_free_side_pairs", "lonely_squares", "open_lines", "cut_lines",
    "long_diagonals", "knight_pairs",
    "singles_lost",  // can be captured
    "singles_with_one_way_out", "singles_with_two_ways_out", "free_singles",
    "enclosed",  // ringforts of larger kingdoms without an open hill beside
    "reach", "hills_with_two", "hills_with_three", "besieged_hills"};

// By family, in the order of the enumeration.
constexpr absl::string_view kFamilyNames[][kNumFamilyFeatures] = {
    {"manoeuvres_targets", "contested_hills"},
    {"contested_hills"},
    {"kings_captured", "king_mobility",
     "kings_stuck",  // no king can build
     "kings_on_singles",
     "kings_in_danger",  // ... with at most one adjacent hill not the enemy's
     "kings_attacked",   // ... and an enemy king can arrive next to it
     "kings_besieged", "kings_on_edge"},
    {"qualified_vacant", "none_qualified",
     // Hills where the side must build soon and that do its kingdoms good.
     "qualified_reach", "qualified_merges", "contested_hills"},
    {"linked", "linked_kingdoms", "swappable_singles", "king_on_linked",
     "linked_squares", "linked_diagonals", "swappable_merges",
     "contested_hills"}};

static_assert(std::size(kFamilyNames) == kNumFamilies);

constexpr Board kInner = NeighboursIn(kAllHills).four;  // not on the edge

std::array<int, kNumSharedFeatures> CountShared(const SideView& v) {
  const Board own = v.own, open = v.open, enemy = v.enemy;
  const Neighbours by_own = NeighboursIn(own), by_open = NeighboursIn(open);
  const Board singles = Singles(v);
  const Squares squares(own);
  constexpr Board kD4 = BoardOf(HillAt(3, 3));
  // Kingdoms: as they are; with all open hills taken, as no play makes fewer
  // (open regions without a ringfort count too); with every open hill taken
  // that touches two ringforts, or one.
  const std::array<int, 4> kingdoms = CountComponentsOfFour(
      {own, own | open, own | (open & by_own.two), own | (open & by_own.one)});
  return {0,  // the tempo: no side counts it
          0,
          kingdoms[0],
          kingdoms[1],
          kingdoms[2],
          kingdoms[3],
          Count(own),
          CountAdjacentPairs(own),
          Count(own & ~kInner),
          Count(own & ~NeighboursIn(kAllHills).three),
          Count(own & (kD4 | Adjacent(kD4) | Diagonal(kD4))),
          Count(squares.southwest & squares.southeast & squares.northwest &
                squares.northeast),
          SquaresOfThree(own, open),
          SquaresOfThree(own, enemy),
          DiagonalPairs(own, open, open),
          DiagonalPairs(own, open, enemy),
          SidePairs(own, open, open),
          SidePairs(own, open, enemy),
          SquaresOfThree(open, own),
          LinesAround(own, open),
          LinesAround(own, enemy),
          Count((own << 10) & (own >> 10) & open) +
              Count((own << 8) & (own >> 8) & open),
          Count(own & (own << 19)) + Count(own & (own << 17)) +
              Count(own & (own << 11)) + Count(own & (own << 7)),
          Count(own & Besieged(enemy)),
          Count(singles & by_open.one & ~by_open.two),
          Count(singles & by_open.two & ~by_open.three),
          Count(singles & by_open.three),
          Count(own & Adjacent(own) & ~Adjacent(open)),
          Count(open & Adjacent(own)),
          Count(open & by_own.two),
          Count(open & by_own.three),
          Count(open & Besieged(own))};
}

using FamilyCounts = std::array<int, kNumFamilyFeatures>;

// The same of the family's own features.
FamilyCounts CountOfFamily(Family family, const SideView& v) {
  switch (family) {
    case Family::kSacredHill: {
      constexpr int kKnightsDistance = 5;  // squared
      const Board targets = v.phase == Phase::kManoeuvres
                                ? v.open & KnightMoves(v.own) &
                                      ~rules::TooNear(v.own, kKnightsDistance)
                                : 0;
      return {Count(targets), ContestedHills(v)};
    }
    case Family::kFourTreasures:
      return {ContestedHills(v)};
    case Family::kHighKings: {
      const Board targets = KingTargets(v);
      const Board on_singles = v.own_kings & Singles(v);
      const Board in_danger = on_singles & ~NeighboursIn(v.open).two;
      const Board arrivals = KnightMoves(v.enemy_kings) & ~Adjacent(v.enemy);
      return {v.kings_captured,
              Count(targets),
              targets == 0 ? 1 : 0,
              Count(on_singles),
              Count(in_danger),
              Count(in_danger & Adjacent(arrivals)),
              Count(v.own_kings & Besieged(v.enemy)),
              Count(v.own_kings & ~kInner)};
    }
    case Family::kPoisonedChalice:
      return {Count(v.qualified), v.qualified == 0 ? 1 : 0,
              Count(v.qualified & Adjacent(v.own)),
              Count(v.qualified & NeighboursIn(v.own).two), ContestedHills(v)};
    case Family::kStoneOfDestiny: {
      const Board linked = v.own_linked;
      const Board rest = kAllHills & ~(linked | v.enemy);
      return {Count(linked),
              CountComponents(linked),
              Count(Singles(v) & ~linked),
              Count(v.own_kings & linked),
              SquaresOfThree(linked, kAllHills & ~linked),
              DiagonalPairs(linked, rest, rest),
              Count(v.open & NeighboursIn(linked).two),
              ContestedHills(v)};
    }
  }
  __builtin_unreachable();
}

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

}  // namespace

std::array<int, 4> CountComponentsOfFour(const std::array<Board, 4>& boards) {
  static_assert(kShrinkSteps % 4 == 0 && kShrinkSteps < 16);
  FourBoards hills;
  std::memcpy(&hills, boards.data(), sizeof(hills));
  FourBoards ones = {}, twos = {}, fours = {}, eights = {};
  const auto next_isolated = [&hills] {
    const FourBoards isolated = Isolated(hills);
    hills = Shrunk(hills);
    return isolated;
  };
  Unrolled<kShrinkSteps / 4>([&](auto) {
    FourBoards carries[2];
    for (FourBoards& carry : carries) {
      const FourBoards first = next_isolated();
      const FourBoards second = next_isolated();
      carry = AddCells(first, second, ones);
    }
    const FourBoards carry = AddCells(carries[0], carries[1], twos);
    eights |= fours & carry;
    fours ^= carry;
  });
  std::array<int, 4> counts;
  for (int i = 0; i < 4; ++i) {
    counts[i] = Count(ones[i]) + 2 * Count(twos[i]) + 4 * Count(fours[i]) +
                8 * Count(eights[i]);
  }
  return counts;
}

HandFeatures ComputeHandFeatures(const State& state) {
  const SideView red = ViewOf(state, kRed);
  const SideView blue = ViewOf(state, kBlue);
  HandFeatures features;
  const auto reds = CountShared(red), blues = CountShared(blue);
  for (int i = 0; i < kNumSharedFeatures; ++i) {
    features[i] = static_cast<int16_t>(reds[i] - blues[i]);
  }
  const int16_t tempo = state.side() == kRed ? 1 : -1;
  features[0] = tempo;
  features[1] = (Count(state.vacant()) & 1) != 0 ? tempo : int16_t{0};
  const Family family = Info(state.variant).family;
  const FamilyCounts own = CountOfFamily(family, red);
  const FamilyCounts other = CountOfFamily(family, blue);
  for (int i = 0; i < kNumFamilyFeatures; ++i) {
    features[kNumSharedFeatures + i] = static_cast<int16_t>(own[i] - other[i]);
  }
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
  if (feature < kNumSharedFeatures) return kSharedNames[feature];
  return kFamilyNames[static_cast<int>(Info(variant).family)]
                     [feature - kNumSharedFeatures];
}

namespace {

// What half a point of compensation counts, in thousandths of a logit. Taking
// margins for logistic, a point is worth pi / sqrt(3) over their deviation,
// which is 3.4 to 6.3 (utility.cc): 0.29 to 0.53 logits.
constexpr int kHalfPointWorth = 200;

// Weights by variant, in thousandths of a logit of Red's winning, at the first
// stage and at the last one (0). Those that are not named are 0. Fitted to
// 5,000 games of mcts:sims=120 in each.
constexpr int16_t kHandWeights[][2][kNumHandFeatures] = {
    // sacred_hill_l1
    {{398,  -301, -15,  1500, 591, 654, 32,   -163, -369, 184, 194, -113,
      175,  732,  -186, 511,  229, 543, -247, 119,  70,   61,  -22, 472,
      -244, 119,  765,  29,   -35, 187, -32,  527,  -146, 281},
     {994,  394, -1122, -1461, -925, -920, 747, 574,  13,   -30, 13, -603,
      -217, 131, 946,   132,   -15,  -101, 487, 11,   -75,  19,  41, 1942,
      845,  296, -461,  -134,  675,  270,  128, -346, -164, -514}},
    // sacred_hill_l2
    {{136,  -29, 417, 1115, 14,   532, 29,   -163, -282, 436, 195,  414,
      316,  196, 3,   366,  -333, 102, -160, -207, 107,  -18, -198, -350,
      -376, -26, -45, 367,  151,  -50, 185,  -102, -34,  641},
     {651,  6,   -904, -1045, -1288, -807, 312, 348,  272,  141,  35, -41,
      -400, 201, 157,  -382,  -148,  -16,  64,  163,  -98,  -111, 6,  2809,
      955,  82,  -147, -263,  686,   -636, 87,  -395, -311, -136}},
    // sacred_hill_doubles_l1
    {{462,  -456, -145, 590, -107, 301, -25,  -216, 46,  -143, 362, -188,
      -172, 429,  -416, 145, -185, 200, -191, -230, -80, -45,  -81, 1576,
      -45,  46,   125,  123, 294,  163, 358,  95,   -80, 335},
     {619, 248, -953, -688, -754, -706, 442, 164,  48,   21,  -207, -154,
      -10, 169, 771,  43,   214,  97,   492, -225, -107, 86,  181,  983,
      641, 243, 131,  -157, 346,  193,  58,  -154, -207, -489}},
    // sacred_hill_doubles_l2
    {{372,  -358, 53,   594,  253, 82,   153,  170,  -158, 394, 356,  213,
      -458, 262,  380,  336,  -63, 475,  -222, -236, 83,   -93, -291, -432,
      -213, 31,   -160, -177, 292, -513, 268,  107,  15,   819},
     {500, 426,  -754, -725, -1015, -418, 123,  103,  183,  88,  -195, -450,
      16,  -125, -329, -209, -25,   -128, 259,  460,  -176, 73,  211,  1743,
      561, 329,  462,  1,    251,   41,   -252, -123, -48,  -471}},
    // four_treasures
    {{-386, 264,  184, 170,  5,   -55,  240,  -272, -348, -345, 195,
      -420, -200, 10,  -491, -79, -306, -53,  -221, 54,   68,   45,
      -92,  1348, 241, 53,   61,  235,  -145, -68,  -123, -286, 10},
     {1809, -88,   385,  -335, -72, 266,  1795, 982,  -451, -252, -117,
      -446, 166,   -37,  683,  389, -379, -40,  -454, 642,  113,  -88,
      58,   -2317, -632, -357, 20,  -35,  1123, 234,  -202, 606,  -461}},
    // four_treasures_doubles
    {{816,  -106, 168,  176,  644,  -201, 1108, 333,  -541, -453, 109,
      -661, -392, 297,  -504, 324,  -318, 85,   -403, 527,  83,   173,
      -111, -322, -410, -350, -136, 315,  402,  664,  422,  25,   -204},
     {937,  64,    606,  -294, -668, 339,  1296, 527,  -404, -68, -398,
      -564, 80,    -234, 343,  -74,  -222, -95,  25,   -119, 137, -95,
      249,  -1261, -109, 123,  44,   -191, -123, -526, -378, 324, -93}},
    // high_kings_l1
    {{164,  184,  -164, 508,  230,  -4,   53,   -708, 169,  -176,
      -35,  -410, -296, 33,   192,  369,  134,  140,  -177, 215,
      83,   18,   -17,  -175, -150, -321, -238, 189,  340,  197,
      -261, 313,  392,  -95,  279,  272,  -196, -32,  157,  38},
     {219, 96,  -1073, -319, -312, -105, 270, -162, 148, 112,
      423, 888, 538,   400,  594,  53,   498, 194,  415, -77,
      24,  1,   -174,  -60,  -11,  146,  89,  7,    -27, -67,
      162, -25, 537,   299,  189,  -464, 96,  159,  46,  -89}},
    // high_kings_l2
    {{476,  -144, 90,   420,  104,  23,   45,   -366, 6,    -145,
      29,   -75,  120,  97,   113,  433,  -361, -98,  -267, 276,
      115,  160,  -101, -197, -184, -328, -459, 57,   574,  264,
      -206, 377,  449,  -92,  103,  311,  -289, -122, 607,  76},
     {125,  141,  -1164, -377, -277, 34,   123, -35, 82,  120,
      261,  392,  237,   198,  578,  12,   470, 169, 364, 48,
      -28,  -117, -65,   -171, 6,    168,  231, -30, -19, -80,
      -125, -161, 420,   314,  231,  -695, 273, 213, -66, -55}},
    // poisoned_chalice
    {{-270, 14,  -292, 18,   -253, 53,  308,  -385, -236, -525, 15, -935, -468,
      -136, -46, -68,  -371, -143, -11, -163, 135,  76,   -35,  60, 27,   -36,
      -81,  -3,  -37,  -254, 202,  222, -39,  -298, -122, 31,   113},
     {907, -1705, -793, -99, -305, 30,  826, -381, -188, -243, 130,  -116, -172,
      88,  36,    89,   100, 120,  43,  28,  28,   -91,  41,   -129, -35,  17,
      60,  33,    206,  -7,  -122, -85, 132, -710, 179,  32,   -115}},
    // stone_of_destiny
    {{6,    -413, 649,  281,  125,  12,  -115, 115,  -295, -283,
      23,   -558, -39,  -132, -156, -83, 66,   31,   -38,  96,
      -38,  54,   -33,  -119, -38,  42,  77,   1,    -227, -139,
      -152, 20,   -504, 966,  -38,  125, -446, -603, 207,  48},
     {532, -837, -658, -507, -163, 57,  -111, 231, 71,  126,
      -37, 29,   -103, 95,   227,  113, -73,  25,  61,  -37,
      -37, 5,    -17,  91,   52,   22,  -96,  -38, 286, 200,
      165, -36,  497,  -441, 69,   276, 212,  201, -36, -66}},
};
static_assert(std::size(kHandWeights) == kNumVariants);

}  // namespace

int HandEvaluation(const State& state) {
  const auto& [of_first, of_last] =
      kHandWeights[static_cast<int>(state.variant)];
  const HandFeatures features = ComputeHandFeatures(state);
  int first = 0;
  int last = 0;
  for (int i = 0; i < kNumHandFeatures; ++i) {
    first += features[i] * of_first[i];
    last += features[i] * of_last[i];
  }
  const int stage = HandStage(state);
  const int red = (first * stage + last * (kFirstStage - stage)) / kFirstStage -
                  kHalfPointWorth * state.options.compensation_halves;
  return std::clamp(red, -kMaxHandEvaluation, kMaxHandEvaluation);
}

}  // namespace tara::eval
