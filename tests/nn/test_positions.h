#ifndef TESTS_NN_TEST_POSITIONS_H_
#define TESTS_NN_TEST_POSITIONS_H_

#include <cstdint>
#include <vector>

#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::nn {

// Returns `count` positions of the variant with a seat to move, from games
// played at random from `seed`.
std::vector<State> RandomPositions(Variant variant, int count, uint64_t seed);

// Returns `count` positions of each variant, one variant after the other.
std::vector<State> RandomPositionsOfAllVariants(int count, uint64_t seed);

}  // namespace tara::nn

#endif  // TESTS_NN_TEST_POSITIONS_H_
