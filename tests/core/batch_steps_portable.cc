#include "tests/core/batch_steps.h"
#include "tests/core/batch_steps_lanes.h"

namespace tara::batch {

StepFunctions PortableSteps() {
  return Steppers<InstructionSet::kPortable>::All();
}

}  // namespace tara::batch
