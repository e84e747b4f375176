#ifndef TARA_CLI_BENCH_SELFPLAY_H_
#define TARA_CLI_BENCH_SELFPLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/bench_network.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"
#include "tara/cli/inference_flags.h"

namespace tara::cli {

struct BenchSelfPlayOptions {
  GameFlags game = {.variant = "sacred_hill_l1", .options = {}};
  BenchNetworkFlags network = {.net = "64x4", .checkpoint = {}};
  InferenceFlags inference;
  int64_t simulations = 100;
  std::string search;   // "name=value,..."
  int64_t threads = 0;  // all cores
  int64_t games = 0;    // a generation; 0: twice those in step
  int64_t games_per_thread = 64;
  int64_t cache = 1 << 16;
  bool plain_cache = false;  // does not share symmetric positions
  double seconds = 10;
  std::string format = "text";
};

// Measures self-play beside the bare evaluator, over whole games.
absl::StatusOr<int> RunBenchSelfPlay(const BenchSelfPlayOptions& options,
                                     Console& console);

// Adds `selfplay` to the command `bench`.
void RegisterBenchSelfPlay(Command& bench);

}  // namespace tara::cli

#endif  // TARA_CLI_BENCH_SELFPLAY_H_
