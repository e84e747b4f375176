#ifndef TARA_MCTS_CHOICE_ROOT_EXPLORATION_H_
#define TARA_MCTS_CHOICE_ROOT_EXPLORATION_H_

#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"

namespace tara::mcts {

// Returns a draw from the gamma distribution of a shape and scale 1.
// Source: Marsaglia and Tsang 2000, "A simple method for generating gamma
// variables", with their section 6 for shapes below 1.
// REQUIRES: shape > 0.
double DrawGamma(double shape, Random& random);

// Returns a sample of the symmetric Dirichlet distribution of `size` parameters
// `alpha`: non-negative numbers with sum 1. REQUIRES: both are positive.
std::vector<float> DrawDirichlet(double alpha, int size, Random& random);

struct GumbelOptions {
  // So many actions, at most, are tried at all: those sampled first. More make
  // sense with more simulations (a few for each action).
  int considered_actions = 16;
  // How strongly values speak against priors: a value q, taken from [-1, 1]
  // into [0, 1], adds
  //   (c_visit + visits of the most visited action) * c_scale * q
  // to the logit of its action. Lower c_scale where values are noisy (random
  // playouts, young networks).
  float c_visit = 50;
  float c_scale = 1.0f;
};

// Chooses at the root of a search: samples actions without replacement by
// adding Gumbel noise to the logits of the priors, spreads the simulations
// over them by sequential halving, and improves the policy with the values
// found, which it does in expectation even with fewer simulations than
// actions.
// Source: Danihelka, Guez, Schrittwieser and Silver 2022, "Policy improvement
// by planning with Gumbel", sections 3 and 4, algorithm 2, appendix D.
//
// Immutable; remembers nothing of the search, whose statistics are handed in.
// Actions are indices into `priors`; equal scores go to the lower index.
class GumbelRoot {
 public:
  // The search's statistics of an action since it began.
  struct ActionStats {
    int visits = 0;     // those in flight included
    float value = 0;    // mean, for the side to move at the root, in [-1, 1]
    int in_flight = 0;  // visits that `value` does not contain yet
  };

  // Plans a search of `simulations`. The noise is multiplied by `noise_scale`:
  // 1 for self-play; 0 for matches, which use nothing from `random`. REQUIRES:
  // at least one prior and one simulation; considered_actions >= 1, the other
  // options and noise_scale >= 0.
  GumbelRoot(const GumbelOptions& options, absl::Span<const float> priors,
             int simulations, float noise_scale, Random& random);

  // In the functions below, `stats` has an entry for each prior, and
  // `root_value` is the evaluator's value of the root, for the side to move.

  // Returns the action to simulate next. Goes on with the finalists when all
  // planned simulations are made.
  int Next(absl::Span<const ActionStats> stats, float root_value) const;

  // Returns the action to play: of the most visited, the one with the largest
  // noise + logit + sigma(value): before any visit, a sample from the priors.
  int Best(absl::Span<const ActionStats> stats, float root_value) const;

  // Returns softmax(logits + sigma(completed values)), the policy target;
  // without noise. Actions that were not visited count with the mixed value
  // (appendix D):
  //   (v + N * sum_visited(P q) / sum_visited(P)) / (1 + N)
  // with v the root value, N all visits and P the priors.
  std::vector<float> ImprovedPolicy(absl::Span<const ActionStats> stats,
                                    float root_value) const;

 private:
  // Steps of the plan: `considered` actions get a visit per round, starting
  // with `first_visits` visits.
  struct Phase {
    int first_step;
    int considered;
    int first_visits;
  };

  void PlanPhases(int considered, int simulations);
  // Returns how many visits the action of a step must have before it.
  int VisitsBefore(int step) const;
  double MixedValue(absl::Span<const ActionStats> stats,
                    float root_value) const;
  // Value's part of a logit when the most visited action has `visits`.
  double Sigma(double value, int visits) const;

  GumbelOptions options_;
  int simulations_;
  std::vector<double> priors_;        // positive
  std::vector<double> noisy_logits_;  // log prior + noise
  std::vector<Phase> phases_;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_ROOT_EXPLORATION_H_
