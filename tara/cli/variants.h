#ifndef TARA_CLI_VARIANTS_H_
#define TARA_CLI_VARIANTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tara/cli/command_line.h"
#include "tara/cli/console.h"

namespace tara::cli {

struct VariantsOptions {
  std::string format = "text";
};

// Lists the variants and their rule options.
absl::StatusOr<int> RunVariants(const VariantsOptions& options,
                                Console& console);

// Adds `variants` to the program.
void RegisterVariants(Command& root);

}  // namespace tara::cli

#endif  // TARA_CLI_VARIANTS_H_
