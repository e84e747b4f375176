#include "tara/mcts/time/time_control.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tara/base/status_macros.h"

namespace tara::mcts {
namespace {

constexpr int kMaxHours = 100;

absl::Status BadTimeControl(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "bad time control '", text, "': ", what,
      "; expected TIME/move, TIME or TIME+INCREMENT, such as 5s/move or "
      "300s+2s"));
}

// Reads the part of `text` that is `name`. What absl::ParseDuration reads
// besides (signs, "inf", "0", ".5s", ns, us) is not meant here.
absl::StatusOr<absl::Duration> ReadTime(absl::string_view text,
                                        absl::string_view name,
                                        absl::string_view part) {
  if (part.empty()) return BadTimeControl(text, absl::StrCat("no ", name));
  absl::Duration time;
  if (!absl::ascii_isdigit(part.front()) || !absl::ascii_isalpha(part.back()) ||
      part.find_first_of("nuμ") != absl::string_view::npos ||
      !absl::ParseDuration(part, &time)) {
    return BadTimeControl(
        text, absl::StrCat(name, " is '", part,
                           "', not a time such as 500ms, 5s or 1m30s"));
  }
  if (time > absl::Hours(kMaxHours)) {
    return BadTimeControl(
        text, absl::StrCat(name, " is '", part, "', above ", kMaxHours, "h"));
  }
  return time;
}

absl::StatusOr<absl::Duration> ReadPositiveTime(absl::string_view text,
                                                absl::string_view name,
                                                absl::string_view part) {
  TARA_ASSIGN_OR_RETURN(const absl::Duration time, ReadTime(text, name, part));
  if (time > absl::ZeroDuration()) return time;
  return BadTimeControl(text, absl::StrCat(name, " is '", part,
                                           "', not more "
                                           "than 0"));
}

}  // namespace

absl::StatusOr<TimeControl> ParseTimeControl(absl::string_view text) {
  TimeControl control;
  absl::string_view rest = text;
  if (absl::ConsumeSuffix(&rest, "/move")) {
    TARA_ASSIGN_OR_RETURN(control.per_move,
                          ReadPositiveTime(text, "time for a move", rest));
    return control;
  }
  const size_t plus = rest.find('+');
  TARA_ASSIGN_OR_RETURN(
      control.per_game,
      ReadPositiveTime(text, "time for the game", rest.substr(0, plus)));
  if (plus != absl::string_view::npos) {
    TARA_ASSIGN_OR_RETURN(control.increment,
                          ReadTime(text, "increment", rest.substr(plus + 1)));
  }
  return control;
}

std::string TimeControlText(const TimeControl& control) {
  if (control.is_per_move()) {
    return absl::StrCat(absl::FormatDuration(control.per_move), "/move");
  }
  if (control.increment == absl::ZeroDuration()) {
    return absl::FormatDuration(control.per_game);
  }
  return absl::StrCat(absl::FormatDuration(control.per_game), "+",
                      absl::FormatDuration(control.increment));
}

}  // namespace tara::mcts
