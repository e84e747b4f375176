#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/clocks.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/base/threads.h"
#include "tara/cli/bench.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/flags.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/utility.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/training/trainer.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/record/game_store.h"
#include "tara/train/learn/learner.h"
#include "tara/train/learn/sampler.h"
#include "tara/train/play/self_play.h"

namespace tara::cli {
namespace {

using eval::CountField;
using eval::NumberField;
using eval::TextField;

constexpr uint64_t kSeed = 1;

struct BenchNetworkFlags {
  std::string net;         // "CHANNELSxBLOCKS": of random weights
  std::string checkpoint;  // a file, or a run, which stands for its newest
};

void AddBenchNetworkFlags(Command& command, BenchNetworkFlags* flags) {
  command.Add({
      {"--net CxB", &flags->net,
       "network of random weights: channels x blocks, or light:64xLAYERS"},
      {"--checkpoint FILE", &flags->checkpoint,
       "network of a checkpoint, or of a run (its newest checkpoint)"},
  });
}

// Returns the network of the checkpoint or, without one, of random weights in
// the shape. Returns a usage error for a malformed shape, or errors as
// ReadNetworkFile.
absl::StatusOr<nn::Checkpoint> ReadBenchNetwork(
    const BenchNetworkFlags& flags) {
  if (!flags.checkpoint.empty()) {
    TARA_ASSIGN_OR_RETURN(const std::string path,
                          eval::FindCheckpoint(flags.checkpoint));
    return nn::ReadNetworkFile(path);
  }
  absl::string_view net = flags.net;
  nn::NetworkShape shape;
  if (absl::ConsumePrefix(&net, "light:")) shape.kind = nn::NetworkKind::kLight;
  const std::vector<std::string> parts = absl::StrSplit(net, 'x');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &shape.channels) ||
      !absl::SimpleAtoi(parts[1], &shape.blocks) || shape.channels < 1 ||
      shape.channels > 1024 || shape.blocks < 1 || shape.blocks > 100) {
    return UsageError("--net is '", flags.net,
                      "'; expected CHANNELSxBLOCKS, such as 64x4 "
                      "(up to 1024x100) or light:64x3");
  }
  return train::NewCheckpoint(shape, kSeed);
}

absl::StatusOr<std::vector<int>> ParseBatches(const std::string& text,
                                              int largest) {
  std::vector<int> batches;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int batch = 0;
    if (!absl::SimpleAtoi(part, &batch) || batch < 1 || batch > largest) {
      return UsageError("--batch is '", text, "'; expected sizes from 1 to ",
                        largest, ", such as 1,8,32");
    }
    batches.push_back(batch);
  }
  return batches;
}

std::string ShapeText(const nn::NetworkShape& shape) {
  return absl::StrCat(shape.kind == nn::NetworkKind::kLight ? "light:" : "",
                      shape.channels, "x", shape.blocks);
}

// Work is counted in positions. REQUIRES: batch <= number of positions.
Workload EvaluatingWorkload(mcts::Evaluator& evaluator,
                            const std::vector<State>& states, int batch) {
  const auto next = std::make_shared<std::atomic<size_t>>(0);
  return {.work = [=, &evaluator, &states](int) -> absl::StatusOr<int64_t> {
    const auto size = static_cast<size_t>(batch);
    thread_local std::vector<mcts::Evaluation> results;
    results.resize(size);
    const size_t begin = (*next)++ % (states.size() / size) * size;
    TARA_RETURN_IF_ERROR(
        evaluator.Evaluate(absl::MakeConstSpan(states).subspan(begin, size),
                           absl::MakeSpan(results)));
    return batch;
  }};
}

// The work around a network: encodes positions and, if `fills`, fills
// evaluations from made-up outputs.
class AroundNetwork : public mcts::Evaluator {
 public:
  explicit AroundNetwork(bool fills) : fills_(fills) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    thread_local nn::EncodedBatch encoded;
    encoded.EncodeCanonical(states);
    const float* const zeros = outputs_.data();
    for (int i = 0; fills_ && i < encoded.size(); ++i) {
      nn::FillEvaluation(encoded.OutputsOf(i), {zeros, zeros, zeros},
                         results[i]);
    }
    return absl::OkStatus();
  }

 private:
  const bool fills_;
  const std::vector<float> outputs_ = std::vector<float>(nn::kNumPolicyOutputs);
};

