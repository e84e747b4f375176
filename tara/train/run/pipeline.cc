#include "tara/train/run/pipeline.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "proto/run_state.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/torch/torch_runtime.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/config/config.h"
#include "tara/train/config/config_options.h"
#include "tara/train/config/learn_config.h"
#include "tara/train/folder/checkpoints.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/learn/learner.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/run/generation_player.h"
#include "tara/train/run/run_log.h"

namespace tara::train {
namespace {

// Returns the gate's decision as text, with the numbers of checkpoints that it
// has let through and rejected: "ckpt-000005 plays (let through 4, not 1)", or
// "ckpt-000004 still plays: ckpt-000005 is weaker in four_treasures, 38 % [30,
// 46] (...)".
std::string GateText(int candidate, int best,
                     const std::vector<StrengthResult>& results, int promoted,
                     int rejected) {
  std::vector<std::string> weaker;
  for (const StrengthResult& result : results) {
    if (!result.weaker) continue;
    weaker.push_back(absl::StrFormat("%s, %.0f %% [%.0f, %.0f]", result.variant,
                                     100 * result.score, 100 * result.score_low,
                                     100 * result.score_high));
  }
  return absl::StrCat(
      weaker.empty()
          ? absl::StrCat(CheckpointName(candidate), " plays")
          : absl::StrCat(CheckpointName(best),
                         " still plays: ", CheckpointName(candidate),
                         " is weaker in ", absl::StrJoin(weaker, ", ")),
      " (let through ", promoted, ", not ", rejected, ")");
}

// The games of a generation that are played on a thread of their own.
struct PlayAhead {
  ~PlayAhead() { stopped = true; }

  std::atomic<bool> stopped = false;  // ends them early
  absl::Notification all_started;     // no game is left to be started
  std::future<absl::Status> end;      // last: its destructor awaits the thread
};

// Number of positions to measure a network's activations on.
constexpr int kCalibrationPositions = 160;

// How much time a kill may leave uncounted.
constexpr absl::Duration kTimeKept = absl::Seconds(10);

RunTime Seconds(double wall, double cpu) {
  return {.wall = absl::Seconds(wall), .cpu = absl::Seconds(cpu)};
}

// Time that a run had taken when its newest generation was done.
RunTime TimeOf(const proto::RunState& state) {
  return Seconds(state.seconds(), state.cpu_seconds());
}

// Checks that the first and the last game of a run's store are ones that the
// run would play.
absl::Status CheckGames(record::GameStore& store,
                        const proto::TrainConfig& config,
                        const std::string& path) {
  for (const bool last : {false, true}) {
    TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices,
                          store.Indices({.limit = 1, .newest_first = last}));
    if (indices.empty()) continue;
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord game,
                          store.GetListed(indices.front()));
    const auto& variants = config.variant();
    const bool has_variant = std::find(variants.begin(), variants.end(),
                                       game.variant()) != variants.end();
    const uint64_t seed =
        DeriveSeed(config.seed(), game.game_index(), StreamPurpose::kSelfPlay);
    if (has_variant && !game.has_contest() && game.seed() == seed) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": game ", game.game_index(),
        " does not belong to this run: it is of ",
        game.has_contest() ? "a match"
        : has_variant      ? "another seed"
                           : game.variant(),
        "; expected games of a run with the same variants and seed, or an "
        "empty store"));
  }
  return absl::OkStatus();
}

// Opens the store of games_from. INVALID_ARGUMENT where it has none to learn
// from, or games of variants that the run has not.
absl::StatusOr<std::unique_ptr<record::GameStore>> OpenGivenGames(
    const proto::TrainConfig& config) {
  const std::string& path = config.games_from();
  absl::StatusOr<std::unique_ptr<record::GameStore>> store =
      record::OpenGameStore(path, record::StoreMode::kReadOnly);
  if (!store.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("games_from: ", store.status().message(),
                     "; expected a store such as games.db of a run"));
  }
  TARA_ASSIGN_OR_RETURN(int64_t others, (*store)->Count({}));
  if (others == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "games_from: ", path, " has no games; expected some to learn from"));
  }
  for (const std::string& variant : config.variant()) {
    TARA_ASSIGN_OR_RETURN(const int64_t games,
                          (*store)->Count({.variant = variant}));
    others -= games;
  }
  if (others > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "games_from: ", path, " has ", others,
        " games of other variants than the run's (variant: ",
        absl::StrJoin(config.variant(), ", "),
        "); expected variant to list them all, such as variant: all"));
  }
  return store;
}

