#ifndef TARA_CORE_VALIDATE_H_
#define TARA_CORE_VALIDATE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {

// Returns OK if the rules can go on from the position: it keeps the invariants
// of State, has the kings, phase, links and counters that its variant can have
// then, and is settled (the seat to move has a legal action). It need not be
// reachable; a position with colours and seats exchanged
// (docs/reference/rules.md section 11) is as good as the original.
//
// Returns INVALID_ARGUMENT, saying what is impossible, where, and what was
// expected, otherwise.
absl::Status ValidatePosition(const State& state);

}  // namespace tara

namespace tara::internal {

// Private to validate: what one family of rules asks of a position.

inline bool IsFamily(const State& state, Family family) {
  return Info(state.variant).family == family;
}

template <typename... Parts>
absl::Status Impossible(const State& state, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(
      "impossible ", Info(state.variant).id, " position: ", parts...));
}

inline std::string FirstHillText(Board board) {
  return HillToText(FirstHill(board));
}

// Checks the kings and what else is particular to the position's family.
// REQUIRES: fields, boards, ending and counters have been checked.
absl::Status ValidateFamily(const State& state);

}  // namespace tara::internal

#endif  // TARA_CORE_VALIDATE_H_
