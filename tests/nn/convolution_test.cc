// Convolutions that are learned: values and gradients against LibTorch's, in
// double precision.

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/nn/torch/convolution_torch.h"
#include "tara/nn/torch/cpu_tensors_torch.h"

namespace tara::nn {
namespace {

using ::testing::ElementsAre;

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
