#ifndef TARA_CLI_BENCH_SEARCH_H_
#define TARA_CLI_BENCH_SEARCH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct BenchSearchOptions {
  GameFlags game = {.variant = "all", .options = {}};
  std::string evaluator = "all";  // uniform, playouts
  double seconds = 1;             // a variant and evaluator
  int64_t simulations = 2000;     // a search
  int64_t games = 8;              // searched in step by one thread
  int64_t leaves = 1;             // of a game in a batch
  int64_t threads = 1;            // more: all at one tree
  std::string format = "text";
  bool signature = false;
};

// Measures how fast positions are searched, or prints the search signature.
absl::StatusOr<int> RunBenchSearch(const BenchSearchOptions& options,
                                   Console& console);

// Adds `search` to the command `bench`.
void RegisterBenchSearch(Command& bench);

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_SEARCH_H_
