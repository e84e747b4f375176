#ifndef TARA_TESTS_FUZZ_FUZZING_H_
#define TARA_TESTS_FUZZ_FUZZING_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"

namespace tara {

// Plays the actions that the bytes choose (the n-th legal one, modulo their
// number), until the bytes or the game end, and checks each position.
inline void PlayByBytes(State state, absl::string_view bytes) {
  for (const char byte : bytes) {
    const LegalSet legal = LegalActions(state);
    TARA_CHECK(legal.empty() == state.finished(), "a seat without an action");
    if (state.finished()) break;
    const Action action = legal.Nth(static_cast<uint8_t>(byte) % legal.Count());
    TARA_CHECK(legal.Contains(action), "the n-th legal action is illegal");
    TARA_CHECK(PlayAction(action, state).ok(), "a legal action was refused");
    TARA_CHECK(ValidatePosition(state).ok(), "an invalid position");
    const absl::StatusOr<State> parsed = ParsePosition(PositionToText(state));
    TARA_CHECK(parsed.ok() && *parsed == state, "text and position differ");
  }
  const Outcome outcome = Score(state);
  TARA_CHECK(outcome.points[kRed] >= 0 && outcome.points[kBlue] >= 0,
             "negative points");
}

}  // namespace tara

#endif  // TARA_TESTS_FUZZ_FUZZING_H_
