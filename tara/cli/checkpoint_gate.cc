#include "tara/cli/checkpoint_gate.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/cli/checkpoint_evaluation.h"
#include "tara/core/state.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/parallel_arena.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/statistics/sprt.h"
#include "tara/train/play/game_plan.h"

namespace tara::cli {
namespace {

constexpr double kErrorRate = 0.05;

// The games of one variant.
struct GateMatch {
  const proto::TrainConfig& config;
  const train::GateRequest& request;
  const train::StopCheck& stop;
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
    const train::StopCheck& stop) {
  TARA_ASSIGN_OR_RETURN(const std::vector<State> starts,
                        train::StartPositions(config));
  const uint32_t simulations = config.gate().simulations();
  const std::string candidate =
      NetworkSpec(request.candidate_path, request.inference, simulations);
  const std::string best =
      NetworkSpec(request.best_path, request.inference, simulations);
  const GateMatch match = {
      .config = config,
      .request = request,
      .stop = stop,
      .candidate = [&candidate] { return eval::MakePlayer(candidate); },
      .best = [&best] { return eval::MakePlayer(best); }};
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
