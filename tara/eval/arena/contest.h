#ifndef TARA_EVAL_ARENA_CONTEST_H_
#define TARA_EVAL_ARENA_CONTEST_H_

// What the results of games are told apart by (result_store.h).

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/result_store.h"
#include "tara/eval/players/make_player.h"

namespace tara::eval {

// Returns who the player or the team (team_spec.h) of a spec is: the spec
// itself; for a network the checksum of its file in the place of the path, for
// a run's newest checkpoint is another one tomorrow, and a file may be moved,
// and with the number type that it computes in (WithPrecision); for an engine
// its command, the time it has for an action, and the name and version that it
// calls itself by.
// Returns INVALID_ARGUMENT for what is no spec, or the error of finding or
// reading the file or of starting the engine.
absl::StatusOr<std::string> PlayerIdentity(absl::string_view spec);

// Returns the number types of networks' games in a results file, which must
// outlive what is returned. Errors of the file.
EarlierPrecisions EarlierPrecisionsIn(ResultStore& store);

// Returns all that the games of an arena depend on beside its players and how
// many there are. `openings` names how openings are chosen, `time_control` the
// clocks, each as the user says it.
std::string ArenaConditions(const ArenaOptions& options,
                            absl::string_view openings = "",
                            absl::string_view time_control = "");

// Lets an arena go on where the games of its contest in the store end, and
// keeps its further games there. The store must outlive the arena.
absl::Status GoOnWith(ResultStore& store, const Contest& contest,
                      ArenaOptions& options);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_CONTEST_H_
