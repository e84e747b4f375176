// Abseil's statuses can carry cords, and cords be sampled for profiles by code
// that takes threads and stack traces. Nothing here turns sampling on, so that
// a sample is never there to be given up.

#include "absl/strings/internal/cordz_info.h"
#include "tara/base/check.h"

namespace absl {
ABSL_NAMESPACE_BEGIN
namespace cord_internal {

void CordzInfo::Untrack() { TARA_CHECK(false, "cords are not sampled"); }

}  // namespace cord_internal
ABSL_NAMESPACE_END
}  // namespace absl
