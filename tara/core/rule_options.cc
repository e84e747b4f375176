#include "tara/core/rule_options.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"

namespace tara {
namespace {

std::string NamesFor(const VariantInfo& variant) {
  std::vector<absl::string_view> names;
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (option.applies_to(variant)) names.push_back(option.name);
  }
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

absl::Status BadValue(const RuleOptionInfo& option, absl::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("rule option ", option.name, ": bad value '", Shown(value),
                   "'; expected ", DescribeRuleOptionValues(option)));
}

absl::StatusOr<int> ParseValue(const RuleOptionInfo& option,
                               absl::string_view text) {
  if (option.is_switch()) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    return BadValue(option, text);
  }
  int value = 0;
  bool good = false;
  if (option.kind == RuleOptionKind::kHalves) {
    double points = 0;
    good = ParseDecimal(text, &points) && std::abs(points) < 1000 &&
           2 * points == std::trunc(2 * points);
    if (good) value = static_cast<int>(2 * points);
  } else {
    good = absl::SimpleAtoi(text, &value);
  }
  if (!good || value < option.min_value || value > option.max_value) {
    return BadValue(option, text);
  }
  return value;
}

}  // namespace

std::string FormatRuleOptionValue(const RuleOptionInfo& info, int value) {
  if (info.is_switch()) return value != 0 ? "true" : "false";
  return info.kind == RuleOptionKind::kHalves ? absl::StrCat(value / 2.0)
                                              : absl::StrCat(value);
}

std::string DescribeRuleOptionValues(const RuleOptionInfo& info) {
  if (info.is_switch()) return "true or false";
  return absl::StrCat(
      FormatRuleOptionValue(info, info.min_value), " to ",
      FormatRuleOptionValue(info, info.max_value),
      info.kind == RuleOptionKind::kHalves ? " in steps of 0.5" : "");
}

absl::Status SetRuleOption(Variant variant, absl::string_view name,
                           absl::string_view value, RuleOptions& options) {
  const RuleOptionInfo* const option = FindRuleOption(name);
  if (option != nullptr && option->applies_to(Info(variant))) {
    TARA_ASSIGN_OR_RETURN(const int number, ParseValue(*option, value));
    option->set(options, number);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("variant ", Info(variant).id, " has no rule option '",
                   Shown(name), "'; it has: ", NamesFor(Info(variant))));
}

std::string FormatRuleOptions(const RuleOptions& options) {
  std::vector<std::string> parts;
  for (const RuleOptionInfo& option : kRuleOptions) {
    const int value = option.get(options);
    if (value == option.DefaultValue()) continue;
    parts.push_back(
        absl::StrCat(option.name, "=", FormatRuleOptionValue(option, value)));
  }
  return parts.empty() ? "-" : absl::StrJoin(parts, ",");
}

absl::StatusOr<RuleOptions> ParseRuleOptions(Variant variant,
                                             absl::string_view text) {
  RuleOptions options;
  if (text == "-") return options;
  const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(text);
  if (!list.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rule option ", list.status().message()));
  }
  for (const OptionText& option : *list) {
    if (!option.has_value) {
      return absl::InvalidArgumentError(absl::StrCat(
          "bad rule option '", Shown(option.text), "'; expected name=value"));
    }
    TARA_RETURN_IF_ERROR(
        SetRuleOption(variant, option.name, option.value, options));
  }
  return options;
}

}  // namespace tara
