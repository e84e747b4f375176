#ifndef TARA_NN_ENCODE_FEATURES_H_
#define TARA_NN_ENCODE_FEATURES_H_

// How the network sees a position: planes over the 7 x 7 grid and a vector of
// numbers about the whole position. Everything is seen from the seat to move,
// which a symmetry has brought to seat 0: "own" is its side.

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"

namespace tara::nn {

// Increases with every change of the tables below or of their meaning, except
// for appended inputs: weights of another version are useless, but weights
// without the last inputs play as before (AddNewInputs,
// tara/nn/weights/checkpoint.h).
inline constexpr int kFeatureVersion = 2;

// Squares of the grid, by rank, then file; the four corners are not hills.
inline constexpr int kNumSquares = kBoardSize * kBoardSize;

constexpr int SquareOf(Hill hill) {
  return kBoardSize * RankOf(hill) + FileOf(hill);
}

// [hill]: its square.
inline constexpr auto kHillSquares = [] {
  std::array<int, kNumHills> squares{};
  for (Hill hill = 0; hill < kNumHills; ++hill) squares[hill] = SquareOf(hill);
  return squares;
}();

// A feature as documents describe it.
struct FeatureInfo {
  absl::string_view name;
  absl::string_view meaning;
};

// The planes, in their order; new ones are appended. A value is 1 where the
// meaning holds, else 0, unless stated otherwise; off the board it is 0.
//
// Four planes mean one thing in Stone of Destiny and another in High Kings,
// where kings race for hills that no convolution sees far enough to tell: a
// king's way is of knight's moves from vacant hill to vacant hill, until Battle
// without those next to a ringfort of its side, and other kings do not move.
inline constexpr std::array kPlanes = {
    FeatureInfo{"on_board", "a hill"},
    FeatureInfo{"vacant", "no ringfort"},
    FeatureInfo{"own_ringfort", "ringfort of the own side"},
    FeatureInfo{"enemy_ringfort", "ringfort of the other side"},
    FeatureInfo{"own_king", "king of the own side"},
    FeatureInfo{"enemy_king", "king of the other side"},
    FeatureInfo{"own_stranded", "own king on an enemy ringfort"},
    FeatureInfo{"enemy_stranded", "enemy king on an own ringfort"},
    FeatureInfo{"link_east_or_own_way",
                "bridge to the eastern hill (Stone of Destiny); vacant hill to "
                "which an own king has a way (High Kings)"},
    FeatureInfo{"link_north_or_enemy_way",
                "bridge to the northern hill (Stone of Destiny); vacant hill "
                "to which an enemy king has a way (High Kings)"},
    FeatureInfo{"legal_hill", "the action of this hill is legal"},
    FeatureInfo{"legal_origin", "a legal king move starts here"},
    FeatureInfo{"legal_destination", "a legal king move ends here"},
    FeatureInfo{"legal_sacrifice", "a legal sacrifice ends here"},
    FeatureInfo{"legal_link_east_or_own_nearer",
                "linking with the eastern hill is legal (Stone of Destiny); "
                "the own way is there and no longer than the enemy's, if that "
                "is there (High Kings)"},
    FeatureInfo{"legal_link_north_or_enemy_nearer",
                "linking with the northern hill is legal (Stone of Destiny); "
                "the enemy's way is there and shorter than the own, if that is "
                "there (High Kings)"},
    FeatureInfo{"area", "where the seat may act (doubles; else every hill)"},
    FeatureInfo{"besieged_by_own", "all adjacent hills are own ringforts"},
    FeatureInfo{"besieged_by_enemy", "all adjacent hills are enemy ringforts"},
    FeatureInfo{"own_single", "own ringfort linked to no other"},
    FeatureInfo{"enemy_single", "enemy ringfort linked to no other"},
    FeatureInfo{"own_neighbours", "adjacent own ringforts, divided by 4"},
    FeatureInfo{"enemy_neighbours", "adjacent enemy ringforts, divided by 4"},
    FeatureInfo{"enemy_reach",
                "vacant hill a knight's move from an enemy ringfort (High "
                "Kings: king) and not nearer to any enemy ringfort"},
};
inline constexpr int kNumPlanes = static_cast<int>(kPlanes.size());

namespace internal {

// The first globals, in their order. Variants and rule options that are not
// among them follow automatically (kGlobals). To append another row, first
// write the rows of those before it: an input never moves.
inline constexpr std::array kFirstGlobals = {
    FeatureInfo{"sacred_hill_l1", "the variant is this one"},
    FeatureInfo{"sacred_hill_l2", "the variant is this one"},
    FeatureInfo{"sacred_hill_doubles_l1", "the variant is this one"},
    FeatureInfo{"sacred_hill_doubles_l2", "the variant is this one"},
    FeatureInfo{"four_treasures", "the variant is this one"},
    FeatureInfo{"four_treasures_doubles", "the variant is this one"},
    FeatureInfo{"high_kings_l1", "the variant is this one"},
    FeatureInfo{"high_kings_l2", "the variant is this one"},
    FeatureInfo{"poisoned_chalice", "the variant is this one"},
    FeatureInfo{"stone_of_destiny", "the variant is this one"},
    FeatureInfo{"placement", "the phase is this one"},
    FeatureInfo{"manoeuvres", "the phase is this one"},
    FeatureInfo{"battle", "the phase is this one"},
    FeatureInfo{"link", "the phase is this one"},
    FeatureInfo{"doubles", "four seats"},
    FeatureInfo{"option_no_progress_limit", "rule option, divided by 40"},
    FeatureInfo{"option_proximity_bound", "rule option, divided by 5"},
    FeatureInfo{"option_placement_captures_kings", "rule option"},
    FeatureInfo{"option_link_all_at_end", "rule option"},
    FeatureInfo{"option_shared_row_opening", "rule option"},
    FeatureInfo{"no_progress", "the counter, as a part of its limit"},
    FeatureInfo{"closing_out", "the end is announced: a seat is out"},
    FeatureInfo{"closing_passed", "the end is announced: a side has passed"},
    FeatureInfo{"closing_board_full", "the end is announced: board full"},
    FeatureInfo{"turns_left", "turns until the announced end, divided by 3"},
    FeatureInfo{"own_kings_captured",
                "enemy kings that the own side has "
                "captured, divided by 3"},
    FeatureInfo{"enemy_kings_captured", "the same of the other side"},
    FeatureInfo{"vacant_hills", "divided by 45"},
    FeatureInfo{"own_territory", "own ringforts, divided by 23"},
    FeatureInfo{"enemy_territory", "enemy ringforts, divided by 23"},
    FeatureInfo{"own_kingdoms", "divided by 10"},
    FeatureInfo{"enemy_kingdoms", "divided by 10"},
    FeatureInfo{"own_bridges", "adjacent own pairs, at most 40; by 40"},
    FeatureInfo{"enemy_bridges", "the same of the other side"},
    FeatureInfo{"standing_margin",
                "own minus enemy points if the game ended "
                "now, divided by 10"},
    FeatureInfo{"standing_result",
                "+1, 0, -1: the own side would win, draw, lose with that"},
    FeatureInfo{"legal_actions", "their number, divided by 45"},
    FeatureInfo{"legal_pass", "passing is legal"},
};

// Returns the index of the feature, or the number of features if unknown.
template <size_t kSize>
constexpr size_t IndexOf(absl::string_view name,
                         const std::array<FeatureInfo, kSize>& features) {
  size_t index = 0;
  while (index < kSize && features[index].name != name) ++index;
  return index;
}

constexpr bool IsFirstGlobal(absl::string_view name) {
  return IndexOf(name, kFirstGlobals) < kFirstGlobals.size();
}

// The name of a rule option's global: "option_no_progress_limit".
struct OptionGlobalName {
  std::array<char, 64> text = {};
  size_t size = 0;

