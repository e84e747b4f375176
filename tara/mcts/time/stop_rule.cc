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

std::optional<double> SettledRoot::Left(const SearchProgress& progress) const {
  std::optional<double> left;
  if (options_.simulations.has_value()) {
    left = static_cast<double>(*options_.simulations - progress.simulations);
  }
  // Without time elapsed there is no speed yet.
  if (options_.time.has_value() && progress.new_simulations > 0 &&
      progress.elapsed > absl::ZeroDuration()) {
    const double in_time = static_cast<double>(progress.new_simulations) *
                           absl::FDivDuration(*options_.time - progress.elapsed,
                                              progress.elapsed) *
                           options_.speed_margin;
    left = left.has_value() ? std::min(*left, in_time) : in_time;
  }
  return left;
}

bool SettledRoot::Stops(const SearchProgress& progress) const {
  if (progress.root_settled) return true;
  if (progress.simulations == 0) return false;
  if (progress.num_actions == 1) return true;
  const std::optional<double> left = Left(progress);
  return left.has_value() &&
         progress.most_visits - progress.second_visits > *left;
}

bool AnyOf::Stops(const SearchProgress& progress) const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [&](const auto& rule) { return rule->Stops(progress); });
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