struct BenchInferenceOptions {
  BenchNetworkFlags network = {.net = "64x6", .checkpoint = {}};
  nn::InferenceOptions inference;  // of it, the device
  int threads = 1;
  std::string backend = "all";
  std::string precision = "all";
  std::string batch = "1,8,32,128";
  double seconds = 0.5;  // per row
  std::string format = "text";

  bool on_cpu() const { return inference.device == "cpu"; }
};

// The positions differ from the calibration's: the network's ranges must not
// come from the positions that errors are measured on.
constexpr uint64_t kPositionsSeed = 1000;
constexpr int kPositionsOfVariant = 32;

struct Engine {
  nn::InferenceInfo info;
  absl::string_view instructions =
      InstructionSetName(SupportedInstructionSets().back());
  std::unique_ptr<mcts::Evaluator> evaluator;
  nn::EvaluationError error = {};
};

// Returns multiplications and additions per position. Convolutions count over
// the whole grid, as is usual, although what lies beyond its edge is zero.
double OperationsOf(const nn::NetworkShape& shape) {
  const double c = shape.channels;
  if (shape.kind == nn::NetworkKind::kLight) {
    const double layer = kNumHills * c * (nn::kNumTaps + 2 + c) + 2 * c * c;
    const double policy = kNumHills * c * nn::kPolicyWidth;
    const double context = nn::kContext * (nn::kPolicyWidth + nn::kValueHidden);
    const double value =
        nn::kValueHidden * (nn::kValueHidden + nn::kNumValueOutputs);
    return 2 * (shape.blocks * layer + policy + context + value);
  }
  const double convolutions =
      nn::kNumSquares * (9 * c * nn::kNumPlanes + 18 * c * c * shape.blocks +
                         c * (2 * c + nn::kNumPolicyPlanes));
  const double pooled = (shape.blocks + 1) / 2 + 1;
  const double linear = c * nn::kNumGlobals + pooled * 2 * c * c +
                        nn::kValueHidden * (2 * c + nn::kNumValueOutputs);
  return 2 * (convolutions + linear);
}

absl::Status AddTowers(const BenchInferenceOptions& options,
                       const nn::Checkpoint& checkpoint,
                       std::vector<Engine>& engines) {
  using Backend = nn::InferenceBackend;
  using Precision = nn::Precision;
  using Choices = std::vector<std::pair<Backend, Precision>>;
  const auto asked = [](const std::string& option, absl::string_view name) {
    return option == "all" || option == name;
  };
  absl::Status unsupported = UsageError(
      "--backend ", options.backend, " with --precision ", options.precision,
      ": no such engine on device ", options.inference.device);
  for (const auto& [backend, precision] :
       options.on_cpu() ? Choices{{Backend::kTorch, Precision::kFloat32},
                                  {Backend::kTara, Precision::kFloat32}}
                        : Choices{{Backend::kTorch, Precision::kFloat32},
                                  {Backend::kTorch, Precision::kBfloat16},
                                  {Backend::kTorch, Precision::kFloat16}}) {
    if (!asked(options.backend, nn::BackendName(backend)) ||
        !asked(options.precision, nn::PrecisionName(precision))) {
      continue;
    }
    absl::StatusOr<nn::LoadedNetwork> network =
        nn::MakeNetwork("the network", checkpoint,
                        {.device = options.inference.device,
                         .backend = backend,
                         .precision = precision});
    if (absl::IsUnimplemented(network.status()) &&
        (options.precision == "all" || options.backend == "all")) {
      unsupported = network.status();
      continue;
    }
    TARA_RETURN_IF_ERROR(network.status());
    engines.push_back(
        {.info = network->info, .evaluator = std::move(network->evaluator)});
  }
  return engines.empty() ? unsupported : absl::OkStatus();
}

