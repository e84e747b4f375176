#ifndef TARA_MCTS_DIRICHLET_H_
#define TARA_MCTS_DIRICHLET_H_

#include <vector>

#include "tara/base/random.h"

namespace tara {

// Returns a draw from the gamma distribution of a shape and scale 1.
// Source: Marsaglia and Tsang 2000, "A simple method for generating gamma
// variables", with their section 6 for shapes below 1.
// REQUIRES: shape > 0.
double DrawGamma(double shape, Random& random);

// Returns a draw from the symmetric Dirichlet distribution: `size` numbers
// that are not negative and sum to 1. REQUIRES: alpha > 0; size > 0.
std::vector<float> DrawDirichlet(double alpha, int size, Random& random);

}  // namespace tara

#endif  // TARA_MCTS_DIRICHLET_H_
