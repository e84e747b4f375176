#ifndef TARA_BASE_OPTION_TABLE_H_
#define TARA_BASE_OPTION_TABLE_H_

// Options by name. A table has a row for each member of a struct that people
// may set: name, type and values, help; the default is what the member has. It
// is made for one struct, whose members its rows point to. Player specs, engine
// options and the flags of commands are such tables: reading, checks, messages,
// the text form, --help and the tests of reference pages fold over them.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/text.h"

namespace tara {

// A member with another text than its type has.

// A large number: 2500, 2.5k, 100M, 1G (thousands, millions, billions).
struct Counted {
  int64_t* number;
};
struct Milliseconds {
  absl::Duration* time;
};
struct Seconds {
  absl::Duration* time;
};
struct MayBeEmpty {
  std::string* text;
};
// `set` returns false, and changes nothing, for a value that is not expected.
struct Custom {
  absl::string_view expected;
  std::function<bool(absl::string_view)> set;
  std::function<std::string()> get;
};

// A bool is "on" or "off", as a flag without a value. Texts in a vector add up.
// A member that is optional has a default that depends on others.
using OptionMember = std::variant<int*, int64_t*, uint64_t*, float*, double*,
                                  std::optional<int>*, std::optional<uint64_t>*,
                                  std::optional<double>*, bool*, std::string*,
                                  std::vector<std::string>*, Counted,
                                  Milliseconds, Seconds, MayBeEmpty, Custom>;

// Whether an option is required, and how --help shows it.
struct Presence {
  absl::string_view default_text = "";  // in place of the member's value
  bool required = false;
  bool hidden = false;  // not in --help: for programs, not for people
};
inline constexpr Presence kRequired = {.required = true};
inline constexpr Presence kHidden = {.hidden = true};
constexpr Presence Default(absl::string_view text) {
  return {.default_text = text};
}

// A row. Points into its texts and the member.
struct Option {
  Option(absl::string_view name, OptionMember member, absl::string_view help,
         const Presence& presence = {})
      : Option(name, std::move(member), 0, 0, help, presence) {}
  // Of numbers: bounds, both allowed.
  Option(absl::string_view name, OptionMember member, double low, double high,
         absl::string_view help, const Presence& presence = {})
      : name(name),
        member(std::move(member)),
        low(low),
        high(high),
        help(help),
        presence(presence) {}

  // Sets the member; returns false, and changes nothing, for a wrong value.
  bool Set(absl::string_view value) const;
  // Returns the member's value as Set reads it.
  std::string Get() const;

  // Returns "0 to 100", or "" for texts and unlimited numbers.
  std::string Range() const;
  // Returns what a value must be: "a whole number from 0 to 100".
  std::string Expected() const;
  // Returns what stands for the value in the name: "N".
  absl::string_view Placeholder() const;
  // Returns the default as --help has it.
  std::string DefaultText() const;

  // "sims"; of flags with dashes and what stands for the value: "--depth N",
  // "-o,--output FILE", or its values: "--format text|json"; arguments: "FILE".
  absl::string_view name;
  OptionMember member;
  double low;
  double high;
  absl::string_view help;
  Presence presence;
};

using OptionTable = std::vector<Option>;

// Returns the option of a table by its name, or nullptr.
const Option* FindOption(absl::Span<const Option> table,
                         absl::string_view name);

// Sets an option. Returns INVALID_ARGUMENT naming the option, the value and
// what was expected; the member is then as before.
absl::Status SetOption(const Option& option, absl::string_view value);

// Returns the names of a table, separated by commas.
std::string OptionNames(absl::Span<const Option> table);

// Returns a table for --help, a line an option: name, meaning, default.
std::string OptionsHelp(absl::Span<const Option> table);

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
  // Bounds are of the text, which a float may round. NaN fails this.
  if (!read || !ParseDecimal(text, &value) ||
      !(value >= low && value <= high)) {
    return false;
  }
  result = number;
  return true;
}

}  // namespace tara

#endif  // TARA_BASE_OPTION_TABLE_H_