// Makes a tower with each backend and precision, or a light network with the
// kernels of each instruction set, and measures its error at `states` from
// LibTorch, or the same, in float32.
absl::StatusOr<std::vector<Engine>> MakeEngines(
    const BenchInferenceOptions& options, const nn::Checkpoint& checkpoint,
    const std::vector<State>& states) {
  std::vector<Engine> engines;
  std::vector<mcts::Evaluation> expected(states.size()), found(states.size());
  if (checkpoint.shape.kind == nn::NetworkKind::kLight) {
    if (!options.on_cpu()) {
      return UsageError("--device: light networks are evaluated on the cpu");
    }
    TARA_RETURN_IF_ERROR(
        nn::EvaluateInFloats(checkpoint, states, absl::MakeSpan(expected)));
    for (const absl::string_view kernels : nn::LightKernelNames()) {
      TARA_ASSIGN_OR_RETURN(auto evaluator,
                            nn::NewLightEvaluator(checkpoint, kernels));
      engines.push_back({.info = {.backend = nn::InferenceBackend::kTara,
                                  .precision = nn::Precision::kInt8},
                         .instructions = kernels,
                         .evaluator = std::move(evaluator)});
    }
  } else {
    TARA_ASSIGN_OR_RETURN(
        const nn::LoadedNetwork network,
        nn::MakeNetwork("the network", checkpoint,
                        {.backend = nn::InferenceBackend::kTorch,
                         .precision = nn::Precision::kFloat32}));
    TARA_RETURN_IF_ERROR(
        network.evaluator->Evaluate(states, absl::MakeSpan(expected)));
    TARA_RETURN_IF_ERROR(AddTowers(options, checkpoint, engines));
  }
  for (Engine& engine : engines) {
    TARA_RETURN_IF_ERROR(
        engine.evaluator->Evaluate(states, absl::MakeSpan(found)));
    engine.error = nn::ErrorOf(expected, found);
  }
  return engines;
}

absl::StatusOr<int> RunBenchInference(const BenchInferenceOptions& options,
                                      Console& console) {
  TARA_ASSIGN_OR_RETURN(const auto batches, ParseBatches(options.batch, 4096));
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                        ReadBenchNetwork(options.network));
  std::vector<State> states =
      nn::PositionsOfRandomGames(kPositionsOfVariant, kPositionsSeed);
  TARA_ASSIGN_OR_RETURN(const std::vector<Engine> engines,
                        MakeEngines(options, checkpoint, states));
  const size_t largest = *std::max_element(batches.begin(), batches.end());
  while (states.size() < largest) states.push_back(states[states.size() / 2]);
  // A row for each engine and batch, and then the work around a network.
  std::vector<Workload> workloads;
  for (const Engine& engine : engines) {
    for (const int batch : batches) {
      workloads.push_back(EvaluatingWorkload(*engine.evaluator, states, batch));
    }
  }
  const size_t num_reported = workloads.size();
  AroundNetwork around_network(/*fills=*/true);
  for (const int batch : batches) {
    workloads.push_back(EvaluatingWorkload(around_network, states, batch));
  }
  const StopCheck stop = StopOnSignals();
  // The wall clock if a device or other threads do the work.
  const BenchClock clock =
      options.on_cpu() && options.threads == 1 ? ThreadTime : SteadyTime;
  TARA_RETURN_IF_ERROR(
      TakeTurns(options.threads, clock,
                options.seconds * static_cast<double>(workloads.size()), stop,
                absl::MakeSpan(workloads)));

  const std::string net = ShapeText(checkpoint.shape);
  const double operations = OperationsOf(checkpoint.shape);
  std::vector<eval::ReportRow> report;
  for (size_t i = 0; i < num_reported; ++i) {
    const size_t batch = i % batches.size();
    const double whole = Typical(workloads[i].rates);
    const double around = Typical(workloads[num_reported + batch].rates);
    // A device works while the processor encodes.
    const double rate = options.on_cpu() ? 1 / (1 / whole - 1 / around) : whole;
    const Engine& engine = engines[i / batches.size()];
    constexpr eval::NumberFormat kWhole = {.digits = 0}, kError = {.digits = 5};
    report.push_back(
        {TextField("net", "", net),
         TextField("backend", "backend", nn::BackendName(engine.info.backend)),
         TextField("precision", "precision",
                   nn::PrecisionName(engine.info.precision)),
         TextField("instructions", "instructions", engine.instructions),
         CountField("batch", "batch", batches[batch]),
         NumberField("positions_per_s", "positions/s", whole, kWhole),
         NumberField("network_positions_per_s", "network alone", rate, kWhole),
         NumberField("operations_per_position", "", operations),
         NumberField("operations_per_s", "G/s", rate * operations,
                     {.scale = 1e-9, .digits = 0}),
         NumberField("value_error", "value error", engine.error.value, kError),
         NumberField("policy_error", "policy error", engine.error.policy,
                     kError)});
  }
  return ReportBench(
      options.format,
      absl::StrFormat("%s, %s, %.1f million operations per position", net,
                      !options.on_cpu() ? options.inference.device
                      : options.threads == 1
                          ? "one core"
                          : absl::StrCat(options.threads, " threads"),
                      operations / 1e6),
      report, stop, console);
}

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

