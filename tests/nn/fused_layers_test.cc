// The fused layers against LibTorch's operators: values and gradients.

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/torch/layers_torch.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;

at::Tensor ChannelsLast(const at::Tensor& tensor) {
  return tensor.contiguous(at::MemoryFormat::ChannelsLast);
}

// A leaf of its own with the same values.
at::Tensor Leaf(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().clone().requires_grad_()
                          : at::Tensor();
}

void ExpectClose(const at::Tensor& a, const at::Tensor& b,
                 const std::string& what) {
  ASSERT_TRUE(a.defined() && b.defined()) << what;
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  EXPECT_LT((a - b).abs().max().item<float>(), 2e-5) << what;
}

// [1, 1, 7, 7]: 1 but on the corners.
at::Tensor Hills() {
  at::Tensor hills = at::ones({1, 1, 7, 7});
  for (const int rank : {0, 6}) {
    for (const int file : {0, 6}) hills[0][0][rank][file] = 0;
  }
  return hills;
}

struct Case {
  int64_t samples;
  int64_t channels;
  bool residual;
  bool bias;
};

class FusedLayersTest : public ::testing::Test {
 protected:
  FusedLayersTest() { torch::manual_seed(1); }

  static torch::nn::BatchNorm2d MakeNorm(int64_t channels) {
    torch::nn::BatchNorm2d norm(channels);
    const torch::NoGradGuard no_gradients;
    norm->weight.copy_(at::rand({channels}) + 0.5);
    norm->bias.copy_(at::randn({channels}));
    return norm;
  }
};

TEST_F(FusedLayersTest, NormsSumsAndReluAreThoseOfSingleOperators) {
  for (const Case& one : {Case{9, 16, false, false}, Case{9, 16, true, false},
                          Case{6, 32, true, true}, Case{5, 24, false, true},
                          Case{1, 8, true, true}, Case{4, 5, true, true}}) {
    const std::string name =
        absl::StrCat(one.samples, " x ", one.channels, ": ");
    const at::Tensor input =
        ChannelsLast(2 * at::randn({one.samples, one.channels, 7, 7}) + 3);
    const at::Tensor residual =
        one.residual
            ? ChannelsLast(at::randn({one.samples, one.channels, 7, 7}))
            : at::Tensor();
    const at::Tensor bias =
        one.bias ? at::randn({one.samples, one.channels}) : at::Tensor();
    const at::Tensor factors = at::randn({one.samples, one.channels, 7, 7});
    auto fused_norm = MakeNorm(one.channels);
    torch::nn::BatchNorm2d plain_norm(one.channels);
    {
      const torch::NoGradGuard no_gradients;
      plain_norm->weight.copy_(fused_norm->weight);
      plain_norm->bias.copy_(fused_norm->bias);
    }
    std::vector<at::Tensor> fused = {Leaf(input), Leaf(residual), Leaf(bias)};
    std::vector<at::Tensor> plain = {Leaf(input), Leaf(residual), Leaf(bias)};

    const at::Tensor output =
        NormRelu(fused[0], *fused_norm, fused[1], fused[2]);
    at::Tensor sum = plain_norm(plain[0]);
    if (one.residual) sum = sum + plain[1];
    if (one.bias) sum = sum + plain[2].unsqueeze(2).unsqueeze(3);
    const at::Tensor expected = at::relu(sum);
    (output * factors).sum().backward();
    (expected * factors).sum().backward();

    EXPECT_TRUE(output.is_contiguous(at::MemoryFormat::ChannelsLast));
    ExpectClose(output, expected, name + "output");
    ExpectClose(fused_norm->running_mean, plain_norm->running_mean,
                name + "running mean");
    ExpectClose(fused_norm->running_var, plain_norm->running_var,
                name + "running variance");
    fused.insert(fused.end(), {fused_norm->weight, fused_norm->bias});
    plain.insert(plain.end(), {plain_norm->weight, plain_norm->bias});
    for (size_t i = 0; i < fused.size(); ++i) {
      if (!fused[i].defined()) continue;
      const at::Tensor scale = plain[i].grad().abs().max().clamp_min(1);
      ExpectClose(fused[i].grad() / scale, plain[i].grad() / scale,
                  absl::StrCat(name, "gradient ", i));
    }
  }
}

