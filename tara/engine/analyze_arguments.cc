#include "tara/engine/analyze_arguments.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/core/action.h"

namespace tara::engine {
namespace {

absl::StatusOr<int> ParseWhole(absl::string_view name, absl::string_view text,
                               int least, int most) {
  int number;
  if (absl::SimpleAtoi(text, &number) && number >= least && number <= most) {
    return number;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is '", text, "'; expected a whole number from ",
                   least, " to ", most));
}

}  // namespace

absl::StatusOr<AnalyzeArguments> ParseAnalyzeArguments(
    const std::vector<std::string>& words) {
  AnalyzeArguments parsed;
  auto next = words.begin();
  const auto set = [&](absl::string_view name,
                       absl::string_view value) -> absl::Status {
    if (name == "interval") {
      TARA_ASSIGN_OR_RETURN(const int interval,
                            ParseWhole(name, value, 1, 360000));
      parsed.limits.interval = absl::Milliseconds(int64_t{10} * interval);
    } else if (name == "simulations") {
      TARA_ASSIGN_OR_RETURN(parsed.limits.simulations,
                            ParseWhole(name, value, 1, 16777214));
    } else if (name == "actions") {
      TARA_ASSIGN_OR_RETURN(parsed.text.max_actions,
                            ParseWhole(name, value, 1, kNumActions));
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown argument '", name,
                       "'; expected interval, simulations or actions"));
    }
    return absl::OkStatus();
  };
  if (next != words.end() && absl::ascii_isdigit((*next)[0])) {
    TARA_RETURN_IF_ERROR(set("interval", *next++));
  }
  for (; next != words.end(); next += 2) {
    if (next + 1 == words.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", *next, "' has no value; expected NAME VALUE"));
    }
    TARA_RETURN_IF_ERROR(set(*next, *(next + 1)));
  }
  return parsed;
}

}  // namespace tara::engine
