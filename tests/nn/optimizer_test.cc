// The optimizers against their formulas, computed number by number.

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tara/nn/training/optimizer_torch.h"

namespace tara::nn {
namespace {

constexpr double kRate = 0.1;
constexpr double kDecay = 0.2;

// Two weights (a matrix, which decays) and a bias (which does not).
TEST(OptimizerTest, AdamWFollowsItsFormula) {
  torch::nn::Linear module(torch::nn::LinearOptions(2, 1));
  std::vector<float> expected = {1.0f, -2.0f, 0.5f};
  {
    const torch::NoGradGuard no_gradients;
    module->weight.copy_(at::tensor(expected).narrow(0, 0, 2));
    module->bias.fill_(expected[2]);
  }
  Optimizer optimizer(OptimizerKind::kAdamW, kDecay, *module);
  std::vector<double> first(3, 0), second(3, 0);
  int t = 0;
  for (const std::vector<float>& gradient :
       {std::vector<float>{0.3f, -0.1f, 0.7f},
        {-0.2f, 0.4f, 0.1f},
        {0.05f, 0.6f, -0.3f}}) {
    const at::Tensor gradients = at::tensor(gradient);
    module->weight.mutable_grad() = gradients.narrow(0, 0, 2).view({1, 2});
    module->bias.mutable_grad() = gradients.narrow(0, 2, 1);
    optimizer.Step(kRate);
    ++t;
    const at::Tensor weights =
        at::cat({module->weight.detach().flatten(), module->bias.detach()});
    for (int i = 0; i < 3; ++i) {
      const double decay = i < 2 ? kDecay : 0;
      first[i] = 0.9 * first[i] + 0.1 * gradient[i];
      second[i] = 0.999 * second[i] + 0.001 * gradient[i] * gradient[i];
      const double mean = first[i] / (1 - std::pow(0.9, t));
      const double square = second[i] / (1 - std::pow(0.999, t));
      expected[i] -=
          static_cast<float>(kRate * decay * expected[i] +
                             kRate * mean / (std::sqrt(square) + 1e-8));
      EXPECT_NEAR(weights[i].item<float>(), expected[i], 1e-5) << i;
    }
  }
}

// A hidden layer and an output, by name and shape.
struct Tower : torch::nn::Module {
  explicit Tower(int64_t inputs, int64_t outputs)
      : block(register_module("block0", torch::nn::Linear(inputs, outputs))),
        output(register_module("output", torch::nn::Linear(outputs, 2))) {}
  torch::nn::Linear block;
  torch::nn::Linear output;
};

// The factor U^T step V of a step, where its gradient is U S V^T.
at::Tensor InDirectionsOf(const at::Tensor& gradient, const at::Tensor& step) {
  const auto [u, s, v] = at::svd(gradient);
  return u.t().matmul(step).matmul(v);
}

TEST(OptimizerTest, MuonMovesAsFarInAllDirections) {
  for (const auto& [inputs, outputs] :
       std::vector<std::pair<int64_t, int64_t>>{{9, 4}, {4, 9}, {5, 5}}) {
    torch::manual_seed(1);
    Tower tower(inputs, outputs);
    // Directions a hundred times as long as others.
    const auto [u, s, v] = at::svd(at::randn({outputs, inputs}));
    const at::Tensor lengths = at::logspace(0, -2, std::min(inputs, outputs));
    const at::Tensor gradient =
        u.matmul(at::diag(lengths)).matmul(v.t()).contiguous();
    for (const auto& parameter : tower.parameters()) {
      parameter.mutable_grad() = at::ones_like(parameter);
    }
    tower.block->weight.mutable_grad() = gradient;
    const at::Tensor before = tower.block->weight.detach().clone();
    Optimizer(OptimizerKind::kMuon, 0, tower).Step(kRate);
    const torch::NoGradGuard no_gradients;
    const at::Tensor moved =
        InDirectionsOf(gradient, before - tower.block->weight) /
        (kRate * 0.2 *
         std::sqrt(static_cast<double>(std::max(inputs, outputs))));
    for (int64_t i = 0; i < moved.size(0); ++i) {
      for (int64_t j = 0; j < moved.size(1); ++j) {
        const double value = moved[i][j].item<double>();
        if (i == j) {
          EXPECT_GT(value, 0.6) << inputs << ", direction " << i;
          EXPECT_LT(value, 1.3) << inputs << ", direction " << i;
        } else {
          EXPECT_NEAR(value, 0, 1e-3) << inputs;
        }
      }
    }
  }
}

TEST(OptimizerTest, MuonIsAdamWOutsideOfTheTower) {
  torch::manual_seed(1);
  Tower by_muon(3, 2);
  Tower by_adam(3, 2);
  {
    const torch::NoGradGuard no_gradients;
    for (size_t i = 0; i < by_muon.parameters().size(); ++i) {
      by_adam.parameters()[i].copy_(by_muon.parameters()[i]);
    }
  }
  Optimizer muon(OptimizerKind::kMuon, kDecay, by_muon);
  Optimizer adam(OptimizerKind::kAdamW, kDecay, by_adam);
  for (int step = 0; step < 3; ++step) {
    for (size_t i = 0; i < by_muon.parameters().size(); ++i) {
      const at::Tensor gradient = at::randn_like(by_muon.parameters()[i]);
      by_muon.parameters()[i].mutable_grad() = gradient.clone();
      by_adam.parameters()[i].mutable_grad() = gradient.clone();
    }
    muon.Step(kRate);
    adam.Step(kRate);
  }
  EXPECT_FALSE(at::allclose(by_muon.block->weight, by_adam.block->weight));
  EXPECT_TRUE(at::equal(by_muon.block->bias, by_adam.block->bias));
  EXPECT_TRUE(at::equal(by_muon.output->weight, by_adam.output->weight));
  EXPECT_TRUE(at::equal(by_muon.output->bias, by_adam.output->bias));
}

}  // namespace
}  // namespace tara::nn
