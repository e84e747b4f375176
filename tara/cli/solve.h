#ifndef TARA_CLI_SOLVE_H_
#define TARA_CLI_SOLVE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/position_flags.h"
#include "tara/train/stop.h"

namespace tara::cli {

struct SolveOptions {
  PositionFlags position;
  bool all_actions = false;
  int64_t node_limit = 0;  // 0: none
  int64_t table_mb = 256;
  std::string format = "text";
};

// Finds the exact result of a position under best play, and the best actions.
// When it has to give up it prints the bounds known so far and returns
// kExitFailure (the node limit) or kExitInterrupted (`stop`).
absl::StatusOr<int> RunSolve(const SolveOptions& options,
                             const train::StopCheck& stop, Console& console);

// Adds `solve` to the program.
void RegisterSolve(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_SOLVE_H_
