#ifndef TARA_CLI_GAMES_H_
#define TARA_CLI_GAMES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

// What the commands of `games` have in common: a store, and which games.
struct GamesQueryOptions {
  std::string store;  // a game store, or the folder of a run
  std::string variant;
  int64_t generation = -1;  // any
  int64_t limit = 0;        // all
  std::string format = "text";
};

struct GamesShowOptions {
  std::string store;
  int64_t game_index = 0;
  int64_t ply = -1;  // the last
  std::string format = "text";
  std::string colour = "auto";
  bool ascii = false;
};

struct GamesExportOptions {
  GamesQueryOptions query;
  std::string output = "-";
};

// Lists games, newest first.
absl::StatusOr<int> RunGamesList(const GamesQueryOptions& options,
                                 Console& console);

// Shows one game: origin, actions, a position, the result.
absl::StatusOr<int> RunGamesShow(const GamesShowOptions& options,
                                 Console& console);

// Writes games as JSON lines, oldest first; a file appears only when all are
// written.
absl::StatusOr<int> RunGamesExport(const GamesExportOptions& options,
                                   Console& console);

// Sums games up by variant and rule options.
absl::StatusOr<int> RunGamesStats(const GamesQueryOptions& options,
                                  Console& console);

// Adds `games` with its commands to the program.
void RegisterGames(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_GAMES_H_
