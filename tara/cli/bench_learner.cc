#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/bench.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/rules.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_store.h"
#include "tara/train/learn/learner.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/learn/trainers.h"
#include "tara/train/play/self_play.h"

namespace tara::cli {
namespace {

struct BenchLearnerOptions {
  BenchNetworkFlags network = {.net = "64x6", .checkpoint = {}};
  nn::InferenceOptions inference;  // of it, the device
  bool bfloat16 = false;
  std::string batch = "256";
  int threads = 0;           // of LibTorch; all cores
  int prepare_threads = -1;  // by the device
  int steps_per_read = 0;    // by the device
  double seconds = 3;        // per batch
  std::string format = "text";
};

constexpr uint64_t kSeed = 1;
// Games of each variant to draw samples from, quickly played.
constexpr int kGamesOfVariant = 16;
constexpr int kSimulations = 4;

// Plays games of all variants without a network into a store in memory.
absl::StatusOr<std::unique_ptr<record::GameStore>> PlayQuickGames() {
  TARA_ASSIGN_OR_RETURN(
      std::unique_ptr<record::GameStore> store,
      record::OpenGameStore(":memory:", record::StoreMode::kReadWrite));
  train::SelfPlayOptions options;
  for (const VariantInfo& info : kVariants) {
    options.starts.push_back(InitialState(info.variant));
  }
  options.search.simulations = kSimulations;
  options.run_seed = kSeed;
  options.model_id = "uniform";
  options.threads = 1;
  std::vector<uint64_t> games(options.starts.size() * kGamesOfVariant);
  std::iota(games.begin(), games.end(), 0);
  mcts::UniformEvaluator evaluator;
  train::SelfPlayStats stats;
  TARA_RETURN_IF_ERROR(train::PlayGames(
      options, games, evaluator,
      [&](const proto::GameRecord& game) { return store->Add(game); },
      [] { return false; }, stats));
  return store;
}

// Measures one row of the report: learns for about `options.seconds`.
absl::StatusOr<eval::ReportRow> Measure(const BenchLearnerOptions& options,
                                        const nn::TrainerOptions& trainer,
                                        const nn::Checkpoint& checkpoint,
                                        int batch, train::Sampler& sampler,
                                        const StopCheck& stop) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<nn::Trainer> learner,
                        train::MakeTrainer("the network", checkpoint, trainer));
  train::LearnOptions learn = {.schedule = {.peak = 1e-4},
                               .batch_size = batch,
                               .prepare_threads = options.prepare_threads,
                               .steps_per_read = options.steps_per_read};
  // The first steps choose kernels and take memory; then some give the speed.
  nn::TrainingProgress progress;
  absl::Duration time;
  for (const int steps : {2, std::max(2, options.steps_per_read)}) {
    learn.steps = steps;
    const absl::Time begin = SteadyTime();
    TARA_RETURN_IF_ERROR(
        train::Learn(learn, sampler, *learner, progress, stop).status());
    time = (SteadyTime() - begin) / steps;
  }
  learn.steps =
      std::max(learn.steps, static_cast<int>(absl::FDivDuration(
                                absl::Seconds(options.seconds), time)));
  const absl::Time begin = SteadyTime();
  const absl::Time cpu_begin = ProcessTime();
  TARA_ASSIGN_OR_RETURN(const train::LearnResult result,
                        train::Learn(learn, sampler, *learner, progress, stop));
  const absl::Duration wall = SteadyTime() - begin;
  const double cores = absl::FDivDuration(ProcessTime() - cpu_begin, wall);
  const double steps_per_s = learn.steps / absl::ToDoubleSeconds(wall);
  const auto share = [&](absl::string_view name, absl::string_view heading,
                         absl::Duration part) {
    return eval::NumberField(name, heading, absl::FDivDuration(part, wall),
                             eval::kPercent);
  };
  const auto per_sample = [&](absl::string_view name, absl::string_view heading,
                              absl::Duration part) {
    return eval::NumberField(
        name, heading, absl::ToDoubleMicroseconds(part) / learn.steps / batch,
        {.digits = 2});
  };
  return eval::ReportRow{
      eval::TextField("net", "net", ShapeText(checkpoint.shape)),
      eval::TextField("device", "device", options.inference.device),
      eval::TextField("precision", "precision",
                      trainer.autocast ? "bfloat16" : "float32"),
      eval::CountField("batch", "batch", batch),
      eval::CountField("prepare_threads", "prepare", options.prepare_threads),
      eval::CountField("steps_per_read", "", options.steps_per_read),
      eval::CountField("threads", "", trainer.threads),
      eval::NumberField("samples_per_s", "samples/s", steps_per_s * batch,
                        {.digits = 0}),
      eval::NumberField("steps_per_s", "steps/s", steps_per_s, {.digits = 1}),
      eval::NumberField("cores", "cores", cores, {.digits = 2}),
      share("step_share", "step %", result.times.step),
      share("wait_for_batch_share", "batch %", result.times.wait_for_batch),
      share("read_share", "read %", result.times.read),
      per_sample("sample_us", "us to draw", result.times.sample),
      per_sample("encode_us", "us to encode", result.times.encode)};
}