TEST_F(FusedLayersTest, OutsideOfTrainingANormUsesItsRunningMeans) {
  auto norm = MakeNorm(8);
  norm->eval();
  const at::Tensor input = ChannelsLast(at::randn({3, 8, 7, 7}));
  const at::Tensor before = norm->running_mean.clone();
  ExpectClose(NormRelu(input, *norm), at::relu(norm(input)), "output");
  EXPECT_TRUE(at::equal(before, norm->running_mean));
}

TEST_F(FusedLayersTest, PoolsAndTheirGradientsAreThoseOfSingleOperators) {
  for (const int64_t channels : {8, 5, 32}) {
    // Values at the corners are more than any other, and do not count.
    const at::Tensor values = ChannelsLast(
        at::relu(at::randn({6, channels, 7, 7})) + 10 * (1 - Hills()));
    const at::Tensor factors = at::randn({6, 2 * channels});
    const at::Tensor fused = Leaf(values);
    const at::Tensor plain = Leaf(values);
    const at::Tensor pooled = PoolHills(fused, Hills());
    const at::Tensor masked = plain * Hills();
    const at::Tensor expected =
        at::cat({masked.sum({2, 3}) / 45, masked.amax({2, 3})}, 1);
    (pooled * factors).sum().backward();
    (expected * factors).sum().backward();
    ExpectClose(pooled, expected, "pooled");
    ExpectClose(fused.grad(), plain.grad(), "gradient");
    const torch::NoGradGuard no_gradients;
    ExpectClose(PoolHills(values, Hills()), expected, "without gradients");
  }
}

// The same values in both types: what is computed is rounded when it is stored.
TEST_F(FusedLayersTest, InBfloat16ResultsAreThoseInFloat32Rounded) {
  const auto rounded = [](const at::Tensor& tensor) {
    return ChannelsLast(tensor).to(at::kBFloat16);
  };
  const auto expect_rounded = [](const at::Tensor& a, const at::Tensor& b,
                                 const std::string& what) {
    ASSERT_EQ(a.scalar_type(), at::kBFloat16) << what;
    // Half a unit in the last of eight bits, twice for gradients.
    const at::Tensor error = (a.to(at::kFloat) - b).abs();
    const at::Tensor most = b.abs() / 128 + b.abs().max() / 128;
    EXPECT_TRUE((error <= most).all().item<bool>()) << what;
  };
  const std::vector<int64_t> shape = {9, 24, 7, 7};
  for (const bool adds : {false, true}) {
    const at::Tensor input = rounded(2 * at::randn(shape) + 3);
    const at::Tensor residual = rounded(at::randn(shape));
    const at::Tensor bias = at::randn({9, 24}).to(at::kBFloat16);
    const at::Tensor factors = rounded(at::randn(shape));
    auto norm = MakeNorm(24);
    const auto compute = [&](at::ScalarType type) {
      std::vector<at::Tensor> leaves = {Leaf(input.to(type))};
      if (adds) {
        leaves.push_back(Leaf(residual.to(type)));
        leaves.push_back(Leaf(bias.to(type)));
      }
      const at::Tensor output =
          NormRelu(leaves[0], *norm, adds ? leaves[1] : at::Tensor(),
                   adds ? leaves[2] : at::Tensor());
      const at::Tensor pooled = PoolHills(output, Hills());
      EXPECT_EQ(pooled.scalar_type(), at::kFloat);
      ((output * factors.to(type)).sum() + pooled.sum()).backward();
      std::vector<at::Tensor> results = {output.detach()};
      for (const at::Tensor& leaf : leaves) results.push_back(leaf.grad());
      return results;
    };
    const std::vector<at::Tensor> floats = compute(at::kFloat);
    const std::vector<at::Tensor> shorts = compute(at::kBFloat16);
    EXPECT_TRUE(shorts[0].is_contiguous(at::MemoryFormat::ChannelsLast));
    for (size_t i = 0; i < floats.size(); ++i) {
      expect_rounded(shorts[i], floats[i], absl::StrCat(adds, ": ", i));
    }
  }
}

