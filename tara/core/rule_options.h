#ifndef TARA_CORE_RULE_OPTIONS_H_
#define TARA_CORE_RULE_OPTIONS_H_

// Named switches that change a rule, for studying how rules change balance
// (docs/reference/rules.md section 10). The defaults are the rules as written.

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/core/variant.h"

namespace tara {

// Four bytes without padding: a word, which play keeps in a register.
struct RuleOptions {
  // Successive actions (High Kings) or turns (Stone of Destiny's Battle)
  // without progress after which the game ends; 1 to 255.
  uint8_t no_progress_limit = 40;
  // Half points given to Blue's side: -24 to 24. Changes nothing but what a
  // final margin is worth (ResultOfMargin, tara/core/outcome.h).
  int8_t compensation_halves = 0;
  // Sacred Hill: a hill at a squared distance below this from a friendly
  // ringfort is too near in Manoeuvres; 1 to 5.
  uint8_t proximity_bound : 4 = 5;
  // All but Poisoned Chalice: the first ringfort of the game lies at least so
  // many steps, as a chess king goes, from D4; 0 to 3.
  uint8_t opening_distance : 2 = 0;
  // Two seats: seat 1, instead of its first action, may take over seat 0's.
  // In a position: whether it may still do so, now or later.
  bool pie_rule : 1 = false;
  // Sacred Hill doubles: the first ringfort of each side is on its shared row.
  bool shared_row_opening : 1 = true;
  // High Kings: placing a king captures adjacent enemy kings as a move does.
  bool placement_captures_kings : 1 = false;
  // High Kings: a side that cannot build may pass even if the enemy can build.
  bool free_pass : 1 = false;
  // Stone of Destiny: at the end everything adjacent is linked.
  bool link_all_at_end : 1 = true;
  // Sacred Hill Level 1, Four Treasures: capturing is not compulsory.
  bool free_capture : 1 = false;
  // Sacred Hill Level 2: capturing is compulsory and comes first; otherwise it
  // follows its priority.
  bool capture_first : 1 = false;
  // Sacred Hill: in Battle a hill without an adjacent friendly ringfort counts
  // as one with one.
  bool build_apart : 1 = false;
  // All but Stone of Destiny: after a seat announces the end (out, a pass, a
  // full board), every other seat has one more turn; else the game is over.
  bool last_turns : 1 = true;
  // Equal kingdoms (or bridges) are decided by territory; else a full tie.
  bool territory_breaks_ties : 1 = true;

  friend bool operator==(const RuleOptions&, const RuleOptions&) = default;
};

// Returns the options of a game as they are with the colours exchanged.
constexpr RuleOptions WithColoursExchanged(RuleOptions options) {
  options.compensation_halves =
      static_cast<int8_t>(-options.compensation_halves);
  return options;
}

enum class RuleOptionKind : uint8_t {
  kSwitch,  // 0 or 1, written "false" or "true"
  kNumber,  // whole
  kHalves,  // counted in halves: 5 is written "2.5"
};

// What names, documents and bounds one option.
struct RuleOptionInfo {
  absl::string_view name;
  absl::string_view help;
  RuleOptionKind kind;
  int min_value;  // of kHalves: in halves, as all values
  int max_value;
  int (*get)(const RuleOptions&);
  void (*set)(RuleOptions&, int);
  bool (*applies_to)(const VariantInfo&);