// Returns the fields of "learning_speed": how fast so many samples were
// learned, and where the time of the learning thread went.
Event SpeedOf(const LearnTimes& times, int64_t samples,
              absl::Duration elapsed) {
  const auto share = [&](absl::Duration part) {
    return absl::FDivDuration(part, elapsed);
  };
  const double seconds = absl::ToDoubleSeconds(elapsed);
  return {{"seconds", seconds},
          {"samples_per_second", static_cast<double>(samples) / seconds},
          {"step_share", share(times.step)},
          {"wait_for_batch_share", share(times.wait_for_batch)},
          {"read_share", share(times.read)}};
}

}  // namespace

// A run in its folder: its open files and its progress.
class TrainingRun {
 public:
  TrainingRun(const proto::TrainConfig& config, const TrainCallbacks& callbacks,
              const StopCheck& stop, Progress& progress)
      : config_(config),
        callbacks_(callbacks),
        stop_(stop),
        progress_(progress),
        begin_(callbacks.clock()) {}

  // Opens the folder and loads what it has, or begins the run.
  absl::Status Open() {
    TARA_RETURN_IF_ERROR(CheckRun(config_));
    TARA_ASSIGN_OR_RETURN(folder_, RunFolder::Open(config_));
    config_ = folder_->config();
    TARA_ASSIGN_OR_RETURN(RunStateFile file,
                          RunStateFile::Open(folder_->state_path()));
    state_.emplace(std::move(file));
    before_ = TimeOf(state()) + Seconds(state().unfinished_seconds(),
                                        state().unfinished_cpu_seconds());
    if (PlaysGames(config_)) {
      TARA_ASSIGN_OR_RETURN(
          store_, record::OpenGameStore(folder_->store_path(),
                                        record::StoreMode::kReadWrite));
      TARA_RETURN_IF_ERROR(CheckGames(*store_, config_, folder_->store_path()));
    } else {
      TARA_ASSIGN_OR_RETURN(store_, OpenGivenGames(config_));
    }
    TARA_ASSIGN_OR_RETURN(log_,
                          RunLog::Open(folder_->metrics_path(), progress_));
    sampler_.emplace(*store_, ToSamplerOptions(config_.learner()),
                     config_.seed());
    TARA_RETURN_IF_ERROR(OpenTrainer());
    // Lines that a kill has kept from the log; it may have come before their
    // checkpoint, too.
    std::vector<std::string> lines(state().metrics_line().begin(),
                                   state().metrics_line().end());
    std::erase_if(lines, [this](const std::string& line) {
      return GenerationOfLine(line) > resumed_.generation;
    });
    TARA_RETURN_IF_ERROR(log_->AppendMissing(std::move(lines)));
    return Choose();
  }

  // Runs the generations that are left and the last evaluation.
  absl::StatusOr<TrainSummary> Run() {
    progress_.BeginRun(folder_->path(), resumed_.generation, generations(),
                       PlannedEvaluations());
    UpdateDeadline();
    TrainSummary summary;
    absl::Status status = PassGate();
    if (status.ok() && EvaluationIsDue(resumed_.generation) &&
        static_cast<int>(state().evaluated()) < resumed_.generation) {
      status = Evaluate(resumed_.generation, /*is_final=*/false).status();
    }
    while (status.ok() && resumed_.generation < generations()) {
      summary.time_is_up = TimeIsUp(TimeUsed() - TimeOf(state_->state()));
      if (summary.time_is_up) break;
      status = RunGeneration(resumed_.generation);
    }
    // Games that no generation is left to learn from.
    ahead_.clear();
    ended_ = TimeUsed();
    {
      const absl::MutexLock lock(&time_mutex_);
      SaveState().IgnoreError();  // as in KeepTime
    }
    if (status.ok()) {
      progress_.EndTraining();
      nn::SetTorchThreads(static_cast<int>(config_.learner().threads()));
      auto strength = Evaluate(player(), /*is_final=*/true);
      status = strength.status();
      if (strength.ok()) summary.strength = *std::move(strength);
    }
    // An interruption is not a failure: everything finished is kept.
    summary.stopped = absl::IsCancelled(status) && stop_();
    if (!status.ok() && !summary.stopped) return status;
    summary.run_dir = folder_->path();
    summary.generation = resumed_.generation;
    summary.checkpoint_path = folder_->checkpoint_path(player());
    summary.promoted = static_cast<int>(state().gate().promoted());
    summary.rejected = static_cast<int>(state().gate().rejected());
    return summary;
  }