// Games of each variant to draw samples from, quickly played.
constexpr int kGamesOfVariant = 16;
constexpr int kSimulations = 4;

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
  const auto share = [&](eval::Name name, eval::Name heading,
                         absl::Duration part) {
    return NumberField(name, heading, absl::FDivDuration(part, wall),
                       eval::kPercent);
  };
  const auto per_sample = [&](eval::Name name, eval::Name heading,
                              absl::Duration part) {
    return NumberField(name, heading,
                       absl::ToDoubleMicroseconds(part) / learn.steps / batch);
  };
  return eval::ReportRow{
      TextField("net", "net", ShapeText(checkpoint.shape)),
      TextField("device", "device", options.inference.device),
      TextField("precision", "precision",
                trainer.autocast ? "bfloat16" : "float32"),
      CountField("batch", "batch", batch),
      CountField("prepare_threads", "prepare", options.prepare_threads),
      CountField("steps_per_read", "", options.steps_per_read),
      CountField("threads", "", trainer.threads),
      NumberField("samples_per_s", "samples/s", steps_per_s * batch,
                  {.digits = 0}),
      NumberField("steps_per_s", "steps/s", steps_per_s, {.digits = 1}),
      NumberField("cores", "cores", cores),
      share("step_share", "step %", result.times.step),
      share("wait_for_batch_share", "batch %", result.times.wait_for_batch),
      share("read_share", "read %", result.times.read),
      per_sample("sample_us", "us to draw", result.times.sample),
      per_sample("encode_us", "us to encode", result.times.encode)};
}

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
  TARA_ASSIGN_OR_RETURN(const auto store, PlayQuickGames());
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

