#include "tara/mcts/time/time_manager.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/variant.h"

namespace tara::mcts {
namespace {

constexpr int kMaxHours = 100;

absl::Status BadTimeControl(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "bad time control '", text, "': ", what,
      "; expected TIME/move, TIME or TIME+INCREMENT, such as 5s/move or "
      "300s+2s"));
}

// Parses the part `name` of `text`. The other forms of absl::ParseDuration
// (signs, "inf", "0", ".5s", ns, us) are invalid here.
absl::StatusOr<absl::Duration> ReadTime(absl::string_view text,
                                        absl::string_view name,
                                        absl::string_view part,
                                        bool may_be_zero = false) {
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
  if (may_be_zero || time > absl::ZeroDuration()) return time;
  return BadTimeControl(
      text, absl::StrCat(name, " is '", part, "', not more than 0"));
}

}  // namespace

absl::StatusOr<TimeControl> ParseTimeControl(absl::string_view text) {
  TimeControl control;
  absl::string_view rest = text;
  if (absl::ConsumeSuffix(&rest, "/move")) {
    TARA_ASSIGN_OR_RETURN(control.per_move,
                          ReadTime(text, "time for a move", rest));
    return control;
  }
  const size_t plus = rest.find('+');
  TARA_ASSIGN_OR_RETURN(control.per_game, ReadTime(text, "time for the game",
                                                   rest.substr(0, plus)));
  if (plus != absl::string_view::npos) {
    TARA_ASSIGN_OR_RETURN(control.increment,
                          ReadTime(text, "increment", rest.substr(plus + 1),
                                   /*may_be_zero=*/true));
  }
  return control;
}

namespace {

// Nearly every vacant hill takes an action; `others` come on top: captures,
// swaps, moves of kings, passes. In Stone of Destiny's Battle a turn of two
// actions links more than one hill that had no link.
struct Length {
  float others;
  float per_unlinked_hill;
};

// By Family, from the mean lengths of random games, `tara stats --variant all`.
constexpr std::array<Length, kNumFamilies> kLengths = std::to_array<Length>({
    {2, 0},      // Sacred Hill
    {3.5f, 0},   // Four Treasures
    {5, 0},      // High Kings
    {4, 0},      // Poisoned Chalice
    {1, 1.65f},  // Stone of Destiny
});

}  // namespace

float ExpectedActionsLeft(const State& state) {
  if (state.finished()) return 0;
  const Length& length =
      kLengths[static_cast<size_t>(Info(state.variant).family)];
  const Board linked = state.links_east | East(state.links_east) |
                       state.links_north | North(state.links_north);
  return static_cast<float>(Count(state.vacant())) + length.others +
         length.per_unlinked_hill *
             static_cast<float>(kNumHills - Count(linked));
}

TimeManager::TimeManager(const TimeControl& control, const TimeOptions& options)
    : control_(control),
      options_(options),
      left_(control.is_per_move() ? absl::InfiniteDuration()
                                  : control.per_game) {
  TARA_CHECK(left_ > absl::ZeroDuration(), "the time must be > 0");
  TARA_CHECK(options.overhead >= absl::ZeroDuration() &&
                 options.reserve >= absl::ZeroDuration(),
             "times are not negative");
  options_.reserve = std::min(options.reserve, control.per_game / 10);
}

MoveBudget TimeManager::BudgetFor(float own_moves_left) const {
  constexpr float kLeastMoves = 3;
  constexpr float kMostShares = 3;
  if (control_.is_per_move()) {
    const absl::Duration time =
        std::max(control_.per_move - options_.overhead, control_.per_move / 2);
    return {.target = time, .limit = time};
  }
  const absl::Duration usable = left_ - options_.reserve - options_.overhead;
  if (usable <= absl::ZeroDuration()) {
    // Each move gets a part of the reserve, which thinking never uses up.
    const absl::Duration time =
        std::max(absl::ZeroDuration(), (left_ - options_.overhead) / 4);
    return {.target = time, .limit = time};
  }
  const double moves = std::max(kLeastMoves, own_moves_left);
  const absl::Duration pool =
      left_ - options_.reserve + control_.increment * (moves - 1);
  const absl::Duration share =
      std::max(absl::ZeroDuration(), pool / moves - options_.overhead);
  const absl::Duration limit = std::min(share * kMostShares, usable / 2);
  return {.target = std::min(share, limit), .limit = limit};
}

void TimeManager::Spend(absl::Duration time) {
  if (control_.is_per_move()) {
    overstepped_ |= time > control_.per_move;
    return;
  }
  left_ -= time;
  overstepped_ |= left_ < absl::ZeroDuration();
  left_ += control_.increment;
}

bool IsSettled(const SearchProgress& progress, absl::Duration limit) {
  // The simulations that fit into the time left are taken to be this many times
  // those by the speed so far: speed varies.
  constexpr float kSpeedMargin = 1.2f;
  if (progress.root_settled || progress.actions.size() == 1) return true;
  // The speed is unknown until some time has elapsed.
  if (progress.elapsed <= absl::ZeroDuration()) return false;
  int most_visits = 0;
  int second_visits = 0;
  for (const RootAction& action : progress.actions) {
    second_visits =
        std::max(second_visits, std::min(most_visits, action.visits));
    most_visits = std::max(most_visits, action.visits);
  }
  return most_visits - second_visits >
         static_cast<double>(progress.simulations) *
             absl::FDivDuration(limit - progress.elapsed, progress.elapsed) *
             kSpeedMargin;
}

bool IsTargetReached(const SearchProgress& progress, absl::Duration target) {
  const auto* const most_visited = absl::c_max_element(
      progress.actions,
      [](const auto& a, const auto& b) { return a.visits < b.visits; });
  for (const RootAction& action : progress.actions) {
    if (action.visits > 0 &&
        int64_t{10} * action.visits >= most_visited->visits &&
        action.mean_value > most_visited->mean_value) {
      return false;
    }
  }
  return progress.elapsed >= target || IsSettled(progress, target);
}

TurnSearch DrawTurnSearch(const PlayoutCapOptions& options, Random& random) {
  TARA_CHECK(options.full_share >= 0, "the share must be >= 0");
  TARA_CHECK(options.full_simulations >= 1 && options.fast_simulations >= 1,
             "simulations must be >= 1");
  const bool full =
      options.full_share >= 1 || random.Uniform() < options.full_share;
  return {
      .simulations = full ? options.full_simulations : options.fast_simulations,
      .full = full};
}

}  // namespace tara::mcts
