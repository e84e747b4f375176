#ifndef TARA_CLI_USAGE_H_
#define TARA_CLI_USAGE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tara::cli {

// Exit statuses of the program.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
// By a signal, as shells count it: 128 + SIGINT.
inline constexpr int kExitInterrupted = 130;

// Returns INVALID_ARGUMENT marked as misuse of the command line, which ends the
// program with kExitUsage; every other error ends it with kExitFailure.
absl::Status UsageError(absl::string_view message);

// Marks an error as misuse of the command line; OK stays OK.
absl::Status AsUsageError(absl::Status status);

bool IsUsageError(const absl::Status& status);

}  // namespace tara::cli

#endif  // TARA_CLI_USAGE_H_
