#ifndef TARA_MCTS_OPTIONS_OPTION_TEXT_H_
#define TARA_MCTS_OPTIONS_OPTION_TEXT_H_

// What a list of options by name is made of: an array of OptionText, one for
// each field of a struct of options that people may set. Reading, writing and
// the help fold over it.

#include <cstddef>
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

namespace tara::mcts {

// A field of Options as text. `set` returns false, and changes nothing, when
// the value is not what `expected` says.
template <typename Options>
struct OptionText {
  absl::string_view name;
  absl::string_view expected;
  absl::string_view help;
  bool (*set)(absl::string_view value, Options& options);
  std::string (*get)(const Options& options);
};

// Reads a number between two bounds, both allowed. Returns false, and changes
// nothing, for any other text.
template <typename Number>
bool ReadNumber(absl::string_view text, Number low, Number high,
                Number& result) {
  Number number;
  bool read;
  if constexpr (std::is_floating_point_v<Number>) {
    read = absl::SimpleAtof(text, &number);
  } else {
    read = absl::SimpleAtoi(text, &number);
  }
  // Written so that NaN fails.
  if (!read || !(number >= low && number <= high)) return false;
  result = number;
  return true;
}

// Returns the field that a path of members leads to, such as
// (&SearchOptions::utility, &UtilityOptions::points_weight).
template <auto kMember, auto... kRest>
constexpr auto& FieldAt(auto& options) {
  if constexpr (sizeof...(kRest) == 0) {
    return options.*kMember;
  } else {
    return FieldAt<kRest...>(options.*kMember);
  }
}

// The struct that a member is of.
template <typename Options, typename Field>
Options StructOf(Field Options::*member);

// Two bounds, both allowed. (As arguments of templates clang 14 takes floats in
// a class only.)
template <typename Number>
struct Range {
  constexpr Range(Number low, Number high) : low(low), high(high) {}

  Number low, high;
};

// The field at a path of members as a number of a range.
template <auto kRange, auto kMember, auto... kRest>
constexpr auto NumberOption(absl::string_view name, absl::string_view expected,
                            absl::string_view help) {
  using Options = decltype(StructOf(kMember));
  return OptionText<Options>{
      .name = name,
      .expected = expected,
      .help = help,
      .set =
          [](absl::string_view value, Options& options) {
            return ReadNumber(value, kRange.low, kRange.high,
                              FieldAt<kMember, kRest...>(options));
          },
      .get =
          [](const Options& options) {
            return absl::StrCat(FieldAt<kMember, kRest...>(options));
          }};
}

// The field at a path of members, an absl::Duration, as milliseconds of a
// range.
template <auto kRange, auto kMember, auto... kRest>
constexpr auto MillisecondsOption(absl::string_view name,
                                  absl::string_view expected,
                                  absl::string_view help) {
  using Options = decltype(StructOf(kMember));
  return OptionText<Options>{
      .name = name,
      .expected = expected,
      .help = help,
      .set =
          [](absl::string_view value, Options& options) {
            int time_ms;
            if (!ReadNumber(value, kRange.low, kRange.high, time_ms)) {
              return false;
            }
            FieldAt<kMember, kRest...>(options) = absl::Milliseconds(time_ms);
            return true;
          },
      .get =
          [](const Options& options) {
            return absl::StrCat(
                absl::ToInt64Milliseconds(FieldAt<kMember, kRest...>(options)));
          }};
}

// The field at a path of members as what is on or off.
template <auto kMember, auto... kRest>
constexpr auto SwitchOption(absl::string_view name, absl::string_view help) {
  using Options = decltype(StructOf(kMember));
  return OptionText<Options>{
      .name = name,
      .expected = "on or off",
      .help = help,
      .set =
          [](absl::string_view value, Options& options) {
            if (value != "on" && value != "off") return false;
            FieldAt<kMember, kRest...>(options) = value == "on";
            return true;
          },
      .get =
          [](const Options& options) {
            return std::string(FieldAt<kMember, kRest...>(options) ? "on"
                                                                   : "off");
          }};
}

// Returns the option of a list by its name, or nullptr.
template <typename Options, size_t kSize>
const OptionText<Options>* FindOption(const OptionText<Options> (&list)[kSize],
                                      absl::string_view name) {
  for (const OptionText<Options>& option : list) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

// Sets an option. Returns INVALID_ARGUMENT naming the option, the value and
// what was expected; `options` is then as before.
template <typename Options>
absl::Status SetOption(const OptionText<Options>& option,
                       absl::string_view value, Options& options) {
  if (option.set(value, options)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option.name, " is '", value, "'; expected ", option.expected));
}

// Returns the names of a list, parted by commas.
template <typename Options, size_t kSize>
std::string OptionNames(const OptionText<Options> (&list)[kSize]) {
  std::vector<absl::string_view> names;
  for (const OptionText<Options>& option : list) names.push_back(option.name);
  return absl::StrJoin(names, ", ");
}

// Returns a list for --help, a line an option: name, meaning, default.
template <typename Options, size_t kSize>
std::string OptionsHelp(const OptionText<Options> (&list)[kSize],
                        const Options& defaults) {
  std::string help;
  for (const OptionText<Options>& option : list) {
    absl::StrAppendFormat(&help, "  %-22s  %s (%s)\n", option.name, option.help,
                          option.get(defaults));
  }
  return help;
}

}  // namespace tara::mcts

#endif  // TARA_MCTS_OPTIONS_OPTION_TEXT_H_
