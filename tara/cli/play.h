#ifndef TARA_CLI_PLAY_H_
#define TARA_CLI_PLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct PlayCommandOptions {
  GameFlags game;
  std::string opponent;    // empty: the best that there is for the variant
  bool untrained = false;  // in what a network has not learned, too
  std::string side = "red";
  int64_t hint_simulations = 1000;
  int64_t seed = -1;  // another each time
  std::string colour = "auto";
  bool ascii = false;
};

// Lets a person at the terminal play against a player.
absl::StatusOr<int> RunPlay(const PlayCommandOptions& options,
                            Console& console);

// Adds `play` to the program.
void RegisterPlay(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_PLAY_H_
