#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/clocks.h"
#include "tara/base/status_macros.h"
#include "tara/base/stop.h"
#include "tara/cli/bench_network.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/eval/report/report_page.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/cpu/cpu_calibration.h"
#include "tara/nn/cpu/cpu_peak.h"
#include "tara/nn/cpu/cpu_precision.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::cli {
namespace {

struct BenchInferenceOptions {
  BenchNetworkFlags network = {.net = "64x6", .checkpoint = {}};
  std::string backend = "all";
  std::string precision = "all";
  std::string batch = "1,8,32,128";
  double seconds = 0.5;  // for each row
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

// Not that of calibration: errors are those on positions not seen before.
constexpr uint64_t kSeed = 1000;
constexpr int kPositionsOfVariant = 32;
constexpr double kTurnSeconds = 0.02;

// Rates of turns of measurement.
class Rates {
 public:
  // Calls `work`, which does `amount`, for the length of a turn.
  void TakeTurn(double amount, const std::function<void()>& work) {
    const absl::Time start = ThreadTime();
    double done = 0;
    double seconds = 0;
    do {
      work();
      done += amount;
      seconds = absl::ToDoubleSeconds(ThreadTime() - start);
    } while (seconds < kTurnSeconds);
    rates_.push_back(done / seconds);
  }

  // Returns a rate that a quarter of the turns reach.
  double Typical() const {
    std::vector<double> sorted = rates_;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    return sorted[sorted.size() / 4];
  }

