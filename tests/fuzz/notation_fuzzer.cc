// Actions and hills in notation from a hostile world: what parses prints
// identically but for case; options and variants are refused with a message.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<tara::Action> action = tara::ParseAction(text);
  if (action.ok()) {
    TARA_CHECK(tara::Index(*action) < tara::kNumActions, "no such action");
    TARA_CHECK(absl::EqualsIgnoreCase(tara::ActionToText(*action), text),
               "parse and print differ");
  }
  const absl::StatusOr<tara::Hill> hill = tara::ParseHill(text);
  if (hill.ok()) {
    TARA_CHECK(absl::EqualsIgnoreCase(tara::HillToText(*hill), text),
               "parse and print differ");
  }
  const absl::StatusOr<tara::Variant> variant = tara::ParseVariant(text);
  TARA_CHECK(!variant.ok() || tara::Info(*variant).id == text,
             "another variant than named");
  for (const tara::VariantInfo& info : tara::kVariants) {
    const absl::StatusOr<tara::RuleOptions> options =
        tara::ParseRuleOptions(info.variant, text);
    if (!options.ok()) continue;
    const std::string printed = tara::FormatRuleOptions(*options);
    const absl::StatusOr<tara::RuleOptions> again =
        tara::ParseRuleOptions(info.variant, printed);
    TARA_CHECK(again.ok() && *again == *options, "options change in print");
  }
  return 0;
}
