#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "tara/base/json.h"
#include "tara/cli/command_line.h"
#include "tara/cli/commands.h"
#include "tara/cli/console.h"
#include "tara/cli/flags.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"

namespace tara::cli {
namespace {

struct VariantsOptions {
  std::string format = "text";
};

using Json = nlohmann::ordered_json;

// By RuleOptionKind.
constexpr absl::string_view kTypeNames[] = {"bool", "int", "half"};

Json OptionToJson(const RuleOptionInfo& option) {
  const auto value = [&](int number) {
    return *ParseJson<Json>(FormatRuleOptionValue(option, number));
  };
  return {{"name", std::string(option.name)},
          {"type", kTypeNames[static_cast<size_t>(option.kind)]},
          {"default", value(option.DefaultValue())},
          {"min", value(option.min_value)},
          {"max", value(option.max_value)},
          {"help", std::string(option.help)}};
}

Json VariantToJson(const VariantInfo& info) {
  Json options = Json::array();
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (option.applies_to(info)) options.push_back(OptionToJson(option));
  }
  return {{"id", std::string(info.id)},
          {"name", std::string(info.name)},
          {"seats", info.seats},
          {"options", options}};
}

void PrintVariant(const VariantInfo& info, Console& console) {
  console.out << absl::StrFormat("%-24s%-32s%d seats\n", info.id, info.name,
                                 info.seats);
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(info)) continue;
    console.out << "    " << option.name << "="
                << FormatRuleOptionValue(option, option.DefaultValue()) << "  ("
                << DescribeRuleOptionValues(option) << ")\n        "
                << Wrap(option.help, 8) << "\n";
  }
}

// Lists the variants and their rule options.
absl::StatusOr<int> RunVariants(const VariantsOptions& options,
                                Console& console) {
  if (options.format == "json") {
    Json variants = Json::array();
    for (const VariantInfo& info : kVariants) {
      variants.push_back(VariantToJson(info));
    }
    console.out << variants.dump(2) << "\n";
    return kExitOk;
  }
  for (const VariantInfo& info : kVariants) PrintVariant(info, console);
  return kExitOk;
}

}  // namespace

void RegisterVariants(Command& root) {
  Command& command =
      root.AddCommand("variants", "list the variants and their rule options");
  VariantsOptions* const options = command.SetRun(RunVariants);
  command.Add({
      FormatOption(&options->format),
  });
  command.SetExamples({"variants", "variants --format=json"});
}

}  // namespace tara::cli
