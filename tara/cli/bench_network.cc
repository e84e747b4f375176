#include <algorithm>
#include <cstdint>
#include <functional>
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
#include "tara/nn/cpu/cpu_calibration.h"
#include "tara/nn/cpu/cpu_precision.h"
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

std::string ShapeText(const nn::NetworkShape& shape) {
  return absl::StrCat(shape.kind == nn::NetworkKind::kLight ? "light:" : "",
                      shape.channels, "x", shape.blocks);
}

void EncodeAndFill(absl::Span<const State> states,
                   absl::Span<mcts::Evaluation> results,
                   const std::function<void()>& encoded) {
  static const std::vector<float>* const outputs =
      new std::vector<float>(nn::kNumPolicyOutputs);
  thread_local nn::EncodedBatch batch;
  batch.EncodeCanonical(states);
  encoded();
  for (int i = 0; i < batch.size(); ++i) {
    nn::FillEvaluation(batch, i,
                       {.policy = outputs->data(),
                        .result = outputs->data(),
                        .margins = outputs->data()},
                       results[i]);
  }
}

namespace {

struct BenchInferenceOptions {
  BenchNetworkFlags network = {.net = "64x6", .checkpoint = {}};
  std::string backend = "all";
  std::string precision = "all";
  std::string batch = "1,8,32,128";
  double seconds = 0.5;  // per row
  std::string format = "text";
};

// Other positions than those of the calibration: errors are measured on
// positions that the network's ranges do not come from.
constexpr uint64_t kPositionsSeed = 1000;
constexpr int kPositionsOfVariant = 32;
constexpr double kTurnSeconds = 0.02;

struct Contestant {
  nn::InferenceInfo info;
  InstructionSet set = SupportedInstructionSets().back();
  std::unique_ptr<mcts::Evaluator> evaluator;
  nn::PrecisionError error = {};  // from the reference
};

struct Row {
  const Contestant* contestant;  // null: only the work around a network
  int batch;
  Rates rates = {};  // positions per second
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

absl::StatusOr<std::vector<int>> BatchesOf(const std::string& text) {
  std::vector<int> batches;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    int batch = 0;
    if (!absl::SimpleAtoi(part, &batch) || batch < 1 || batch > 4096) {
      return UsageError(absl::StrCat("--batch is '", text,
                                     "'; expected sizes from 1 to 4096, such "
                                     "as 1,8,32"));
    }
    batches.push_back(batch);
  }
  return batches;
}

// Makes the light network with the kernels of each instruction set, and
// measures its error at `states` from the same in float32.
absl::StatusOr<std::vector<Contestant>> LightContestantsOf(
    const nn::Checkpoint& checkpoint, const std::vector<State>& states) {
  TARA_ASSIGN_OR_RETURN(const auto reference,
                        nn::NewFloatLightEvaluator(checkpoint));
  TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> expected,
                        EvaluateAll(*reference, states));
  std::vector<Contestant> contestants;
  for (const InstructionSet set : SupportedInstructionSets()) {
    TARA_ASSIGN_OR_RETURN(auto evaluator,
                          nn::NewLightEvaluator(checkpoint, set));
    TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> evaluations,
                          EvaluateAll(*evaluator, states));
    contestants.push_back({.info = {.backend = nn::InferenceBackend::kOneDnn,
                                    .precision = nn::Precision::kInt8},
                           .set = set,
                           .evaluator = std::move(evaluator),
                           .error = nn::ErrorOf(expected, evaluations)});
  }
  return contestants;
}

// Makes the network with each requested backend and precision that this machine
// supports, and measures its error at `states` from LibTorch in float32.
absl::StatusOr<std::vector<Contestant>> ContestantsOf(
    const BenchInferenceOptions& options, const nn::Checkpoint& checkpoint,
    const std::vector<State>& states) {
  if (checkpoint.shape.kind == nn::NetworkKind::kLight) {
    return LightContestantsOf(checkpoint, states);
  }
  TARA_ASSIGN_OR_RETURN(
      const nn::LoadedNetwork reference,
      nn::MakeNetwork("the network", checkpoint,
                      {.backend = nn::InferenceBackend::kTorch,
                       .precision = nn::Precision::kFloat32}));
  TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> expected,
                        EvaluateAll(*reference.evaluator, states));
  std::vector<Contestant> contestants;
  absl::Status unsupported;  // the last that was left out
  for (const nn::InferenceBackend backend :
       {nn::InferenceBackend::kTorch, nn::InferenceBackend::kOneDnn}) {
    for (const nn::Precision precision : nn::kCpuPrecisions) {
      if ((options.backend != "all" &&
           options.backend != nn::BackendName(backend)) ||
          (options.precision != "all" &&
           options.precision != nn::PrecisionName(precision))) {
        continue;
      }
      // LibTorch emulates missing instructions, a hundred times slower: this is
      // measured on request only.
      if (options.precision == "all" &&
          !nn::CheckCpuPrecision(precision).ok()) {
        continue;
      }
      absl::StatusOr<nn::LoadedNetwork> network =
          nn::MakeNetwork("the network", checkpoint,
                          {.backend = backend, .precision = precision});
      if (network.status().code() == absl::StatusCode::kUnimplemented &&
          (options.precision == "all" || options.backend == "all")) {
        unsupported = network.status();
        continue;
      }
      TARA_RETURN_IF_ERROR(network.status());
      TARA_ASSIGN_OR_RETURN(const std::vector<mcts::Evaluation> evaluations,
                            EvaluateAll(*network->evaluator, states));
      contestants.push_back({.info = network->info,
                             .evaluator = std::move(network->evaluator),
                             .error = nn::ErrorOf(expected, evaluations)});
    }
  }
  if (contestants.empty()) return unsupported;
  return contestants;
}

