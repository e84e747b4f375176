#ifndef TARA_EVAL_REPORT_REPORT_PAGE_H_
#define TARA_EVAL_REPORT_REPORT_PAGE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Returns JSON as text, on one line or indented by `indent` columns. Names may
// contain any bytes; invalid UTF-8 in paths is replaced.
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);

// Returns one self-contained HTML file: the title, the body (HTML), then the
// command of this process, the version and the date. `script` follows page.js.
std::string ReportPage(absl::string_view title, absl::string_view body,
                       absl::string_view script = "");

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

// The position of a player in a training run, which is the x axis of curves.
struct TrainingPoint {
  std::string run;  // its folder, as it was named
  int generation = 0;

  friend bool operator==(const TrainingPoint&, const TrainingPoint&) = default;
};

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_PAGE_H_
