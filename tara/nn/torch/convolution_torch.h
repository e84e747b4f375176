#ifndef TARA_NN_TORCH_CONVOLUTION_TORCH_H_
#define TARA_NN_TORCH_CONVOLUTION_TORCH_H_

// The network's convolutions, in LibTorch. Learning on the CPU spends most of
// its time in convolutions of 3 x 3. They, their gradients and the gradients of
// their filters use Winograd's method there (winograd_layer.h), which needs a
// third of the products.

#include <torch/torch.h>

namespace tara::nn {

// Returns `convolution(input)` up to rounding. If gradients are needed, our own
// kernels compute it in one case: 3 x 3 with a padding of 1 over the 7 x 7
// grid, without bias, float32 in channels-last memory on the CPU, whole vectors
// of channels. Sums are taken over parts of a fixed size, then over the parts
// in order: results do not depend on the number of threads.
at::Tensor Convolve(torch::nn::Conv2d& convolution, const at::Tensor& input);

}  // namespace tara::nn

#endif  // TARA_NN_TORCH_CONVOLUTION_TORCH_H_
