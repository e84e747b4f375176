#ifndef TARA_CLI_STATS_H_
#define TARA_CLI_STATS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct StatsOptions {
  GameFlags game;
  int64_t games = 1000000;  // a variant
  int64_t threads = 0;      // all cores
  int64_t seed = 1;
  std::string format = "text";
  std::string html;  // a file for the page; none if empty
};

// Plays random games of one variant or of all and says what came of them. An
// interrupt (Ctrl-C) ends it with a report of the games finished by then.
absl::StatusOr<int> RunStats(const StatsOptions& options, Console& console);

// Adds `stats` to the program.
void RegisterStats(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_STATS_H_
