#ifndef TARA_CLI_BENCH_ENGINE_H_
#define TARA_CLI_BENCH_ENGINE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/bench_network.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct BenchEngineOptions {
  GameFlags game = {.variant = "sacred_hill_l1", .options = {}};
  BenchNetworkFlags network = {.net = "64x4", .checkpoint = {}};
  std::string precision = "auto";
  int64_t simulations = 100;
  std::string search;  // "name=value,..."
  std::string report = "actions,pv";
  int64_t threads = 0;     // all cores
  int64_t positions = 64;  // in step on a thread; games of self-play likewise
  int64_t cache = 1 << 16;
  double seconds = 20;
  std::string format = "text";
};

// Measures the JSON protocol on many positions beside self-play.
absl::StatusOr<int> RunBenchEngine(const BenchEngineOptions& options,
                                   Console& console);

// Adds `engine` to the command `bench`.
void RegisterBenchEngine(Command& bench);

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_ENGINE_H_
