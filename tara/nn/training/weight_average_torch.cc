#include "tara/nn/training/weight_average_torch.h"

namespace tara::nn {

WeightAverage::WeightAverage(const Network& network, double decay)
    : decay_(decay), average_(std::make_shared<Network>(network.shape)) {
  average_->MoveTo(network.value_output->weight.device());
  for (const auto& [name, tensor] : NetworkTensors(network)) {
    weights_.push_back(tensor);
  }
  for (const auto& [name, tensor] : NetworkTensors(*average_)) {
    averages_.push_back(tensor);
  }
  Reset();
}

void WeightAverage::Reset() {
  const torch::NoGradGuard no_gradients;
  for (size_t i = 0; i < weights_.size(); ++i) averages_[i].copy_(weights_[i]);
}

void WeightAverage::Update(int64_t step) {
  const torch::NoGradGuard no_gradients;
  const double decay = Decay(decay_, step);
  at::_foreach_mul_(averages_, decay);
  at::_foreach_add_(averages_, weights_, 1 - decay);
}

}  // namespace tara::nn