  constexpr absl::string_view view() const { return {text.data(), size}; }
};

constexpr auto MakeOptionGlobalNames() {
  std::array<OptionGlobalName, kRuleOptions.size()> names = {};
  for (size_t i = 0; i < names.size(); ++i) {
    for (const absl::string_view part :
         {absl::string_view("option_"), kRuleOptions[i].name}) {
      for (const char letter : part) names[i].text[names[i].size++] = letter;
    }
  }
  return names;
}
inline constexpr auto kOptionGlobalNames = MakeOptionGlobalNames();

constexpr size_t CountLaterGlobals() {
  size_t count = 0;
  for (const OptionGlobalName& name : kOptionGlobalNames) {
    count += !IsFirstGlobal(name.view());
  }
  for (const VariantInfo& info : kVariants) count += !IsFirstGlobal(info.id);
  return count;
}

constexpr auto MakeGlobals() {
  std::array<FeatureInfo, kFirstGlobals.size() + CountLaterGlobals()> globals =
      {};
  size_t size = 0;
  for (const FeatureInfo& info : kFirstGlobals) globals[size++] = info;
  for (size_t i = 0; i < kRuleOptions.size(); ++i) {
    const absl::string_view name = kOptionGlobalNames[i].view();
    if (IsFirstGlobal(name)) continue;
    globals[size++] = {name, kRuleOptions[i].is_switch()
                                 ? "rule option"
                                 : "rule option, divided by its default"};
  }
  for (const VariantInfo& info : kVariants) {
    if (IsFirstGlobal(info.id)) continue;
    globals[size++] = {info.id, "the variant is this one"};
  }
  return globals;
}

}  // namespace internal

// The globals: the first ones, then the rule options and later variants.
inline constexpr auto kGlobals = internal::MakeGlobals();
inline constexpr int kNumGlobals = static_cast<int>(kGlobals.size());

// Returns where the plane of this name stands in kPlanes, the global in
// kGlobals.
constexpr int PlaneIndex(absl::string_view name) {
  return static_cast<int>(internal::IndexOf(name, kPlanes));
}
constexpr int GlobalIndex(absl::string_view name) {
  return static_cast<int>(internal::IndexOf(name, kGlobals));
}

// The index of the globals of each variant and rule option.
inline constexpr auto kVariantGlobals = [] {
  std::array<int, kNumVariants> indices = {};
  for (int i = 0; i < kNumVariants; ++i) {
    indices[i] = GlobalIndex(kVariants[i].id);
  }
  return indices;
}();
inline constexpr auto kOptionGlobals = [] {
  std::array<int, kRuleOptions.size()> indices = {};
  for (size_t i = 0; i < indices.size(); ++i) {
    indices[i] = GlobalIndex(internal::kOptionGlobalNames[i].view());
  }
  return indices;
}();

// What an option's value is divided by: 1 for a switch; the default of a
// number, or its largest value where that is 0.
constexpr int OptionDivisor(const RuleOptionInfo& option) {
  if (option.is_switch()) return 1;
  const int usual = option.get(RuleOptions());
  return usual > 0 ? usual : option.max_value;
}

// The output of the policy head for each of the 570 actions. The head has
// planes over the 7 x 7 grid, with each action on the square that it concerns,
// and one number for passing:
//
//   plane  0        hills (build, place, capture, swap)
//   planes 1 ..  8  king moves, by direction, on their origin
//   planes 9 .. 16  the same with sacrifice
//   plane 17        links with the eastern hill, on the western one
//   plane 18        links with the northern hill, on the southern one
//   output 931      pass
//
// Outputs are numbered plane * 49 + 7 * rank + file. Those that stand for no
// action (off the board, or leading there) are never read.

// Changes when the outputs or the space of actions change meaning.
inline constexpr int kPolicyVersion = 1;

inline constexpr int kNumPolicyPlanes = 19;
inline constexpr int kPassOutput = kNumPolicyPlanes * kNumSquares;
inline constexpr int kNumPolicyOutputs = kPassOutput + 1;

namespace internal {

// Steps of a knight, files and ranks, clockwise from north-north-east.
inline constexpr int kKnightSteps[8][2] = {
    {1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

constexpr int KnightDirection(Hill from, Hill to) {
  int direction = 0;
  while (FileOf(to) - FileOf(from) != kKnightSteps[direction][0] ||
         RankOf(to) - RankOf(from) != kKnightSteps[direction][1]) {
    ++direction;
  }
  return direction;
}

constexpr int PolicyPlane(const ActionParts& parts) {
  switch (parts.kind) {
    case ActionKind::kKingMove:
      return 1 + KnightDirection(parts.from, parts.to);
    case ActionKind::kSacrifice:
      return 9 + KnightDirection(parts.from, parts.to);
    case ActionKind::kLink:
      return RankOf(parts.from) == RankOf(parts.to) ? 17 : 18;
    default:
      return 0;
  }
}

constexpr std::array<int16_t, kNumActions> MakePolicyOutputs() {
  std::array<int16_t, kNumActions> outputs{};
  for (int index = 0; index < kNumActions; ++index) {
    const ActionParts parts = Parts(static_cast<Action>(index));
    const Hill hill = parts.from >= 0 ? parts.from : parts.to;
    outputs[index] = static_cast<int16_t>(
        parts.kind == ActionKind::kPass
            ? kPassOutput
            : PolicyPlane(parts) * kNumSquares + SquareOf(hill));
  }
  return outputs;
}

}  // namespace internal

// The output that stands for each action, 0 .. kNumPolicyOutputs - 1.
inline constexpr auto kPolicyOutputs = internal::MakePolicyOutputs();

constexpr int PolicyOutput(Action action) {
  return kPolicyOutputs[Index(action)];
}

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_FEATURES_H_
