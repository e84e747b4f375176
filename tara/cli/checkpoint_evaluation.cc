#include "tara/cli/checkpoint_evaluation.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/gate.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/engine_player.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/players/team.h"
#include "tara/train/config/config_options.h"
#include "tara/train/play/game_plan.h"

namespace tara::cli {
namespace {

// Returns the player of a checkpoint. Its text has all that decides its games
// next to the file, and the name of that, not the folder.
absl::StatusOr<eval::PlayerSpec> CheckpointPlayer(
    const std::string& path, const proto::InferenceConfig& inference,
    uint32_t simulations) {
  eval::PlayerSpec player =
      eval::NetworkPlayer(std::filesystem::path(path).filename().string(),
                          static_cast<int>(simulations));
  player.file = path;
  const std::pair<const char*, const std::string&> options[] = {
      {"device", inference.device()},
      {"backend", inference.backend()},
      {"precision", inference.precision()}};
  for (const auto& [name, value] : options) {
    TARA_ASSIGN_OR_RETURN(player, eval::WithOption(player, name, value));
  }
  return player;
}

// A match of a checkpoint.
struct Match {
  eval::ArenaOptions options;
  eval::PlayerSpec player;
  eval::PlayerSpec opponent;
  std::string name;  // of the opponent, for people
};

// Returns the results of matches, in their order. A fleet, which may be null,
// plays them all concurrently, except those whose games would differ on other
// machines. `on_progress` may be empty.
absl::StatusOr<std::vector<eval::ArenaResult>> PlayMatches(
    const proto::TrainConfig& config, const std::vector<Match>& matches,
    fleet::Fleet* fleet, const StopCheck& stop,
    const std::function<void(const train::StrengthProgress&)>& on_progress) {
  int games_wanted = 0;
  std::vector<size_t> elsewhere, here;  // places
  for (size_t i = 0; i < matches.size(); ++i) {
    games_wanted += matches[i].options.games;
    const bool by_fleet =
        fleet != nullptr && eval::CheckSameEverywhere(matches[i].opponent).ok();
    (by_fleet ? elsewhere : here).push_back(i);
  }
  std::vector<std::atomic<int>> games(matches.size());
  std::vector<eval::ArenaResult> results(matches.size());
  const auto play = [&](size_t i, fleet::Fleet* by,
                        const StopCheck& is_over) -> absl::Status {
    const Match& match = matches[i];
    eval::ArenaOptions arena = match.options;
    arena.stop = is_over;
    const auto show = [&](const eval::ArenaProgress& progress) {
      games[i] = progress.games_done;
      if (on_progress) {
        on_progress({.opponent = match.name,
                     .games = std::accumulate(games.begin(), games.end(), 0),
                     .games_wanted = games_wanted});
      }
      return true;
    };
    TARA_ASSIGN_OR_RETURN(
        results[i],
        by != nullptr
            ? eval::PlayArenaOnFleet(arena, eval::MakeTeam({match.player}),
                                     eval::MakeTeam({match.opponent}), *by,
                                     show)
            : eval::PlayArenaInParallel(
                  arena, eval::NewPlayerFactory(match.player),
                  eval::NewPlayerFactory(match.opponent),
                  static_cast<int>(config.self_play().threads()), show));
    games[i] = match.options.games;  // a sequential test may end earlier
    return absl::OkStatus();
  };
  const auto play_all = [&](const std::vector<size_t>& places,
                            fleet::Fleet* by) {
    return fleet::PlayAll(by, places.size(), stop,
                          [&](size_t i, const StopCheck& is_over) {
                            return play(places[i], by, is_over);
                          });
  };
  TARA_RETURN_IF_ERROR(play_all(elsewhere, fleet));
  TARA_RETURN_IF_ERROR(play_all(here, /*by=*/nullptr));
  if (stop()) return absl::CancelledError("the matches were interrupted");
  return results;
}

struct Opponent {
  eval::PlayerSpec player;
  std::string name;  // for people
};

absl::StatusOr<std::vector<Opponent>> MakeOpponents(
    const proto::TrainConfig& config, const train::StrengthRequest& request) {
  std::vector<Opponent> opponents;
  for (const std::string& spec : config.evaluation().opponent()) {
    TARA_ASSIGN_OR_RETURN(const eval::PlayerSpec player,
                          eval::ParsePlayerSpec(spec));
    TARA_ASSIGN_OR_RETURN(eval::PlayerSpec chosen, eval::WithPrecision(player));
    opponents.push_back({std::move(chosen), spec});
  }
  if (request.is_final && !request.first_checkpoint_path.empty() &&
      request.first_checkpoint_path != request.checkpoint_path) {
    TARA_ASSIGN_OR_RETURN(
        eval::PlayerSpec player,
        CheckpointPlayer(request.first_checkpoint_path, request.inference,
                         config.evaluation().simulations()));
    opponents.push_back(
        {std::move(player),
         std::filesystem::path(request.first_checkpoint_path).stem().string()});
  }
  return opponents;
}

}  // namespace

train::StrengthResult MeasureStrength(Variant variant,
                                      const std::string& opponent,
                                      const eval::ArenaResult& result) {
  return {.variant = std::string(Info(variant).id),
          .opponent = opponent,
          .games = result.games,
          .wins = result.wins,
          .draws = result.draws,
          .losses = result.losses,
          .score = result.score,
          .score_low = result.score_low,
          .score_high = result.score_high,
          .forfeits = result.faults_b};
}

absl::Status CheckOpponents(const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  for (const std::string& text : config.evaluation().opponent()) {
    const absl::StatusOr<eval::PlayerSpec> spec = eval::ParsePlayerSpec(text);
    absl::Status status = spec.status();
    if (status.ok()) {
      status = spec->kind == eval::PlayerKind::kEngine
                   ? eval::CheckEngine(spec->engine, starts)
                   : eval::NewPlayerFactory(*spec)().status();
    }
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("evaluation.opponent: ", text, ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<train::StrengthResult>> EvaluateCheckpoint(
    const proto::TrainConfig& config, const train::StrengthRequest& request,
    fleet::Fleet* fleet, const StopCheck& stop) {
  const proto::EvaluationConfig& evaluation = config.evaluation();
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec player,
      CheckpointPlayer(request.checkpoint_path, request.inference,
                       evaluation.simulations()));
  TARA_ASSIGN_OR_RETURN(const std::vector<Opponent> opponents,
                        MakeOpponents(config, request));
  eval::ArenaOptions options;
  options.games = static_cast<int>(request.is_final ? evaluation.final_games()
                                                    : evaluation.games());
  // Other openings for each checkpoint, so that their luck does not add up; and
  // for each gate (tara/eval/arena/gate.h).
  options.seed =
      DeriveSeed(config.seed(), request.generation, StreamPurpose::kArena);
  std::vector<Match> matches;
  for (const Opponent& opponent : opponents) {
    options.concurrent_games = eval::GamesAtATime(
        opponent.player, eval::ArenaOptions().concurrent_games);
    for (const State& start : starts) {
      options.variant = start.variant;
      options.rule_options = start.options;
      matches.push_back({options, player, opponent.player, opponent.name});
    }
  }
  TARA_ASSIGN_OR_RETURN(
      const std::vector<eval::ArenaResult> played,
      PlayMatches(config, matches, fleet, stop, request.on_progress));
  std::vector<train::StrengthResult> results;
  for (size_t i = 0; i < matches.size(); ++i) {
    results.push_back(MeasureStrength(matches[i].options.variant,
                                      matches[i].name, played[i]));
  }
  return results;
}

absl::StatusOr<std::vector<train::GateResult>> PlayGate(
    const proto::TrainConfig& config, const train::GateRequest& request,
    fleet::Fleet* fleet, const StopCheck& stop) {
  const uint32_t simulations = config.gate().simulations();
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec candidate,
      CheckpointPlayer(request.candidate_path, request.inference, simulations));
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec best,
      CheckpointPlayer(request.best_path, request.inference, simulations));
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  const eval::GateOptions gate = {
      .starts = starts,
      .games = static_cast<int>(config.gate().games()),
      .max_drop_elo = config.gate().max_drop_elo(),
      .run_seed = config.seed(),
      .candidate = static_cast<uint64_t>(request.candidate)};
  const std::string name =
      std::filesystem::path(request.best_path).stem().string();
  std::vector<Match> matches;
  for (const eval::ArenaOptions& options : eval::GateMatches(gate)) {
    matches.push_back({options, candidate, best, name});
  }
  TARA_ASSIGN_OR_RETURN(
      const std::vector<eval::ArenaResult> played,
      PlayMatches(config, matches, fleet, stop, request.on_progress));
  std::vector<train::GateResult> results;
  for (size_t i = 0; i < matches.size(); ++i) {
    results.push_back(
        {.result = MeasureStrength(matches[i].options.variant, name, played[i]),
         .weaker = eval::IsWeaker(played[i])});
  }
  return results;
}

}  // namespace tara::cli
