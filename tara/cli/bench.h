#ifndef TARA_CLI_BENCH_H_
#define TARA_CLI_BENCH_H_

// Functions that the subcommands of `tara bench` share.

#include <atomic>
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
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/cli/command_line.h"
#include "tara/core/state.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"

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

// Prints rows as JSON, or as a table below a title. Returns what EndOf returns.
int ReportBench(const std::string& format, const std::string& title,
                const std::vector<eval::ReportRow>& rows, const StopCheck& stop,
                Console& console);

// What EndOf is to tell of measurements.
inline constexpr absl::string_view kMeasured = "this is what was measured";

// Counts the work of another evaluator, and its time by a clock, if there is
// one. Thread-safe.
class CountingEvaluator : public mcts::Evaluator {
 public:
  explicit CountingEvaluator(mcts::Evaluator* evaluator,
                             BenchClock clock = nullptr)
      : evaluator_(evaluator), clock_(clock) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const absl::Time begin = clock_ == nullptr ? absl::Time() : clock_();
    TARA_RETURN_IF_ERROR(evaluator_->Evaluate(states, results));
    if (clock_ != nullptr) ns += absl::ToInt64Nanoseconds(clock_() - begin);
    positions += static_cast<int64_t>(states.size());
    ++batches;
    return absl::OkStatus();
  }

  size_t batch_multiple() const override {
    return evaluator_->batch_multiple();
  }

  std::atomic<int64_t> ns = 0;
  std::atomic<int64_t> positions = 0;
  std::atomic<int64_t> batches = 0;

 private:
  mcts::Evaluator* const evaluator_;
  const BenchClock clock_;
};

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_H_
