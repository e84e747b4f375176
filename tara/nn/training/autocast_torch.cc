#include "tara/nn/training/autocast_torch.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

// LibTorch 2.4 has one function for all devices, and warns of the others.
#if TORCH_VERSION_MAJOR > 2 || \
    (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
#define TARA_AUTOCAST_BY_DEVICE 1
#else
#define TARA_AUTOCAST_BY_DEVICE 0
#endif

namespace tara::nn {
namespace {

void Set(c10::DeviceType device, bool enabled) {
#if TARA_AUTOCAST_BY_DEVICE
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, enabled);
#else
  if (device == c10::DeviceType::CPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(enabled);
  }
#endif
}

}  // namespace

Autocast::Autocast(c10::DeviceType device, bool enabled)
    : device_(device), enabled_(enabled) {
  if (!enabled_) return;
  at::autocast::increment_nesting();
  Set(device_, true);
}

Autocast::~Autocast() {
  if (!enabled_) return;
  Set(device_, false);
  // Weights in bfloat16 are kept for as long as it lives, not over a step.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

}  // namespace tara::nn
