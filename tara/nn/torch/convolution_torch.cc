#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tara/core/board.h"
#include "tara/nn/cpu/cpu_kernels.h"
#include "tara/nn/cpu/winograd.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/torch/layers_torch.h"

namespace tara::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kTaps = 3;
// Positions that a thread takes at a time; a filter's gradient is the sum of
// theirs.
constexpr int64_t kPositionsOfPart = 32;

constexpr bool IsWholeBlocks(int64_t channels) {
  return channels % kWinogradBlock == 0;
}

template <size_t kSize>
bool AreAll(const torch::ExpandingArray<kSize>& numbers, int64_t wanted) {
  return std::all_of(numbers->begin(), numbers->end(),
                     [&](int64_t number) { return number == wanted; });
}

// Whether it is a 3 x 3 convolution that keeps the size of the grid.
bool HasKnownShape(const torch::nn::Conv2dImpl& convolution) {
  const auto& options = convolution.options;
  // A std::variant, or c10's in LibTorch 1.
  const auto* const padding =
      get_if<torch::ExpandingArray<2>>(&options.padding());
  return AreAll(options.kernel_size(), kTaps) && padding != nullptr &&
         AreAll(*padding, 1) && AreAll(options.stride(), 1) &&
         AreAll(options.dilation(), 1) && options.groups() == 1;
}

// On the CPU. at::autocast's function for this has another name in LibTorch 2.
bool IsAutocastEnabled() {
  return !c10::impl::tls_is_dispatch_key_excluded(
      c10::DispatchKey::AutocastCPU);
}

bool IsKnown(const torch::nn::Conv2dImpl& convolution,
             const at::Tensor& input) {
  const at::Tensor& weight = convolution.weight;
  return IsFusable(input) && !IsAutocastEnabled() &&
         input.scalar_type() == at::kFloat &&
         weight.scalar_type() == at::kFloat && !convolution.bias.defined() &&
         HasKnownShape(convolution) && input.size(2) == kBoardSize &&
         input.size(3) == kBoardSize && IsWholeBlocks(weight.size(0)) &&
         (input.requires_grad() ? IsWholeBlocks(weight.size(1))
                                : weight.size(1) % 8 == 0);
}

int64_t NumParts(int64_t positions) {
  return (positions + kPositionsOfPart - 1) / kPositionsOfPart;
}

// Calls compute(first, end) for parts of the positions, on all threads.
template <typename Function>
void ForEachRange(int64_t positions, const Function& compute) {
  ForEachPart(NumParts(positions), [&](int64_t part) {
    compute(part * kPositionsOfPart,
            std::min(positions, (part + 1) * kPositionsOfPart));
  });
}

// The convolution with the filters; or, for gradients, with rotated filters and
// their inputs and outputs exchanged.
WinogradLayer LayerOf(const at::Tensor& weight, bool back) {
  const auto outputs = static_cast<int>(weight.size(0));
  const auto inputs = static_cast<int>(weight.size(1));
  WinogradFilters filters = {.in = inputs,
                             .out = outputs,
                             .weights = weight.data_ptr<float>(),
                             .output_stride = weight.stride(0),
                             .input_stride = weight.stride(1),
                             .y_stride = weight.stride(2),
                             .x_stride = weight.stride(3)};
  if (back) {
    std::swap(filters.in, filters.out);
    std::swap(filters.output_stride, filters.input_stride);
    filters.weights += (kTaps - 1) * (filters.y_stride + filters.x_stride);
    filters.y_stride = -filters.y_stride;
    filters.x_stride = -filters.x_stride;
  }
  WinogradLayer layer;
  layer.in = filters.in;
  layer.out = filters.out;
  layer.bias.resize(layer.out);
  layer.floats.resize(size_t{kWinogradPoints} * layer.in * layer.out);
  ForEachPart(layer.out / kWinogradBlock, [&](int64_t block) {
    BestCpuKernels().transform_filters(filters, static_cast<int>(block),
                                       layer.floats.data());
  });
  return layer;
}

at::Tensor Apply(const WinogradLayer& layer, const at::Tensor& input) {
  const at::Tensor output =
      at::empty({input.size(0), layer.out, kBoardSize, kBoardSize},
                input.options().memory_format(at::MemoryFormat::ChannelsLast));
  ForEachRange(input.size(0), [&](int64_t first, int64_t end) {
    const at::Tensor scratch = at::empty({WinogradScratchFloats(layer.in)});
    BestCpuKernels().convolve_floats(
        {.layer = &layer,
         .positions = static_cast<int>(end - first),
         .source = input.data_ptr<float>() + first * kNumSquares * layer.in,
         .destination =
             output.data_ptr<float>() + first * kNumSquares * layer.out,
         .relu = false,
         .scratch = scratch.data_ptr<float>()});
  });
  return output;
}

// [out, in, 3, 3]: the gradient of the filters.
at::Tensor OfFilters(const at::Tensor& input, const at::Tensor& gradient) {
  const auto in = static_cast<int>(input.size(1));
  const auto out = static_cast<int>(gradient.size(1));
  const int64_t positions = input.size(0);
  const at::Tensor parts =
      at::empty({NumParts(positions), kTaps, kTaps, in, out});
  ForEachRange(positions, [&](int64_t first, int64_t end) {
    const at::Tensor scratch =
        at::empty({WinogradGradientScratchFloats(in, out)});
    BestCpuKernels().differentiate_filters(
        {.in = in,
         .out = out,
         .positions = static_cast<int>(end - first),
         .source = input.data_ptr<float>() + first * kNumSquares * in,
         .gradient = gradient.data_ptr<float>() + first * kNumSquares * out,
         .result = parts[first / kPositionsOfPart].data_ptr<float>(),
         .scratch = scratch.data_ptr<float>()});
  });
  at::Tensor sum = parts[0];
  for (int64_t part = 1; part < parts.size(0); ++part) sum += parts[part];
  return sum.permute({3, 2, 0, 1});
}

class WinogradConvolution
    : public torch::autograd::Function<WinogradConvolution> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const at::Tensor& weight) {
    context->save_for_backward({input, weight});
    return Apply(LayerOf(weight, /*back=*/false), input);
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& weight = saved[1];
    const at::Tensor gradient =
        gradients[0].contiguous(at::MemoryFormat::ChannelsLast);
    return {context->needs_input_grad(0)
                ? Apply(LayerOf(weight, /*back=*/true), gradient)
                : at::Tensor(),
            OfFilters(input, gradient)};
  }
};

}  // namespace

at::Tensor Convolve(torch::nn::Conv2d& convolution, const at::Tensor& input) {
  if (!IsKnown(*convolution, input)) return convolution(input);
  return WinogradConvolution::apply(input, convolution->weight);
}

}  // namespace tara::nn