 private:
  int generations() const { return static_cast<int>(config_.generations()); }
  proto::RunState& state() { return state_->state(); }
  bool gated() const { return callbacks_.gate && config_.gate().games() > 0; }
  // The checkpoint that plays for the run.
  int player() const {
    return gated() ? static_cast<int>(state_->state().gate().best())
                   : resumed_.generation;
  }
  // Time of this start and all earlier ones, without the last evaluation.
  RunTime TimeUsed() const {
    return ended_.value_or(before_ + (callbacks_.clock() - begin_));
  }
  // Whether the next generation, partly done, would exceed the config's
  // minutes.
  bool TimeIsUp(const RunTime& begun = {}) const {
    // A run without any generation would be none.
    if (resumed_.generation == 0) return false;
    const proto::RunState& state = state_->state();
    const RunTime left = Seconds(state.last_generation_seconds(),
                                 state.last_generation_cpu_seconds()) -
                         begun;
    return ShareOfTime(
               config_,
               TimeUsed() + RunTime{std::max(left.wall, absl::ZeroDuration()),
                                    std::max(left.cpu, absl::ZeroDuration())}) >
           1;
  }

  // Returns stop_(), and records the time. For the main thread of the run and
  // the threads that it waits for.
  bool StopOrKeepTime() {
    KeepTime();
    return stop_();
  }

  // Saves the time used, every kTimeKept. A kill loses no more than that.
  void KeepTime() ABSL_LOCKS_EXCLUDED(time_mutex_) {
    const absl::MutexLock lock(&time_mutex_);
    if (TimeUsed().wall - kept_.wall < kTimeKept) return;
    // An error of writing is returned where more than the time is saved.
    SaveState().IgnoreError();
  }

  // Saves the state, with the time used.
  absl::Status SaveState() ABSL_EXCLUSIVE_LOCKS_REQUIRED(time_mutex_) {
    kept_ = TimeUsed();
    const RunTime unfinished = kept_ - TimeOf(state());
    state().set_unfinished_seconds(absl::ToDoubleSeconds(unfinished.wall));
    state().set_unfinished_cpu_seconds(absl::ToDoubleSeconds(unfinished.cpu));
    return state_->Save();
  }

  // The same, with the lines that the log is to have.
  absl::Status SaveStateAnd(const std::vector<std::string>& metrics_lines)
      ABSL_LOCKS_EXCLUDED(time_mutex_) {
    const absl::MutexLock lock(&time_mutex_);
    state().mutable_metrics_line()->Assign(metrics_lines.begin(),
                                           metrics_lines.end());
    return SaveState();
  }

  // Shows when these will be up, at the pace so far.
  void UpdateDeadline() {
    const RunTime used = TimeUsed();
    const double share = ShareOfTime(config_, used);
    if (share <= 0) return;
    progress_.SetDeadline(SteadyTime() + used.wall * (1 / share - 1));
  }

  // Chooses backend and precision by measurement where the config leaves them
  // open, and records them.
  absl::Status Choose() {
    proto::InferenceConfig& inference = *config_.mutable_inference();
    TARA_ASSIGN_OR_RETURN(const nn::InferenceOptions options,
                          ToInferenceOptions(inference));
    if (options.backend != nn::InferenceBackend::kAuto &&
        options.precision != nn::Precision::kAuto) {
      return absl::OkStatus();
    }
    TARA_ASSIGN_OR_RETURN(
        const nn::LoadedNetwork network,
        nn::LoadNetwork(folder_->checkpoint_path(resumed_.generation),
                        options));
    inference.set_backend(std::string(nn::BackendName(network.info.backend)));
    inference.set_precision(
        std::string(nn::PrecisionName(network.info.precision)));
    return folder_->RecordConfig(config_);
  }

  // Loads the newest checkpoint that is whole, with a note on others.
  absl::Status OpenTrainer() {
    TARA_ASSIGN_OR_RETURN(ResumedTrainer resumed,
                          OpenNewestCheckpoint(config_, *folder_));
    trainer_ = std::move(resumed.trainer);
    resumed_ = resumed.progress;
    if (!resumed.begun_with_crc32c.empty()) {
      state().set_begun_with_crc32c(resumed.begun_with_crc32c);
      TARA_RETURN_IF_ERROR(state_->Save());
    }
    if (!folder_->lock_warning().empty()) {
      TARA_RETURN_IF_ERROR(Note(folder_->lock_warning()));
    }
    for (const std::string& note : resumed.notes) {
      TARA_RETURN_IF_ERROR(Note(note));
    }
    // A checkpoint that was set aside was let through by no gate.
    proto::GateState& gate = *state().mutable_gate();
    const auto newest = static_cast<uint32_t>(resumed_.generation);
    gate.set_checked(std::min(gate.checked(), newest));
    gate.set_best_before(std::min(gate.best_before(), newest));
    if (gate.best() > newest) gate.set_best(gate.best_before());
    state().set_evaluated(std::min(state().evaluated(), newest));
    return absl::OkStatus();
  }

