#ifndef TARA_NN_TORCH_LAYERS_TORCH_H_
#define TARA_NN_TORCH_LAYERS_TORCH_H_

// Layers of the network that LibTorch would compute in several passes over the
// tower each. Learning on the CPU spends as much time in such passes as in
// convolutions. Here each takes two passes there and two back, for float32 and
// bfloat16 in channels-last memory on the CPU; in all other cases, and without
// gradients, the operators of LibTorch do the same. Values stored as bfloat16
// are computed in float32.
//
// Sums are taken over parts of a fixed size, then over the parts in order:
// results do not depend on the number of threads.

// Learning on the CPU spends most of its time in convolutions of 3 x 3: there
// they, their gradients and those of their filters are Winograd's
// (tara/nn/cpu/winograd.h), which takes a third of the products.

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace tara::nn {

// Returns ReLU(norm(input) + residual + bias): [B, C, H, W], as `input` and
// `residual`; `bias` is [B, C], of every place of a channel. Both may be
// undefined. The type is that of `input`. In training, moves the norm's running
// means as LibTorch does.
at::Tensor NormRelu(const at::Tensor& input, torch::nn::BatchNorm2dImpl& norm,
                    const at::Tensor& residual = {},
                    const at::Tensor& bias = {});

// Returns the mean and the maximum over the hills of each channel: [B, 2C] from
// `values` [B, C, 7, 7], non-negative, and `hills` [1, 1, 7, 7], 1 on hills.
at::Tensor PoolHills(const at::Tensor& values, const at::Tensor& hills);

// Returns `convolution(input)` up to rounding. If gradients are needed, our own
// kernels compute it in one case: 3 x 3 with a padding of 1 over the 7 x 7
// grid, without bias, float32 in channels-last memory on the CPU, whole vectors
// of channels. Sums are taken over parts of a fixed size, then over the parts
// in order: results do not depend on the number of threads.
at::Tensor Convolve(torch::nn::Conv2d& convolution, const at::Tensor& input);

// Inputs of the layers below, and how their work is divided.

// Whether a layer of ours can take the tensor, and LibTorch records what is
// done with it: [B, C, H, W] of float32 or bfloat16 in channels-last memory of
// the CPU.
inline bool IsFusable(const at::Tensor& tensor) {
  return tensor.device().is_cpu() &&
         (tensor.scalar_type() == at::kFloat ||
          tensor.scalar_type() == at::kBFloat16) &&
         tensor.dim() == 4 &&
         tensor.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         at::GradMode::is_enabled();
}

// Calls compute(part) for 0 .. parts - 1, on the threads of LibTorch
// (SetTorchThreads).
void ForEachPart(int64_t parts, const std::function<void(int64_t)>& compute);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_LAYERS_TORCH_H_
