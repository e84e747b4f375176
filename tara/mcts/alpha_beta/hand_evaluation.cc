#include "tara/mcts/alpha_beta/hand_evaluation.h"

#include <algorithm>

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/rules/poisoned_chalice.h"
#include "tara/core/rules/view.h"
#include "tara/mcts/alpha_beta/component_counts.h"
#include "tara/mcts/alpha_beta/family_features.h"
#include "tara/mcts/alpha_beta/hand_features.h"
#include "tara/mcts/alpha_beta/side_view.h"

namespace tara::mcts {
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
constexpr std::array<FamilyFeatures, 5> kFamilyFeatures = {
    kSacredHillFeatures, kFourTreasuresFeatures, kHighKingsFeatures,
    kPoisonedChaliceFeatures, kStoneOfDestinyFeatures};

// Hills whose ringforts cannot be swapped in Stone of Destiny.
Board LinkedHills(const State& state) {
  return state.links_east | East(state.links_east) | state.links_north |
         North(state.links_north);
}

// The vacant hills of a side's qualified rows.
Board QualifiedHills(const State& state, Side side) {
  rules::View view(state);
  if (view.side() != side) {
    view.ExchangeSides<rules::PoisonedChalice::kHasKings>();
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
  const Family family = Info(state.variant).family;
  if (family == Family::kStoneOfDestiny && state.phase != Phase::kManoeuvres) {
    const Board linked = LinkedHills(state);
    view.own_linked = view.own & linked;
    view.open = view.enemy & ~(linked | view.enemy_kings);
    view.enemy &= ~view.open;
  }
  if (family == Family::kPoisonedChalice && state.phase == Phase::kBattle) {
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
  if (Info(state.variant).family == Family::kStoneOfDestiny) {
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
  const int red = (first * stage + last * (kFirstStage - stage)) / kFirstStage;
  return std::clamp(red, -kMaxHandEvaluation, kMaxHandEvaluation);
}

}  // namespace tara::mcts
