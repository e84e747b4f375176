#ifndef TARA_CLI_TRAIN_H_
#define TARA_CLI_TRAIN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

struct TrainCommandOptions {
  std::string config;
  std::vector<std::string> overrides;  // each "path.to.field=value"
  std::string minutes;                 // an override of this field, if given
  bool untrained = false;
};

// Trains as a config says, with progress on stderr, and ends with a table of
// the learned player's strength. Goes on where the run was stopped.
absl::StatusOr<int> RunTrain(const TrainCommandOptions& options,
                             Console& console);

// Adds `train` to the program.
void RegisterTrain(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_TRAIN_H_
