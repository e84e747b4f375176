#include "tara/cli/game_flags.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tara/base/status_macros.h"
#include "tara/cli/usage.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"

namespace tara::cli {
namespace {

bool IsOptionOfAnyVariant(absl::string_view name) {
  return std::any_of(
      kRuleOptions.begin(), kRuleOptions.end(),
      [&](const RuleOptionInfo& option) { return option.name == name; });
}

bool AppliesTo(absl::string_view name, Variant variant) {
  return std::any_of(kRuleOptions.begin(), kRuleOptions.end(),
                     [&](const RuleOptionInfo& option) {
                       return option.name == name &&
                              option.applies_to(Info(variant));
                     });
}

}  // namespace

void AddGameFlags(Command& command, GameFlags* flags,
                  absl::string_view variant_help, bool required) {
  command.AddText({.names = "--variant",
                   .placeholder = "V",
                   .help = std::string(variant_help),
                   .required = required},
                  &flags->variant);
  command.AddTexts({.names = "--option",
                    .placeholder = "NAME=VALUE",
                    .help = "rule option, as listed by `tara variants`; may be "
                            "given again"},
                   &flags->options);
}

void AddThreadsFlag(Command& command, int64_t* threads) {
  command.AddInteger({.names = "--threads",
                      .placeholder = "N",
                      .help = "threads that play",
                      .default_text = "one a core"},
                     1, 1024, threads);
}

int ThreadsOr(int64_t threads) {
  if (threads > 0) return static_cast<int>(threads);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

absl::StatusOr<Variant> VariantOf(const GameFlags& flags) {
  absl::StatusOr<Variant> variant = ParseVariant(flags.variant);
  if (!variant.ok()) return AsUsageError(variant.status());
  return variant;
}

absl::StatusOr<std::vector<Variant>> VariantsOf(const GameFlags& flags) {
  std::vector<Variant> variants;
  if (flags.variant == "all") {
    for (const VariantInfo& info : kVariants) variants.push_back(info.variant);
    return variants;
  }
  TARA_ASSIGN_OR_RETURN(const Variant variant, VariantOf(flags));
  variants.push_back(variant);
  return variants;
}

absl::StatusOr<RuleOptions> RuleOptionsOf(const GameFlags& flags,
                                          Variant variant, bool skip_others) {
  RuleOptions options;
  for (const std::string& text : flags.options) {
    const std::vector<absl::string_view> pair =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    if (pair.size() != 2) {
      return UsageError(
          absl::StrCat("--option: '", text, "'; expected NAME=VALUE"));
    }
    if (skip_others && IsOptionOfAnyVariant(pair[0]) &&
        !AppliesTo(pair[0], variant)) {
      continue;
    }
    TARA_RETURN_IF_ERROR(
        AsUsageError(SetRuleOption(variant, pair[0], pair[1], options)));
  }
  return options;
}

absl::StatusOr<State> StartOf(const GameFlags& flags) {
  TARA_ASSIGN_OR_RETURN(const Variant variant, VariantOf(flags));
  TARA_ASSIGN_OR_RETURN(const RuleOptions options,
                        RuleOptionsOf(flags, variant));
  return InitialState(variant, options);
}

absl::StatusOr<std::vector<State>> StartsOf(const GameFlags& flags) {
  TARA_ASSIGN_OR_RETURN(const std::vector<Variant> variants, VariantsOf(flags));
  std::vector<State> starts;
  for (const Variant variant : variants) {
    TARA_ASSIGN_OR_RETURN(const RuleOptions options,
                          RuleOptionsOf(flags, variant, variants.size() > 1));
    starts.push_back(InitialState(variant, options));
  }
  return starts;
}

absl::Status PlayActions(absl::string_view actions, absl::string_view source,
                         State& state) {
  int number = 0;
  for (absl::string_view text :
       absl::StrSplit(actions, absl::ByAnyChar(" ,\t\n"), absl::SkipEmpty())) {
    ++number;
    const absl::Status status = PlayAction(text, state);
    if (status.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": action ", number, ": ", status.message()));
  }
  return absl::OkStatus();
}

std::vector<std::string> LegalActionTexts(const State& state) {
  std::vector<std::string> texts;
  LegalActions(state).ForEach(
      [&](Action action) { texts.push_back(ActionToText(action)); });
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace tara::cli
