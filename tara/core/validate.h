#ifndef TARA_CORE_VALIDATE_H_
#define TARA_CORE_VALIDATE_H_

#include "absl/status/status.h"
#include "tara/core/state.h"

namespace tara {

// Returns OK if play can continue from the position: it keeps the invariants
// of State, has the kings, phase, links and counters that its variant can have
// then, and is settled (the seat to move has a legal action). It need not be
// reachable; a position with colours and seats exchanged
// (docs/reference/rules.md section 11) is as good as the original.
//
// Returns INVALID_ARGUMENT, saying what is impossible, where, and what was
// expected, otherwise.
absl::Status ValidatePosition(const State& state);

}  // namespace tara

#endif  // TARA_CORE_VALIDATE_H_
