#ifndef TARA_CLI_WEB_H_
#define TARA_CLI_WEB_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

struct WebOptions {
  int64_t port = 8045;
  // A bundle, run or checkpoint; empty: the one that comes with the project.
  std::string model = {};
};

// Becomes the script web/serve.sh of the folder that the environment variable
// TARA_ROOT names, as bin/tara sets it: the page is built from sources. Returns
// only errors: FAILED_PRECONDITION where there is no such script, NOT_FOUND
// where there is no such model.
absl::StatusOr<int> RunWeb(const WebOptions& options, Console& console);

// Adds `web` to the program.
void RegisterWeb(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_WEB_H_
