#ifndef TARA_NN_TORCH_CONVOLUTION_TORCH_H_
#define TARA_NN_TORCH_CONVOLUTION_TORCH_H_

// The network's convolutions, in LibTorch. Learning on the CPU spends most of
// its time in those of 3 x 3: there they, their gradients and those of their
// filters are Winograd's (winograd_layer.h), which takes a third of the
// products.

#include <torch/torch.h>

namespace tara::nn {

// Returns what `convolution(input)` returns, but for rounding. Where gradients
// are wanted, by our own kernels, if they know the case: 3 x 3 with a padding
// of 1 over the 7 x 7 grid, without bias, float32 in channels-last memory on
// the CPU, whole vectors of channels. Sums are taken over parts of a fixed
// size, then over the parts in order: results do not depend on the number of
// threads.
at::Tensor Convolve(torch::nn::Conv2d& convolution, const at::Tensor& input);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_CONVOLUTION_TORCH_H_
