#ifndef TARA_NN_TRAINING_AUTOCAST_TORCH_H_
#define TARA_NN_TRAINING_AUTOCAST_TORCH_H_

#include <c10/core/DeviceType.h>

namespace tara::nn {

// While it lives, and if `enabled`, LibTorch computes what this thread starts
// on the kind of device in bfloat16 where that does no harm (convolutions and
// linear layers), and in float32 elsewhere. Weights stay float32. Gradients
// follow the types of the forward pass: backward() comes after its end.
// bfloat16 has the range of float32, so losses need no scaling.
class Autocast {
 public:
  Autocast(c10::DeviceType device, bool enabled);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const c10::DeviceType device_;
  const bool enabled_;
};

}  // namespace tara::nn

#endif  // TARA_NN_TRAINING_AUTOCAST_TORCH_H_
