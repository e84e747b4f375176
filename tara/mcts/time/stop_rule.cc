#include "tara/mcts/time/stop_rule.h"

#include <algorithm>

#include "tara/base/check.h"

namespace tara::mcts {

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