// Measures how fast a network learns, by batch, and where the time goes.
absl::StatusOr<int> RunBenchLearner(const BenchLearnerOptions& given,
                                    Console& console) {
  BenchLearnerOptions options = given;
  TARA_ASSIGN_OR_RETURN(const std::vector<int> batches,
                        ParseBatches(options.batch, 1 << 20));
  TARA_ASSIGN_OR_RETURN(const nn::DeviceText device,
                        nn::ParseDevice(options.inference.device));
  if (device.all) {
    return UsageError(
        "--device is 'cuda:all'; expected one device, on which "
        "the network learns: cpu, cuda or cuda:N");
  }
  nn::TrainerOptions trainer = {.threads = ResolveThreads(options.threads),
                                .autocast = options.bfloat16};
  if (!device.is_cpu) trainer.cuda_device = device.index;
  if (options.prepare_threads < 0) {
    options.prepare_threads = device.is_cpu ? 0 : 3;
  }
  if (options.steps_per_read == 0) {
    options.steps_per_read = device.is_cpu ? 1 : 16;
  }
  TARA_RETURN_IF_ERROR(nn::CheckTrainerOptions(trainer));
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                        ReadBenchNetwork(options.network));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<record::GameStore> store,
                        PlayQuickGames());
  train::Sampler sampler(*store, {}, kSeed);
  TARA_RETURN_IF_ERROR(sampler.MoveWindow(kNumVariants * kGamesOfVariant));
  const StopCheck stop = StopOnSignals();
  std::vector<eval::ReportRow> rows;
  for (const int batch : batches) {
    absl::StatusOr<eval::ReportRow> row =
        Measure(options, trainer, checkpoint, batch, sampler, stop);
    if (absl::IsCancelled(row.status())) break;
    TARA_RETURN_IF_ERROR(row.status());
    rows.push_back(*std::move(row));
  }
  return ReportBench(
      options.format,
      absl::StrFormat("%s learns on %s from %d positions",
                      ShapeText(checkpoint.shape), options.inference.device,
                      sampler.positions()),
      rows, stop, console);
}

}  // namespace

void RegisterBenchLearner(Command& bench) {
  Command& command =
      bench.AddCommand(kBenchLearnerCommand.name, kBenchLearnerCommand.summary);
  BenchLearnerOptions* const options = command.SetRun(RunBenchLearner);
  AddBenchNetworkFlags(command, &options->network);
  command.Add({
      DeviceOption(&options->inference),
      {"--bfloat16", &options->bfloat16,
       "convolutions and linear layers in bfloat16 (learner.autocast)"},
      {"--batch N,...", &options->batch, "samples per step"},
      ThreadsOption(&options->threads),
      {"--prepare-threads N", &options->prepare_threads, -1, 256,
       "threads that draw and encode batches ahead; -1: 0, or 3 with a CUDA "
       "device"},
      {"--steps-per-read N", &options->steps_per_read, 0, 1000000,
       "steps between two reads of the losses; 0: 1, or 16 with a CUDA device"},
      SecondsOption(&options->seconds, "time for each batch size"),
      FormatOption(&options->format),
  });
  command.SetNotes(
      "Samples are drawn from quick games of all variants. The shares are "
      "parts of the\n"
      "learning thread's time: computing or starting steps, waiting for a "
      "batch, and\n"
      "waiting for the device to read the losses. Drawing and encoding are "
      "times per\n"
      "sample in the threads that prepare batches. Cores are the number that "
      "the\n"
      "process keeps busy.");
  command.SetExamples({"bench learner --net 32x4",
                       "bench learner --batch 256,1024 --prepare-threads 1 "
                       "--format=json"});
}

}  // namespace tara::cli
