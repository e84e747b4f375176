#ifndef TARA_EVAL_PLAYERS_CONTEST_H_
#define TARA_EVAL_PLAYERS_CONTEST_H_

// The identity of contests in a store (proto::Contest): the players and their
// number types; and requests for machines that play games of a contest.

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

// Returns the contest of games under these conditions.
proto::Contest NewContest(absl::string_view conditions,
                          absl::string_view player_a,
                          absl::string_view player_b);

// Returns the identity of a player or a team (team.h): its spec. For a network,
// the checksum of its file replaces the path, because a run's newest checkpoint
// changes and files move. For an engine, it has its command, the time limit per
// action, and the name and version that it reports. Returns the error of
// finding or reading the file or of starting the engine. REQUIRES: a spec from
// WithPrecision.
absl::StatusOr<std::string> PlayerIdentity(const PlayerSpec& spec);
absl::StatusOr<std::string> PlayerIdentity(const TeamSpec& team);

// A player or team in contests.
struct Contestant {
  TeamSpec team;         // with the number types of its networks
  std::string identity;  // PlayerIdentity; empty without a store
  PlayerFactory make;    // each thread needs a player of its own
};

// Returns the contestant of a team, with an identity if its games are stored.
// Errors of WithPrecision and PlayerIdentity.
absl::StatusOr<Contestant> MakeContestant(const TeamSpec& team, bool stored);

// Returns the number of threads that search concurrently in a game of two
// teams.
int ThreadsOfAGame(const TeamSpec& a, const TeamSpec& b);

// Returns FAILED_PRECONDITION naming a player whose games depend on the
// machine: an engine, or a player with a time limit.
absl::Status CheckSameEverywhere(const PlayerSpec& player);

// Games that other machines play (tara/fleet/fleet.h).
struct RemoteContest {
  proto::ContestRequest request;   // without the rules of the games
  std::vector<std::string> files;  // of the networks, in the players' order
};

// Returns the request for games of these players or teams from `start`.
// REQUIRES: teams from WithPrecision. Errors of CheckSameEverywhere and
// FindCheckpoint.
absl::StatusOr<RemoteContest> NewRemoteContest(
    const State& start, uint64_t seed, absl::Span<const TeamSpec> teams);

// Returns the players or teams of a request, and sets its start position.
// `files` are the local paths of the networks. INVALID_ARGUMENT for an invalid
// request.
absl::StatusOr<std::vector<TeamSpec>> ParseTeams(
    const proto::ContestRequest& request, absl::Span<const std::string> files,
    State& start);

// Returns INVALID_ARGUMENT naming what contradicts the beginning of the game,
// `begun`.
absl::Status CheckBegunAs(const proto::GameRecord& begun,
                          const proto::GameRecord& game);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_CONTEST_H_