// Lets all rows take turns for `seconds` per row, unless stopped.
absl::Status Measure(const std::vector<State>& states, double seconds,
                     const StopCheck& stop, std::vector<Row>& rows) {
  std::vector<mcts::Evaluation> results(states.size());
  size_t next = 0;
  const int turns = static_cast<int>(seconds / kTurnSeconds) + 1;
  for (int turn = 0; turn < turns && !stop(); ++turn) {
    for (Row& row : rows) {
      const absl::Time begin = ThreadTime();
      double done = 0;
      double elapsed = 0;
      do {
        if (next + row.batch > states.size()) next = 0;
        const auto batch = absl::MakeConstSpan(states).subspan(next, row.batch);
        const auto places = absl::MakeSpan(results).subspan(next, row.batch);
        next += row.batch;
        if (row.contestant == nullptr) {
          EncodeAndFill(batch, places);
        } else {
          TARA_RETURN_IF_ERROR(
              row.contestant->evaluator->Evaluate(batch, places));
        }
        done += row.batch;
        elapsed = absl::ToDoubleSeconds(ThreadTime() - begin);
      } while (elapsed < kTurnSeconds);
      row.rates.Add(done / elapsed);
    }
  }
  return absl::OkStatus();
}

// Measures how fast one core evaluates positions, by backend, precision and
// batch, and how far each precision is from the reference.
absl::StatusOr<int> RunBenchInference(const BenchInferenceOptions& options,
                                      Console& console) {
  TARA_ASSIGN_OR_RETURN(const std::vector<int> batches,
                        BatchesOf(options.batch));
  TARA_ASSIGN_OR_RETURN(const nn::Checkpoint checkpoint,
                        ReadBenchNetwork(options.network));
  std::vector<State> states =
      nn::PositionsOfRandomGames(kPositionsOfVariant, kPositionsSeed);
  TARA_ASSIGN_OR_RETURN(const std::vector<Contestant> contestants,
                        ContestantsOf(options, checkpoint, states));
  std::vector<Row> rows;
  for (const Contestant& contestant : contestants) {
    for (const int batch : batches) rows.push_back({&contestant, batch});
  }
  const size_t num_reported = rows.size();
  for (const int batch : batches) rows.push_back({nullptr, batch});
  const size_t largest = *std::max_element(batches.begin(), batches.end());
  while (states.size() < largest) states.push_back(states[states.size() / 2]);
  const StopCheck stop = StopOnSignals();
  TARA_RETURN_IF_ERROR(Measure(states, options.seconds, stop, rows));
  if (stop()) return kExitInterrupted;

  const std::string net = ShapeText(checkpoint.shape);
  const double operations = OperationsOf(checkpoint.shape);
  std::vector<eval::ReportRow> report;
  for (size_t i = 0; i < num_reported; ++i) {
    const Row& row = rows[i];
    const Row& around = rows[num_reported + i % batches.size()];
    const double rate =
        1 / (1 / row.rates.Typical() - 1 / around.rates.Typical());
    const nn::InferenceInfo& info = row.contestant->info;
    const nn::PrecisionError& error = row.contestant->error;
    report.push_back(
        {eval::TextField("net", "", net),
         eval::TextField("backend", "backend", nn::BackendName(info.backend)),
         eval::TextField("precision", "precision",
                         nn::PrecisionName(info.precision)),
         eval::TextField("instructions", "instructions",
                         InstructionSetName(row.contestant->set)),
         eval::CountField("batch", "batch", row.batch),
         eval::NumberField("positions_per_s", "positions/s",
                           row.rates.Typical(), {.digits = 0}),
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
      absl::StrFormat("%s, one core, %.1f million operations a position", net,
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
      {"--backend all|torch|onednn", &options->backend, "backend"},
      {"--precision all|float32|int16|bfloat16|int8", &options->precision,
       "number type; all: every one that this machine supports"},
      {"--batch N,...", &options->batch, "positions of a call"},
      SecondsOption(&options->seconds, "time for each row"),
      FormatOption(&options->format),
  });
  command.SetNotes(
      "Positions a second of one core, by its processor time; a rate is one "
      "that a\nquarter of the turns reach, which the rows take by turns. The "
      "network alone is\nwithout encoding positions and filling evaluations. "
      "Operations are the\nmultiplications and additions of whole grids. "
      "Errors are the mean difference\nfrom LibTorch in float32, on positions "
      "of random games of every variant: of the\nvalue, and half the sum over "
      "the priors. A light network has a row for each\ninstruction set; its "
      "errors are from its own float32. The environment variable\n"
      "TARA_INSTRUCTION_SET=avx2 leaves AVX-512 out of all of Tara's own code, "
      "and\nONEDNN_MAX_CPU_ISA=AVX2 out of oneDNN's.");
  command.SetExamples({"bench inference", "bench inference --net 128x10",
                       "bench inference --net light:64x3 --batch 1",
                       "bench inference --checkpoint FILE --precision int8 "
                       "--batch 1,32 --format=json"});
}

}  // namespace tara::cli