TEST_F(FusedLayersTest, ResultsDoNotDependOnTheNumberOfThreads) {
  const at::Tensor input = ChannelsLast(at::randn({37, 16, 7, 7}));
  const at::Tensor factors = at::randn({37, 16, 7, 7});
  auto norm = MakeNorm(16);
  const auto gradient = [&](int threads) {
    at::set_num_threads(threads);
    const at::Tensor leaf = Leaf(input);
    (NormRelu(leaf, *norm) * factors).sum().backward();
    return leaf.grad();
  };
  const at::Tensor one = gradient(1);
  EXPECT_TRUE(at::equal(one, gradient(2)));
  EXPECT_TRUE(at::equal(one, gradient(3)));
  at::set_num_threads(1);
}

// --- Convolution -------------------------------------------------------------

// Convolutions that are learned: values and gradients against LibTorch's, in
// double precision.

torch::nn::Conv2d MakeConvolution(int64_t in, int64_t out) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
}

at::Tensor Positions(int64_t positions, int64_t channels) {
  return at::randn({positions, channels, 7, 7})
      .contiguous(at::MemoryFormat::ChannelsLast);
}

struct Result {
  at::Tensor output;
  at::Tensor of_input;  // undefined where not asked for
  at::Tensor of_weight;
};

// Of the sum of outputs times `factors`.
Result Differentiate(torch::nn::Conv2d& convolution, const at::Tensor& input,
                     const at::Tensor& factors, bool wants_input) {
  convolution->zero_grad();
  const at::Tensor leaf = input.detach().requires_grad_(wants_input);
  const at::Tensor output = Convolve(convolution, leaf);
  (output * factors).sum().backward();
  return {.output = output.detach(),
          .of_input = leaf.grad(),
          .of_weight = convolution->weight.grad().clone()};
}

// The same by LibTorch.
Result Expected(const torch::nn::Conv2d& convolution, const at::Tensor& input,
                const at::Tensor& factors) {
  const at::Tensor leaf = input.detach().to(at::kDouble).requires_grad_();
  const at::Tensor weight =
      convolution->weight.detach().to(at::kDouble).requires_grad_();
  const at::Tensor output = at::conv2d(leaf, weight, {}, 1, 1);
  (output * factors).sum().backward();
  return {.output = output.detach(),
          .of_input = leaf.grad(),
          .of_weight = weight.grad()};
}

