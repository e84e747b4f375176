#ifndef TARA_EVAL_REPORT_REPORT_PARTS_H_
#define TARA_EVAL_REPORT_REPORT_PARTS_H_

// What reports have in common: numbers with their intervals, as table cells
// and as JSON.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Adds two cells, "47.21" and "[47.19, 47.23]", times `scale`: with as many
// digits as tell the ends apart, four at most.
void AddInterval(const Interval& interval, double scale,
                 std::vector<std::string>& cells);

// "47.21".
std::string TwoDigits(double number);

// JSON has no infinity: null instead.
nlohmann::ordered_json Finite(double number);

// Puts "name", "name_low" and "name_high".
void PutInterval(absl::string_view name, const Interval& interval,
                 nlohmann::ordered_json& object);

// What marks a table cell of figures by a network that has not learned the
// rules: " (not learned)" unless `not_learned` is empty.
std::string NotLearnedMark(absl::string_view not_learned);

// What a report says of it beside the table, with a newline: "Not learned, in
// high_kings_l1: no_progress_limit=20"; nothing if `not_learned` is empty.
std::string NotLearnedLine(absl::string_view where,
                           absl::string_view not_learned);

// Returns the options that the variant has, with their values.
nlohmann::ordered_json RuleOptionsToJson(Variant variant,
                                         const RuleOptions& options);

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_PARTS_H_
