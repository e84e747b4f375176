#include "tests/core/batch_steps.h"
#include "tests/core/batch_steps_lanes.h"

namespace tara::batch {

StepFunctions Avx2Steps() { return Steppers<InstructionSet::kAvx2>::All(); }

}  // namespace tara::batch