// The root of the mean square of the difference, beside that of `expected`.
double RelativeError(const at::Tensor& expected, const at::Tensor& actual) {
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

bool IsOurs(const at::Tensor& output) {
  return absl::StrContains(output.grad_fn()->name(), "WinogradConvolution");
}

TEST(ConvolutionTest, ValuesAndGradientsAreThoseOfLibTorch) {
  torch::manual_seed(1);
  for (const auto& [in, out] : {std::pair{16, 16},
                                {32, 32},
                                {48, 48},
                                {48, 16},
                                {16, 64},
                                {128, 128}}) {
    // A part of a group, of a part, and more than two parts.
    for (const int64_t positions : {1, 6, 70}) {
      SCOPED_TRACE(absl::StrCat(positions, " x ", in, " to ", out));
      auto convolution = MakeConvolution(in, out);
      const at::Tensor input = Positions(positions, in);
      const at::Tensor factors = Positions(positions, out);
      ASSERT_TRUE(IsOurs(Convolve(convolution, input)));
      for (const bool channels_last : {false, true}) {
        if (channels_last) {
          const torch::NoGradGuard no_gradients;
          convolution->weight.set_data(
              convolution->weight.contiguous(at::MemoryFormat::ChannelsLast));
        }
        const Result expected = Expected(convolution, input, factors);
        const Result actual = Differentiate(convolution, input, factors, true);
        EXPECT_LT(RelativeError(expected.output, actual.output), 3e-6);
        EXPECT_LT(RelativeError(expected.of_input, actual.of_input), 3e-6);
        EXPECT_LT(RelativeError(expected.of_weight, actual.of_weight), 5e-6);
      }
    }
  }
}

// The stem: of 24 planes, which learn nothing.
TEST(ConvolutionTest, AnInputMayWantNoGradient) {
  torch::manual_seed(2);
  auto convolution = MakeConvolution(24, 32);
  const at::Tensor input = Positions(9, 24);
  const at::Tensor factors = Positions(9, 32);
  ASSERT_TRUE(IsOurs(Convolve(convolution, input)));
  const Result actual = Differentiate(convolution, input, factors, false);
  EXPECT_FALSE(actual.of_input.defined());
  EXPECT_LT(RelativeError(Expected(convolution, input, factors).of_weight,
                          actual.of_weight),
            5e-6);
}

TEST(ConvolutionTest, ItsPartsAreDividedAmongTheThreads) {
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    std::multiset<int64_t> parts;
    ForEachPart(7, [&](int64_t part) {
      const std::lock_guard<std::mutex> lock(mutex);
      seen.insert(std::this_thread::get_id());
      parts.insert(part);
    });
    EXPECT_EQ(static_cast<int>(seen.size()), threads);
    EXPECT_THAT(parts, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  }
  at::set_num_threads(before);
}

TEST(ConvolutionTest, ResultsDoNotDependOnTheNumberOfThreads) {
  torch::manual_seed(3);
  auto convolution = MakeConvolution(32, 32);
  const at::Tensor input = Positions(100, 32);
  const at::Tensor factors = Positions(100, 32);
  const int before = at::get_num_threads();
  std::vector<Result> results;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    results.push_back(Differentiate(convolution, input, factors, true));
  }
  at::set_num_threads(before);
  for (const Result& result : results) {
    EXPECT_TRUE(result.output.equal(results[0].output));
    EXPECT_TRUE(result.of_input.equal(results[0].of_input));
    EXPECT_TRUE(result.of_weight.equal(results[0].of_weight));
  }
}

TEST(ConvolutionTest, OtherCasesAreLibTorchs) {
  torch::manual_seed(4);
  const at::Tensor input = Positions(3, 16);
  auto odd = MakeConvolution(16, 24);
  auto pointwise =
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 1).bias(false));
  auto biased =
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1));
  auto unpadded =
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).bias(false));
  auto strided = torch::nn::Conv2d(
      torch::nn::Conv2dOptions(16, 16, 3).padding(1).stride(2).bias(false));
  auto dilated = torch::nn::Conv2d(
      torch::nn::Conv2dOptions(16, 16, 3).padding(1).dilation(2).bias(false));
  auto grouped = torch::nn::Conv2d(
      torch::nn::Conv2dOptions(32, 16, 3).padding(1).groups(2).bias(false));
  EXPECT_FALSE(IsOurs(Convolve(grouped, Positions(3, 32))));
  for (auto* const convolution :
       {&odd, &pointwise, &biased, &unpadded, &strided, &dilated}) {
    EXPECT_FALSE(IsOurs(Convolve(*convolution, input)));
  }
  auto known = MakeConvolution(16, 16);
  EXPECT_TRUE(IsOurs(Convolve(known, input)));
  EXPECT_FALSE(IsOurs(Convolve(known, input.contiguous())));
  const torch::NoGradGuard no_gradients;
  EXPECT_TRUE(Convolve(known, input).allclose(known->forward(input)));
}

}  // namespace
}  // namespace tara::nn
