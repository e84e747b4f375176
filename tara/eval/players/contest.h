#ifndef TARA_EVAL_PLAYERS_CONTEST_H_
#define TARA_EVAL_PLAYERS_CONTEST_H_

// What games of players are told apart by in a store (proto::Contest): who the
// players are, and by which number types; and how such games are played by
// others.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/core/state.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// Returns what games under these conditions are played as.
proto::Contest NewContest(absl::string_view conditions,
                          absl::string_view player_a,
                          absl::string_view player_b);

// Returns who a player or a team (team.h) is: its spec itself; for a network
// the checksum of its file in the place of the path, for a run's newest
// checkpoint is another one tomorrow, and a file may be moved; for an engine
// its command, the time it has for an action, and the name and version that it
// calls itself by.
// Returns the error of finding or reading the file or of starting the engine.
// REQUIRES: a spec as WithPrecision returns it.
absl::StatusOr<std::string> PlayerIdentity(const PlayerSpec& spec);
absl::StatusOr<std::string> PlayerIdentity(const TeamSpec& team);

// A player or team in contests.
struct Contestant {
  TeamSpec team;         // with the number types of its networks
  std::string identity;  // PlayerIdentity; empty without a store
  PlayerFactory make;    // each thread needs a player of its own
};

// Returns the contestant of a team: its networks' number types are those of
// their earlier games in the store, which may be null (WithPrecision). Errors
// as WithPrecision and PlayerIdentity.
absl::StatusOr<Contestant> MakeContestant(const TeamSpec& team,
                                          record::GameStore* store);

// Returns the threads that search at a time in a game of two teams.
int ThreadsOfAGame(const TeamSpec& a, const TeamSpec& b);

// Returns the number types of networks' games in a store, which must outlive
// what is returned. Errors of the file.
EarlierPrecisions EarlierPrecisionsIn(record::GameStore& store);

// Returns FAILED_PRECONDITION naming a player whose games are not the same
// wherever they are played: an engine, or one whose actions time decides.
absl::Status CheckSameEverywhere(const PlayerSpec& player);

// Games of players that others play (tara/fleet/fleet.h).
struct RemoteContest {
  proto::ContestRequest request;   // without the rules of the games
  std::vector<std::string> files;  // of the networks, in the players' order
};

// Returns what others have to know to play games of these players or teams from
// `start`. REQUIRES: teams as WithPrecision returns them. Errors as
// CheckSameEverywhere and FindCheckpoint.
absl::StatusOr<RemoteContest> NewRemoteContest(
    const State& start, uint64_t seed, absl::Span<const TeamSpec> teams);

// Returns the players or teams of a request, and sets the start position that
// it means. The files are where the networks are here. INVALID_ARGUMENT for a
// request that makes no sense.
absl::StatusOr<std::vector<TeamSpec>> TeamsOf(
    const proto::ContestRequest& request, absl::Span<const std::string> files,
    State& start);

// Returns INVALID_ARGUMENT naming what of a game cannot be, where it has been
// begun as this record.
absl::Status CheckBegunAs(const proto::GameRecord& begun,
                          const proto::GameRecord& game);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_CONTEST_H_