  // Writes a message for people to the progress and the log.
  absl::Status Note(absl::string_view text) {
    progress_.Print(text);
    return log_->Append({EventLine("note", resumed_.generation,
                                   {{"text", std::string(text)}})});
  }

  // Returns the plan of a generation: the one that is recorded, or a new one,
  // of games by the checkpoint `model`, which is then recorded. Of a run that
  // plays no games: all that the store has by now.
  absl::StatusOr<GamePlan> Plan(int generation, int model) {
    if (!PlaysGames(config_)) {
      TARA_ASSIGN_OR_RETURN(
          const std::vector<uint64_t> newest,
          store_->Indices({.limit = 1, .newest_first = true}));
      return GamePlan{.generation = generation,
                      .model = model,
                      .begin = 0,
                      .end = newest.empty() ? 0 : newest.front() + 1,
                      .starts = {},
                      .missing = {}};
    }
    if (state_->PlanOf(generation) == nullptr) {
      TARA_ASSIGN_OR_RETURN(const proto::GenerationPlan plan,
                            PlanGeneration(config_, *store_, generation, model,
                                           state_->PlanOf(generation - 1)));
      TARA_RETURN_IF_ERROR(state_->AddPlan(plan));
    }
    return ExpandPlan(config_, *store_, *state_->PlanOf(generation));
  }

  // Plays the games that a plan lacks, and logs how fast that went. OK when
  // `stop` ends it early.
  absl::Status Play(const GamePlan& plan, const StopCheck& stop,
                    const std::function<void()>& on_all_started = {}) {
    if (plan.missing.empty()) return absl::OkStatus();
    const proto::PlayRequest request =
        PlayRequestFor(config_, plan, CheckpointName(plan.model));
    SelfPlayStats& stats = progress_.self_play_stats();
    DistinctPositions distinct;
    const auto sink =
        [&](absl::Span<const proto::GameRecord> games) -> absl::Status {
      TARA_RETURN_IF_ERROR(store_->AddAll(games));
      for (const proto::GameRecord& game : games) {
        TARA_RETURN_IF_ERROR(distinct.Add(game));
        if (callbacks_.on_game_stored) {
          callbacks_.on_game_stored(game.game_index());
        }
      }
      stats.distinct_share = distinct.share();
      return absl::OkStatus();
    };
    std::map<std::string, int64_t> games_by_node;
    const SelfPlayJob job = {
        .request = request,
        .missing = plan.missing,
        .checkpoint_path = folder_->checkpoint_path(plan.model),
        .stats = stats,
        .games_by_node = games_by_node,
        .on_all_started = on_all_started};
    progress_.BeginSelfPlay(plan.size(), plan.kept());
    const absl::Status status = callbacks_.play
                                    ? callbacks_.play(job, sink, stop)
                                    : PlayHere(job, sink, stop);
    const Event rates = progress_.EndSelfPlay();
    TARA_RETURN_IF_ERROR(status);
    std::vector<std::string> lines = {
        EventLine("self_play", plan.generation, rates)};
    for (const auto& [node, games] : games_by_node) {
      const double per_second =
          static_cast<double>(games) / rates["seconds"].get<double>();
      lines.push_back(EventLine("fleet", plan.generation,
                                {{"node", node},
                                 {"games", games},
                                 {"games_per_second", per_second}}));
    }
    return log_->Append(lines);
  }

  // Begins to play a generation's games ahead, by the newest checkpoint. Does
  // nothing if that has begun, without `overlap`, or at the end of the run.
  absl::Status BeginToPlayAhead(int generation) {
    if (!config_.overlap() || !PlaysGames(config_) ||
        generation >= generations() || ahead_.contains(generation) ||
        TimeIsUp()) {
      return absl::OkStatus();
    }
    TARA_ASSIGN_OR_RETURN(const GamePlan plan, Plan(generation, player()));
    PlayAhead& ahead = ahead_[generation];
    ahead.end = std::async(std::launch::async, [this, plan, &ahead] {
      const absl::Status status = CatchExhaustion([&] {
        return Play(
            plan, [&] { return ahead.stopped || stop_(); },
            [&] { ahead.all_started.Notify(); });
      });
      if (!ahead.all_started.HasBeenNotified()) ahead.all_started.Notify();
      return status;
    });
    return absl::OkStatus();
  }

