#include "tara/cli/checkpoint_evaluation.h"

#include <cstdint>
#include <filesystem>
#include <functional>
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
#include "tara/eval/players/engine_player.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/statistics/sprt.h"
#include "tara/train/config/config_options.h"
#include "tara/train/play/game_rules.h"

namespace tara::cli {
namespace {

// Returns the player of a checkpoint.
absl::StatusOr<eval::PlayerSpec> CheckpointPlayer(
    const std::string& path, const proto::InferenceConfig& inference,
    uint32_t simulations) {
  eval::PlayerSpec player =
      eval::NetworkPlayer(path, static_cast<int>(simulations));
  TARA_ASSIGN_OR_RETURN(player.inference, train::InferenceOptionsOf(inference));
  return player;
}

struct Opponent {
  eval::PlayerSpec player;
  std::string name;  // for people
};

absl::StatusOr<std::vector<Opponent>> OpponentsOf(
    const proto::TrainConfig& config, const train::StrengthRequest& request) {
  std::vector<Opponent> opponents;
  for (const std::string& spec : config.evaluation().opponent()) {
    TARA_ASSIGN_OR_RETURN(eval::PlayerSpec player, eval::ParsePlayerSpec(spec));
    opponents.push_back({std::move(player), spec});
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

train::StrengthResult StrengthOf(Variant variant, const std::string& opponent,
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
                   : eval::FactoryOf(*spec)().status();
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
    const StopCheck& stop) {
  const proto::EvaluationConfig& evaluation = config.evaluation();
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec player,
      CheckpointPlayer(request.checkpoint_path, request.inference,
                       config.evaluation().simulations()));
  eval::ArenaOptions options;
  options.games = static_cast<int>(request.is_final ? evaluation.final_games()
                                                    : evaluation.games());
  // Other openings for each checkpoint, so that their luck does not add up.
  options.seed =
      DeriveSeed(config.seed(), request.generation, StreamPurpose::kArena);
  TARA_ASSIGN_OR_RETURN(const std::vector<Opponent> opponents,
                        OpponentsOf(config, request));
  const eval::PlayerFactory make_player = eval::FactoryOf(player);
  const int games_wanted =
      static_cast<int>(opponents.size() * starts.size()) * options.games;
  int games_before = 0;
  std::vector<train::StrengthResult> results;
  for (const Opponent& opponent : opponents) {
    const auto on_progress = [&](const eval::ArenaProgress& progress) {
      if (request.on_progress) {
        request.on_progress({.opponent = opponent.name,
                             .games = games_before + progress.games_done,
                             .games_wanted = games_wanted});
      }
      return !stop();
    };
    options.concurrent_games = eval::GamesAtATime(
        opponent.player, eval::ArenaOptions().concurrent_games);
    const eval::PlayerFactory make_opponent = eval::FactoryOf(opponent.player);
    for (const State& start : starts) {
      options.variant = start.variant;
      options.rule_options = start.options;
      TARA_ASSIGN_OR_RETURN(
          const eval::ArenaResult result,
          eval::PlayArenaInParallel(
              options, make_player, make_opponent,
              static_cast<int>(config.self_play().threads()), on_progress));
      if (stop()) return absl::CancelledError("the evaluation was interrupted");
      games_before += result.games;
      results.push_back(StrengthOf(start.variant, opponent.name, result));
    }
  }
  return results;
}

namespace {

constexpr double kErrorRate = 0.05;

// The games of one variant.
struct GateMatch {
  const proto::TrainConfig& config;
  const train::GateRequest& request;
  const StopCheck& stop;
  eval::PlayerFactory candidate;
  eval::PlayerFactory best;
};

absl::StatusOr<train::GateResult> PlayVariant(
    const GateMatch& match, const State& start,
    const std::function<void(int games)>& on_games) {
  const proto::TrainConfig& config = match.config;
  const eval::SprtOptions test = {.elo0 = -config.gate().max_drop_elo(),
                                  .elo1 = 0,
                                  .alpha = kErrorRate,
                                  // The chance to accept H0 where H1 holds.
                                  .beta = kErrorRate / config.variant_size(),
                                  .scale = eval::EloScale::kLogistic};
  eval::ArenaOptions options = {.variant = start.variant,
                                .rule_options = start.options};
  options.games = static_cast<int>(config.gate().games());
  options.sprt = test;
  // Evaluations have the indices from 0 up; these come from the other end.
  options.seed =
      DeriveSeed(config.seed(), ~static_cast<uint64_t>(match.request.candidate),
                 StreamPurpose::kArena);
  TARA_ASSIGN_OR_RETURN(
      const eval::ArenaResult all,
      eval::PlayArenaInParallel(options, match.candidate, match.best,
                                static_cast<int>(config.self_play().threads()),
                                [&](const eval::ArenaProgress& progress) {
                                  on_games(progress.games_done);
                                  return !match.stop();
                                }));
  if (match.stop()) return absl::CancelledError("the gate was interrupted");
  train::GateResult gate;
  gate.result = StrengthOf(
      start.variant,
      std::filesystem::path(match.request.best_path).stem().string(), all);
  gate.weaker = all.sprt.has_value() &&
                all.sprt->decision() == eval::SprtDecision::kAcceptH0;
  return gate;
}

}  // namespace

absl::StatusOr<std::vector<train::GateResult>> PlayGate(
    const proto::TrainConfig& config, const train::GateRequest& request,
    const StopCheck& stop) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  const uint32_t simulations = config.gate().simulations();
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec candidate,
      CheckpointPlayer(request.candidate_path, request.inference, simulations));
  TARA_ASSIGN_OR_RETURN(
      const eval::PlayerSpec best,
      CheckpointPlayer(request.best_path, request.inference, simulations));
  const GateMatch match = {.config = config,
                           .request = request,
                           .stop = stop,
                           .candidate = eval::FactoryOf(candidate),
                           .best = eval::FactoryOf(best)};
  const int wanted = static_cast<int>(config.gate().games());
  std::vector<train::GateResult> results;
  for (const State& start : starts) {
    const int before = static_cast<int>(results.size()) * wanted;
    TARA_ASSIGN_OR_RETURN(
        train::GateResult result, PlayVariant(match, start, [&](int games) {
          if (!request.on_progress) return;
          request.on_progress(
              {.opponent =
                   std::filesystem::path(request.best_path).stem().string(),
               .games = before + games,
               .games_wanted = wanted * static_cast<int>(starts.size())});
        }));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace tara::cli
