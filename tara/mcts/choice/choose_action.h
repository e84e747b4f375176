#ifndef TARA_MCTS_CHOICE_CHOOSE_ACTION_H_
#define TARA_MCTS_CHOICE_CHOOSE_ACTION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"

namespace tara::mcts {

// The selection formula of searches (PUCT). The score of an action is
//
//   Q + c * sqrt(N) * P / (1 + n)
//
// where Q is its value for the side to move, P its prior and n its visits; N
// are the visits of the node and c is the weight of exploration. The members
// are the terms of a node, set by TermsOf (tara/mcts/tree/walk.cc); another
// formula may have more. All that selects or prunes by scores uses the two
// functions. The score has to rise with P: of the actions not tried, only the
// one with the highest prior is looked at.
// Source: Silver et al. 2017 (Nature 550), Methods, "Select".
struct Puct {
  float exploration;  // c * sqrt(N)

  // Returns the score of an action; `tries` is 1 + n. Works on
  // numbers and on vectors of them.
  template <typename Number>
  Number Score(Number value, Number prior, Number tries) const {
    return value + exploration * prior / tries;
  }

  // Returns the tries at which the score of an action is `score`: with more it
  // is less. For the pruning of policy targets. REQUIRES: score > value.
  double TriesOf(double score, double value, double prior) const {
    return exploration * prior / (score - value);
  }
};

// One legal action of the root after a search. Values and margins are for the
// side to move at the root.
struct RootAction {
  Action action;
  float prior;  // without noise
  int visits;
  float mean_value;  // Q, in [-1, 1]; 0 if not visited
  // Standard deviation of the utilities of its simulations.
  float value_deviation = 0;
  // Proved bounds of the final margin after this action.
  int8_t low = -kMaxMargin;
  int8_t high = kMaxMargin;
};

struct ChoiceOptions {
  // Actions are drawn from visits^(1/temperature); 0 plays the best.
  float temperature = 0;
  // At temperature 0: 0 plays the most visited action. Above 0: plays the one
  // with the highest lower confidence bound, this many standard errors below
  // its mean value (LowerConfidenceBound). Usual values are a few (KataGo: 5);
  // lower ones put more trust in actions with few visits.
  float confidence_z = 0;
  // The utility of a final margin for the side to move; must not decrease with
  // the margin. Empty: its sign (won, drawn, lost). Proved bounds of actions
  // are compared by it.
  std::function<float(int)> utility = {};
};

// Returns the action to play. Proofs have priority at every temperature. An
// action is proved best if the utility of its low bound is at least that of the
// high bounds of all others. Then one of the proved ones is played, at
// temperature 0 the one with the highest low bound. Otherwise actions are
// excluded that cannot be better, and may be worse, than another one.
//
// At temperature 0, ties go to more visits, then to the higher prior, then to
// the higher mean value, then are random. The stream is not used otherwise.
Action ChooseAction(absl::Span<const RootAction> actions,
                    const ChoiceOptions& options, Random& random);

// Returns for each action whether the rule of proofs above leaves it.
std::vector<bool> LeftByProof(absl::Span<const RootAction> actions,
                              const ChoiceOptions& options);

// Returns the lower confidence bound of an action's value:
//   Q - z * sqrt((N s^2 + 1) / (N + 1) / N)
// with N its visits and s the deviation; one more observation at distance 1
// keeps few equal values from passing for certain.
// Source: KataGo's choice of the final move, also in Leela Zero; the formula
// of the variance is our own. REQUIRES: action.visits > 0.
float LowerConfidenceBound(const RootAction& action, float z);

struct PolicyTargetOptions {
  // SearchOptions::forced_playouts of the search; 0: no visit was forced.
  float forced_playouts = 0;
  // The formula of the search at the root when the search ended.
  Puct puct = {};
};

// Returns the policy target: the actions' shares of the visits, which sum to 1,
// without those that only forcing explains. From each action but the most
// visited at most its forced visits are taken, and no more than leaves its PUCT
// score below that of the most visited; one that comes down to a single visit
// loses that too. `search_priors` are the priors the search used where those
// are not the actions' own (noise). Source: Wu 2019 (arXiv:1902.10565), section
// 3.2, "policy target pruning". REQUIRES: at least one visit; `search_priors`
// is empty or has one for each action.
std::vector<float> PolicyTarget(absl::Span<const RootAction> actions,
                                const PolicyTargetOptions& options,
                                absl::Span<const float> search_priors = {});

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_CHOOSE_ACTION_H_
