#ifndef TARA_NN_BUNDLE_LEARNED_RULES_H_
#define TARA_NN_BUNDLE_LEARNED_RULES_H_

// Which rules a network has learned: asked about others it answers nonsense,
// and its results look like any others.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/nn/bundle/golden.h"

namespace tara::nn {

// Returns what of a position's rules is in none of the variants that a network
// has learned: "high_kings_l1", or the rule options whose values it has not
// learned with the variant,
// "no_progress_limit=20,placement_captures_kings=true"; empty where it has
// learned all.
std::string NotLearned(absl::Span<const BundleVariant> learned,
                       const State& state);

// Returns OK where NotLearned is empty, else FAILED_PRECONDITION: "NAME has not
// learned no_progress_limit=20 of high_kings_l1; its run learned
// no_progress_limit=40".
absl::Status CheckNetworkLearned(const std::string& name,
                                 absl::Span<const BundleVariant> learned,
                                 const State& state);

}  // namespace tara::nn

#endif  // TARA_NN_BUNDLE_LEARNED_RULES_H_