  // Plays in this process, if callbacks_.play does not.
  absl::Status PlayHere(const SelfPlayJob& job, const GamesSink& sink,
                        const StopCheck& stop) {
    TARA_ASSIGN_OR_RETURN(const std::unique_ptr<GenerationPlayer> player,
                          GenerationPlayer::Create(
                              job.request, job.checkpoint_path,
                              static_cast<int>(config_.self_play().threads())));
    return player->Play(
        job.missing,
        [&](const proto::GameRecord& game) {
          return sink(absl::MakeConstSpan(&game, 1));
        },
        stop, job.stats, job.on_all_started);
  }

  // Plays the games again that the store has lost, of the earlier generations
  // that are learned together with `next`. DATA_LOSS if that is impossible.
  absl::Status PlayLostGames(const GamePlan& next) {
    const WindowOptions window = ToSamplerOptions(config_.learner()).window;
    const uint64_t games = std::min<uint64_t>(
        next.end, WindowGames(window, static_cast<int64_t>(next.end)));
    TARA_ASSIGN_OR_RETURN(
        const std::vector<GamePlan> lost,
        LostGames(config_, *store_, state(),
                  std::max(next.end - games, state().first_game()),
                  next.begin));
    if (lost.empty()) return absl::OkStatus();
    TARA_ASSIGN_OR_RETURN(const std::vector<int> there, folder_->Checkpoints());
    for (const GamePlan& plan : lost) {
      const std::string what =
          absl::StrCat(folder_->store_path(), " lacks ", plan.missing.size(),
                       " games of generation ", plan.generation,
                       ", the first of them game ", plan.missing.front());
      if (!std::binary_search(there.begin(), there.end(), plan.model)) {
        return absl::DataLossError(absl::StrCat(
            what, ", and ", CheckpointName(plan.model),
            ", which played them, is no longer there; generation ",
            next.generation, " cannot be learned without them. A new run can ",
            "begin with this one's network: init_from=", folder_->path()));
      }
      TARA_RETURN_IF_ERROR(Note(absl::StrCat(
          what, "; ", CheckpointName(plan.model), " plays them again")));
      TARA_RETURN_IF_ERROR(Play(plan, stop_));
      if (stop_()) return absl::CancelledError("self-play was interrupted");
    }
    return absl::OkStatus();
  }