struct BenchSelfPlayOptions {
  GameFlags game = {.variant = "sacred_hill_l1", .options = {}};
  BenchNetworkFlags network = {.net = "64x4", .checkpoint = {}};
  nn::InferenceOptions inference;
  int simulations = 100;
  std::string search;  // "name=value,..."
  int threads = 0;     // all cores
  int games = 0;       // per generation; 0: twice those in lockstep
  int games_per_thread = 64;
  int cache = 1 << 16;
  double seconds = 10;
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

// The bare network in batches of several sizes, and the work around it.
constexpr int kSizes[] = {8, 16, 32, 64, 128, 256};
constexpr int kEncoding = std::size(kSizes);
constexpr int kEncodingAndFilling = kEncoding + 1;

// Sums of all generations.
struct Played {
  train::SelfPlayStats stats;
  train::SelfPlayTimes times;
  int64_t searched = 0;    // simulations of searches when they ended
  int64_t busiest_ns = 0;  // of each generation's thread busy for longest
};

// Plays whole generations until `seconds` are over or stopped. The workloads
// take turns before the first and after each.
absl::Status Play(const BenchSelfPlayOptions& options,
                  train::SelfPlayOptions self_play, const StopCheck& stop,
                  std::vector<Workload>& bare, CountingEvaluator& network,
                  Played& played) {
  self_play.times = &played.times;
  const int64_t lockstep =
      int64_t{self_play.threads} * options.games_per_thread;
  std::vector<uint64_t> games(options.games > 0 ? options.games : 2 * lockstep);
  std::iota(games.begin(), games.end(), 0);
  std::atomic<int64_t> searched = 0;
  const auto sink = [&](const proto::GameRecord& game) {
    for (const proto::Step& step : game.steps()) searched += step.simulations();
    return absl::OkStatus();
  };
  const auto take_turns = [&] {
    constexpr double kPart = 0.2;  // of the time of self-play
    return TakeTurns(self_play.threads, played.times.clock,
                     kPart * options.seconds, stop, absl::MakeSpan(bare));
  };
  TARA_RETURN_IF_ERROR(take_turns());
  const absl::Time end = SteadyTime() + absl::Seconds(options.seconds);
  do {
    mcts::CachingEvaluator cache(
        &network,
        mcts::CachingOptions{
            .positions = options.cache,
            .symmetric = true,
            .margins =
                mcts::Utility(self_play.search.utility).needs_margins()});
    played.times.longest_worker = 0;
    TARA_RETURN_IF_ERROR(
        train::PlayGames(self_play, games, cache, sink, stop, played.stats));
    played.busiest_ns += played.times.longest_worker;
    for (uint64_t& game : games) game += games.size();
    TARA_RETURN_IF_ERROR(take_turns());
  } while (!stop() && SteadyTime() < end);
  played.searched = searched;
  return absl::OkStatus();
}

// Returns where the threads' time went. Rates are sums over all threads, per
// second of the busiest thread.
Json ReportOf(const std::vector<Workload>& bare,
              const CountingEvaluator& network, const Played& played,
              int threads) {
  const auto ratio = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) /
           static_cast<double>(std::max<int64_t>(whole, 1));
  };
  const train::SelfPlayStats& stats = played.stats;
  const train::SelfPlayTimes& times = played.times;
  const double seconds = ratio(played.busiest_ns, 1'000'000'000);
  const auto rate = [&](int64_t count) {
    return 1e9 * ratio(count, played.busiest_ns);
  };
  const double positions = rate(network.positions);
  std::vector<double> rates;
  for (const Workload& workload : bare)
    rates.push_back(Typical(workload.rates));
  const auto best = std::max_element(rates.begin(), rates.begin() + kEncoding);
  const int64_t all = played.busiest_ns * threads;
  // Shares of the threads' time, at the rates of workloads.
  const double encoding = positions / rates[kEncoding];
  const double filling = positions / rates[kEncodingAndFilling] - encoding;
  return {{"engine_evaluations_per_s", *best},
          {"engine_batch", kSizes[best - rates.begin()]},
          {"selfplay_evaluations_per_s", positions},
          {"ratio", positions / *best},
          {"simulations_per_s", rate(stats.simulations)},
          {"search_simulations_per_s", rate(played.searched)},
          {"games_per_s", rate(stats.games)},
          {"mean_batch", ratio(network.positions, network.batches)},
          {"cached_share", 1 - ratio(network.positions, stats.evaluations)},
          {"solved_share", ratio(stats.solved, stats.simulations)},
          {"games", stats.games.load()},
          {"seconds", seconds},
          {"shares",
           {{"engine", ratio(network.ns, all) - encoding - filling},
            {"encoding", encoding},
            {"filling", filling},
            {"tree", ratio(times.gather - times.solve, all)},
            {"cache", ratio(times.evaluate - network.ns, all)},
            {"solver", ratio(times.solve, all)},
            {"playing", ratio(times.play, all)},
            {"waiting", ratio(all - times.workers, all)},
            {"other",
             ratio(times.workers - times.gather - times.evaluate - times.play,
                   all)}}}};
}

