#ifndef TARA_CLI_BENCH_H_
#define TARA_CLI_BENCH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct BenchCoreOptions {
  GameFlags game = {.variant = "all", .options = {}};
  double seconds = 2;  // a variant
  int64_t threads = 1;
  std::string format = "text";
};

// Measures how fast the core plays random games to their ends: one by one, and
// many in step with each instruction set that the processor has.
absl::StatusOr<int> RunBenchCore(const BenchCoreOptions& options,
                                 Console& console);

// Adds `bench` to the program and returns it.
Command& RegisterBench(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_H_