  // Learns from the games up to `generation` and saves the next checkpoint.
  // CANCELLED when stopped, ABORTED if losses are not finite.
  absl::Status LearnFrom(int generation) {
    TARA_ASSIGN_OR_RETURN(const GamePlan plan, Plan(generation, player()));
    TARA_RETURN_IF_ERROR(sampler_->MoveWindow(plan.end));
    if (sampler_->positions() == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          "learner.held_out_share: ", config_.learner().held_out_share(),
          " leaves no game to learn from in generation ", generation,
          "; expected a larger learner.window_games or a smaller share"));
    }
    const LearnOptions options = ToLearnOptions(
        config_, ExpectedGenerations(config_, resumed_.generation,
                                     TimeOf(state_->state())));
    progress_.BeginLearning(generation, options.steps, sampler_->games(),
                            sampler_->positions());
    nn::TrainingProgress next = resumed_;
    const absl::Time begin = SteadyTime();
    const StopCheck stop = [this] { return StopOrKeepTime(); };
    TARA_ASSIGN_OR_RETURN(
        const LearnResult learned,
        Learn(options, *sampler_, *trainer_, next, stop,
              [&](int steps, const nn::Losses& mean) {
                progress_.Learned(
                    steps, LearningRate(options.schedule, next.step - 1), mean);
                if (callbacks_.on_step_learned) {
                  callbacks_.on_step_learned(next.step);
                }
              }));
    next.generation = generation + 1;
    const Event speed = SpeedOf(learned.times, next.samples - resumed_.samples,
                                SteadyTime() - begin);
    TARA_RETURN_IF_ERROR(
        log_->Append({EventLine("learning_speed", next.generation, speed)}));
    TARA_ASSIGN_OR_RETURN(const std::vector<HeldOutLosses> held_out,
                          MeasureHeldOut(*sampler_, *trainer_));
    std::vector<std::string> lines = HeldOutLines(next.generation, held_out);
    Event fields = {{"step", next.step}, {"samples", next.samples}};
    fields.update(LossFields(learned.losses));
    fields.update(
        {{"learning_rate", LearningRate(options.schedule, next.step - 1)},
         {"window_games", sampler_->games()},
         {"window_positions", sampler_->positions()},
         {"skipped_steps", learned.skipped_steps}});
    lines.push_back(EventLine("learning", next.generation, fields));
    // A checkpoint always has its lines, even after a kill at any time.
    TARA_RETURN_IF_ERROR(SaveStateAnd(lines));
    // A checkpoint must not outlive, in a power failure, games that it was
    // learned from: its generation would not be played again.
    TARA_RETURN_IF_ERROR(store_->Sync());
    std::vector<State> positions;
    for (const nn::Sample& sample :
         sampler_->Batch(next.step, kCalibrationPositions)) {
      positions.push_back(sample.state);
    }
    TARA_RETURN_IF_ERROR(trainer_->Save(
        folder_->checkpoint_path(next.generation), next, positions));
    resumed_ = next;
    progress_.EndLearning(speed, held_out.empty()
                                     ? std::nullopt
                                     : std::optional(MeanLosses(held_out)));
    return log_->AppendMissing(std::move(lines));
  }

  // Runs one generation, from its self-play to its evaluation.
  absl::Status RunGeneration(int generation) {
    UpdateDeadline();
    // LibTorch has one number of threads for the process: one for each worker
    // of self-play, or all of them for the learner.
    nn::SetTorchThreads(1);
    // Without a record: the config has just been given its overlap.
    const bool ahead = config_.overlap() && generation > 0 && !gated();
    TARA_ASSIGN_OR_RETURN(const GamePlan plan,
                          Plan(generation, ahead ? generation - 1 : player()));
    TARA_RETURN_IF_ERROR(PlayLostGames(plan));
    TARA_RETURN_IF_ERROR(Play(plan, [this] { return StopOrKeepTime(); }));
    if (stop_()) return absl::CancelledError("self-play was interrupted");
    TARA_RETURN_IF_ERROR(LearnAndPlayAhead(generation));
    TARA_RETURN_IF_ERROR(ApplyRetention());
    const RunTime used = TimeUsed();
    const RunTime lasted = used - TimeOf(state());
    state().set_generations(static_cast<uint32_t>(resumed_.generation));
    state().set_unfinished_seconds(0);
    state().set_unfinished_cpu_seconds(0);
    state().set_seconds(absl::ToDoubleSeconds(used.wall));
    state().set_cpu_seconds(absl::ToDoubleSeconds(used.cpu));
    state().set_last_generation_seconds(absl::ToDoubleSeconds(lasted.wall));
    state().set_last_generation_cpu_seconds(absl::ToDoubleSeconds(lasted.cpu));
    return state_->Save();
  }

  // Learns and evaluates a generation; with overlap, plays the next one's games
  // at the same time.
  absl::Status LearnAndPlayAhead(int generation) {
    TARA_RETURN_IF_ERROR(BeginToPlayAhead(generation + 1));
    if (ahead_.empty()) {
      nn::SetTorchThreads(static_cast<int>(config_.learner().threads()));
    }
    absl::Status status = CatchExhaustion([&]() -> absl::Status {
      const absl::Status learned = LearnFrom(generation);
      if (absl::IsAborted(learned)) {
        return absl::AbortedError(absl::StrCat(
            learned.message(), "; the run resumes from ",
            folder_->checkpoint_path(generation),
            ", for example with a lower learner.learning_rate (now ",
            config_.learner().learning_rate(), ") or max_gradient_norm"));
      }
      TARA_RETURN_IF_ERROR(learned);
      TARA_RETURN_IF_ERROR(PassGate());
      if (EvaluationIsDue(resumed_.generation)) {
        TARA_RETURN_IF_ERROR(
            Evaluate(resumed_.generation, /*is_final=*/false).status());
      }
      if (const auto next = ahead_.find(generation + 1); next != ahead_.end()) {
        next->second.all_started.WaitForNotification();
      }
      return stop_() ? absl::OkStatus() : BeginToPlayAhead(generation + 2);
    });
    if (!status.ok()) {
      for (auto& [unused, games] : ahead_) games.stopped = true;
    }
    if (auto next = ahead_.extract(generation + 1)) {
      status.Update(next.mapped().end.get());
    }
    return status;
  }

  // Lets the newest checkpoint play for the run, or not, if that is still open;
  // publishes the one that does.
  absl::Status PassGate() {
    const int candidate = resumed_.generation;
    proto::GateState& gate = *state().mutable_gate();
    if (gated() && static_cast<int>(gate.checked()) < candidate) {
      const int best = player();
      progress_.BeginEvaluation(candidate, /*is_gate=*/true);
      TARA_ASSIGN_OR_RETURN(
          const std::vector<StrengthResult> results,
          Ask(callbacks_.gate,
              {.generation = candidate,
               .opponent_path = folder_->checkpoint_path(best)}));
      const bool promoted = std::none_of(
          results.begin(), results.end(),
          [](const StrengthResult& result) { return result.weaker; });
      gate.set_checked(candidate);
      if (promoted) {
        gate.set_best_before(best);
        gate.set_best(candidate);
      }
      gate.set_promoted(gate.promoted() + promoted);
      gate.set_rejected(gate.rejected() + !promoted);
      const std::vector<std::string> lines =
          GateLines(candidate, best, promoted, results);
      TARA_RETURN_IF_ERROR(SaveStateAnd(lines));
      progress_.EndGate(
          GateText(candidate, best, results, gate.promoted(), gate.rejected()));
      TARA_RETURN_IF_ERROR(log_->AppendMissing(lines));
    }
    // The run may have been killed between a checkpoint and its publication.
    return folder_->PublishLatest(player());
  }

  // Has the newest checkpoint, or the last player, play by a callback.
  absl::StatusOr<std::vector<StrengthResult>> Ask(
      const StrengthEvaluator& callback, StrengthRequest request) {
    request.checkpoint_path = folder_->checkpoint_path(request.generation);
    request.inference = config_.inference();
    request.on_progress = [this](const StrengthProgress& played) {
      KeepTime();
      progress_.Evaluated(played);
    };
    absl::StatusOr<std::vector<StrengthResult>> results = callback(request);
    if (results.ok() && stop_()) {
      return absl::CancelledError("the evaluation was interrupted");
    }
    return results;
  }

  bool EvaluationIsDue(int checkpoint) const {
    const int every = static_cast<int>(config_.evaluation().every());
    // One that does not play has nothing to show.
    return every > 0 && checkpoint % every == 0 && checkpoint < generations() &&
           checkpoint == player();
  }

  EvaluationPlan PlannedEvaluations() const {
    if (!callbacks_.evaluate) return {};
    const proto::EvaluationConfig& evaluation = config_.evaluation();
    const int64_t variants = config_.variant_size();
    const int64_t opponents = evaluation.opponent_size();
    // In the last one, the network of the first generation too.
    return {
        .every = static_cast<int>(evaluation.every()),
        .games = variants * opponents * evaluation.games(),
        .final_games = variants * (opponents + 1) * evaluation.final_games()};
  }

  absl::StatusOr<std::vector<StrengthResult>> Evaluate(int checkpoint,
                                                       bool is_final) {
    if (!callbacks_.evaluate || checkpoint == 0) {
      return std::vector<StrengthResult>();
    }
    progress_.BeginEvaluation(checkpoint);
    TARA_ASSIGN_OR_RETURN(
        const std::vector<StrengthResult> strength,
        Ask(callbacks_.evaluate,
            {.generation = checkpoint,
             .is_final = is_final,
             .opponent_path = is_final ? folder_->checkpoint_path(1) : ""}));
    progress_.EndEvaluation(checkpoint, strength);
    const std::vector<std::string> lines =
        StrengthLines(checkpoint, is_final, strength);
    if (!is_final) state().set_evaluated(static_cast<uint32_t>(checkpoint));
    TARA_RETURN_IF_ERROR(SaveStateAnd(lines));
    TARA_RETURN_IF_ERROR(log_->AppendMissing(lines));
    return strength;
  }

  // Removes checkpoints and games by the config's retention.
  absl::Status ApplyRetention() {
    const int newest = resumed_.generation;
    const proto::GateState& gate = state().gate();
    std::set<int> needed = {newest, newest - 1, static_cast<int>(gate.best()),
                            static_cast<int>(gate.best_before())};
    for (const proto::GenerationPlan& plan : state().plan()) {
      if (static_cast<int>(plan.generation()) >= newest) {
        needed.insert(static_cast<int>(plan.model()));
      }
    }
    TARA_ASSIGN_OR_RETURN(const std::vector<int> there, folder_->Checkpoints());
    for (const int old :
         CheckpointsToRemove(there, config_.retention(), needed)) {
      TARA_RETURN_IF_ERROR(folder_->RemoveCheckpoint(old));
    }
    const uint64_t kept = config_.retention().keep_games();
    if (kept == 0) return absl::OkStatus();
    TARA_ASSIGN_OR_RETURN(const GamePlan plan, Plan(newest - 1, player()));
    if (plan.end <= kept) return absl::OkStatus();
    // First, so that games that are missing later have been lost.
    state().set_first_game(plan.end - kept);
    TARA_RETURN_IF_ERROR(state_->Save());
    return store_->RemoveBefore(plan.end - kept);
  }

  proto::TrainConfig config_;  // with what was chosen for this run
  const TrainCallbacks& callbacks_;
  const StopCheck& stop_;
  Progress& progress_;
  const RunTime begin_;
  RunTime before_;  // that earlier starts took
  absl::Mutex time_mutex_;
  RunTime kept_ ABSL_GUARDED_BY(time_mutex_);  // as the state has it
  std::optional<RunTime> ended_;  // what TimeUsed was when training ended
  std::unique_ptr<RunFolder> folder_;
  std::optional<RunStateFile> state_;
  std::unique_ptr<record::GameStore> store_;
  std::unique_ptr<RunLog> log_;
  std::unique_ptr<nn::Trainer> trainer_;
  std::optional<Sampler> sampler_;
  nn::TrainingProgress resumed_;  // as of the newest checkpoint
  // By generation. Last: their threads use all of the above.
  std::map<int, PlayAhead> ahead_;
};

