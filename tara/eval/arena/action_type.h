#ifndef TARA_EVAL_ARENA_ACTION_TYPE_H_
#define TARA_EVAL_ARENA_ACTION_TYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/state.h"

namespace tara::eval {

// The effect of an action.
enum class ActionType : uint8_t {
  kBuild,      // on a vacant hill, by hand or by a king's move
  kCapture,    // of a ringfort
  kBacktrack,  // a king's move to a friendly ringfort
  kSacrifice,  // the same, and the ringfort is given up
  kSwap,       // of a ringfort; or the pie rule's
  kLink,
  kPass,
};
inline constexpr int kNumActionTypes = 7;

// Returns "build", "capture", "backtrack", "sacrifice", "swap", "link", "pass".
absl::string_view ActionTypeName(ActionType type);

// Returns the type of an action. REQUIRES: it is legal.
ActionType TypeOf(const State& state, Action action);

// Returns the action of the largest weight that is not of the type; `choice` if
// all are. `policy` has a weight per legal action, or is empty: then the first
// of the others. REQUIRES: `choice` is legal.
Action WithoutType(const State& state, absl::Span<const float> policy,
                   Action choice, ActionType avoided);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ACTION_TYPE_H_
