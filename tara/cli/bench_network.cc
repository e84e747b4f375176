#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
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
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/bench.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/state.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/bundle/bundle.h"
#include "tara/nn/cpu/cpu_evaluator.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/heads.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/light/light.h"
#include "tara/nn/light/light_network.h"
#include "tara/nn/weights/checkpoint.h"
#include "tara/train/learn/trainers.h"

namespace tara::cli {

void AddBenchNetworkFlags(Command& command, BenchNetworkFlags* flags) {
  command.Add({
      {"--net CxB", &flags->net,
       "network of random weights: channels x blocks, or light:64xLAYERS"},
      {"--checkpoint FILE", &flags->checkpoint,
       "network of a checkpoint, or of a run (its newest checkpoint)"},
  });
}

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
    return UsageError(absl::StrCat("--net is '", flags.net,
                                   "'; expected CHANNELSxBLOCKS, such as 64x4 "
                                   "(up to 1024x100) or light:64x3"));
  }
  return train::NewCheckpoint(shape, /*seed=*/1);
}

absl::StatusOr<std::vector<int>> ParseBatches(const std::string& text,
                                              int largest) {
  std::vector<int> batches;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int batch = 0;
    if (!absl::SimpleAtoi(part, &batch) || batch < 1 || batch > largest) {
      return UsageError(absl::StrCat("--batch is '", text,
                                     "'; expected sizes from 1 to ", largest,
                                     ", such as 1,8,32"));
    }
    batches.push_back(batch);
  }
  return batches;
}

std::string ShapeText(const nn::NetworkShape& shape) {
  return absl::StrCat(shape.kind == nn::NetworkKind::kLight ? "light:" : "",
                      shape.channels, "x", shape.blocks);
}

namespace {

// Returns the i-th batch of positions.
absl::Span<const State> SelectBatch(const std::vector<State>& states, int batch,
                                    size_t i) {
  const auto size = static_cast<size_t>(batch);
  return absl::MakeConstSpan(states).subspan(i % (states.size() / size) * size,
                                             size);
}

// Calls `work` with batch after batch, and room for its results.
template <typename Work>
Workload BatchWorkload(const std::vector<State>& states, int batch,
                       const Work& work) {
  const auto next = std::make_shared<std::atomic<size_t>>(0);
  return {.work = [=, &states](int) -> absl::StatusOr<int64_t> {
    thread_local std::vector<mcts::Evaluation> results;
    results.resize(batch);
    TARA_RETURN_IF_ERROR(
        work(SelectBatch(states, batch, (*next)++), absl::MakeSpan(results)));
    return batch;
  }};
}

}  // namespace

Workload EncodingWorkload(const std::vector<State>& states, int batch) {
  return BatchWorkload(states, batch,
                       [](absl::Span<const State> positions,
                          absl::Span<mcts::Evaluation> /*results*/) {
                         thread_local nn::EncodedBatch encoded;
                         encoded.EncodeCanonical(positions);
                         return absl::OkStatus();
                       });
}

Workload EncodingAndFillingWorkload(const std::vector<State>& states,
                                    int batch) {
  return BatchWorkload(states, batch,
                       [](absl::Span<const State> positions,
                          absl::Span<mcts::Evaluation> results) {
                         static const std::vector<float>* const outputs =
                             new std::vector<float>(nn::kNumPolicyOutputs);
                         thread_local nn::EncodedBatch encoded;
                         encoded.EncodeCanonical(positions);
                         for (int i = 0; i < encoded.size(); ++i) {
                           nn::FillEvaluation(encoded, i,
                                              {.policy = outputs->data(),
                                               .result = outputs->data(),
                                               .margins = outputs->data()},
                                              results[i]);
                         }
                         return absl::OkStatus();
                       });
}

Workload EvaluatingWorkload(mcts::Evaluator& evaluator,
                            const std::vector<State>& states, int batch) {
  return BatchWorkload(states, batch,
                       [&evaluator](absl::Span<const State> positions,
                                    absl::Span<mcts::Evaluation> results) {
                         return evaluator.Evaluate(positions, results);
                       });
}

namespace {

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
  InstructionSet set = SupportedInstructionSets().back();
  std::unique_ptr<mcts::Evaluator> evaluator;
  nn::EvaluationError error = {};  // from the reference
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

absl::StatusOr<std::vector<mcts::Evaluation>> EvaluateAll(
    mcts::Evaluator& evaluator, const std::vector<State>& states) {
  std::vector<mcts::Evaluation> results(states.size());
  TARA_RETURN_IF_ERROR(evaluator.Evaluate(states, absl::MakeSpan(results)));
  return results;
}

// Makes the light network with the kernels of each instruction set, and
// measures its error at `states` from the same in float32.
absl::StatusOr<std::vector<Engine>> MakeLightEngines(
    const nn::Checkpoint& checkpoint, const std::vector<State>& states) {
  TARA_ASSIGN_OR_RETURN(const auto reference,
                        nn::NewFloatLightEvaluator(checkpoint));
  TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> expected,
                        EvaluateAll(*reference, states));
  std::vector<Engine> engines;
  for (const InstructionSet set : SupportedInstructionSets()) {
    TARA_ASSIGN_OR_RETURN(auto evaluator,
                          nn::NewLightEvaluator(checkpoint, set));
    TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> evaluations,
                          EvaluateAll(*evaluator, states));
    engines.push_back({.info = {.backend = nn::InferenceBackend::kTara,
                                .precision = nn::Precision::kInt8},
                       .set = set,
                       .evaluator = std::move(evaluator),
                       .error = nn::ErrorOf(expected, evaluations)});
  }
  return engines;
}

