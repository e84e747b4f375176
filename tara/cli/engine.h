#ifndef TARA_CLI_ENGINE_H_
#define TARA_CLI_ENGINE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"
#include "tara/cli/inference_flags.h"

namespace tara::cli {

struct EngineCommandOptions {
  GameFlags game;     // without a variant: kFirstVariant, or what is learned
  std::string model;  // empty: random games
  bool untrained = false;  // judge what the network has not learned, too
  InferenceFlags inference;
  std::string search;  // "name=value,..."
  int64_t threads = -1;
  int64_t cache = 1 << 16;
  bool json = false;
};

// Speaks a protocol of docs/protocol.md on the console's streams.
absl::StatusOr<int> RunEngine(const EngineCommandOptions& options,
                              Console& console);

// Adds `engine` to the program.
void RegisterEngine(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_ENGINE_H_
