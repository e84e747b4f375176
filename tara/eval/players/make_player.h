#ifndef TARA_EVAL_PLAYERS_MAKE_PLAYER_H_
#define TARA_EVAL_PLAYERS_MAKE_PLAYER_H_

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {

// The name of the ready-made network in specs and flags; a file of that name is
// ./best.
inline constexpr char kReadyMadeName[] = "best";

// Returns the path of the ready-made model bundle, models/tara.tara in
// ProjectFolder(). NOT_FOUND, naming the path, if the file or folder is
// missing.
absl::StatusOr<std::string> FindReadyMadeModel();

// Returns a factory of players of a spec, or of teams, each as one Player.
// Concurrent players share their network, which is loaded with the first of
// them. The factory returns NOT_FOUND for a run without a checkpoint, or the
// error of loading the network or of starting the engine.
PlayerFactory NewPlayerFactory(const PlayerSpec& spec);
PlayerFactory NewPlayerFactory(const TeamSpec& team);

// Returns the evaluator of a player that searches: random games, or its
// network, which is loaded. Returns INVALID_ARGUMENT naming the spec for a
// player of another kind or without a search; otherwise the errors of the
// factory.
absl::StatusOr<std::shared_ptr<mcts::Evaluator>> MakeEvaluator(
    const PlayerSpec& spec);

// Makes a player from a spec (tara/eval/players/player_spec.h, PlayerSpecHelp).
// Returns INVALID_ARGUMENT naming the error in the spec and what was expected,
// or the errors of the factory.
absl::StatusOr<std::unique_ptr<Player>> MakePlayer(absl::string_view spec);

// Returns the spec of a player or team with the file of each network, and with
// the number type in place of `auto`: "best:sims=50,precision=int8". Errors of
// the factory.
absl::StatusOr<PlayerSpec> WithPrecision(const PlayerSpec& spec);
absl::StatusOr<TeamSpec> WithPrecision(const TeamSpec& team);

// Returns the number types of a team's networks, "int8" or "int8, float32";
// empty without a network. REQUIRES: a team as WithPrecision returns it.
std::string PrecisionsOf(const TeamSpec& team);

// Returns the checkpoint file that a path of a spec means: the file itself,
// or the newest checkpoint of a run's folder or of its `checkpoints` folder,
// as named by the file `latest` there. An empty path, or `best`, means the
// ready-made model (tara/eval/players/make_player.h).
// Returns NOT_FOUND or DATA_LOSS naming the file that is missing or damaged.
absl::StatusOr<std::string> FindCheckpoint(const std::string& path);

// Returns the file of a spec's network: the one it has, else what its path
// means now. Errors as FindCheckpoint. REQUIRES: of kind kNet.
absl::StatusOr<std::string> NetworkFileOf(const PlayerSpec& spec);

}  // namespace tara::eval

#endif  // TARA_EVAL_PLAYERS_MAKE_PLAYER_H_
