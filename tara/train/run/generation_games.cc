#include "tara/train/run/generation_games.h"

#include <algorithm>
#include <memory>

#include "absl/status/statusor.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/batching_evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/train/config/search_config.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/play/self_play.h"
#include "tara/train/play/self_play_game.h"

namespace tara::train {
namespace {

// Positions in a batch that threads share, at most: larger ones bring nothing.
constexpr int64_t kMaxMergedBatch = 1 << 13;

absl::StatusOr<SelfPlayOptions> MakeSelfPlayOptions(
    const GenerationContext& context, const GamePlan& plan) {
  const proto::TrainConfig& config = context.config;
  const proto::SelfPlayConfig& self_play = config.self_play();
  SelfPlayOptions options;
  TARA_ASSIGN_OR_RETURN(options.starts, StartPositions(config));
  options.start_of = [&plan](uint64_t index) { return plan.start_of(index); };
  TARA_ASSIGN_OR_RETURN(options.search, SearchOptionsOf(self_play.search()));
  options.temperature = TemperatureOf(self_play.search());
  options.full_search_share = self_play.playout_cap().full_share();
  options.fast_simulations =
      static_cast<int>(self_play.playout_cap().fast_simulations());
  options.resignation = ResignationOf(self_play.resignation());
  options.opening = {
      .share = self_play.opening().share(),
      .max_plies = static_cast<int>(self_play.opening().max_plies())};
  options.end_when_proved = self_play.end_when_proved();
  options.run_seed = config.seed();
  options.generation = static_cast<uint32_t>(plan.generation);
  options.model_id = CheckpointName(plan.model);
  options.threads = static_cast<int>(self_play.threads());
  options.games_per_thread = static_cast<int>(self_play.games_per_thread());
  options.leaves_per_game = static_cast<int>(self_play.leaves_per_game());
  options.evaluation_groups = static_cast<int>(self_play.evaluation_groups());
  if (options.resignation.threshold.has_value()) {
    TARA_ASSIGN_OR_RETURN(
        options.resignation_counts,
        CountResignations(context.store, options.resignation, options.run_seed,
                          plan.begin, config.learner().window_games()));
  }
  return options;
}

}  // namespace

absl::Status PlayGeneration(const GenerationContext& context,
                            const GamePlan& plan,
                            const std::string& checkpoint_path,
                            const StopCheck& stop) {
  if (plan.missing.empty()) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const SelfPlayOptions options,
                        MakeSelfPlayOptions(context, plan));
  const proto::InferenceConfig& inference = context.config.inference();
  TARA_ASSIGN_OR_RETURN(const nn::InferenceOptions inference_options,
                        InferenceOptionsOf(inference));
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<mcts::Evaluator> network,
      nn::LoadNetworkEvaluator(checkpoint_path, inference_options));
  mcts::BatchingEvaluator merged(
      network.get(), static_cast<int>(std::min<int64_t>(
                         int64_t{options.threads} * options.games_per_thread *
                             options.leaves_per_game,
                         kMaxMergedBatch)));
  const bool merges = context.config.self_play().shared_batches();
  mcts::CachingEvaluator evaluator(
      merges ? static_cast<mcts::Evaluator*>(&merged) : network.get(),
      mcts::CachingOptions{
          .positions = inference.cache_positions(),
          .symmetric = true,
          .margins = mcts::Utility(options.search.utility).needs_margins()});
  const auto cached_share = [&evaluator] {
    return static_cast<double>(evaluator.hits()) /
           static_cast<double>(std::max<int64_t>(evaluator.requests(), 1));
  };
  Progress& progress = context.progress;
  DistinctPositions distinct;
  const auto sink = [&](const proto::GameRecord& game) -> absl::Status {
    TARA_RETURN_IF_ERROR(context.store.Add(game));
    TARA_RETURN_IF_ERROR(distinct.Add(game));
    progress.self_play_stats().cached_share = cached_share();
    progress.self_play_stats().distinct_share = distinct.share();
    if (context.on_game_stored) context.on_game_stored(game.game_index());
    return absl::OkStatus();
  };
  progress.BeginSelfPlay(plan.generation, plan.size(), plan.kept());
  const absl::Status status = PlayGames(options, plan.missing, evaluator, sink,
                                        stop, progress.self_play_stats());
  SelfPlayRates rates = progress.EndSelfPlay();
  rates.cached_share = cached_share();
  rates.distinct_share = distinct.share();
  if (merges) {
    rates.positions_per_merged_batch =
        static_cast<double>(evaluator.requests() - evaluator.hits()) /
        static_cast<double>(std::max<int64_t>(merged.batches(), 1));
  }
  TARA_RETURN_IF_ERROR(status);
  return context.log.SelfPlay(plan.generation, rates);
}

}  // namespace tara::train
