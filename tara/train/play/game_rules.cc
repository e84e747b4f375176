#include "tara/train/play/game_rules.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tara/base/status_macros.h"
#include "tara/base/text.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"

namespace tara::train {
namespace {

constexpr double kMaxWeight = 1e6;

using WeightOfValue = std::map<int, double>;

// The values of a variant's options, where they are given.
using Given = std::map<const RuleOptionInfo*, WeightOfValue>;

absl::StatusOr<int> ParseValue(Variant variant, const RuleOptionInfo& option,
                               absl::string_view text) {
  RuleOptions options;
  TARA_RETURN_IF_ERROR(SetRuleOption(variant, option.name, text, options));
  return option.get(options);
}

// Adds a part "FROM..TO*WEIGHT", in which only FROM is required.
absl::Status AddValues(Variant variant, const RuleOptionInfo& option,
                       absl::string_view part, WeightOfValue& values) {
  const std::vector<absl::string_view> weighted =
      absl::StrSplit(part, absl::MaxSplits('*', 1));
  double weight = 1;
  // Written so that NaN fails too.
  if (weighted.size() > 1 && (!ParseDecimal(weighted[1], &weight) ||
                              !(weight > 0 && weight <= kMaxWeight))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rule option ", option.name, ": bad weight '", Shown(weighted[1]),
        "'; expected a number above 0 and of at most 1000000"));
  }
  const std::vector<absl::string_view> range =
      absl::StrSplit(weighted[0], absl::MaxSplits("..", 1));
  TARA_ASSIGN_OR_RETURN(const int from, ParseValue(variant, option, range[0]));
  TARA_ASSIGN_OR_RETURN(const int to,
                        ParseValue(variant, option, range.back()));
  if (to < from) {
    return absl::InvalidArgumentError(
        absl::StrCat("rule option ", option.name, ": bad range '",
                     Shown(weighted[0]), "'; expected the lower value first"));
  }
  for (int value = from; value <= to; ++value) values[value] += weight;
  return absl::OkStatus();
}

absl::Status Assign(const OptionText& assignment,
                    absl::Span<const Variant> variants,
                    std::vector<Given>& given) {
  if (!assignment.has_value) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad rule option '", Shown(assignment.text),
                     "'; expected name=value or variant:name=value"));
  }
  const std::vector<absl::string_view> left =
      absl::StrSplit(assignment.name, absl::MaxSplits(':', 1));
  const absl::string_view name = left.back();
  bool is_there = left.size() == 1;
  bool applied = false;
  for (size_t i = 0; i < variants.size(); ++i) {
    if (left.size() > 1 && left[0] != Info(variants[i]).id) continue;
    is_there = true;
    const RuleOptionInfo* const option = FindRuleOption(name);
    if (option == nullptr || !option->applies_to(Info(variants[i]))) continue;
    WeightOfValue values;
    for (const absl::string_view part : absl::StrSplit(assignment.value, '/')) {
      TARA_RETURN_IF_ERROR(AddValues(variants[i], *option, part, values));
    }
    given[i][option] = std::move(values);
    applied = true;
  }
  if (applied) return absl::OkStatus();
  if (!is_there) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", Shown(assignment.text), "': the config does not name variant '",
        Shown(left[0]), "'"));
  }
  // Says why it is wrong for one of them.
  Variant one = variants[0];
  if (left.size() > 1) {
    TARA_ASSIGN_OR_RETURN(one, ParseVariant(left[0]));
  }
  RuleOptions options;
  return SetRuleOption(one, name, assignment.value, options);
}

GameRules RulesBy(Variant variant, const Given& given) {
  RuleOptions options;
  GameRules rules;
  for (const RuleOptionInfo& option : kRuleOptions) {
    const auto found = given.find(&option);
    if (found == given.end()) continue;
    const WeightOfValue& values = found->second;
    const auto likeliest = std::max_element(
        values.begin(), values.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    option.set(options, values.contains(option.DefaultValue())
                            ? option.DefaultValue()
                            : likeliest->first);
    if (values.size() == 1) continue;
    DrawnOption& drawn = rules.drawn.emplace_back(DrawnOption{&option, {}, {}});
    for (const auto& [value, weight] : values) {
      drawn.values.push_back(value);
      drawn.weights.push_back(weight);
    }
  }
  rules.start = InitialState(variant, options);
  return rules;
}

}  // namespace

absl::StatusOr<std::vector<GameRules>> RulesOf(
    const proto::TrainConfig& config) {
  std::vector<Variant> variants;
  for (const std::string& id : config.variant()) {
    TARA_ASSIGN_OR_RETURN(const Variant variant, ParseVariant(id));
    variants.push_back(variant);
  }
  if (variants.empty()) {
    return absl::InvalidArgumentError("the config names no variant");
  }
  std::vector<Given> given(variants.size());
  if (const std::string& text = config.rule_options();
      !text.empty() && text != "-") {
    const absl::StatusOr<std::vector<OptionText>> list = ParseOptionList(text);
    if (!list.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("rule option ", list.status().message()));
    }
    for (const OptionText& assignment : *list) {
      TARA_RETURN_IF_ERROR(Assign(assignment, variants, given));
    }
  }
  std::vector<GameRules> rules;
  for (size_t i = 0; i < variants.size(); ++i) {
    rules.push_back(RulesBy(variants[i], given[i]));
  }
  return rules;
}

absl::StatusOr<std::vector<State>> StartPositions(
    const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const std::vector<GameRules> rules, RulesOf(config));
  std::vector<State> starts;
  for (const GameRules& each : rules) starts.push_back(each.start);
  return starts;
}

State DrawStart(const State& start, const std::vector<DrawnOption>& drawn,
                Random& random) {
  if (drawn.empty()) return start;
  RuleOptions options = start.options;
  for (const DrawnOption& each : drawn) {
    double left = random.Uniform() * std::accumulate(each.weights.begin(),
                                                     each.weights.end(), 0.0);
    size_t chosen = 0;
    while (chosen + 1 < each.values.size() && left >= each.weights[chosen]) {
      left -= each.weights[chosen++];
    }
    each.option->set(options, each.values[chosen]);
  }
  return InitialState(start.variant, options);
}

}  // namespace tara::train
