// Trains by configs/tiny.textproto until it is killed:
//
//   train_child RUN_DIR FIELD=VALUE...
//
// Prints the index of each game once the store has it, a line each.

#include <cstdio>
#include <string>
#include <vector>

#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"
#include "tests/train/tiny_training.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto config = tara::TinyConfig(
      argv[1], std::vector<std::string>(argv + 2, argv + argc));
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.status().ToString().c_str());
    return 2;
  }
  tara::TrainCallbacks callbacks;
  callbacks.on_game_stored = [](uint64_t game_index) {
    // One write a line: a kill never tears it.
    std::printf("%llu\n", static_cast<unsigned long long>(game_index));
    std::fflush(stdout);
  };
  tara::Progress progress(tara::ProgressOptionsFor(stderr));
  const auto summary = tara::RunTraining(
      *config, callbacks, [] { return false; }, progress);
  if (!summary.ok()) {
    std::fprintf(stderr, "%s\n", summary.status().ToString().c_str());
    return 1;
  }
  return 0;
}
