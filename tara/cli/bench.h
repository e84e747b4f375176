#ifndef TARA_CLI_BENCH_H_
#define TARA_CLI_BENCH_H_

// What the parts of `tara bench` share.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
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

// Rates of repeated measurements of one thing.
class Rates {
 public:
  void Add(double rate) { rates_.push_back(rate); }

  // Returns the rate that a quarter of them reach. Other work on the machine
  // slows some and speeds up none, so this is steadier than their mean.
  // REQUIRES: there is one.
  double Typical() const;

 private:
  std::vector<double> rates_;
};

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

// Does the work around a network: encodes positions, and fills evaluations from
// made-up outputs. Calls `encoded` between the two.
void EncodeAndFill(
    absl::Span<const State> states, absl::Span<mcts::Evaluation> results,
    const std::function<void()>& encoded = [] {});

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_H_
