#ifndef TARA_MCTS_OPTIONS_OPTION_TABLE_H_
#define TARA_MCTS_OPTIONS_OPTION_TABLE_H_

// Options by name. A table, an array of Option<Struct>, has a row for each
// member of a struct that people may set, which declares its name, values and
// help; the default is the member's. Reading, checks, messages, the text form,
// --help and the tests of reference pages fold over it.

#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/text.h"

namespace tara::mcts {

// `set` returns false, and changes nothing, for a value that is not expected.
template <typename Struct>
struct Option {
  absl::string_view name;
  absl::string_view expected;  // of numbers: what kind
  // Of numbers, both allowed.
  double low = 0;
  double high = 0;
  absl::string_view help;
  bool (*set)(const Option& option, absl::string_view value, Struct& options);
  std::string (*get)(const Struct& options);

  // Returns "0 to 100", or "" for what is no number or may be any.
  std::string range() const {
    const bool is_bounded = high > low && high < 0x1p64;
    return is_bounded ? absl::StrFormat("%.15g to %.15g", low, high) : "";
  }
};

// Reads a number between two bounds, both allowed. Returns false, and changes
// nothing, for any other text.
template <typename Number>
bool ReadNumber(absl::string_view text, double low, double high,
                Number& result) {
  double value;
  Number number;
  bool read;
  if constexpr (std::is_floating_point_v<Number>) {
    read = ParseDecimal(text, &number);
  } else {
    read = absl::SimpleAtoi(text, &number);
  }
  // Bounds are those of the text, which a float may round. Written so that NaN
  // fails.
  if (!read || !ParseDecimal(text, &value) ||
      !(value >= low && value <= high)) {
    return false;
  }
  result = number;
  return true;
}

// Returns the member that a path leads to, such as (&SearchOptions::utility,
// &UtilityOptions::points_weight).
template <auto kMember, auto... kRest>
constexpr auto& MemberAt(auto& options) {
  if constexpr (sizeof...(kRest) == 0) {
    return options.*kMember;
  } else {
    return MemberAt<kRest...>(options.*kMember);
  }
}

// The struct that a member is of.
template <typename Struct, typename Member>
Struct StructOf(Member Struct::* member);

// The number at a path of members.
template <auto kMember, auto... kRest>
constexpr auto NumberOption(absl::string_view name, double low, double high,
                            absl::string_view help) {
  using Struct = decltype(StructOf(kMember));
  using Number = std::remove_reference_t<decltype(MemberAt<kMember, kRest...>(
      *static_cast<Struct*>(nullptr)))>;
  return Option<Struct>{
      .name = name,
      .expected = std::is_integral_v<Number> ? "a whole number" : "a number",
      .low = low,
      .high = high,
      .help = help,
      .set =
          [](const Option<Struct>& option, absl::string_view value,
             Struct& options) {
            return ReadNumber(value, option.low, option.high,
                              MemberAt<kMember, kRest...>(options));
          },
      .get =
          [](const Struct& options) {
            return absl::StrCat(MemberAt<kMember, kRest...>(options));
          }};
}

// The absl::Duration at a path of members, as whole milliseconds (kPerSecond
// 1000) or as seconds (1).
template <int kPerSecond, auto kMember, auto... kRest>
constexpr auto DurationOption(absl::string_view name, double low, double high,
                              absl::string_view help) {
  using Struct = decltype(StructOf(kMember));
  using Number = std::conditional_t<kPerSecond == 1, double, int>;
  return Option<Struct>{
      .name = name,
      .expected = kPerSecond == 1 ? "seconds" : "a whole number",
      .low = low,
      .high = high,
      .help = help,
      .set =
          [](const Option<Struct>& option, absl::string_view value,
             Struct& options) {
            Number number;
            if (!ReadNumber(value, option.low, option.high, number)) {
              return false;
            }
            MemberAt<kMember, kRest...>(options) =
                absl::Seconds(number) / kPerSecond;
            return true;
          },
      .get =
          [](const Struct& options) {
            return absl::StrCat(static_cast<Number>(absl::FDivDuration(
                MemberAt<kMember, kRest...>(options) * kPerSecond,
                absl::Seconds(1))));
          }};
}

// The bool at a path of members.
template <auto kMember, auto... kRest>
constexpr auto SwitchOption(absl::string_view name, absl::string_view help) {
  using Struct = decltype(StructOf(kMember));
  return Option<Struct>{
      .name = name,
      .expected = "on or off",
      .help = help,
      .set =
          [](const Option<Struct>&, absl::string_view value, Struct& options) {
            if (value != "on" && value != "off") return false;
            MemberAt<kMember, kRest...>(options) = value == "on";
            return true;
          },
      .get = [](const Struct& options) -> std::string {
        return MemberAt<kMember, kRest...>(options) ? "on" : "off";
      }};
}

// Returns the option of a table by its name, or nullptr.
template <typename Table>
auto FindOption(const Table& table, absl::string_view name) {
  for (const auto& option : table) {
    if (option.name == name) return &option;
  }
  return static_cast<decltype(std::data(table))>(nullptr);
}

// Sets an option. Returns INVALID_ARGUMENT naming the option, the value and
// what was expected; `options` is then as before.
template <typename Struct>
absl::Status SetOption(const Option<Struct>& option, absl::string_view value,
                       Struct& options) {
  if (option.set(option, value, options)) return absl::OkStatus();
  const std::string range = option.range();
  return absl::InvalidArgumentError(
      absl::StrCat(option.name, " is '", Shown(value), "'; expected ",
                   option.expected, range.empty() ? "" : " from ", range));
}

// Returns the names of a table, separated by commas.
template <typename Table>
std::string OptionNames(const Table& table) {
  std::vector<absl::string_view> names;
  for (const auto& option : table) names.push_back(option.name);
  return absl::StrJoin(names, ", ");
}

// Returns a table for --help, a line an option: name, meaning, default.
template <typename Table, typename Struct>
std::string OptionsHelp(const Table& table, const Struct& defaults) {
  std::string help;
  for (const auto& option : table) {
    absl::StrAppendFormat(&help, "  %-22s  %s (%s)\n", option.name, option.help,
                          option.get(defaults));
  }
  return help;
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_OPTIONS_OPTION_TABLE_H_
