#ifndef TARA_EVAL_ARENA_CONTEST_H_
#define TARA_EVAL_ARENA_CONTEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/sqlite.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"

namespace tara::eval {

// What games are results of. Games of contests that differ in anything here
// are kept apart: they would not be games of one arena.
struct Contest {
  std::string variant;     // its identifier
  std::string conditions;  // all that says how games are played
  std::string player_a;    // who they are, by whatever they play depends on
  std::string player_b;
};

// Results of games on disk: a SQLite file, to which each game is committed when
// it ends, so that what was played is not lost when a program ends.
// Thread-safe; several processes may use a file at a time.
class ResultStore {
 public:
  // Opens or creates a file. Returns FAILED_PRECONDITION for a file that is
  // none of results, DATA_LOSS for a damaged one, NOT_FOUND for a missing
  // folder; all name the file.
  static absl::StatusOr<std::unique_ptr<ResultStore>> Open(
      const std::string& path);

  // Returns the contest's number in the file, where it is added if need be.
  absl::StatusOr<int64_t> Find(const Contest& contest);

  // Returns the contests that there are games of.
  absl::StatusOr<std::vector<Contest>> Contests();

  // Returns the games of a contest, by pair, A as Red first. Returns DATA_LOSS
  // for a game that can be none.
  absl::StatusOr<std::vector<ArenaGame>> Games(int64_t contest);

  // Adds a game, in the place of the same one if it is there.
  absl::Status Add(int64_t contest, const ArenaGame& game);

 private:
  explicit ResultStore(SqliteDatabase db);
  absl::Status AddFault(int64_t contest, const ArenaGame& game)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  SqliteDatabase db_ ABSL_GUARDED_BY(mutex_);
};

// What the results of games are told apart by.

// Returns who a player or a team (team.h) is: its spec itself; for a network
// the checksum of its file in the place of the path, for a run's newest
// checkpoint is another one tomorrow, and a file may be moved; for an engine
// its command, the time it has for an action, and the name and version that it
// calls itself by.
// Returns the error of finding or reading the file or of starting the engine.
// REQUIRES: a spec as WithPrecision returns it.
absl::StatusOr<std::string> PlayerIdentity(const PlayerSpec& spec);
absl::StatusOr<std::string> PlayerIdentity(const TeamSpec& team);

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
absl::Status ResumeFromStore(ResultStore& store, const Contest& contest,
                             ArenaOptions& options);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_CONTEST_H_
