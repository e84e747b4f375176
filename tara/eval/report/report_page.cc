#include "tara/eval/report/report_page.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tara/base/json.h"
#include "tara/base/text.h"
#include "tara/base/version.h"
#include "tara/eval/report/page_script.h"
#include "tara/eval/report/page_style.h"
#include "tara/eval/report/page_template.h"
#include "tara/eval/report/plots.h"

namespace tara::eval {

using Json = nlohmann::ordered_json;

std::string JsonText(const Json& json, int indent) {
  return ::tara::JsonText(json, indent);
}

namespace {

// Returns the command of this process as a shell would take it, for HTML: names
// of options stay together; "" where the system does not tell.
std::string OwnCommand() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  if (line.empty()) return "";
  std::string command = "tara";
  const std::vector<absl::string_view> words =
      absl::StrSplit(absl::StripSuffix(line, absl::string_view("\0", 1)), '\0');
  for (size_t i = 1; i < words.size(); ++i) {
    if (absl::StartsWith(words[i], "--fleet=")) continue;  // of tara fleet
    const bool plain =
        !words[i].empty() &&
        std::all_of(words[i].begin(), words[i].end(), [](char c) {
          return absl::ascii_isalnum(c) || absl::StrContains("-_=+:,./%", c);
        });
    const std::string word = Escaped(
        plain ? std::string(words[i])
              : absl::StrCat(
                    "'", absl::StrReplaceAll(words[i], {{"'", "'\\''"}}), "'"));
    const size_t name = absl::StartsWith(word, "--")
                            ? std::min(word.find('='), word.size())
                            : 0;
    absl::StrAppend(
        &command, " ",
        name == 0 ? ""
                  : absl::StrCat("<span>", word.substr(0, name), "</span>"),
        word.substr(name));
  }
  return command;
}

// Returns what a page was made by, for HTML.
std::string Origin() {
  const std::string command = OwnCommand();
  return absl::StrCat(
      command.empty() ? "" : absl::StrCat("<code>", command, "</code>, "),
      "version ", kVersion, ", ",
      absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone()));
}

}  // namespace

std::string ReportPage(absl::string_view title, absl::string_view body,
                       absl::string_view script) {
  return ValidUtf8(absl::StrReplaceAll(
      PageTemplate(), {{"{{title}}", Escaped(title)},
                       {"{{page.css}}", PageStyle()},
                       {"{{body}}", body},
                       {"{{origin}}", Origin()},
                       {"{{page.js}}", absl::StrCat(PageScript(), script)}}));
}

std::string Percent(double share) {
  return absl::StrFormat("%.1f", 100 * share);
}

Json Finite(double number) {
  if (!std::isfinite(number)) return nullptr;
  return number;
}

void PutInterval(absl::string_view name, const Interval& interval,
                 Json& object) {
  object[std::string(name)] = Finite(interval.mean);
  object[absl::StrCat(name, "_low")] = Finite(interval.low);
  object[absl::StrCat(name, "_high")] = Finite(interval.high);
}

std::string NotLearnedMark(absl::string_view not_learned) {
  return not_learned.empty() ? "" : " (not learned)";
}

std::string NotLearnedLine(absl::string_view where,
                           absl::string_view not_learned) {
  if (not_learned.empty()) return "";
  return absl::StrCat("Not learned, in ", where, ": ", not_learned, "\n");
}

std::string VariantText(const State& state) {
  const std::string options = FormatRuleOptions(state.options);
  return absl::StrCat(Info(state.variant).id, options == "-" ? "" : " ",
                      options == "-" ? "" : options);
}

Json RuleOptionsToJson(Variant variant, const RuleOptions& options) {
  Json object = Json::object();
  for (const RuleOptionInfo& option : kRuleOptions) {
    if (!option.applies_to(Info(variant))) continue;
    object[std::string(option.name)] =
        *ParseJson<Json>(FormatRuleOptionValue(option, option.get(options)));
  }
  return object;
}

}  // namespace tara::eval
