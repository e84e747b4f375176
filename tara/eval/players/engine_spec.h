#ifndef TARA_EVAL_PLAYERS_ENGINE_SPEC_H_
#define TARA_EVAL_PLAYERS_ENGINE_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tara::eval {

// An engine: another program that plays, asked by the line protocol.
struct EngineSpec {
  std::vector<std::string> command;  // the program and its arguments
  // For its first answer.
  absl::Duration start_limit = absl::Seconds(30);
  // For an action without a clock, and whatever else is asked.
  absl::Duration move_limit = absl::Seconds(60);
  // With a clock: how long after its time is up an answer is still waited for.
  // It loses on time then, but need not be started again.
  absl::Duration grace = absl::Seconds(2);
  // Games that a player of it plays at a time, each with a process.
  int processes = 1;
  // File that its standard error and what is said is added to; empty: none.
  std::string log = {};
};

// Splits a command into words at spaces, as a shell would: quotes, single or
// double, keep text together, a backslash keeps the character after it (within
// double quotes only before a double quote or a backslash). Nothing else is
// special. Returns INVALID_ARGUMENT for a quote that does not end.
absl::StatusOr<std::vector<std::string>> SplitCommand(absl::string_view text);

// Returns the place of the first `mark` in a text that is not in quotes or
// behind a backslash, as SplitCommand has them, or npos.
size_t FindUnquoted(absl::string_view text, char mark, size_t from = 0);

// Parses "CMD[,OPTION=VALUE...]": what follows "engine:" in a player spec. The
// command ends at the first comma outside of quotes. Returns INVALID_ARGUMENT
// saying what is wrong and what was expected.
absl::StatusOr<EngineSpec> ParseEngineSpec(absl::string_view text);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_ENGINE_SPEC_H_
