#include "tara/nn/bundle/learned_rules.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"

namespace tara::nn {
namespace {

std::string OptionText(const RuleOptionInfo& option, int value) {
  return absl::StrCat(option.name, "=", FormatRuleOptionValue(option, value));
}

// Returns the values of an option that were learned with the variant.
std::set<int> ValuesOf(absl::Span<const BundleVariant> learned, Variant variant,
                       const RuleOptionInfo& option) {
  std::set<int> values;
  for (const BundleVariant& each : learned) {
    if (each.variant == variant) values.insert(option.get(each.options));
  }
  return values;
}

bool HasVariant(absl::Span<const BundleVariant> learned, Variant variant) {
  return std::any_of(
      learned.begin(), learned.end(),
      [&](const BundleVariant& each) { return each.variant == variant; });
}

// The options whose values were not learned, and those that were in their
// place: "a=1,b=2".
struct OtherOptions {
  std::string asked;
  std::string learned;
};

OtherOptions OptionsNotLearned(absl::Span<const BundleVariant> learned,
                               const State& state) {
  std::vector<std::string> asked, instead;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(Info(state.variant))) continue;
    const std::set<int> values = ValuesOf(learned, state.variant, option);
    const int value = option.get(state.options);
    if (values.contains(value)) continue;
    asked.push_back(OptionText(option, value));
    for (const int other : values) {
      instead.push_back(OptionText(option, other));
    }
  }
  return {absl::StrJoin(asked, ","), absl::StrJoin(instead, ",")};
}

}  // namespace

std::string NotLearned(absl::Span<const BundleVariant> learned,
                       const State& state) {
  if (!HasVariant(learned, state.variant)) {
    return std::string(Info(state.variant).id);
  }
  return OptionsNotLearned(learned, state).asked;
}

absl::Status CheckNetworkLearned(const std::string& name,
                                 absl::Span<const BundleVariant> learned,
                                 const State& state) {
  const absl::string_view variant = Info(state.variant).id;
  if (!HasVariant(learned, state.variant)) {
    std::vector<absl::string_view> ids;
    for (const VariantInfo& info : kVariants) {
      if (HasVariant(learned, info.variant)) ids.push_back(info.id);
    }
    return absl::FailedPreconditionError(
        absl::StrCat(name, " has not learned ", variant, "; its run learned ",
                     absl::StrJoin(ids, ", ")));
  }
  const OtherOptions options = OptionsNotLearned(learned, state);
  if (options.asked.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name, " has not learned ", options.asked, " of ", variant,
                   "; its run learned ", options.learned));
}

}  // namespace tara::nn
