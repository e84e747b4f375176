#ifndef TARA_CLI_MODEL_H_
#define TARA_CLI_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

struct ModelOptions {
  std::string bundle;
  std::string format = "text";
  bool torchscript = false;  // verify: also execute the TorchScript form
};

// Shows what a bundle is, what it holds and where it comes from.
absl::StatusOr<int> RunModelShow(const ModelOptions& options, Console& console);

// Runs the golden positions of a bundle through each of its forms. Returns
// kExitFailure if any differs.
absl::StatusOr<int> RunModelVerify(const ModelOptions& options,
                                   Console& console);

// Adds `model` to the program.
void RegisterModel(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_MODEL_H_