// Gate, evaluation and retention.

absl::Status CheckRun(const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const proto::TrainConfig resumed,
                        CheckRunFolder(config));
  TARA_RETURN_IF_ERROR(CheckDevices(resumed));
  if (!PlaysGames(resumed)) {
    TARA_RETURN_IF_ERROR(OpenGivenGames(resumed).status());
  }
  return CheckInitFrom(resumed);
}

absl::StatusOr<TrainSummary> RunTraining(const proto::TrainConfig& config,
                                         const TrainCallbacks& callbacks,
                                         const StopCheck& stop,
                                         Progress& progress) {
  TrainingRun run(config, callbacks, stop, progress);
  TARA_RETURN_IF_ERROR(run.Open());
  return run.Run();
}

RunTime ProcessTime() {
  return {.wall = SteadyTime() - absl::UnixEpoch(),
          .cpu = tara::ProcessTime() - absl::UnixEpoch()};
}

double ShareOfTime(const proto::TrainConfig& config, const RunTime& used) {
  const auto share = [](absl::Duration time, double minutes) {
    return minutes > 0 ? absl::ToDoubleSeconds(time) / (60 * minutes) : 0;
  };
  return std::max(share(used.wall, config.minutes()),
                  share(used.cpu, config.cpu_minutes()));
}

