#include "tara/core/variant.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/text.h"

namespace tara {
namespace {

// Info() indexes the list by the enumerator's value.
static_assert([] {
  for (int i = 0; i < kNumVariants; ++i) {
    if (static_cast<int>(kVariants[i].variant) != i) return false;
  }
  return true;
}());

}  // namespace

absl::StatusOr<Variant> ParseVariant(absl::string_view id) {
  for (const VariantInfo& info : kVariants) {
    if (info.id == id) return info.variant;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown variant '", Shown(id), "'; expected one of: ", VariantIds()));
}

std::string VariantIds() {
  return absl::StrJoin(kVariants, ", ",
                       [](std::string* out, const VariantInfo& info) {
                         absl::StrAppend(out, info.id);
                       });
}

}  // namespace tara
