#ifndef TARA_CLI_PERFT_H_
#define TARA_CLI_PERFT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct PerftOptions {
  GameFlags game;
  int64_t depth = 0;
  std::string prefix;
  bool divide = false;
};

// Counts the action sequences of a length; the count stands alone on the last
// line.
absl::StatusOr<int> RunPerft(const PerftOptions& options, Console& console);

// Adds `perft` to the program.
void RegisterPerft(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_PERFT_H_