int ExpectedGenerations(const proto::TrainConfig& config, int generations_done,
                        const RunTime& used) {
  const int generations = static_cast<int>(config.generations());
  const double share = ShareOfTime(config, used);
  if (generations_done == 0 || share <= 0) return generations;
  const double fit = generations_done / share;
  if (fit >= generations) return generations;
  // The next generation will be learned, at any time.
  return std::max(static_cast<int>(fit),
                  std::min(generations_done + 1, generations));
}

absl::Status PlayOnFleet(fleet::Fleet& fleet, const SelfPlayJob& job,
                         const GamesSink& sink, const StopCheck& stop,
                         Progress& progress) {
  TARA_ASSIGN_OR_RETURN(const SelfPlayOptions options,
                        ToSelfPlayOptions(job.request));
  job.stats.batch_room = options.games_per_thread * options.leaves_per_game;
  proto::FleetRequest request;
  *request.mutable_self_play() = job.request;
  size_t next = 0;
  int64_t requests = 0;
  int64_t hits = 0;
  return fleet.Play({
      .name = absl::StrCat("generation ", job.request.generation()),
      .request = std::move(request),
      .files = {job.checkpoint_path},
      .folder = job.request.config().run_dir(),
      .next = [&]() -> absl::StatusOr<std::optional<fleet::Piece>> {
        if (next == job.missing.size()) return std::nullopt;
        return fleet::Piece{.id = job.missing[next++], .payload = {}};
      },
      .piece_of =
          [](const proto::GameRecord& game) { return game.game_index(); },
      .check = [&](const proto::GameRecord& game,
                   int /*nth*/) { return CheckPlayedBy(options, game); },
      .take =
          [&](std::vector<proto::GameRecord> games) {
            TARA_RETURN_IF_ERROR(sink(games));
            job.stats.games += static_cast<int64_t>(games.size());
            return absl::OkStatus();
          },
      .on_message =
          [&](const proto::PlayedGames& message) {
            job.games_by_node[message.node()] += message.game_size();
            requests += message.cache_requests();
            hits += message.cache_hits();
            job.stats.cached_share =
                static_cast<double>(hits) / std::max<double>(1, requests);
            int i = 0;
            for (const auto counter : kSelfPlayCounters) {
              // Games are counted as they are stored.
              if (i < message.count_size() &&
                  counter != &SelfPlayStats::games) {
                job.stats.*counter += message.count(i);
              }
              ++i;
            }
          },
      .go_on =
          [&] {
            progress.SetFleet(fleet.status());
            return !stop();
          },
  });
}

}  // namespace tara::train
