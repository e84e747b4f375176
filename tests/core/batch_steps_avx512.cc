#include "tests/core/batch_steps.h"
#include "tests/core/batch_steps_lanes.h"

namespace tara::batch {

StepFunctions Avx512Steps() { return Steppers<InstructionSet::kAvx512>::All(); }

}  // namespace tara::batch
