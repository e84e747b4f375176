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
class OptimizerTest : public ::testing::Test {
 protected:
  OptimizerTest() : module_(torch::nn::LinearOptions(2, 1)) {
    Set(module_->weight, {1.0f, -2.0f});
    Set(module_->bias, {0.5f});
  }

  static void Set(at::Tensor tensor, const std::vector<float>& values) {
    const torch::NoGradGuard no_gradients;
    for (size_t i = 0; i < values.size(); ++i) {
      tensor.data_ptr<float>()[i] = values[i];
    }
  }
  void SetGradients(const std::vector<float>& values) {
    module_->weight.mutable_grad() = at::empty({1, 2});
    module_->bias.mutable_grad() = at::empty({1});
    Set(module_->weight.grad(), {values[0], values[1]});
    Set(module_->bias.grad(), {values[2]});
  }
  std::vector<double> Weights() const {
    const float* const weight = module_->weight.data_ptr<float>();
    return {weight[0], weight[1], module_->bias.data_ptr<float>()[0]};
  }

  torch::nn::Linear module_;
};

const std::vector<std::vector<double>> kGradients = {
    {0.3, -0.1, 0.7}, {-0.2, 0.4, 0.1}, {0.05, 0.6, -0.3}};

TEST_F(OptimizerTest, AdamWFollowsItsFormula) {
  Optimizer optimizer(OptimizerKind::kAdamW, kDecay, *module_);
  std::vector<double> expected = Weights();
  std::vector<double> first(3, 0), second(3, 0);
  for (size_t t = 1; t <= kGradients.size(); ++t) {
    const std::vector<double>& gradient = kGradients[t - 1];
    SetGradients({gradient.begin(), gradient.end()});
    optimizer.Step(kRate);
    for (int i = 0; i < 3; ++i) {
      const double decay = i < 2 ? kDecay : 0;
      first[i] = 0.9 * first[i] + 0.1 * gradient[i];
      second[i] = 0.999 * second[i] + 0.001 * gradient[i] * gradient[i];
      const double mean = first[i] / (1 - std::pow(0.9, t));
      const double square = second[i] / (1 - std::pow(0.999, t));
      expected[i] -= kRate * decay * expected[i] +
                     kRate * mean / (std::sqrt(square) + 1e-8);
      EXPECT_NEAR(Weights()[i], expected[i], 1e-5) << i;
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

TEST_F(OptimizerTest, MuonMovesAsFarInAllDirections) {
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

TEST_F(OptimizerTest, MuonIsAdamWOutsideOfTheTower) {
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

TEST_F(OptimizerTest, WeightsWithoutAGradientStayAsTheyAre) {
  for (const auto kind : {OptimizerKind::kAdamW, OptimizerKind::kMuon}) {
    Optimizer optimizer(kind, kDecay, *module_);
    SetGradients({1, 1, 1});
    module_->weight.mutable_grad().reset();
    const auto before = Weights();
    optimizer.Step(kRate);
    EXPECT_EQ(Weights()[0], before[0]);
    EXPECT_EQ(Weights()[1], before[1]);
    EXPECT_NE(Weights()[2], before[2]);
  }
}

TEST_F(OptimizerTest, GradientsAreShortenedTogetherAndOnlyWhenTooLong) {
  Optimizer optimizer(OptimizerKind::kAdamW, kDecay, *module_);
  SetGradients({2, 3, 6});
  // The root of 4 + 9 + 36.
  EXPECT_NEAR(optimizer.GradientNorm().item<double>(), 7, 1e-6);
  optimizer.ClipGradients(7, 8);
  EXPECT_EQ(module_->bias.grad().item<float>(), 6);
  optimizer.ClipGradients(7, 3.5);
  EXPECT_NEAR(module_->weight.grad().data_ptr<float>()[1], 1.5, 1e-6);
  EXPECT_NEAR(module_->bias.grad().item<float>(), 3, 1e-6);
  EXPECT_NEAR(optimizer.GradientNorm().item<double>(), 3.5, 1e-6);
}

}  // namespace
}  // namespace tara::nn
