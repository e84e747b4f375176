#include "tara/base/option_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "tara/base/text.h"

namespace tara {
namespace {

// Suffixes of numbers, and the factors that they stand for.
constexpr std::pair<absl::string_view, int64_t> kCountSuffixes[] = {
    {"G", 1'000'000'000}, {"M", 1'000'000}, {"k", 1'000}};

std::string FormatCount(int64_t number) {
  for (const auto& [suffix, factor] : kCountSuffixes) {
    if (number == 0 || number % factor != 0) continue;
    return absl::StrCat(number / factor, suffix);
  }
  return absl::StrCat(number);
}

// Reads and writes each kind of member.
struct Reader {
  const Option& option;
  absl::string_view text;

  template <typename Number>
  bool operator()(Number* number) const {
    return ReadNumber(text, option.low, option.high, *number);
  }
  template <typename Number>
  bool operator()(std::optional<Number>* number) const {
    Number value;
    if (!(*this)(&value)) return false;
    *number = value;
    return true;
  }
  bool operator()(bool* value) const {
    // The second pair is that of rule options and configs.
    *value = text == "on" || text == "true";
    return *value || text == "off" || text == "false";
  }
  bool operator()(std::string* value) const {
    const absl::string_view choices = option.Placeholder();
    const std::vector<absl::string_view> list = absl::StrSplit(choices, '|');
    const bool is_choice = std::ranges::find(list, text) != list.end();
    if (text.empty() || (list.size() > 1 && !is_choice)) return false;
    *value = std::string(text);
    return true;
  }
  bool operator()(std::vector<std::string>* values) const {
    if (text.empty()) return false;
    values->emplace_back(text);
    return true;
  }
  bool operator()(const Counted& count) const {
    absl::string_view digits = text;
    double factor = 1;
    for (const auto& [suffix, worth] : kCountSuffixes) {
      if (absl::ConsumeSuffix(&digits, suffix)) {
        factor = static_cast<double>(worth);
      }
    }
    double value = 0;
    if (!ParseDecimal(digits, &value)) return false;
    value *= factor;
    // A whole number that a double holds exactly; not NaN.
    if (!(std::abs(value) < 0x1p53) || value != std::floor(value) ||
        value < option.low || value > option.high) {
      return false;
    }
    *count.number = static_cast<int64_t>(value);
    return true;
  }
  bool operator()(const Milliseconds& milliseconds) const {
    int number;
    if (!(*this)(&number)) return false;
    *milliseconds.time = absl::Milliseconds(number);
    return true;
  }
  bool operator()(const Seconds& seconds) const {
    double number;
    if (!(*this)(&number)) return false;
    *seconds.time = absl::Seconds(number);
    return true;
  }
  bool operator()(const MayBeEmpty& value) const {
    *value.text = std::string(text);
    return true;
  }
  bool operator()(const Custom& custom) const { return custom.set(text); }
};

struct Writer {
  template <typename Number>
  std::string operator()(const Number* number) const {
    return absl::StrCat(*number);
  }
  template <typename Number>
  std::string operator()(const std::optional<Number>* number) const {
    return number->has_value() ? absl::StrCat(**number) : "";
  }
  std::string operator()(const bool* value) const {
    return *value ? "on" : "off";
  }
  std::string operator()(const std::vector<std::string>* values) const {
    return absl::StrJoin(*values, " ");
  }
  std::string operator()(const Counted& count) const {
    return FormatCount(*count.number);
  }
  std::string operator()(const Milliseconds& milliseconds) const {
    return absl::StrCat(absl::ToInt64Milliseconds(*milliseconds.time));
  }
  std::string operator()(const Seconds& seconds) const {
    return absl::StrCat(absl::ToDoubleSeconds(*seconds.time));
  }
  std::string operator()(const MayBeEmpty& value) const { return *value.text; }
  std::string operator()(const Custom& custom) const { return custom.get(); }
};

template <typename Member, typename... Types>
constexpr bool kIsAnyOf = (std::is_same_v<Member, Types> || ...);

// Returns what a value must be, without bounds.
std::string DescribeType(const Option& option) {
  return std::visit(
      [&option](const auto& member) -> std::string {
        using Member = std::decay_t<decltype(member)>;
        if constexpr (kIsAnyOf<Member, Custom>) {
          return std::string(member.expected);
        } else if constexpr (kIsAnyOf<Member, bool*>) {
          return "on or off";
        } else if constexpr (kIsAnyOf<Member, std::string*, MayBeEmpty,
                                      std::vector<std::string>*>) {
          const absl::string_view values = option.Placeholder();
          if (values.empty()) return "a text";
          return absl::StrReplaceAll(values, {{"|", " or "}});
        } else if constexpr (kIsAnyOf<Member, Seconds>) {
          return "seconds";
        } else if constexpr (kIsAnyOf<Member, float*, double*,
                                      std::optional<double>*>) {
          return "a number";
        } else {
          return "a whole number";
        }
      },
      option.member);
}

}  // namespace

bool Option::Set(absl::string_view value) const {
  return std::visit(Reader{*this, value}, member);
}

std::string Option::Get() const { return std::visit(Writer(), member); }

std::string Option::Range() const {
  const bool is_bounded = high > low && high < 0x1p63;
  return is_bounded ? absl::StrFormat("%.15g to %.15g", low, high) : "";
}

std::string Option::Expected() const {
  const std::string kind = DescribeType(*this);
  if (std::holds_alternative<Counted>(member)) {
    return absl::StrCat(kind, " from ", FormatCount(static_cast<int64_t>(low)),
                        " to ", FormatCount(static_cast<int64_t>(high)),
                        ", as in 500, 2.5k, 100M, 1G");
  }
  if (!Range().empty()) return absl::StrCat(kind, " from ", Range());
  return high > low ? absl::StrCat(kind, " of at least ", low) : kind;
}

absl::string_view Option::Placeholder() const {
  const size_t space = name.find(' ');
  return space == name.npos ? "" : name.substr(space + 1);
}

std::string Option::DefaultText() const {
  return presence.default_text.empty() ? Get()
                                       : std::string(presence.default_text);
}

const Option* FindOption(absl::Span<const Option> table,
                         absl::string_view name) {
  for (const Option& option : table) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

absl::Status SetOption(const Option& option, absl::string_view value) {
  if (option.Set(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option.name, " is '", Shown(value), "'; expected ", option.Expected()));
}

std::string OptionNames(absl::Span<const Option> table) {
  return absl::StrJoin(table, ", ", [](std::string* out, const Option& option) {
    absl::StrAppend(out, option.name);
  });
}

std::string OptionsHelp(absl::Span<const Option> table) {
  std::string help;
  for (const Option& option : table) {
    absl::StrAppendFormat(&help, "  %-22s  %s (%s)\n", option.name, option.help,
                          option.DefaultText());
  }
  return help;
}

}  // namespace tara
