#ifndef TARA_CLI_BENCH_INFERENCE_H_
#define TARA_CLI_BENCH_INFERENCE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/bench_network.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

struct BenchInferenceOptions {
  BenchNetworkFlags network = {.net = "64x6", .checkpoint = {}};
  std::string backend = "all";
  std::string precision = "all";
  std::string batch = "1,8,32,128";
  double seconds = 0.5;  // for each row
  std::string format = "text";
};

// Measures how fast one core evaluates positions, by backend, precision and
// batch, and how far each precision is from the reference.
absl::StatusOr<int> RunBenchInference(const BenchInferenceOptions& options,
                                      Console& console);

// Adds `inference` to the command `bench`.
void RegisterBenchInference(Command& bench);

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_INFERENCE_H_
