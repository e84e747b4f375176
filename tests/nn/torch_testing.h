#ifndef TESTS_NN_TORCH_TESTING_H_
#define TESTS_NN_TORCH_TESTING_H_

// Towers.

#include <cstdint>

#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns a network whose norms and biases have values of their own, as if it
// had learned; with_owner: as if it had learned who owns hills, too.
Checkpoint LivelyNetwork(const NetworkShape& shape, uint64_t seed = 1,
                         bool with_owner = true);

// One of three blocks and 8 channels.
Checkpoint SmallNetwork();

}  // namespace tara::nn

#endif  // TESTS_NN_TORCH_TESTING_H_
