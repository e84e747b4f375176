#ifndef TARA_CLI_BENCH_H_
#define TARA_CLI_BENCH_H_

// Functions that the subcommands of `tara bench` share.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/base/option_table.h"
#include "tara/base/stop.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/core/state.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/weights/checkpoint.h"

namespace tara::cli {

using BenchClock = absl::Time (*)();

// One of the things that are compared.
struct Workload {
  // Does some work on the i-th thread; returns how much.
  std::function<absl::StatusOr<int64_t>(int i)> work;
  // Work per second of all threads together, by turn.
  std::vector<double> rates = {};
};

// Returns the rate that a quarter of them reach. Other work on the machine
// slows some and speeds up none, so this is steadier than their mean. REQUIRES:
// there is one.
double Typical(std::vector<double> rates);

// Lets workloads take turns, so that other work on the machine slows all of
// them alike, for so many seconds and a turn at least, unless stopped. `clock`
// counts a thread's time. Returns the first error of one's work.
absl::Status TakeTurns(int threads, BenchClock clock, double seconds,
                       const StopCheck& stop, absl::Span<Workload> workloads);

// --seconds, the duration of a measurement.
Option SecondsOption(double* seconds, absl::string_view help);

// Prints rows as JSON, or as a table below a title. Returns what EndBench
// returns.
int ReportBench(const std::string& format, const std::string& title,
                const std::vector<eval::ReportRow>& rows, const StopCheck& stop,
                Console& console);

// Returns the exit status of a measurement, which `stop` may have ended early:
// this is printed.
int EndBench(const StopCheck& stop, Console& console);

// The network to measure with.
struct BenchNetworkFlags {
  std::string net;         // "CHANNELSxBLOCKS": of random weights
  std::string checkpoint;  // a file, or a run, which stands for its newest
};

// Adds --net and --checkpoint.
void AddBenchNetworkFlags(Command& command, BenchNetworkFlags* flags);

// Returns the network of the checkpoint or, without one, of random weights in
// the shape. Returns a usage error for a malformed shape, or errors as
// ReadNetworkFile.
absl::StatusOr<nn::Checkpoint> ReadBenchNetwork(const BenchNetworkFlags& flags);

// Reads the sizes of --batch, from 1 to `largest`. Returns a usage error for
// others.
absl::StatusOr<std::vector<int>> ParseBatches(const std::string& text,
                                              int largest);

// Returns "64x4".
std::string ShapeText(const nn::NetworkShape& shape);

// Workloads that do the work around a network on batches of these positions:
// encode them, and also fill evaluations from made-up outputs. Work is counted
// in positions. REQUIRES: batch <= states.size(), which outlive them.
Workload EncodingWorkload(const std::vector<State>& states, int batch);
Workload EncodingAndFillingWorkload(const std::vector<State>& states,
                                    int batch);

// A workload that evaluates batches of these positions.
Workload EvaluatingWorkload(mcts::Evaluator& evaluator,
                            const std::vector<State>& states, int batch);

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_H_
