#ifndef TARA_NN_TORCH_FUSED_LAYERS_TORCH_H_
#define TARA_NN_TORCH_FUSED_LAYERS_TORCH_H_

// Layers of the network that LibTorch would compute in several passes over the
// tower each. Learning on the CPU spends as much time in such passes as in
// convolutions. Here each takes two passes there and two back, for float32 and
// bfloat16 in channels-last memory on the CPU; in all other cases, and without
// gradients, the operators of LibTorch do the same. Values stored as bfloat16
// are computed in float32.
//
// Sums are taken over parts of a fixed size, then over the parts in order:
// results do not depend on the number of threads.

#include <torch/torch.h>

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

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_FUSED_LAYERS_TORCH_H_
