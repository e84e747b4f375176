#ifndef TARA_CLI_REGRET_H_
#define TARA_CLI_REGRET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara {

struct RegretOptions {
  GameFlags game;
  std::vector<std::string> players;
  int64_t positions = 100;      // a variant
  int64_t node_limit = 100000;  // of solving one
  int64_t seed = 1;
  std::string format = "text";
};

// Solves endgames and says what players give away in them. An interrupt
// (Ctrl-C) ends it with a report of the variants finished by then.
absl::StatusOr<int> RunRegret(const RegretOptions& options, Console& console);

// Adds `regret` to the program.
void RegisterRegret(Command& root);

}  // namespace tara

#endif  // TARA_CLI_REGRET_H_
