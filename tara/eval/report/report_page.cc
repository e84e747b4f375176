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
#include "tara/eval/report/page_head.h"
#include "tara/eval/report/page_script.h"
#include "tara/eval/report/page_scripts.h"
#include "tara/eval/report/page_style.h"
#include "third_party/chart_js/chart_js.h"

namespace tara::eval {

using Json = nlohmann::ordered_json;

std::string JsonText(const Json& json, int indent) {
  return ::tara::JsonText(json, indent);
}

std::string JsonInPage(absl::string_view json) {
  return absl::StrReplaceAll(json, {{"<", "\\u003c"}});
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
    const std::string word = absl::StrReplaceAll(
        plain ? std::string(words[i])
              : absl::StrCat(
                    "'", absl::StrReplaceAll(words[i], {{"'", "'\\''"}}), "'"),
        {{"&", "&amp;"}, {"<", "&lt;"}});
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

std::string ReportPage(
    absl::string_view page_template,
    std::vector<std::pair<absl::string_view, std::string>> texts,
    bool has_plots) {
  texts.insert(texts.end(),
               {{"{{page.css}}", std::string(PageStyle())},
                {"{{page.js}}", std::string(PageScript())},
                {"{{chart.js}}", has_plots ? std::string(ChartJs()) : ""}});
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(page_template, absl::MaxSplits('\n', 1));
  texts.emplace_back("{{title}}", parts.first);
  texts.emplace_back("{{origin}}", Origin());
  // The head and the scripts have names, too.
  return ValidUtf8(absl::StrReplaceAll(
      absl::StrCat(PageHead(),
                   absl::StrReplaceAll(parts.second,
                                       {{"{{scripts}}\n", PageScripts()}})),
      texts));
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

std::string TextTable(const std::vector<std::vector<std::string>>& cells,
                      const std::vector<bool>& left) {
  std::vector<std::vector<std::string>> rows = cells;
  for (std::vector<std::string>& row : rows) {
    for (std::string& cell : row) cell = Printable(cell);
  }
  std::vector<size_t> widths(rows[0].size());
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += "  ";
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (!left[i]) text += padding;
      text += row[i];
      if (left[i] && i + 1 < row.size()) text += padding;
    }
    text += "\n";
  }
  return text;
}

std::string TextTable(const std::vector<std::vector<std::string>>& cells,
                      size_t name_columns) {
  std::vector<bool> left(cells[0].size());
  std::fill_n(left.begin(), std::min(name_columns, left.size()), true);
  return TextTable(cells, left);
}

}  // namespace tara::eval
