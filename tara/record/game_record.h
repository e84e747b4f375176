#ifndef TARA_RECORD_GAME_RECORD_H_
#define TARA_RECORD_GAME_RECORD_H_

// Game records and the core: making records of games that are played, and
// replaying records, which trusts nothing that they say.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"

namespace tara {

// Version of the schema in proto/game.proto. Raised when old records can no
// longer be read as they stand.
inline constexpr uint32_t kGameSchemaVersion = 1;

// Version of docs/rules.md that the core implements. Raised when a game that
// was legal, or its result, would no longer be the same.
inline constexpr uint32_t kRulesVersion = 1;

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

// Sets the result of the game from its last position.
// REQUIRES: `last.finished()`.
void SetResult(const State& last, proto::GameRecord& record);

// Returns an outcome as it is recorded.
proto::GameResult ResultToProto(const Outcome& outcome);

// Returns the start position of a record's game. INVALID_ARGUMENT for an
// unknown variant or bad rule options; FAILED_PRECONDITION for a record of
// another schema or rules version.
absl::StatusOr<State> InitialStateOf(const proto::GameRecord& record);

// A record replayed through the core.
struct ReplayedGame {
  // states[ply] is the position before steps[ply]; the last one is finished.
  // Size: steps + 1.
  std::vector<State> states;
  Outcome outcome;
};

// Replays a finished game. Errors as InitialStateOf, and INVALID_ARGUMENT for
// an illegal action, search statistics that cannot be (lists of different
// length, an illegal or repeated visited action, no visits, a root value
// outside [-1, 1]), steps after the end, no end, or another result than the
// core's. Messages name the game index and the ply (from 0).
absl::StatusOr<ReplayedGame> Replay(const proto::GameRecord& record);

// Returns OK if Replay succeeds, else its error.
absl::Status ValidateRecord(const proto::GameRecord& record);

}  // namespace tara

#endif  // TARA_RECORD_GAME_RECORD_H_
