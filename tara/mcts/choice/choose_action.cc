#include "tara/mcts/choice/choose_action.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "tara/base/check.h"

namespace tara::mcts {

namespace {

// Only actions with at least this part of the most visits are compared by their
// bounds: the error of a mean of few visits is itself uncertain.
constexpr float kMinVisitShare = 0.15f;

using Candidates = std::vector<const RootAction*>;

// The utilities of an action's proved bounds.
struct Proof {
  float low;
  float high;
};

// Returns the actions that are proved best, and sets `proved`; otherwise the
// actions that no proof rules out. Keeps the order.
Candidates Filter(absl::Span<const RootAction> actions,
                  const ChoiceOptions& options, bool& proved) {
  const auto utility = [&options](int margin) {
    if (options.utility) return options.utility(margin);
    return static_cast<float>((margin > 0) - (margin < 0));
  };
  std::vector<Proof> proofs;
  Proof best = {.low = utility(-kMaxMargin), .high = utility(-kMaxMargin)};
  for (const RootAction& action : actions) {
    proofs.push_back(
        {.low = utility(action.low), .high = utility(action.high)});
    best.low = std::max(best.low, proofs.back().low);
    best.high = std::max(best.high, proofs.back().high);
  }
  // Whether an action with the lower bound `best.low` may yield more.
  bool open = false;
  for (const Proof& proof : proofs) {
    open |= proof.low == best.low && proof.high > best.low;
  }
  proved = best.low >= best.high;
  Candidates candidates;
  for (size_t i = 0; i < actions.size(); ++i) {
    const bool no_more =
        open ? proofs[i].high <= best.low : proofs[i].high < best.low;
    if (proved ? proofs[i].low >= best.high : !no_more) {
      candidates.push_back(&actions[i]);
    }
  }
  proved |= candidates.size() == 1;
  return candidates;
}

// Returns the one with the largest rank; each of the tied with equal chances.
template <typename Rank>
Action Largest(const Candidates& candidates, const Rank& rank, Random& random) {
  const RootAction* best = nullptr;
  uint32_t tied = 0;
  for (const RootAction* action : candidates) {
    if (best == nullptr || rank(*action) > rank(*best)) {
      best = action;
      tied = 1;
    } else if (rank(*action) == rank(*best) && random.Below(++tied) == 0) {
      best = action;
    }
  }
  return best->action;
}

Action DrawByVisits(const Candidates& candidates, int most_visits,
                    float temperature, Random& random) {
  // Relative to the largest count, so that no power overflows.
  std::vector<double> weights;
  double total = 0;
  for (const RootAction* action : candidates) {
    const double share = static_cast<double>(action->visits) / most_visits;
    weights.push_back(share == 0 ? 0 : std::pow(share, 1.0 / temperature));
    total += weights.back();
  }
  double draw = random.Uniform() * total;
  size_t chosen = candidates.size();
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (weights[i] == 0) continue;
    chosen = i;
    draw -= weights[i];
    if (draw < 0) break;
  }
  return candidates[chosen]->action;  // rounding: the last one with a weight
}

}  // namespace

float LowerConfidenceBound(const RootAction& action, float z) {
  TARA_CHECK(action.visits > 0, "the action must have visits");
  const auto visits = static_cast<float>(action.visits);
  const float deviation = action.value_deviation;
  const float variance = (visits * deviation * deviation + 1) / (visits + 1);
  return action.mean_value - z * std::sqrt(variance / visits);
}

std::vector<bool> LeftByProof(absl::Span<const RootAction> actions,
                              const ChoiceOptions& options) {
  bool proved = false;
  std::vector<bool> left(actions.size());
  for (const RootAction* action : Filter(actions, options, proved)) {
    left[action - actions.data()] = true;
  }
  return left;
}

Action ChooseAction(absl::Span<const RootAction> actions,
                    const ChoiceOptions& options, Random& random) {
  TARA_CHECK(options.temperature >= 0, "temperature must be >= 0");
  bool proved = false;
  Candidates candidates = Filter(actions, options, proved);
  int most_visits = 0;
  for (const RootAction* action : candidates) {
    most_visits = std::max(most_visits, action->visits);
  }
  if (!proved && most_visits == 0) {
    // All visits may have gone to actions that are ruled out since; then the
    // priors of the others decide.
    TARA_CHECK(std::any_of(actions.begin(), actions.end(),
                           [](const RootAction& a) { return a.visits > 0; }),
               "the root must be searched");
  }
  if (options.temperature > 0 && most_visits > 0) {
    return DrawByVisits(candidates, most_visits, options.temperature, random);
  }
  const bool by_bound = !proved && options.confidence_z > 0 && most_visits > 0;
  if (by_bound) {
    const float least = kMinVisitShare * static_cast<float>(most_visits);
    std::erase_if(candidates, [least](const RootAction* action) {
      return action->visits == 0 || static_cast<float>(action->visits) < least;
    });
  }
  return Largest(
      candidates,
      [&](const RootAction& action) {
        const float first =
            proved     ? static_cast<float>(action.low)
            : by_bound ? LowerConfidenceBound(action, options.confidence_z)
                       : 0;
        return std::tuple(first, action.visits, action.prior,
                          action.mean_value);
      },
      random);
}

namespace {

// A root action as PUCT saw it.
struct SeenAction {
  double value;
  double prior;
  int visits;
};

// Returns the visits of a candidate after removing forced ones, up to `forced`,
// while its score stays below `best_score`.
int Unforced(const SeenAction& candidate, double forced, const Puct& puct,
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

std::vector<float> PolicyTarget(absl::Span<const RootAction> actions,
                                const PolicyTargetOptions& options,
                                absl::Span<const float> search_priors) {
  TARA_CHECK(search_priors.empty() || search_priors.size() == actions.size(),
             "expected a prior for each action");
  std::vector<SeenAction> candidates;
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
      const float forced = std::sqrt(options.forced_playouts *
                                     static_cast<float>(candidates[i].prior) *
                                     static_cast<float>(root_visits));
      candidates[i].visits =
          Unforced(candidates[i], forced, options.puct, best_score);
    }
  }
  double total = 0;
  for (const SeenAction& candidate : candidates) total += candidate.visits;
  std::vector<float> target;
  for (const SeenAction& candidate : candidates) {
    target.push_back(static_cast<float>(candidate.visits / total));
  }
  return target;
}

}  // namespace tara::mcts