absl::StatusOr<mcts::SearchOptions> SearchOf(
    const BenchSelfPlayOptions& options) {
  mcts::SearchOptions search;
  search.simulations = options.simulations;
  search.dirichlet_fraction = 0.25f;
  if (options.search.empty()) return search;
  const auto list = ParseOptionList(options.search);
  absl::Status status = list.status();
  for (size_t i = 0; status.ok() && i < list->size(); ++i) {
    status = mcts::SetSearchOption((*list)[i].name, (*list)[i].value, search);
  }
  if (status.ok()) return search;
  return UsageError("--search: ", status.message());
}

std::string ToText(const Json& report) {
  std::string text;
  for (const auto& [name, value] : report.items()) {
    if (value.is_object()) continue;
    absl::StrAppendFormat(
        &text, "%-28s %s\n", name,
        value.is_number_float()
            ? absl::StrFormat("%.*f", value.get<double>() < 100 ? 3 : 0,
                              value.get<double>())
            : (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  absl::StrAppend(&text, "\nwhere the threads' time goes\n");
  for (const auto& [name, value] : report.at("shares").items()) {
    absl::StrAppendFormat(&text, "  %-26s %5.1f%%\n", name,
                          100 * value.get<double>());
  }
  return text;
}

absl::StatusOr<int> RunBenchSelfPlay(const BenchSelfPlayOptions& options,
                                     Console& console) {
  const nn::InferenceOptions& inference = options.inference;
  train::SelfPlayOptions self_play;
  TARA_ASSIGN_OR_RETURN(self_play.starts, StartsOf(options.game));
  TARA_ASSIGN_OR_RETURN(self_play.search, SearchOf(options));
  self_play.run_seed = kSeed;
  self_play.threads = ResolveThreads(options.threads);
  self_play.games_per_thread = options.games_per_thread;
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                        ReadBenchNetwork(options.network));
  TARA_ASSIGN_OR_RETURN(const nn::LoadedNetwork network,
                        nn::MakeNetwork("the network", checkpoint, inference));

  // On the CPU the threads that ask do the evaluator's work, so processor time
  // counts; a device works at the same time as they do.
  const bool on_cpu = inference.device == "cpu";
  Random random(kSeed);
  std::vector<State> positions =
      RandomPositions(self_play.starts, 1024, random);
  std::shuffle(positions.begin(), positions.end(), random);
  const BenchClock clock = on_cpu ? ThreadTime : SteadyTime;
  std::vector<Workload> bare;
  for (const int size : kSizes) {
    bare.push_back(EvaluatingWorkload(*network.evaluator, positions, size));
  }
  AroundNetwork encoding(/*fills=*/false), filling(/*fills=*/true);
  bare.push_back(EvaluatingWorkload(encoding, positions, 64));
  bare.push_back(EvaluatingWorkload(filling, positions, 64));
  CountingEvaluator counting(network.evaluator.get(), clock);
  Played played;
  played.times.clock = clock;
  const StopCheck stop = StopOnSignals();
  TARA_RETURN_IF_ERROR(Play(options, self_play, stop, bare, counting, played));

  Json report = {
      {"net", ShapeText(checkpoint.shape)},
      {"device", options.inference.device},
      {"precision", std::string(nn::PrecisionName(network.info.precision))},
      {"backend", std::string(nn::BackendName(network.info.backend))},
      {"variant", options.game.variant},
      {"simulations", options.simulations},
      {"threads", self_play.threads}};
  report.update(ReportOf(bare, counting, played, self_play.threads));
  console.out << (options.format == "json" ? report.dump(2) + "\n"
                                           : ToText(report));
  return EndOf(stop, console, kMeasured);
}

}  // namespace

void RegisterBenchInference(Command& bench) {
  const auto [command, options] =
      bench.AddCommand(kBenchInferenceCommand.name,
                       kBenchInferenceCommand.summary, RunBenchInference);
  AddBenchNetworkFlags(command, &options->network);
  command.Add({
      DeviceOption(&options->inference),
      {"--threads N", &options->threads, 1, 1024,
       "threads that evaluate concurrently; rates are their sum"},
      {"--backend all|torch|tara", &options->backend, "backend"},
      {"--precision all|float32|bfloat16|float16", &options->precision,
       "number type of a tower; all: every one that the device supports"},
      {"--batch N,...", &options->batch, "positions per call"},
      SecondsOption(&options->seconds, "time for each row"),
      FormatOption(&options->format),
  });
  command.SetNotes(
      "Positions per second of one core, in processor time (with a device or "
      "more threads: wall time). The rows take turns; a rate is the upper "
      "quartile of the turns. On a CPU, the network alone excludes encoding "
      "positions and filling evaluations. Operations are the multiplications "
      "and additions of whole grids. Errors are mean differences from LibTorch "
      "in float32, on positions of random games of every variant: for the "
      "value the difference, for the policy half the sum over the priors. A "
      "light network has one row per instruction set; its errors are relative "
      "to its own float32. The environment variable "
      "TARA_INSTRUCTION_SET=avx2 turns AVX-512 and AVX-VNNI off in Tara's own "
      "code.");
  command.SetExamples({"bench inference", "bench inference --net 128x10",
                       "bench inference --net light:64x3 --batch 1",
                       "bench inference --device cuda --threads 16 "
                       "--batch 256,1024",
                       "bench inference --checkpoint FILE --backend tara "
                       "--batch 1,32 --format=json"});
}

void RegisterBenchLearner(Command& bench) {
  const auto [command, options] = bench.AddCommand(
      kBenchLearnerCommand.name, kBenchLearnerCommand.summary, RunBenchLearner);
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
      "parts of the learning thread's time: computing or starting steps, "
      "waiting for a batch, and waiting for the device to read the losses. "
      "Drawing and encoding are times per sample in the threads that prepare "
      "batches. Cores are the number that the process keeps busy.");
  command.SetExamples({"bench learner --net 32x4",
                       "bench learner --batch 256,1024 --prepare-threads 1 "
                       "--format=json"});
}

