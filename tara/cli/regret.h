#ifndef TARA_CLI_REGRET_H_
#define TARA_CLI_REGRET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct RegretOptions {
  GameFlags game;  // no variant: what all the networks have learned
  std::vector<std::string> players;  // runs, checkpoints, player specs
  // Of runs: which checkpoints, and simulations an action (0: the policy).
  std::string checkpoints = "all";
  int64_t simulations = 0;
  bool untrained = false;       // what a network has not learned, too
  int64_t positions = 0;        // a variant; 0: 100, or all of the test set
  std::string test_set;         // file; empty: none
  int64_t node_limit = 100000;  // of solving one
  int64_t seed = 1;
  std::string format = "text";
  std::string html;  // file of a page; empty: none
};

// Solves endgames and says what players give away in them. An interrupt
// (Ctrl-C) ends it with a report of the variants finished by then.
absl::StatusOr<int> RunRegret(const RegretOptions& options, Console& console);

// Adds `regret` to the program.
void RegisterRegret(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_REGRET_H_
