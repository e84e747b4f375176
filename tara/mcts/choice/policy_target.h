#ifndef TARA_MCTS_CHOICE_POLICY_TARGET_H_
#define TARA_MCTS_CHOICE_POLICY_TARGET_H_

#include <vector>

#include "absl/types/span.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/choice/puct.h"

namespace tara::mcts {

struct PolicyTargetOptions {
  // The k of ForcedVisits, as the search had it; 0: no visit was forced.
  float forced_playouts = 0;
  // The formula of the search at the root when the search ended.
  Puct puct = {};
};

// Returns how many visits a root action gets at least, whatever its value, as
// long as it is visited at all: sqrt(k * P * visits of the root's actions).
// Source: Wu 2019 (arXiv:1902.10565), section 3.2, where k = 2.
float ForcedVisits(float forced_playouts, float prior, int root_visits);

// Returns the policy target: the actions' shares of the visits, without those
// that only forcing explains. From each action but the most
// visited at most its forced visits are taken, and no more than leaves its
// PUCT score below that of the most visited; one that comes down to a single
// visit loses that too.
// Source: Wu 2019, section 3.2, "policy target pruning".
//
// `search_priors` are the priors the search used where those are not the
// actions' own (noise). Sums to 1. REQUIRES: at least one visit;
// `search_priors` is empty or has one for each action.
std::vector<float> PolicyTarget(absl::Span<const RootAction> actions,
                                const PolicyTargetOptions& options,
                                absl::Span<const float> search_priors = {});

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_POLICY_TARGET_H_