 private:
  std::vector<double> rates_;
};

struct Contestant {
  nn::InferenceInfo info;
  std::unique_ptr<mcts::Evaluator> evaluator;
  // Operations a second; 0 where the processor has no such instructions.
  double peak = 0;
  nn::PrecisionError error = {};  // from the reference
};

struct Row {
  const Contestant* contestant;
  int batch;
  Rates rates;  // positions a second
};

// The work around the network: encoding positions and filling evaluations.
struct Around {
  int batch;
  Rates rates;
};

// Multiplications and additions a position; of convolutions over the whole
// grid, as is usual, though what lies beyond its edge is zero.
double OperationsOf(const nn::NetworkShape& shape) {
  const double c = shape.channels;
  const double convolutions =
      nn::kNumSquares * (9 * c * nn::kNumPlanes + 18 * c * c * shape.blocks +
                         c * (2 * c + nn::kNumPolicyPlanes));
  const double pooled = (shape.blocks + 1) / 2 + 1;
  const double linear = c * nn::kNumGlobals + pooled * 2 * c * c + 2 * c * 64 +
                        64 * (3 + kNumMargins);
  return 2 * (convolutions + linear);
}

std::vector<mcts::Evaluation> EvaluateAll(mcts::Evaluator& evaluator,
                                          const std::vector<State>& states,
                                          absl::Status& status) {
  std::vector<mcts::Evaluation> results(states.size());
  status = evaluator.Evaluate(states, absl::MakeSpan(results));
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

// Loads the network with each backend and precision that is wanted and that
// this machine has.
absl::StatusOr<std::vector<Contestant>> ContestantsOf(
    const BenchInferenceOptions& options, const std::string& path) {
  std::vector<Contestant> contestants;
  absl::Status missing;  // why one of them is not there
  for (const nn::InferenceBackend backend :
       {nn::InferenceBackend::kTorch, nn::InferenceBackend::kOneDnn}) {
    if (options.backend != "all" &&
        options.backend != nn::BackendName(backend)) {
      continue;
    }
    for (const nn::Precision precision : nn::kCpuPrecisions) {
      if (options.precision != "all" &&
          options.precision != nn::PrecisionName(precision)) {
        continue;
      }
      const double peak = nn::MeasureCpuPeak(precision, 0.1);
      // LibTorch imitates instructions that are not there: a hundred times as
      // slowly, which is measured on request alone.
      if (peak == 0 && options.precision == "all") continue;
      auto network =
          nn::LoadNetwork(path, {.backend = backend, .precision = precision});
      if (network.status().code() == absl::StatusCode::kUnimplemented &&
          (options.precision == "all" || options.backend == "all")) {
        missing = network.status();
        continue;
      }
      TARA_RETURN_IF_ERROR(network.status());
      contestants.push_back({.info = network->info,
                             .evaluator = std::move(network->evaluator),
                             .peak = peak});
    }
  }
  if (contestants.empty()) return missing;
  return contestants;
}

// A measurement.
struct Report {
  std::string net;
  double operations = 0;  // a position
  std::vector<Contestant> contestants;
  std::vector<Row> rows;
  std::vector<Around> around;  // one for each size of batch

  // Returns positions a second of the network alone.
  double NetworkRate(const Row& row) const {
    for (const Around& each : around) {
      if (each.batch != row.batch) continue;
      return 1 / (1 / row.rates.Typical() - 1 / each.rates.Typical());
    }
    return 0;
  }
};

// Encodes positions, and fills evaluations from made-up outputs.
void EncodeAndFill(absl::Span<const State> states,
                   absl::Span<mcts::Evaluation> results) {
  static const std::vector<float>* const zeros =
      new std::vector<float>(nn::kNumPolicyOutputs);
  thread_local nn::EncodedBatch batch;
  batch.EncodeCanonical(states);
  for (int i = 0; i < batch.size(); ++i) {
    nn::FillEvaluation(batch, i,
                       {.policy = zeros->data(),
                        .result = zeros->data(),
                        .margins = zeros->data()},
                       results[i]);
  }
}

// Lets all take turns until the time is up.
absl::Status Measure(const std::vector<State>& states, double seconds,
                     const StopCheck& stop, Report& report) {
  absl::Status status;
  std::vector<mcts::Evaluation> results(states.size());
  size_t next = 0;
  const auto take = [&](int batch) {
    if (next + batch > states.size()) next = 0;
    const size_t begin = next;
    next += batch;
    return std::pair(absl::MakeConstSpan(states).subspan(begin, batch),
                     absl::MakeSpan(results).subspan(begin, batch));
  };
  const int turns = static_cast<int>(seconds / kTurnSeconds) + 1;
  for (int turn = 0; turn < turns && !stop() && status.ok(); ++turn) {
    for (Row& row : report.rows) {
      row.rates.TakeTurn(row.batch, [&] {
        const auto [some, places] = take(row.batch);
        status.Update(row.contestant->evaluator->Evaluate(some, places));
      });
    }
    for (Around& around : report.around) {
      around.rates.TakeTurn(around.batch, [&] {
        const auto [some, places] = take(around.batch);
        EncodeAndFill(some, places);
      });
    }
  }
  return status;
}

std::string ToText(const Report& report) {
  std::vector<std::vector<std::string>> table = {
      {"backend", "precision", "batch", "positions/s", "network alone", "G/s",
       "of peak", "value error", "policy error"}};
  for (const Row& row : report.rows) {
    const Contestant& contestant = *row.contestant;
    const double rate = report.NetworkRate(row);
    const double operations = rate * report.operations;
    table.push_back(
        {std::string(nn::BackendName(contestant.info.backend)),
         std::string(nn::PrecisionName(contestant.info.precision)),
         absl::StrCat(row.batch), absl::StrFormat("%.0f", row.rates.Typical()),
         absl::StrFormat("%.0f", rate),
         absl::StrFormat("%.0f", operations / 1e9),
         contestant.peak > 0
             ? absl::StrFormat("%.0f%%", 100 * operations / contestant.peak)
             : "-",
         absl::StrFormat("%.5f", contestant.error.value),
         absl::StrFormat("%.5f", contestant.error.policy)});
  }
  std::string text =
      absl::StrFormat("%s, one core, %.1f million operations a position\n",
                      report.net, report.operations / 1e6);
  for (const Contestant& contestant : report.contestants) {
    if (contestant.peak == 0) continue;
    absl::StrAppendFormat(
        &text, "peak of %s: %.0f G/s\n",
        std::string(nn::PrecisionName(contestant.info.precision)),
        contestant.peak / 1e9);
  }
  return absl::StrCat(text, eval::TextTable(table, 2));
}

std::string ToJson(const Report& report) {
  Json list = Json::array();
  for (const Row& row : report.rows) {
    const Contestant& contestant = *row.contestant;
    const double rate = report.NetworkRate(row);
    list.push_back(
        {{"net", report.net},
         {"backend", std::string(nn::BackendName(contestant.info.backend))},
         {"precision",
          std::string(nn::PrecisionName(contestant.info.precision))},
         {"batch", row.batch},
         {"positions_per_s", row.rates.Typical()},
         {"network_positions_per_s", rate},
         {"operations_per_position", report.operations},
         {"operations_per_s", rate * report.operations},
         {"peak_operations_per_s", contestant.peak},
         {"share_of_peak",
          contestant.peak > 0 ? Json(rate * report.operations / contestant.peak)
                              : Json()},
         {"value_error", contestant.error.value},
         {"policy_error", contestant.error.policy}});
  }
  return list.dump(2) + "\n";
}

absl::StatusOr<Report> Prepare(const BenchInferenceOptions& options,
                               const BenchNetwork& network,
                               const std::vector<State>& states) {
  TARA_ASSIGN_OR_RETURN(const std::vector<int> batches,
                        BatchesOf(options.batch));
  Report report = {.net = network.name(),
                   .operations = OperationsOf(network.shape()),
                   .contestants = {},
                   .rows = {},
                   .around = {}};
  TARA_ASSIGN_OR_RETURN(report.contestants,
                        ContestantsOf(options, network.path()));
  TARA_ASSIGN_OR_RETURN(
      const auto reference,
      nn::LoadNetworkEvaluator(network.path(),
                               {.backend = nn::InferenceBackend::kTorch}));
  absl::Status status;
  const std::vector<mcts::Evaluation> expected =
      EvaluateAll(*reference, states, status);
  TARA_RETURN_IF_ERROR(status);
  for (Contestant& contestant : report.contestants) {
    contestant.error = nn::ErrorOf(
        expected, EvaluateAll(*contestant.evaluator, states, status));
    TARA_RETURN_IF_ERROR(status);
  }
  for (const Contestant& contestant : report.contestants) {
    for (const int batch : batches) {
      report.rows.push_back({&contestant, batch, {}});
    }
  }
  for (const int batch : batches) report.around.push_back({batch, {}});
  return report;
}

// Measures how fast one core evaluates positions, by backend, precision and
// batch, and how far each precision is from the reference.
absl::StatusOr<int> RunBenchInference(const BenchInferenceOptions& options,
                                      Console& console) {
  TARA_ASSIGN_OR_RETURN(const BenchNetwork network,
                        BenchNetwork::Make(options.network));
  std::vector<State> states =
      nn::PositionsOfRandomGames(kPositionsOfVariant, kSeed);
  TARA_ASSIGN_OR_RETURN(Report report, Prepare(options, network, states));
  for (const Row& row : report.rows) {
    const size_t wanted = row.batch;
    while (states.size() < wanted) states.push_back(states[states.size() / 2]);
  }
  const StopCheck stop = StopOnSignals();
  TARA_RETURN_IF_ERROR(Measure(states, options.seconds, stop, report));
  if (stop()) return kExitInterrupted;
  console.out << (options.format == "json" ? ToJson(report) : ToText(report));
  return kExitOk;
}

}  // namespace

void RegisterBenchInference(Command& bench) {
  Command& command = bench.AddCommand(kBenchInferenceCommand.name,
                                      kBenchInferenceCommand.summary);
  const auto options = std::make_shared<BenchInferenceOptions>();
  AddBenchNetworkFlags(command, &options->network);
  command.AddChoice({.names = "--backend", .help = "backend"},
                    {"all", "torch", "onednn"}, &options->backend);
  command.AddChoice({.names = "--precision",
                     .help = "number type; all: those that this machine has"},
                    {"all", "float32", "int16", "bfloat16", "int8"},
                    &options->precision);
  command.AddText({.names = "--batch",
                   .placeholder = "N,...",
                   .help = "positions of a call"},
                  &options->batch);
  command.AddNumber(
      {.names = "--seconds", .placeholder = "S", .help = "time for each row"},
      0.001, 3600, &options->seconds);
  command.AddChoice({.names = "--format", .help = "form of the report"},
                    {"text", "json"}, &options->format);
  command.SetNotes(
      "Positions a second of one core, by its processor time; a rate is one "
      "that a\nquarter of the turns reach, which the rows take by turns. The "
      "network alone is\nwithout encoding positions and filling evaluations. "
      "Operations are the\nmultiplications and additions of whole grids; the "
      "peak is that of a loop over\nregisters. Errors are the mean difference "
      "from LibTorch in float32, on positions\nof random games of every "
      "variant: of the value, and half the sum over the\npriors.");
  command.SetExamples({"bench inference", "bench inference --net 128x10",
                       "bench inference --checkpoint FILE --precision int8 "
                       "--batch 1,32 --format=json"});
  command.SetRun([options](Console& console) {
    return RunBenchInference(*options, console);
  });
}

}  // namespace tara::cli
