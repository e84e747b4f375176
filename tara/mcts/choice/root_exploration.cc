#include "tara/mcts/choice/root_exploration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tara/base/check.h"

namespace tara::mcts {

double DrawGamma(double shape, Random& random) {
  TARA_CHECK(shape > 0, "the shape must be > 0");
  if (shape < 1) {
    // gamma(a) = gamma(a + 1) * u^(1 / a)
    const double boost = std::pow(1.0 - random.Uniform(), 1.0 / shape);
    return DrawGamma(shape + 1, random) * boost;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = random.Normal();
    const double v = std::pow(1.0 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1.0 - random.Uniform();  // in (0, 1]
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<float> DrawDirichlet(double alpha, int size, Random& random) {
  TARA_CHECK(size > 0, "expected at least one dimension");
  std::vector<double> draws;
  double total = 0;
  for (int i = 0; i < size; ++i) {
    draws.push_back(DrawGamma(alpha, random));
    total += draws.back();
  }
  std::vector<float> result;
  for (const double draw : draws) {
    // All draws of a tiny parameter may underflow to 0.
    result.push_back(static_cast<float>(total > 0 ? draw / total : 1.0 / size));
  }
  return result;
}

namespace {

// Keeps logits finite. An action without prior comes after all others.
constexpr double kMinPrior = 1e-30;

// A draw from the standard Gumbel distribution: -log of an exponential variate.
double DrawGumbel(Random& random) {
  const double exponential = -std::log(1.0 - random.Uniform());
  return -std::log(std::max(exponential, std::numeric_limits<double>::min()));
}

int Finished(const GumbelRoot::ActionStats& stats) {
  return stats.visits - stats.in_flight;
}

int MostFinished(absl::Span<const GumbelRoot::ActionStats> stats) {
  int most_visits = 0;
  for (const GumbelRoot::ActionStats& action : stats) {
    most_visits = std::max(most_visits, Finished(action));
  }
  return most_visits;
}

}  // namespace

GumbelRoot::GumbelRoot(const GumbelOptions& options,
                       absl::Span<const float> priors, int simulations,
                       float noise_scale, Random& random)
    : options_(options), simulations_(simulations) {
  TARA_CHECK(!priors.empty(), "expected at least one action");
  TARA_CHECK(simulations >= 1, "simulations must be >= 1");
  TARA_CHECK(options.considered_actions >= 1,
             "considered_actions must be >= 1");
  TARA_CHECK(options.c_visit >= 0 && options.c_scale >= 0,
             "c_visit and c_scale must be >= 0");
  TARA_CHECK(noise_scale >= 0, "the scale of the noise must be >= 0");
  for (const float prior : priors) {
    priors_.push_back(std::max<double>(prior, kMinPrior));
    noisy_logits_.push_back(std::log(priors_.back()));
    if (noise_scale > 0) {
      noisy_logits_.back() += noise_scale * DrawGumbel(random);
    }
  }
  PlanPhases(
      std::min(options.considered_actions, static_cast<int>(priors.size())),
      simulations);
}

// Each phase has about simulations / log2(considered) steps, and at least one
// round; half of the actions continue to the next. The last two actions share
// the remaining steps.
void GumbelRoot::PlanPhases(int considered, int simulations) {
  // ceil(log2(considered))
  const int num_phases =
      std::max<int>(1, std::bit_width(static_cast<uint32_t>(considered - 1)));
  int step = 0;
  int visits = 0;
  while (true) {
    phases_.push_back(
        {.first_step = step, .considered = considered, .first_visits = visits});
    if (considered <= 2) return;
    const int64_t steps_a_round = int64_t{num_phases} * considered;
    const auto rounds =
        static_cast<int>(std::max<int64_t>(1, simulations / steps_a_round));
    visits += rounds;
    step += rounds * considered;
    considered = std::max(2, considered / 2);
    if (step >= simulations) return;
  }
}

int GumbelRoot::VisitsBefore(int step) const {
  const Phase* phase = &phases_.back();
  while (step < phase->first_step) --phase;
  return phase->first_visits + (step - phase->first_step) / phase->considered;
}

double GumbelRoot::Sigma(double value, int visits) const {
  return (options_.c_visit + visits) * options_.c_scale * (1 + value) / 2;
}

double GumbelRoot::MixedValue(absl::Span<const ActionStats> stats,
                              float root_value) const {
  double visits = 0;
  double visited_prior = 0;
  double weighted_value = 0;
  for (size_t i = 0; i < stats.size(); ++i) {
    if (Finished(stats[i]) == 0) continue;
    visits += Finished(stats[i]);
    visited_prior += priors_[i];
    weighted_value += priors_[i] * stats[i].value;
  }
  if (visits == 0) return root_value;
  return (root_value + visits * weighted_value / visited_prior) / (1 + visits);
}

// All actions of a phase start a round with equal visits; the eliminated ones
// have fewer, or (visited in this round) more. So the actions with the visit
// count of the plan take part, in the first round only as many of the best as
// the phase considers (scores stay constant during it); the best is next.
int GumbelRoot::Next(absl::Span<const ActionStats> stats,
                     float root_value) const {
  TARA_CHECK(stats.size() == priors_.size(),
             "expected statistics of each action");
  int step = 0;
  int in_flight = 0;
  int most_visits = 0;
  for (const ActionStats& action : stats) {
    step += action.visits;
    in_flight += action.in_flight;
    most_visits = std::max(most_visits, action.visits);
  }
  int wanted = most_visits;
  if (step < simulations_) {
    wanted = VisitsBefore(step);
  } else {
    // The finalists: visits differ by one at most.
    for (const ActionStats& action : stats) {
      if (action.visits == most_visits - 1) wanted = most_visits - 1;
    }
  }
  // Among actions without visits it is the same for all: it does not matter.
  const double mixed_value =
      in_flight > 0 && wanted > 0 ? MixedValue(stats, root_value) : 0;
  int best = -1;
  int best_visits = -1;
  double best_score = 0;
  for (size_t i = 0; i < stats.size(); ++i) {
    // Where visits have gone otherwise than planned (a cancelled simulation),
    // the nearest to the plan from below is taken.
    const int visits = stats[i].visits;
    if (visits > wanted || visits < best_visits) continue;
    const double value = Finished(stats[i]) > 0 ? stats[i].value : mixed_value;
    const double score = noisy_logits_[i] + Sigma(value, wanted);
    if (visits > best_visits || score > best_score) {
      best = static_cast<int>(i);
      best_visits = visits;
      best_score = score;
    }
  }
  return best;  // `wanted` is at least the mean, so some action has no more
}

int GumbelRoot::Best(absl::Span<const ActionStats> stats,
                     float root_value) const {
  TARA_CHECK(stats.size() == priors_.size(),
             "expected statistics of each action");
  const int most_visits = MostFinished(stats);
  int best = -1;
  double best_score = 0;
  for (size_t i = 0; i < stats.size(); ++i) {
    if (Finished(stats[i]) < most_visits) continue;
    const float value = most_visits > 0 ? stats[i].value : root_value;
    const double score = noisy_logits_[i] + Sigma(value, most_visits);
    if (best < 0 || score > best_score) {
      best = static_cast<int>(i);
      best_score = score;
    }
  }
  return best;
}

std::vector<float> GumbelRoot::ImprovedPolicy(
    absl::Span<const ActionStats> stats, float root_value) const {
  TARA_CHECK(stats.size() == priors_.size(),
             "expected statistics of each action");
  const double mixed_value = MixedValue(stats, root_value);
  const int most_visits = MostFinished(stats);
  std::vector<double> logits;
  for (size_t i = 0; i < stats.size(); ++i) {
    const double value = Finished(stats[i]) > 0 ? stats[i].value : mixed_value;
    logits.push_back(std::log(priors_[i]) + Sigma(value, most_visits));
  }
  const double largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (double& logit : logits) total += logit = std::exp(logit - largest);
  std::vector<float> policy;
  for (const double weight : logits) {
    policy.push_back(static_cast<float>(weight / total));
  }
  return policy;
}

}  // namespace tara::mcts
