#ifndef TARA_CLI_ARENA_H_
#define TARA_CLI_ARENA_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"
#include "tara/cli/match_flags.h"

namespace tara::cli {

struct ArenaCommandOptions {
  GameFlags game;
  MatchFlags match;
  std::string player_a;  // or a team
  std::string player_b;
  bool untrained = false;  // play what a network has not learned, too
  bool by_match = false;
  int64_t games = 0;  // 0: 200, or with a sequential test 20000 at most
  // As ParseSprtOptions reads it; empty: all games are played.
  std::string sprt;
  std::string format = "text";
};

// Lets two players or teams play each other in one variant or in all. An
// interrupt (Ctrl-C) ends it with a report of the games that are finished.
absl::StatusOr<int> RunArena(const ArenaCommandOptions& options,
                             Console& console);

// Adds `arena` to the program.
void RegisterArena(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_ARENA_H_
