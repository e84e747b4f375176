#include "tara/train/pipeline.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/batching_evaluator.h"
#include "tara/mcts/caching_evaluator.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/utility.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/network_evaluator.h"
#include "tara/nn/torch_runtime.h"
#include "tara/nn/trainer.h"
#include "tara/train/game_plan.h"
#include "tara/train/game_store.h"
#include "tara/train/held_out.h"
#include "tara/train/learner.h"
#include "tara/train/learner_config.h"
#include "tara/train/resignation_history.h"
#include "tara/train/run_folder.h"
#include "tara/train/run_log.h"
#include "tara/train/sampler.h"
#include "tara/train/search_config.h"
#include "tara/train/self_play.h"

namespace tara {
namespace {

// Positions in a batch that threads share, at most: larger ones bring nothing.
constexpr int64_t kMaxMergedBatch = 1 << 13;

absl::StatusOr<SelfPlayOptions> MakeSelfPlayOptions(
    const proto::TrainConfig& config) {
  const proto::SelfPlayConfig& self_play = config.self_play();
  SelfPlayOptions options;
  TARA_ASSIGN_OR_RETURN(options.starts, StartPositions(config));
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
  options.threads = static_cast<int>(self_play.threads());
  options.games_per_thread = static_cast<int>(self_play.games_per_thread());
  options.leaves_per_game = static_cast<int>(self_play.leaves_per_game());
  options.evaluation_groups = static_cast<int>(self_play.evaluation_groups());
  return options;
}

LearnOptions MakeLearnOptions(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  return {
      .schedule = {.peak = learner.learning_rate(),
                   .warmup_steps = learner.warmup_steps(),
                   .total_steps = int64_t{config.generations()} *
                                  learner.steps_per_generation(),
                   .shape = learner.schedule() == "steps" ? RateShape::kSteps
                                                          : RateShape::kCosine,
                   .final_fraction = learner.final_learning_rate_fraction(),
                   .milestones = {learner.milestones().begin(),
                                  learner.milestones().end()}},
      .batch_size = static_cast<int>(learner.batch_size()),
      .steps = static_cast<int>(learner.steps_per_generation())};
}

TrainerOptions MakeTrainerOptions(const proto::TrainConfig& config) {
  const proto::LearnerConfig& learner = config.learner();
  return {.optimizer = learner.optimizer() == "sgd" ? OptimizerKind::kSgd
                                                    : OptimizerKind::kAdamW,
          .momentum = learner.momentum(),
          .weight_decay = learner.weight_decay(),
          .margin_loss_weight = learner.margin_loss_weight(),
          .owner_loss_weight = learner.owner_loss_weight(),
          .kingdoms_loss_weight = learner.kingdoms_loss_weight(),
          .reply_loss_weight = learner.reply_loss_weight(),
          .ema_decay = learner.ema_decay(),
          .max_gradient_norm = learner.max_gradient_norm(),
          .threads = static_cast<int>(learner.threads())};
}

LossSummary Summarize(const Losses& losses) {
  return {.total = losses.total,
          .policy = losses.policy,
          .value = losses.value,
          .margin = losses.margin,
          .owner = losses.owner,
          .kingdoms = losses.kingdoms,
          .reply = losses.reply};
}

// A run in its folder: what it has open and where it stands.
class TrainingRun {
 public:
  TrainingRun(const proto::TrainConfig& config, const TrainCallbacks& callbacks,
              const StopCheck& stop, Progress& progress)
      : config_(config),
        callbacks_(callbacks),
        stop_(stop),
        progress_(progress) {}

  // Opens the folder and loads what it has, or begins the run.
  absl::Status Open();
  // Runs the generations that are left and the last evaluation.
  absl::StatusOr<TrainSummary> Run();

 private:
  int generations() const { return static_cast<int>(config_.generations()); }
  absl::Status LoadNewestCheckpoint();

