#include "tara/eval/players/make_player.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tara/base/status_macros.h"
#include "tara/base/thread_time.h"
#include "tara/eval/players/alpha_beta_player.h"
#include "tara/eval/players/engine_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/players.h"
#include "tara/eval/players/ready_made_model.h"
#include "tara/eval/players/search_player.h"
#include "tara/eval/players/team_player.h"
#include "tara/eval/players/team_spec.h"
#include "tara/mcts/alpha_beta/alpha_beta.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/playout_evaluator.h"
#include "tara/nn/inference/network_evaluator.h"

namespace tara {
namespace {

// Playouts draw from the position and this: a player's strength must not
// depend on luck with a seed, and a game is reproduced from its own.
constexpr uint64_t kPlayoutSeed = 0;

AlphaBetaLimits AlphaBetaLimitsOf(const PlayerSpec& spec) {
  AlphaBetaLimits limits = {.nodes = spec.nodes};
  if (spec.depth > 0) limits.depth = spec.depth;
  if (spec.time_ms > 0) limits.time = absl::Milliseconds(spec.time_ms);
  return limits;
}

}  // namespace

absl::StatusOr<std::string> FindCheckpoint(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == kReadyMadeName) return FindReadyMadeModel();
  std::error_code error;  // an unreadable path is not there
  if (!fs::is_directory(path, error)) {
    if (fs::exists(path, error)) return path;
    return absl::NotFoundError(absl::StrCat(
        path,
        ": no such file or folder; expected a checkpoint, a bundle or a run"));
  }
  fs::path folder = fs::path(path) / "checkpoints";
  if (!fs::is_directory(folder, error)) folder = path;
  const fs::path latest = folder / "latest";
  std::ifstream file(latest);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no checkpoint yet; expected the file ",
                     (fs::path(path) / "checkpoints" / "latest").string(),
                     " that names the newest"));
  }
  std::string name;
  std::getline(file, name);
  absl::StripAsciiWhitespace(&name);
  const fs::path checkpoint = folder / name;
  if (name.empty() || !fs::is_regular_file(checkpoint, error)) {
    return absl::DataLossError(
        absl::StrCat(latest.string(), ": names '", name,
                     "'; expected a checkpoint in the same folder"));
  }
  return checkpoint.string();
}

absl::StatusOr<std::unique_ptr<Player>> MakePlayer(absl::string_view text) {
  TARA_ASSIGN_OR_RETURN(const PlayerSpec spec, ParsePlayerSpec(text));
  if (spec.kind == PlayerKind::kRandom) return NewRandomPlayer();
  if (spec.kind == PlayerKind::kGreedy) return NewGreedyPlayer();
  if (spec.kind == PlayerKind::kEngine) return NewEnginePlayer(spec.engine);
  if (spec.kind == PlayerKind::kAlphaBeta) {
    AlphaBetaOptions options;
    if (spec.time_ms > 0) options.clock = ThreadTime;
    return NewAlphaBetaPlayer(AlphaBetaLimitsOf(spec), options);
  }
  // One thread's time is that of the processor: on a busy machine a wall clock
  // would decide games.
  SearchPlayerOptions search = spec.search;
  if (search.threads == 1) search.time_clock = ThreadTime;
  if (spec.kind == PlayerKind::kMcts) {
    return NewSearchPlayer(
        std::make_unique<PlayoutEvaluator>(spec.playouts, kPlayoutSeed),
        search);
  }
  TARA_ASSIGN_OR_RETURN(const std::string checkpoint,
                        FindCheckpoint(spec.path));
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator,
                        LoadNetworkEvaluator(checkpoint, spec.inference));
  if (spec.policy_alone) return NewPolicyPlayer(std::move(evaluator));
  return NewSearchPlayer(std::move(evaluator), search);
}

absl::StatusOr<std::unique_ptr<Player>> MakeTeam(absl::string_view text) {
  TARA_ASSIGN_OR_RETURN(const TeamSpec team, ParseTeamSpec(text));
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<Player> first,
                        MakePlayer(team.texts[0]));
  if (team.seatings() == 1) return first;
  TARA_ASSIGN_OR_RETURN(std::unique_ptr<Player> second,
                        MakePlayer(team.texts[1]));
  return NewTeamPlayer(std::move(first), std::move(second));
}

}  // namespace tara
