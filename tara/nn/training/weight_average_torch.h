#ifndef TARA_NN_TRAINING_WEIGHT_AVERAGE_TORCH_H_
#define TARA_NN_TRAINING_WEIGHT_AVERAGE_TORCH_H_

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "tara/nn/torch/network_torch.h"

namespace tara::nn {

// The exponential average of a network's weights over its steps, its norms'
// means and variances included:
//   average = d average + (1 - d) weights,  d = min(decay, (1 + t) / (10 + t))
// after step t, from 1: early on, when the weights still move far, the average
// is of the last few steps. It plays better than the weights of any one step,
// which the last batches pull about.
// Source: Polyak and Juditsky 1992; as an exponential average, with this
// warm-up, as TensorFlow's ExponentialMovingAverage has it (num_updates).
// Not thread-safe.
class WeightAverage {
 public:
  // Begins with the network's weights. REQUIRES: `network` outlives this;
  // 0 < decay < 1.
  WeightAverage(const Network& network, double decay);

  static double Decay(double decay, int64_t step) {
    const auto t = static_cast<double>(step);
    return std::min(decay, (1 + t) / (10 + t));
  }

  // Begins anew with the network's weights.
  void Reset();
  // Takes in the network's weights after a step, counted from 1.
  void Update(int64_t step);
  // The network of the averaged weights.
  Network& network() { return *average_; }

 private:
  const double decay_;
  const std::shared_ptr<Network> average_;
  std::vector<at::Tensor> weights_;   // of the network
  std::vector<at::Tensor> averages_;  // of the same index
};

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_WEIGHT_AVERAGE_TORCH_H_