  constexpr bool is_switch() const { return kind == RuleOptionKind::kSwitch; }
  int DefaultValue() const { return get(RuleOptions()); }
};

namespace internal {

template <Family... kFamilies>
constexpr bool IsOf(const VariantInfo& info) {
  return ((info.family == kFamilies) || ...);
}
constexpr bool IsAny(const VariantInfo&) { return true; }

}  // namespace internal

// RuleOptionInfo's get and set of a member, which is a bit field.
#define TARA_RULE_OPTION_MEMBER(member)                                \
  [](const RuleOptions& options) { return int{options.member}; },      \
      [](RuleOptions& options, int value) {                            \
        options.member = static_cast<decltype(options.member)>(value); \
      }

inline constexpr auto kRuleOptions = std::to_array<RuleOptionInfo>({
    {"no_progress_limit",
     "actions (High Kings) or turns (Stone of Destiny) without progress "
     "that end the game",
     RuleOptionKind::kNumber, 1, 255,
     TARA_RULE_OPTION_MEMBER(no_progress_limit),
     internal::IsOf<Family::kHighKings, Family::kStoneOfDestiny>},
    {"proximity_bound",
     "how far apart ringforts of one side must be in Manoeuvres, as a "
     "squared distance (5: a knight's move)",
     RuleOptionKind::kNumber, 1, 5, TARA_RULE_OPTION_MEMBER(proximity_bound),
     internal::IsOf<Family::kSacredHill>},
    {"placement_captures_kings",
     "placing a king captures adjacent enemy kings as a move does",
     RuleOptionKind::kSwitch, 0, 1,
     TARA_RULE_OPTION_MEMBER(placement_captures_kings),
     internal::IsOf<Family::kHighKings>},
    {"link_all_at_end",
     "when the game ends, everything adjacent is linked before scoring",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(link_all_at_end),
     internal::IsOf<Family::kStoneOfDestiny>},
    {"shared_row_opening",
     "each side's first ringfort must be on its shared row",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(shared_row_opening),
     [](const VariantInfo& i) {
       return i.family == Family::kSacredHill && i.seats == 4;
     }},
    {"compensation", "points given to Blue's side, which does not start",
     RuleOptionKind::kHalves, -24, 24,
     TARA_RULE_OPTION_MEMBER(compensation_halves), internal::IsAny},
    {"pie_rule", "Blue, instead of its first action, may take over Red's",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(pie_rule),
     [](const VariantInfo& i) { return i.seats == 2; }},
    {"free_capture", "a besieged enemy single may be captured, but need not be",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(free_capture),
     [](const VariantInfo& i) {
       return i.family == Family::kFourTreasures ||
              (i.family == Family::kSacredHill && i.level == 1);
     }},
    {"capture_first",
     "a besieged enemy single must be captured, before anything else",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(capture_first),
     [](const VariantInfo& i) {
       return i.family == Family::kSacredHill && i.level == 2;
     }},
    {"build_apart",
     "in Battle a hill without an adjacent friendly ringfort counts as one "
     "with one",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(build_apart),
     internal::IsOf<Family::kSacredHill>},
    {"free_pass",
     "a side that cannot build may pass even if the enemy can build",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(free_pass),
     internal::IsOf<Family::kHighKings>},
    {"last_turns",
     "when a seat ends the game, every other seat has one more turn",
     RuleOptionKind::kSwitch, 0, 1, TARA_RULE_OPTION_MEMBER(last_turns),
     [](const VariantInfo& i) { return i.family != Family::kStoneOfDestiny; }},
    {"territory_breaks_ties",
     "equal kingdoms, or bridges, are decided by territory",
     RuleOptionKind::kSwitch, 0, 1,
     TARA_RULE_OPTION_MEMBER(territory_breaks_ties), internal::IsAny},
    {"opening_distance",
     "minimum distance of the first ringfort from D4, in steps of a chess "
     "king",
     RuleOptionKind::kNumber, 0, 3, TARA_RULE_OPTION_MEMBER(opening_distance),
     [](const VariantInfo& i) { return i.family != Family::kPoisonedChalice; }},
});
#undef TARA_RULE_OPTION_MEMBER

// Returns the option of this name, or null.
constexpr const RuleOptionInfo* FindRuleOption(absl::string_view name) {
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

// Returns the value as text, as JSON has it: "true", "false", "40", "-2.5".
std::string FormatRuleOptionValue(const RuleOptionInfo& info, int value);

// Returns what values the option takes, in words: "true or false", "1 to 255",
// "-12 to 12 in steps of 0.5".
std::string DescribeRuleOptionValues(const RuleOptionInfo& info);

// Sets the option `name` to `value` given as text.
// Returns INVALID_ARGUMENT, saying what was expected, for an unknown name, an
// option that does not apply to the variant, or a value out of range.
absl::Status SetRuleOption(Variant variant, absl::string_view name,
                           absl::string_view value, RuleOptions& options);

// Returns the options that differ from their defaults as
// "name=value,name=value", in the order of kRuleOptions; "-" if none differs.
std::string FormatRuleOptions(const RuleOptions& options);

// The inverse of FormatRuleOptions. Errors as SetRuleOption.
absl::StatusOr<RuleOptions> ParseRuleOptions(Variant variant,
                                             absl::string_view text);

}  // namespace tara

#endif  // TARA_CORE_RULE_OPTIONS_H_
