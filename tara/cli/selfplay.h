#ifndef TARA_CLI_SELFPLAY_H_
#define TARA_CLI_SELFPLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct SelfPlayCommandOptions {
  GameFlags game;
  std::string model = "uniform";  // or "playouts", "best", a checkpoint
  bool untrained = false;         // play what a network has not learned, too
  std::string output;
  int64_t games = 100;  // a variant
  int64_t simulations = 100;
  int64_t threads = 0;  // all cores
  int64_t seed = 1;
};

// Plays games of a player with itself into a game store. Games that the store
// has are not played again, so the same command goes on where it stopped.
absl::StatusOr<int> RunSelfPlay(const SelfPlayCommandOptions& options,
                                Console& console);

// Adds `selfplay` to the program.
void RegisterSelfPlay(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_SELFPLAY_H_