// Returns the requested backends and precisions of the device.
std::vector<nn::InferenceInfo> ListRequestedEngines(
    const BenchInferenceOptions& options) {
  std::vector<nn::InferenceInfo> choices;
  const auto add = [&](nn::InferenceBackend backend, nn::Precision precision) {
    if ((options.backend == "all" ||
         options.backend == nn::BackendName(backend)) &&
        (options.precision == "all" ||
         options.precision == nn::PrecisionName(precision))) {
      choices.push_back({.backend = backend, .precision = precision});
    }
  };
  if (!options.on_cpu()) {
    for (const nn::Precision precision :
         {nn::Precision::kFloat32, nn::Precision::kBfloat16,
          nn::Precision::kFloat16}) {
      add(nn::InferenceBackend::kTorch, precision);
    }
    return choices;
  }
  add(nn::InferenceBackend::kTorch, nn::Precision::kFloat32);
  add(nn::InferenceBackend::kTara, nn::Precision::kFloat32);
  return choices;
}

// Makes the network with each requested backend and precision that this machine
// supports, and measures its error at `states` from LibTorch in float32.
absl::StatusOr<std::vector<Engine>> MakeEngines(
    const BenchInferenceOptions& options, const nn::Checkpoint& checkpoint,
    const std::vector<State>& states) {
  if (checkpoint.shape.kind == nn::NetworkKind::kLight) {
    if (!options.on_cpu()) {
      return UsageError("--device: light networks are evaluated on the cpu");
    }
    return MakeLightEngines(checkpoint, states);
  }
  TARA_ASSIGN_OR_RETURN(
      const nn::LoadedNetwork reference,
      nn::MakeNetwork("the network", checkpoint,
                      {.backend = nn::InferenceBackend::kTorch,
                       .precision = nn::Precision::kFloat32}));
  TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> expected,
                        EvaluateAll(*reference.evaluator, states));
  std::vector<Engine> engines;
  absl::Status unsupported = UsageError(absl::StrCat(
      "--backend ", options.backend, " with --precision ", options.precision,
      ": no such engine on device ", options.inference.device));
  for (const auto& [backend, precision] : ListRequestedEngines(options)) {
    absl::StatusOr<nn::LoadedNetwork> network =
        nn::MakeNetwork("the network", checkpoint,
                        {.device = options.inference.device,
                         .backend = backend,
                         .precision = precision});
    if (network.status().code() == absl::StatusCode::kUnimplemented &&
        (options.precision == "all" || options.backend == "all")) {
      unsupported = network.status();
      continue;
    }
    TARA_RETURN_IF_ERROR(network.status());
    TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> evaluations,
                          EvaluateAll(*network->evaluator, states));
    engines.push_back({.info = network->info,
                       .evaluator = std::move(network->evaluator),
                       .error = nn::ErrorOf(expected, evaluations)});
  }
  if (engines.empty()) return unsupported;
  return engines;
}

// Measures how fast one core or a device evaluates positions, by backend,
// precision and batch, and how far each precision is from the reference.
absl::StatusOr<int> RunBenchInference(const BenchInferenceOptions& options,
                                      Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<int> batches,
                        ParseBatches(options.batch, 4096));
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
  for (const int batch : batches) {
    workloads.push_back(EncodingAndFillingWorkload(states, batch));
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
    const nn::InferenceInfo& info = engine.info;
    const nn::EvaluationError& error = engine.error;
    report.push_back(
        {eval::TextField("net", "", net),
         eval::TextField("backend", "backend", nn::BackendName(info.backend)),
         eval::TextField("precision", "precision",
                         nn::PrecisionName(info.precision)),
         eval::TextField("instructions", "instructions",
                         InstructionSetName(engine.set)),
         eval::CountField("batch", "batch", batches[batch]),
         eval::NumberField("positions_per_s", "positions/s", whole,
                           {.digits = 0}),
         eval::NumberField("network_positions_per_s", "network alone", rate,
                           {.digits = 0}),
         eval::NumberField("operations_per_position", "", operations),
         eval::NumberField("operations_per_s", "G/s", rate * operations,
                           {.scale = 1e-9, .digits = 0}),
         eval::NumberField("value_error", "value error", error.value,
                           {.digits = 5}),
         eval::NumberField("policy_error", "policy error", error.policy,
                           {.digits = 5})});
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

}  // namespace

void RegisterBenchInference(Command& bench) {
  Command& command = bench.AddCommand(kBenchInferenceCommand.name,
                                      kBenchInferenceCommand.summary);
  BenchInferenceOptions* const options = command.SetRun(RunBenchInference);
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
      "more\n"
      "threads: wall time). The rows take turns; a rate is the upper quartile "
      "of the\n"
      "turns. On a CPU, the network alone excludes encoding positions and "
      "filling\n"
      "evaluations. Operations are the multiplications and additions of whole "
      "grids.\n"
      "Errors are mean differences from LibTorch in float32, on positions of "
      "random\n"
      "games of every variant: for the value the difference, for the policy "
      "half the\n"
      "sum over the priors. A light network has one row per instruction set; "
      "its errors\n"
      "are relative to its own float32. The environment variable\n"
      "TARA_INSTRUCTION_SET=avx2 turns AVX-512 off in Tara's own code.");
  command.SetExamples({"bench inference", "bench inference --net 128x10",
                       "bench inference --net light:64x3 --batch 1",
                       "bench inference --device cuda --threads 16 "
                       "--batch 256,1024",
                       "bench inference --checkpoint FILE --backend tara "
                       "--batch 1,32 --format=json"});
}

}  // namespace tara::cli
