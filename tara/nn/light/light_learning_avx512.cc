#include "tara/core/instruction_set.h"
#include "tara/nn/light/light_learning.h"
#include "tara/nn/light/light_learning_templates.h"

namespace tara::nn::internal {

LightLearning Avx512LightLearning() {
  return LightLearningCode<InstructionSet::kAvx512>::Table();
}

}  // namespace tara::nn::internal
