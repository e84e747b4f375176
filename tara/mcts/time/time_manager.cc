#include "tara/mcts/time/time_manager.h"

#include <algorithm>
#include <array>
#include <cstddef>

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

namespace {

// Nearly every vacant hill takes an action; `others` come on top: captures,
// swaps, moves of kings, passes. In Stone of Destiny's Battle a turn of two
// actions links more than one hill that had no link.
struct Length {
  Family family;
  float others;
  float per_unlinked_hill;
};

// From the mean lengths of random games, `tara stats --variant all`.
constexpr std::array<Length, kNumFamilies> kLengths = std::to_array({
    Length{Family::kSacredHill, 2, 0},
    Length{Family::kFourTreasures, 3.5f, 0},
    Length{Family::kHighKings, 5, 0},
    Length{Family::kPoisonedChalice, 4, 0},
    Length{Family::kStoneOfDestiny, 1, 1.65f},
});

constexpr const Length& LengthOf(Family family) {
  return kLengths[static_cast<size_t>(family)];
}

static_assert(std::all_of(kVariants.begin(), kVariants.end(),
                          [](const VariantInfo& info) {
                            return LengthOf(info.family).family == info.family;
                          }));

}  // namespace

float ExpectedActionsLeft(const State& state) {
  if (state.finished()) return 0;
  const Length& length = LengthOf(Info(state.variant).family);
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
  TARA_CHECK(options.least_moves >= 1 && options.most_shares >= 1,
             "most_shares and least_moves must be >= 1");
  TARA_CHECK(options.overhead >= absl::ZeroDuration() &&
                 options.reserve >= absl::ZeroDuration() &&
                 options.free_moves >= 0 && options.opening_part >= 0,
             "times and moves are not negative");
  options_.reserve = std::min(options.reserve, control.per_game / 10);
}

MoveBudget TimeManager::BudgetFor(int ply, float own_moves_left) const {
  if (control_.is_per_move()) {
    const absl::Duration time =
        std::max(control_.per_move - options_.overhead, control_.per_move / 2);
    return {.target = time, .limit = time};
  }
  const absl::Duration usable = left_ - options_.reserve - options_.overhead;
  if (usable <= absl::ZeroDuration()) {
    // The reserve is the remaining time. Each move gets a part of it, so that
    // thinking never uses it up.
    const absl::Duration time =
        std::max(absl::ZeroDuration(), (left_ - options_.overhead) / 4);
    return {.target = time, .limit = time};
  }
  const double moves =
      std::max(options_.least_moves, own_moves_left - options_.free_moves);
  const absl::Duration pool =
      left_ - options_.reserve + control_.increment * (moves - 1);
  const absl::Duration share =
      std::max(absl::ZeroDuration(), pool / moves - options_.overhead);
  const absl::Duration limit =
      std::min(share * options_.most_shares, usable / 2);
  const double part = ply < options_.opening_plies ? options_.opening_part : 1;
  return {.target = std::min(share * part, limit), .limit = limit};
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

void CountVisits(absl::Span<const RootAction> actions,
                 SearchProgress& progress) {
  progress.num_actions = static_cast<int>(actions.size());
  progress.most_visits = 0;
  progress.second_visits = 0;
  float value = 0;  // of the most visited, the first of several
  for (const RootAction& action : actions) {
    progress.second_visits = std::max(
        progress.second_visits, std::min(progress.most_visits, action.visits));
    if (action.visits <= progress.most_visits) continue;
    progress.most_visits = action.visits;
    value = action.mean_value;
  }
  progress.contested = std::any_of(
      actions.begin(), actions.end(), [&](const RootAction& action) {
        return action.visits > 0 &&
               int64_t{10} * action.visits >= progress.most_visits &&
               action.mean_value > value;
      });
}

namespace {

// Returns the most simulations to come; no value: unknown.
std::optional<double> SimulationsLeft(const SearchProgress& progress,
                                      const SearchLimits& limits) {
  std::optional<double> left;
  if (limits.simulations.has_value()) {
    left = static_cast<double>(*limits.simulations - progress.simulations);
  }
  // The speed is unknown until some time has elapsed.
  if (limits.time.has_value() && progress.new_simulations > 0 &&
      progress.elapsed > absl::ZeroDuration()) {
    const double in_time =
        static_cast<double>(progress.new_simulations) *
        absl::FDivDuration(*limits.time - progress.elapsed, progress.elapsed) *
        limits.speed_margin;
    left = left.has_value() ? std::min(*left, in_time) : in_time;
  }
  return left;
}

}  // namespace

bool IsSettled(const SearchProgress& progress, const SearchLimits& limits) {
  if (progress.root_settled) return true;
  if (progress.simulations == 0) return false;
  if (progress.num_actions == 1) return true;
  const std::optional<double> left = SimulationsLeft(progress, limits);
  return left.has_value() &&
         progress.most_visits - progress.second_visits > *left;
}

bool IsTargetReached(const SearchProgress& progress, absl::Duration target) {
  if (progress.contested) return false;
  return (progress.simulations > 0 && progress.elapsed >= target) ||
         IsSettled(progress, {.time = target});
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