void RegisterBenchSelfPlay(Command& bench) {
  const auto [command, options] =
      bench.AddCommand(kBenchSelfPlayCommand.name,
                       kBenchSelfPlayCommand.summary, RunBenchSelfPlay);
  AddGameFlags(command, &options->game, kVariantOrAllHelp, /*required=*/false);
  AddBenchNetworkFlags(command, &options->network);
  AddInferenceFlags(command, &options->inference);
  command.Add({
      {"--sims N", &options->simulations, 1, 1000000, "simulations per action"},
      {"--search NAME=VALUE,...", &options->search,
       "other options of the search (see arena --help)"},
      ThreadsOption(&options->threads),
      {"--games N", &options->games, 0, 1000000,
       "games per generation; 0: twice the concurrent games"},
      {"--games-per-thread N", &options->games_per_thread, 1, 65536,
       "concurrent games per thread, one leaf of each per batch"},
      {"--cache N", &options->cache, 0, 1 << 28,
       "capacity of the evaluation cache, in positions; 0: no cache"},
      SecondsOption(&options->seconds,
                    "duration; the last generation is completed"),
      FormatOption(&options->format),
  });
  command.SetNotes(
      "The bare engine is measured before and after each generation, on the "
      "same number of threads, in batches of several sizes; the fastest one "
      "counts. Seconds are the processor time of the busiest thread (with a "
      "device: wall time), so rates hold on a busy machine too. The engine's "
      "rate is for turning positions into evaluations, including encoding and "
      "filling. Search simulations include the ones that the tree kept from "
      "the previous turn. Waiting is the time of threads without games at the "
      "end of a generation.");
  command.SetExamples({"bench selfplay", "bench selfplay --net 128x10",
                       "bench selfplay --threads 2 --precision int8 "
                       "--search proof=on,solver_hills=6 --format=json"});
}

}  // namespace tara::cli
