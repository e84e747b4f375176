// Games of every variant under any rule options: every position valid, text
// and position inverse, the end within its bound.
//
// Input: the variant, a byte for each rule option, then bytes that choose
// actions.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 + tara::kRuleOptions.size()) return 0;
  const tara::VariantInfo& info = tara::kVariants[data[0] % tara::kNumVariants];
  tara::RuleOptions options;
  for (size_t i = 0; i < tara::kRuleOptions.size(); ++i) {
    const tara::RuleOptionInfo& option = tara::kRuleOptions[i];
    if (!option.applies_to(info)) continue;
    const int values = option.max_value - option.min_value + 1;
    option.set(options, option.min_value + data[1 + i] % values);
  }
  const tara::State start = tara::InitialState(info.variant, options);
  const absl::StatusOr<tara::State> parsed =
      tara::ParsePosition(tara::PositionToText(start));
  TARA_CHECK(parsed.ok() && *parsed == start, "text and position differ");
  const size_t used = 1 + tara::kRuleOptions.size();
  tara::PlayByBytes(start,
                    {reinterpret_cast<const char*>(data) + used, size - used});
  return 0;
}
