#ifndef TESTS_NN_BUNDLE_TEST_NETWORK_H_
#define TESTS_NN_BUNDLE_TEST_NETWORK_H_

#include <cstdint>

#include "tara/nn/bundle/bundle.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::nn {

// Returns a network whose norms have means and variances of their own, as if it
// had learned; with_owner: as if it had learned who owns hills, too.
Checkpoint RandomNetwork(const NetworkShape& shape, uint64_t seed,
                         bool with_owner);

// Of a small network with all outputs and two variants.
Checkpoint SmallNetwork();
BundleOptions SmallBundleOptions();

}  // namespace tara::nn

#endif  // TESTS_NN_BUNDLE_TEST_NETWORK_H_
