#ifndef TARA_CLI_VERIFY_H_
#define TARA_CLI_VERIFY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

struct VerifyOptions {
  std::vector<std::string> files;  // "-": standard input
};

// Checks games in JSON lines against the rules. Writes a line for each bad
// game and, last, how many passed and failed; a file that cannot be read counts
// as a failure. Returns kExitFailure if anything failed.
absl::StatusOr<int> RunVerify(const VerifyOptions& options, Console& console);

// Adds `verify` to the program.
void RegisterVerify(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_VERIFY_H_
