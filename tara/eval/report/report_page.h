#ifndef TARA_EVAL_REPORT_REPORT_PAGE_H_
#define TARA_EVAL_REPORT_REPORT_PAGE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns JSON as text, on one line or indented by `indent` columns. Names may
// contain any bytes; invalid UTF-8 in paths is replaced.
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

// Returns JSON that is safe within <script>, where "</" could end the element.
// In JSON "<" occurs only in strings, where it can be escaped.
std::string JsonInPage(absl::string_view json);

// Returns a page from its template, whose first line is its title. The head of
// all pages (page_head.html) replaces that line and contains the command of
// this process, the version and the date. A line {{scripts}} ends <main> and
// begins the page's script, which can use `report`, parsed from {{report.json}}
// (page_scripts.html). Replaces {{page.css}}, {{page.js}}, {{chart.js}} and
// each further name by its text. The result is one self-contained file, without
// Chart.js if it has no plots.
std::string ReportPage(
    absl::string_view page_template,
    std::vector<std::pair<absl::string_view, std::string>> texts,
    bool has_plots = true);

// Elements that reports share in addition to their tables (report.h).

// Returns a share in percent: "12.3".
std::string Percent(double share);

// Returns null for infinite numbers, which JSON lacks.
nlohmann::ordered_json Finite(double number);

// Puts "name", "name_low" and "name_high".
void PutInterval(absl::string_view name, const Interval& interval,
                 nlohmann::ordered_json& object);

// The mark of table cells with figures of a network that has not learned the
// rules: " (not learned)" unless `not_learned` is empty.
std::string NotLearnedMark(absl::string_view not_learned);

// The note of a report about this, with a newline: "Not learned, in
// high_kings_l1: no_progress_limit=20"; empty if `not_learned` is empty.
std::string NotLearnedLine(absl::string_view where,
                           absl::string_view not_learned);

// Returns the variant of a position with the rule options that differ from
// their defaults: "high_kings_l1 compensation=2.5".
std::string VariantText(const State& state);

// Returns the options of the variant with their values.
nlohmann::ordered_json RuleOptionsToJson(Variant variant,
                                         const RuleOptions& options);

// Returns the rows as lines with aligned columns, two spaces apart: `left`
// columns to the left, the others, which are numbers, to the right. REQUIRES:
// at least one row; each row has left.size() cells.
std::string TextTable(const std::vector<std::vector<std::string>>& rows,
                      const std::vector<bool>& left);

// The same, with the first `name_columns` to the left.
std::string TextTable(const std::vector<std::vector<std::string>>& rows,
                      size_t name_columns);

// The position of a player in a training run, which is the x axis of curves.
struct TrainingPoint {
  std::string run;  // its folder, as it was named
  int generation = 0;

  friend bool operator==(const TrainingPoint&, const TrainingPoint&) = default;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_PAGE_H_
