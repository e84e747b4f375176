#ifndef TARA_EVAL_PLAYERS_MAKE_PLAYER_H_
#define TARA_EVAL_PLAYERS_MAKE_PLAYER_H_

// Players of specs, with their networks; their identity in contests of a store
// (proto::Contest); and requests for machines that play games of a contest.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/core/state.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/mcts/evaluator.h"
#include "tara/record/game_store.h"

namespace tara::eval {

// The ready-made network in specs and flags; a file of that name is ./best.
inline constexpr char kReadyMadeName[] = "best";

// Returns the path of the ready-made model bundle, models/tara.tara in
// ProjectFolder(). NOT_FOUND, naming the path, if it is missing.
absl::StatusOr<std::string> FindReadyMadeModel();

// Returns a factory of players of a spec, or of teams, each as one Player,
// which share their network while there are any. Its errors are those of
// FindCheckpoint, of loading the network or of starting the engine.
PlayerFactory NewPlayerFactory(const PlayerSpec& spec);
PlayerFactory NewPlayerFactory(const TeamSpec& team);

// Returns the evaluator of a player that searches: random games, or its
// network. INVALID_ARGUMENT naming the spec for a player without a search;
// otherwise the errors of the factory.
absl::StatusOr<std::shared_ptr<mcts::Evaluator>> MakeEvaluator(
    const PlayerSpec& spec);

// Returns the spec of a player or team with the file of each network, and the
// number type in place of `auto`: "best:precision=int8". Errors of the factory.
absl::StatusOr<PlayerSpec> WithPrecision(const PlayerSpec& spec);
absl::StatusOr<TeamSpec> WithPrecision(const TeamSpec& team);

// Returns the number types of a team's networks, "int8" or "int8, float32";
// empty without a network. REQUIRES: a team as WithPrecision returns it.
std::string PrecisionsOf(const TeamSpec& team);

// Returns the checkpoint file that a path of a spec means: the file itself, or
// the newest checkpoint of a run's folder or of its `checkpoints` folder, as
// named by the file `latest` there; of an empty path, or `best`, the ready-made
// model. NOT_FOUND or DATA_LOSS naming the file that is missing or damaged.
absl::StatusOr<std::string> FindCheckpoint(const std::string& path);

// Returns the file of a spec's network: the one it has, else what its path
// means now. Errors as FindCheckpoint. REQUIRES: of kind kNet.
absl::StatusOr<std::string> NetworkFileOf(const PlayerSpec& spec);

// Returns the contest of games under these conditions.
proto::Contest NewContest(absl::string_view conditions,
                          absl::string_view player_a,
                          absl::string_view player_b);

// Returns the identity of a player or a team: its spec; of a network with the
// checksum of its file in place of the path; of an engine its command, the time
// limit per action, and the name and version that it reports. Errors of reading
// the file or of starting the engine. REQUIRES: a spec from WithPrecision.
absl::StatusOr<std::string> PlayerIdentity(const PlayerSpec& spec);
absl::StatusOr<std::string> PlayerIdentity(const TeamSpec& team);

// A player or team in contests.
struct Contestant {
  TeamSpec given;        // as it was given
  TeamSpec team;         // with the number types of its networks
  std::string identity;  // PlayerIdentity; empty without a store
  PlayerFactory make;    // each thread needs a player of its own
};

// Returns the contestant of a team, with an identity if its games are stored.
// Errors of WithPrecision and PlayerIdentity.
absl::StatusOr<Contestant> MakeContestant(const TeamSpec& team, bool stored);

// Returns the number of threads that search at a time in a game of two teams.
int ThreadsOfAGame(const TeamSpec& a, const TeamSpec& b);

// Returns FAILED_PRECONDITION naming a player whose games depend on the
// machine: an engine, or a player with a time limit.
absl::Status CheckSameEverywhere(const PlayerSpec& player);

// Games that other machines play (tara/fleet/fleet.h).
struct RemoteContest {
  proto::ContestRequest request;   // without the rules of the games
  std::vector<std::string> files;  // of the networks, in the players' order
};

// Returns the request for games of these teams from `start`. Errors of
// CheckSameEverywhere and FindCheckpoint. REQUIRES: teams from WithPrecision.
absl::StatusOr<RemoteContest> NewRemoteContest(
    const State& start, uint64_t seed, absl::Span<const TeamSpec> teams);

// Returns the teams of a request, and sets its start position. `files` are the
// local paths of the networks. INVALID_ARGUMENT for an invalid request.
absl::StatusOr<std::vector<TeamSpec>> ParseTeams(
    const proto::ContestRequest& request, absl::Span<const std::string> files,
    State& start);

// Returns INVALID_ARGUMENT naming what contradicts the game's beginning.
absl::Status CheckBegunAs(const proto::GameRecord& begun,
                          const proto::GameRecord& game);

// Starts the program and returns its "name version" in printable ASCII
// characters; "\xNN" stands for any other byte. Errors describe the program's
// behaviour and contain the command.
absl::StatusOr<std::string> EngineName(const EngineSpec& spec);

// Returns a player that uses another program, or the error of starting it. The
// program receives each game from its start. Turns in the middle of a game
// without its actions are an error of the call, unless the engine has the
// command `set_position`; so are a variant that it rejects at the start and a
// failure to start it, for lack of resources or because the program is missing.
// If it ends, exceeds its time limit, or sends a malformed answer or an illegal
// action, the player forfeits the game (Turn::forfeit), and the program is
// restarted for the next one. The player has no reports.
absl::StatusOr<std::unique_ptr<Player>> NewEnginePlayer(const EngineSpec& spec);

// Starts the program and begins a game from each of these start positions.
// Returns the error of starting it, or its answer; both name the engine.
absl::Status CheckEngine(const EngineSpec& spec,
                         absl::Span<const State> starts);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_MAKE_PLAYER_H_
