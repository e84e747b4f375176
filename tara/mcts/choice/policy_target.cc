#include "tara/mcts/choice/policy_target.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tara/base/check.h"

namespace tara::mcts {
namespace {

// A root action as PUCT saw it.
struct Candidate {
  double value;
  double prior;
  int visits;
};

// Returns the visits that are left of a candidate when as many of `forced` are
// taken as keep its score below `best_score`.
int Unforced(const Candidate& candidate, double forced, const Puct& puct,
             double best_score) {
  // Chosen for its value.
  if (best_score <= candidate.value) return candidate.visits;
  // Its score is below the best for all visits above:
  const double bound =
      puct.TriesOf(best_score, candidate.value, candidate.prior) - 1;
  if (bound >= candidate.visits) return candidate.visits;
  const int least = std::max(0, static_cast<int>(std::floor(bound)) + 1);
  const int taken = static_cast<int>(
      std::min<double>(std::ceil(forced), candidate.visits - least));
  const int left = candidate.visits - std::max(0, taken);
  return left < candidate.visits && left <= 1 ? 0 : left;
}

}  // namespace

float ForcedVisits(float forced_playouts, float prior, int root_visits) {
  return std::sqrt(forced_playouts * prior * static_cast<float>(root_visits));
}

std::vector<float> PolicyTarget(absl::Span<const RootAction> actions,
                                const PolicyTargetOptions& options,
                                absl::Span<const float> search_priors) {
  TARA_CHECK(search_priors.empty() || search_priors.size() == actions.size(),
             "expected a prior for each action");
  std::vector<Candidate> candidates;
  candidates.reserve(actions.size());
  size_t best = 0;
  int root_visits = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    const float prior =
        search_priors.empty() ? actions[i].prior : search_priors[i];
    candidates.push_back({.value = actions[i].mean_value,
                          .prior = prior,
                          .visits = actions[i].visits});
    root_visits += actions[i].visits;
    if (actions[i].visits > actions[best].visits) best = i;
  }
  TARA_CHECK(root_visits > 0, "the root must be searched");
  if (options.forced_playouts > 0) {
    const double best_score = options.puct.Score<double>(
        candidates[best].value, candidates[best].prior,
        1 + candidates[best].visits);
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (i == best || candidates[i].visits == 0) continue;
      const float forced =
          ForcedVisits(options.forced_playouts,
                       static_cast<float>(candidates[i].prior), root_visits);
      candidates[i].visits =
          Unforced(candidates[i], forced, options.puct, best_score);
    }
  }
  double total = 0;
  for (const Candidate& candidate : candidates) total += candidate.visits;
  std::vector<float> target;
  target.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    target.push_back(static_cast<float>(candidate.visits / total));
  }
  return target;
}

}  // namespace tara::mcts
