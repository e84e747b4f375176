#include "tara/nn/light/light_integers.h"
#include "tara/nn/light/light_kernel_templates.h"

namespace tara::nn::internal {

LightKernels PlainLightKernels() {
  return LightKernelCode<PlainVector>::Table("portable");
}

}  // namespace tara::nn::internal
