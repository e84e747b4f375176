#ifndef TARA_RECORD_GAME_RECORD_H_
#define TARA_RECORD_GAME_RECORD_H_

// Game records and the core: making records of games that are played, and
// replaying records, which trusts nothing that they say.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara::record {

// Version of the schema in proto/game.proto, which new records have. Raised
// when older programs would misread new records. Older versions are read as
// they stand, from kOldestGameSchemaVersion on.
//   2: policy targets in addition to visits; resigned games.
inline constexpr uint32_t kGameSchemaVersion = 2;
inline constexpr uint32_t kOldestGameSchemaVersion = 1;

// Where a game comes from.
struct GameOrigin {
  uint64_t seed = 0;          // of the game's random stream
  std::string model_id = {};  // the player, e.g. a checkpoint's name
  uint32_t generation = 0;    // of checkpoints
  uint64_t game_index = 0;    // unique within a run
};

// Returns a record without steps and result of a game that starts as
// InitialState(initial.variant, initial.options).
proto::GameRecord NewGameRecord(const State& initial, const GameOrigin& origin);

// Appends an action without search statistics and returns the step, for the
// caller to add them: visited_action and visits in parallel, root_value.
proto::Step& AddStep(Action action, proto::GameRecord& record);

// Sets a policy target that is not the visits. `shares` has one for each of
// `actions`, in any unit; those below 1/131070 of the largest are lost.
// REQUIRES: one share per action; none negative; at least one positive.
void SetPolicyTarget(absl::Span<const Action> actions,
                     absl::Span<const float> shares, proto::Step& step);

// Sets the bounds of the final margin, for the side to move, that are proved
// at a step in `state`; or leaves them out where the result is not proved by
// them. REQUIRES: low <= high.
void SetProved(int low, int high, const State& state, proto::Step& step);

// Returns the proved result of a step in `state` for the side to move: 1 won, 0
// drawn, -1 lost; no value where none is proved.
std::optional<int> ProvedResult(const proto::Step& step, const State& state);

// Sets the result of the game from its last position.
// REQUIRES: `last.finished()`.
void SetResult(const State& last, proto::GameRecord& record);

// Sets the result of a game that the side to move at `last` resigns.
// REQUIRES: `last` is not finished.
void SetResigned(const State& last, proto::GameRecord& record);

// Sets the result of a game that ends at `last` with this margin, Red's points
// minus Blue's as scored. The caller says why: forfeited_by or adjudication.
// REQUIRES: `last` is not finished.
void SetMargin(const State& last, int red_margin, proto::GameRecord& record);

// Returns Red's points minus Blue's, as scored. REQUIRES: a record with a
// result.
int RedMargin(const proto::GameRecord& record);

// Returns how a game ended: as the rules say, or "resigned", "time" and "fault"
// of forfeits, "proof" and "agreement" of adjudication, "unknown".
absl::string_view EndingOf(const proto::GameRecord& record);

// Returns the half points that Blue's side is given by a record's rule options.
int CompensationHalves(absl::string_view rule_options);

// Returns the number of actions.
int LengthOf(const proto::GameRecord& record);

// Returns the actions. REQUIRES: a record that Replay accepts, or one made by
// AddStep.
std::vector<Action> ActionsOf(const proto::GameRecord& record);

// Returns an outcome as it is recorded.
proto::GameResult ResultToProto(const Outcome& outcome);

// Returns the start position of a record's game. INVALID_ARGUMENT for an
// unknown variant or bad rule options; FAILED_PRECONDITION for a record of
// another schema or rules version.
absl::StatusOr<State> InitialStateOf(const proto::GameRecord& record);

// A record replayed through the core.
struct ReplayedGame {
  // states[ply] is the position before steps[ply]; the last one is finished,
  // unless the game ended before its end. Size: steps + 1.
  std::vector<State> states;
  // Of a game that ended before its end: as its result says, with
  // Ending::kNone; of a resigned one the winner is right, the margin means
  // nothing.
  Outcome outcome;
  std::optional<Side> resigned_by;

  // Whether the game was played to its end.
  bool finished() const { return states.back().finished(); }
};

// Replays a game. Errors as InitialStateOf, FAILED_PRECONDITION for a record
// without the steps (unrecorded_length), and
// INVALID_ARGUMENT for an illegal action, search statistics that cannot be
// (lists of different length, an illegal or repeated action, no visits or
// weight, a root value outside [-1, 1], bounds of a proved margin that leave
// the result open), an opening longer than the game, steps after the end, no
// end, a game that was resigned (out of turn), given up or adjudicated after
// its end, or another result than the core's. Messages name the game index and
// the ply (from 0).
absl::StatusOr<ReplayedGame> Replay(const proto::GameRecord& record);

// Whether a search chose the action of a ply: neither drawn for the opening nor
// played by proof. Other positions are not learned from.
inline bool IsChosenBySearch(const proto::GameRecord& record, int ply) {
  return ply >= static_cast<int>(record.opening_plies()) &&
         !record.steps(ply).played_by_proof();
}

// Returns OK if Replay succeeds, else its error.
absl::Status ValidateRecord(const proto::GameRecord& record);

// Repetitions of games. Players without randomness repeat their
// games, or play mirror images of them, which add no information. Estimates
// count such games once (Clusters of tara/eval/statistics/statistics.h).

// Returns the line that stands for all that symmetries of the game make of
// this one: the least, action by action. REQUIRES: the actions begin a game.
std::vector<Action> CanonicalLine(Variant variant,
                                  absl::Span<const Action> actions);

// Returns a number that is equal for games of a variant that are the same up to
// symmetry, and differs for others except with probability 2^-64. 0 for a game
// whose actions are missing or damaged.
uint64_t SameGameKey(const proto::GameRecord& game);

// Games as JSON lines (docs/reference/rules.md section 12): the form in which
// games are exchanged with other programs, one finished game a line, with every
// legal action at every step. A game with rule options has one more field,
// "options": {"name": value, ...}, true or false for switches, else a number;
// a step may have a field "note", text for people.

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

#endif  // TARA_RECORD_GAME_RECORD_H_
