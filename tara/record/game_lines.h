#ifndef TARA_RECORD_GAME_LINES_H_
#define TARA_RECORD_GAME_LINES_H_

// Games as JSON lines (docs/reference/rules.md section 12): the form in which
// games are exchanged with other programs, one finished game a line, with every
// legal action at every step. A game with rule options has one more field,
// "options": {"name": value, ...}, true or false for switches, else a number;
// a step may have a field "note", text for people.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"

namespace tara::record {

// A game from its first position, or from one that was set up.
struct GameLine {
  State initial;
  std::vector<Action> actions;
  // One per action, "" for an action without a note; or empty.
  std::vector<std::string> notes = {};
};

// Replays the game of a line through the rules and returns it.
//
// Returns INVALID_ARGUMENT with the first difference (the step from 1, the
// expected and the actual value) when a seat, a list of legal actions, an
// action or the result contradicts the rules; when the game is not finished;
// when a field is missing, unknown, ill-typed or given twice; or, with the
// byte, when the line is malformed JSON.
absl::StatusOr<GameLine> ParseGameLine(absl::string_view json_line);

// Returns the game of a text as people have it, finished or not: a JSON line
// that may lack the result, and of steps all but their actions; or a variant,
// its rule options if it has any, and actions:
//
//   sacred_hill_l1 compensation=2.5,pie_rule=true D4 swap E6
//
// or a position as CompletePosition reads it, and, after all of its nine
// fields, actions:
//
//   four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - - D5 E4
//
// The fields that are present must agree with the rules. Errors as
// ParseGameLine.
absl::StatusOr<GameLine> ParseGameText(absl::string_view game);

// Returns the line, without '\n', of the game played from `initial`.
// Returns INVALID_ARGUMENT if `initial` is not a start position, or an action
// is illegal, or the game is not finished after the last.
absl::StatusOr<std::string> GameToLine(const State& initial,
                                       absl::Span<const Action> actions);

// Returns the line of a game with its notes; without the field "result" if the
// game is not finished: ParseGameText reads it, ParseGameLine does not. Errors
// as GameToLine otherwise.
absl::StatusOr<std::string> GameToText(const GameLine& game);

// Returns the outcome as the JSON object of the field "result".
std::string OutcomeToJson(const Outcome& outcome);

}  // namespace tara::record

#endif  // TARA_RECORD_GAME_LINES_H_
