#ifndef TARA_MCTS_CHOICE_DIRICHLET_H_
#define TARA_MCTS_CHOICE_DIRICHLET_H_

#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"

namespace tara::mcts {

// Returns a draw from the gamma distribution of a shape and scale 1.
// Source: Marsaglia and Tsang 2000, "A simple method for generating gamma
// variables", with their section 6 for shapes below 1.
// REQUIRES: shape > 0.
double DrawGamma(double shape, Random& random);

// Returns a sample of the Dirichlet distribution with the given parameters: one
// number per parameter, non-negative, with sum 1. REQUIRES: at least one
// parameter; all are positive.
std::vector<float> DrawDirichlet(absl::Span<const double> alphas,
                                 Random& random);

// The same with `size` parameters that are all `alpha`.
std::vector<float> DrawDirichlet(double alpha, int size, Random& random);

struct RootNoiseOptions {
  // Sum of the Dirichlet parameters of the legal actions, for any number of
  // them, so that the noise affects about the same number of actions in every
  // position. A larger sum spreads it wider.
  float concentration = 10.0f;
  // Whether half of the concentration goes to actions of higher prior
  // (ShapedAlphas), so that noise falls more often on plausible actions.
  bool shaped = false;
};

// Returns noise for the priors of a root, to be mixed into them.
// REQUIRES: at least one prior; concentration > 0.
std::vector<float> DrawRootNoise(const RootNoiseOptions& options,
                                 absl::Span<const float> priors,
                                 Random& random);

// Returns Dirichlet parameters that sum to `concentration`: half of it is
// spread evenly; the other half in proportion to
//   max(0, l - mean l)   with l = log(min(prior, 0.01)),
// evenly too where that is 0 for all.
// Source: KataGo, docs/KataGoMethods.md, "Shaped Dirichlet Noise".
std::vector<double> ShapedAlphas(double concentration,
                                 absl::Span<const float> priors);

}  // namespace tara::mcts

#endif  // TARA_MCTS_CHOICE_DIRICHLET_H_
