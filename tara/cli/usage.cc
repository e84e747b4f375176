#include "tara/cli/usage.h"

#include "absl/strings/cord.h"

namespace tara::cli {
namespace {

// Payload key of a status that is a usage error.
constexpr absl::string_view kUsagePayload = "tara/usage";

}  // namespace

absl::Status UsageError(absl::string_view message) {
  return AsUsageError(absl::InvalidArgumentError(message));
}

absl::Status AsUsageError(absl::Status status) {
  if (!status.ok()) status.SetPayload(kUsagePayload, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) {
  return status.GetPayload(kUsagePayload).has_value();
}

}  // namespace tara::cli