  // Plays the missing games of a generation with the checkpoint of `model`.
  absl::Status Play(int generation, int model, const StopCheck& stop);
  // Learns from the games up to those of `generation` and saves the next
  // checkpoint. CANCELLED when stopped.
  absl::Status LearnFrom(int generation);
  // Runs one generation, from its self-play to its evaluation.
  absl::Status RunGeneration(int generation);
  // Learns and evaluates a generation, while the next one's games are played
  // where that is wanted.
  absl::Status LearnAndPlayAhead(int generation);

  bool EvaluationIsDue(int checkpoint) const;
  absl::StatusOr<std::vector<StrengthResult>> Evaluate(int checkpoint,
                                                       bool is_final);
  // Makes up for an evaluation that an end of the process came before.
  absl::Status CatchUpOnEvaluation();

  const proto::TrainConfig& config_;
  const TrainCallbacks& callbacks_;
  const StopCheck& stop_;
  Progress& progress_;
  SelfPlayOptions self_play_;
  InferenceOptions inference_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<GameStore> store_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<Sampler> sampler_;
  TrainingProgress standing_;  // as of the newest checkpoint
};

absl::Status TrainingRun::Open() {
  TARA_ASSIGN_OR_RETURN(self_play_, MakeSelfPlayOptions(config_));
  TARA_ASSIGN_OR_RETURN(inference_, InferenceOptionsOf(config_.inference()));
  TARA_ASSIGN_OR_RETURN(folder_, RunFolder::Open(config_));
  TARA_ASSIGN_OR_RETURN(
      store_, OpenGameStore(folder_->store_path(), StoreMode::kReadWrite));
  TARA_ASSIGN_OR_RETURN(log_, RunLog::Open(*folder_));
  sampler_.emplace(*store_, SamplerOptionsOf(config_.learner()),
                   config_.seed());
  return LoadNewestCheckpoint();
}

absl::Status TrainingRun::LoadNewestCheckpoint() {
  TARA_ASSIGN_OR_RETURN(const int newest, folder_->NewestCheckpoint());
  if (newest < 0) {
    trainer_ = NewTrainer(
        {.channels = static_cast<int>(config_.network().channels()),
         .blocks = static_cast<int>(config_.network().blocks())},
        MakeTrainerOptions(config_),
        DeriveSeed(config_.seed(), 0, StreamPurpose::kInitialWeights));
    TARA_RETURN_IF_ERROR(
        trainer_->Save(folder_->checkpoint_path(0), standing_));
    return folder_->PublishLatest(0);
  }
  const std::string path = folder_->checkpoint_path(newest);
  TARA_ASSIGN_OR_RETURN(auto loaded,
                        LoadTrainer(path, MakeTrainerOptions(config_)));
  std::tie(trainer_, standing_) = std::move(loaded);
  if (standing_.generation != newest) {
    return absl::DataLossError(
        absl::StrCat(path, " holds the network after generation ",
                     standing_.generation, "; expected ", newest));
  }
  // A kill may have come between the checkpoint and its publication.
  return folder_->PublishLatest(newest);
}

absl::Status TrainingRun::Play(int generation, int model,
                               const StopCheck& stop) {
  TARA_ASSIGN_OR_RETURN(const GamePlan plan,
                        PlanGames(*store_, generation,
                                  config_.self_play().games_per_generation()));
  if (plan.missing.empty()) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Evaluator> network,
      LoadNetworkEvaluator(folder_->checkpoint_path(model), inference_));
  SelfPlayOptions options = self_play_;
  BatchingEvaluator merged(
      network.get(), static_cast<int>(std::min<int64_t>(
                         int64_t{options.threads} * options.games_per_thread *
                             options.leaves_per_game,
                         kMaxMergedBatch)));
  const bool merges = config_.self_play().shared_batches();
  CachingEvaluator evaluator(
      merges ? static_cast<Evaluator*>(&merged) : network.get(),
      CachingOptions{
          .positions = config_.inference().cache_positions(),
          .symmetric = true,
          .margins = Utility(options.search.utility).needs_margins()});
  const auto cached_share = [&evaluator] {
    return static_cast<double>(evaluator.hits()) /
           static_cast<double>(std::max<int64_t>(evaluator.requests(), 1));
  };
  if (options.resignation.threshold <= 0) {
    TARA_ASSIGN_OR_RETURN(
        options.resignation_counts,
        CountResignations(*store_, options.resignation, options.run_seed,
                          plan.begin, config_.learner().window_games()));
  }
  options.generation = static_cast<uint32_t>(generation);
  options.model_id = CheckpointName(model);
  const auto sink = [&](const proto::GameRecord& game) -> absl::Status {
    TARA_RETURN_IF_ERROR(store_->Add(game));
    progress_.self_play_stats().cached_share = cached_share();
    if (callbacks_.on_game_stored) callbacks_.on_game_stored(game.game_index());
    return absl::OkStatus();
  };
  progress_.BeginSelfPlay(generation, plan.size(), plan.kept());
  const absl::Status status = PlayGames(options, plan.missing, evaluator, sink,
                                        stop, progress_.self_play_stats());
  SelfPlayRates rates = progress_.EndSelfPlay();
  rates.cached_share = cached_share();
  if (merges) {
    rates.positions_per_merged_batch =
        static_cast<double>(evaluator.requests() - evaluator.hits()) /
        static_cast<double>(std::max<int64_t>(merged.batches(), 1));
  }
  TARA_RETURN_IF_ERROR(status);
  return log_->SelfPlay(generation, rates);
}

absl::Status TrainingRun::LearnFrom(int generation) {
  TARA_ASSIGN_OR_RETURN(const GamePlan plan,
                        PlanGames(*store_, generation,
                                  config_.self_play().games_per_generation()));
  TARA_RETURN_IF_ERROR(sampler_->MoveWindow(plan.end));
  LearnOptions options = MakeLearnOptions(config_);
  options.steps = StepsToLearn(options.steps, options.batch_size,
                               config_.learner().max_samples_per_position(),
                               sampler_->PositionsFrom(plan.begin));
  progress_.BeginLearning(generation, options.steps, sampler_->games(),
                          sampler_->positions());
  TrainingProgress next = standing_;
  TARA_ASSIGN_OR_RETURN(
      const Losses losses,
      Learn(options, *sampler_, *trainer_, next, stop_,
            [&](int steps, const Losses& mean) {
              progress_.Learned(steps,
                                LearningRate(options.schedule, next.step - 1),
                                Summarize(mean));
            }));
  next.generation = generation + 1;
  TARA_RETURN_IF_ERROR(
      trainer_->Save(folder_->checkpoint_path(next.generation), next));
  TARA_RETURN_IF_ERROR(folder_->PublishLatest(next.generation));
  standing_ = next;
  TARA_ASSIGN_OR_RETURN(const std::vector<HeldOutLosses> held_out,
                        MeasureHeldOut(*sampler_, *trainer_));
  if (!held_out.empty()) progress_.HeldOut(Summarize(MeanLosses(held_out)));
  TARA_RETURN_IF_ERROR(log_->HeldOut(standing_.generation, held_out));
  progress_.EndLearning();
  return log_->Learning(
      {.generation = standing_.generation,
       .step = standing_.step,
       .samples = standing_.samples,
       .losses = Summarize(losses),
       .policy_accuracy = losses.policy_accuracy,
       .learning_rate = LearningRate(options.schedule, standing_.step - 1),
       .window_games = sampler_->games(),
       .window_positions = sampler_->positions()});
}

absl::Status TrainingRun::RunGeneration(int generation) {
  // LibTorch has one number of threads for the process: one for each worker of
  // self-play, or all of them for the learner.
  SetTorchThreads(1);
  const bool ahead = config_.overlap() && generation > 0;
  TARA_RETURN_IF_ERROR(
      Play(generation, ahead ? generation - 1 : generation, stop_));
  if (stop_()) return absl::CancelledError("self-play was interrupted");
  return LearnAndPlayAhead(generation);
}

absl::Status TrainingRun::LearnAndPlayAhead(int generation) {
  std::atomic<bool> failed = false;
  absl::Status played;
  std::thread player;
  if (config_.overlap() && generation + 1 < generations()) {
    player = std::thread([&] {
      played =
          Play(generation + 1, generation, [&] { return failed || stop_(); });
    });
  } else {
    SetTorchThreads(static_cast<int>(config_.learner().threads()));
  }
  absl::Status learned = LearnFrom(generation);
  if (learned.ok() && EvaluationIsDue(standing_.generation)) {
    learned = Evaluate(standing_.generation, /*is_final=*/false).status();
  }
  failed = !learned.ok();
  if (player.joinable()) player.join();
  learned.Update(played);
  return learned;
}

bool TrainingRun::EvaluationIsDue(int checkpoint) const {
  const int every = static_cast<int>(config_.evaluation().every());
  return every > 0 && checkpoint % every == 0 && checkpoint < generations();
}

absl::StatusOr<std::vector<StrengthResult>> TrainingRun::Evaluate(
    int checkpoint, bool is_final) {
  if (!callbacks_.evaluate || checkpoint == 0) {
    return std::vector<StrengthResult>();
  }
  progress_.BeginEvaluation(checkpoint);
  auto strength = callbacks_.evaluate(
      {.checkpoint_path = folder_->checkpoint_path(checkpoint),
       .generation = checkpoint,
       .is_final = is_final,
       .first_checkpoint_path = folder_->checkpoint_path(1),
       .on_progress = [this](const StrengthProgress& evaluated) {
         progress_.Evaluated(evaluated);
       }});
  TARA_RETURN_IF_ERROR(strength.status());
  if (stop_()) return absl::CancelledError("the evaluation was interrupted");
  progress_.EndEvaluation(checkpoint, *strength);
  TARA_RETURN_IF_ERROR(log_->Strength(checkpoint, is_final, *strength));
  return strength;
}

absl::Status TrainingRun::CatchUpOnEvaluation() {
  if (!EvaluationIsDue(standing_.generation)) return absl::OkStatus();
  TARA_ASSIGN_OR_RETURN(const bool done,
                        log_->HasStrength(standing_.generation));
  if (done) return absl::OkStatus();
  return Evaluate(standing_.generation, /*is_final=*/false).status();
}

absl::StatusOr<TrainSummary> TrainingRun::Run() {
  progress_.BeginRun(folder_->path(), standing_.generation, generations());
  absl::Status status = CatchUpOnEvaluation();
  while (status.ok() && standing_.generation < generations()) {
    status = RunGeneration(standing_.generation);
  }
  TrainSummary summary;
  if (status.ok()) {
    SetTorchThreads(static_cast<int>(config_.learner().threads()));
    auto strength = Evaluate(standing_.generation, /*is_final=*/true);
    status = strength.status();
    if (strength.ok()) summary.strength = *std::move(strength);
  }
  // An interruption is no failure: everything finished is kept.
  summary.stopped = absl::IsCancelled(status) && stop_();
  if (!status.ok() && !summary.stopped) return status;
  summary.run_dir = folder_->path();
  summary.generation = standing_.generation;
  summary.checkpoint_path = folder_->checkpoint_path(standing_.generation);
  return summary;
}

}  // namespace

absl::StatusOr<TrainSummary> RunTraining(const proto::TrainConfig& config,
                                         const TrainCallbacks& callbacks,
                                         const StopCheck& stop,
                                         Progress& progress) {
  TrainingRun run(config, callbacks, stop, progress);
  TARA_RETURN_IF_ERROR(run.Open());
  return run.Run();
}

}  // namespace tara
