#ifndef TESTS_NN_LIGHT_LIGHT_TESTING_H_
#define TESTS_NN_LIGHT_LIGHT_TESTING_H_

#include <cstdint>

#include "tara/base/random.h"
#include "tara/nn/light/light_network.h"

namespace tara::nn {

// Returns parameters of a network that are all random, as large as those of a
// new one; those that begin with 0, biases, have `bias_scale`.
inline AlignedFloats RandomParameters(const LightTensors& tensors,
                                      uint64_t seed, double bias_scale = 0.1) {
  AlignedFloats parameters(tensors.size());
  Random random(seed);
  for (const LightTensor* const tensor : tensors.all()) {
    const double scale = tensor->scale > 0 ? tensor->scale : bias_scale;
    for (int row = 0; row < tensor->rows; ++row) {
      float* const values = parameters.data() + tensor->RowAt(row);
      for (int column = 0; column < tensor->columns; ++column) {
        values[column] = static_cast<float>(scale * random.Normal());
      }
    }
  }
  return parameters;
}

}  // namespace tara::nn

#endif  // TESTS_NN_LIGHT_LIGHT_TESTING_H_
