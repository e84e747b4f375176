#ifndef TARA_CLI_CROSSPLAY_H_
#define TARA_CLI_CROSSPLAY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"
#include "tara/cli/match_flags.h"

namespace tara::cli {

struct CrossPlayCommandOptions {
  GameFlags game;
  MatchFlags match;
  std::string player_a;
  std::string player_b;
  std::string player_c;    // may be a team; empty: A and B are the opponents
  bool untrained = false;  // play what a network has not learned, too
  int64_t games = 400;     // of A with B against each opponent
  std::string format = "text";
};

// Tells what two players are worth as partners of each other, in one variant in
// pairs or in all of them. An interrupt (Ctrl-C) ends it with a report of the
// openings that are finished.
absl::StatusOr<int> RunCrossPlay(const CrossPlayCommandOptions& options,
                                 Console& console);

// Adds `crossplay` to the program.
void RegisterCrossPlay(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_CROSSPLAY_H_
