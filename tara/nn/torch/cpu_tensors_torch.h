#ifndef TARA_NN_TORCH_CPU_TENSORS_TORCH_H_
#define TARA_NN_TORCH_CPU_TENSORS_TORCH_H_

// The tensors that the learner's own layers take, and the division of their
// work. Only for the .cc files of such layers: this header brings LibTorch
// along.

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace tara::nn {

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

#endif  // TARA_NN_TORCH_CPU_TENSORS_TORCH_H_
