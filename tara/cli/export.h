#ifndef TARA_CLI_EXPORT_H_
#define TARA_CLI_EXPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"
#include "tara/cli/game_flags.h"

namespace tara::cli {

struct ExportOptions {
  std::string model;   // run, or checkpoint file
  std::string output;  // the bundle
  std::string weights = "float32";
  bool for_learning = false;  // init_from takes the bundle
  GameFlags game;             // variant empty: those of the run, else all
  std::string format = "text";
};

// Writes a trained network as a model bundle.
absl::StatusOr<int> RunExport(const ExportOptions& options, Console& console);

// Adds `export` to the program.
void RegisterExport(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_EXPORT_H_
