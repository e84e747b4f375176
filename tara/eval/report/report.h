#ifndef TARA_EVAL_REPORT_REPORT_H_
#define TARA_EVAL_REPORT_REPORT_H_

// A report is written once, as rows of typed fields. Its text for terminals,
// its JSON and its page derive from them, so that all round alike.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/variant.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// How a number is written: times `scale`, with that many digits after the
// point.
struct NumberFormat {
  double scale = 1;
  int digits = 2;
  bool sign = false;  // "+" before positive numbers
  // On plots, the colours (page.css) above and below the value that is `even`,
  // before scaling; none if empty.
  absl::string_view above = "";
  absl::string_view below = "";
  double even = 0;
};

// As many digits as tell the ends of an interval apart, four at most.
inline constexpr int kDigitsByInterval = -1;

inline constexpr NumberFormat kPercent = {.scale = 100, .digits = 1};
inline constexpr NumberFormat kScore = {.scale = 100,
                                        .digits = 1,
                                        .above = "better",
                                        .below = "worse",
                                        .even = 0.5};
inline constexpr NumberFormat kElo = {
    .digits = 0, .sign = true, .above = "better", .below = "worse"};
inline constexpr NumberFormat kMargin = {
    .sign = true, .above = "better", .below = "worse"};

// A value of a report.
struct ReportField {
  enum class Kind { kNone, kText, kNumber, kEstimate, kCounts };

  std::string name;     // in JSON; empty: not there
  std::string heading;  // in tables; empty: not there
  Kind kind = Kind::kNone;
  std::string text = {};              // "47.2"
  std::string range = {};             // of an estimate: "[46.1, 48.3]", or "-"
  nlohmann::ordered_json value = {};  // in JSON, unrounded
  Interval interval = {};             // of an estimate
  NumberFormat format = {};
  std::string label = {};  // in place of `text` on pages, unless empty
};

using Name = absl::string_view;

ReportField TextField(Name name, Name heading, absl::string_view text);

// A text that is another value in JSON.
ReportField JsonField(Name name, Name heading, absl::string_view text,
                      nlohmann::ordered_json value);

ReportField CountField(Name name, Name heading, int64_t count);
ReportField NumberField(Name name, Name heading, double number,
                        const NumberFormat& format = {});

// A value with its 95 % interval: two columns of a text table, and "name",
// "name_low" and "name_high" in JSON. A mean and a share, in per cent, have
// digits by their intervals.
ReportField EstimateField(Name name, Name heading, const Interval& interval,
                          const NumberFormat& format);
ReportField MeanField(Name name, Name heading, const Interval& mean);
ReportField ShareField(Name name, Name heading, const Interval& share);

// How many games had each value, an object: in JSON and as a plot of pages.
ReportField CountsField(Name name, Name heading, nlohmann::ordered_json counts);

// Nothing is known: a dash in tables, and left out of JSON.
ReportField NoField(Name name, Name heading);

// A variant: its identifier, followed by the mark of NotLearnedMark; on pages
// its name.
ReportField VariantField(Name name, Name heading, Variant variant,
                         absl::string_view not_learned = "");

// REQUIRES, of the rows of one table: the same headings in the same order. Rows
// with fields named "run" and "generation" are points of curves over training.
using ReportRow = std::vector<ReportField>;

// Returns the fields of all parts, in their order.
ReportRow Joined(std::initializer_list<ReportRow> parts);

// Returns an object of the fields that have names.
nlohmann::ordered_json RowJson(const ReportRow& row);

// Returns the rows as a table with a line of headings: texts aligned to the
// left, numbers to the right. REQUIRES: at least one row.
std::string TableText(absl::Span<const ReportRow> rows);

// Returns the rows without the columns that are "" or "-" in all of them.
std::vector<ReportRow> WithoutEmptyColumns(std::vector<ReportRow> rows);

// A table under its title, with lines of notes below.
struct ReportSection {
  std::string title = {};    // a line without its colon; empty: none
  std::string heading = {};  // in place of the title on pages, unless empty
  std::vector<ReportRow> rows = {};
  std::string notes = {};  // whole lines
  // What a page draws of it below the table: "estimates", each column of them,
  // by the first column if several are of text; "stacks", the numbers of each
  // row as a stack of bars in `unit`; or nothing. Counts are drawn in any case.
  absl::string_view plots = "";
  absl::string_view unit = "";
};

// Returns the sections as text, without those that have no rows.
std::string SectionsText(absl::Span<const ReportSection> sections);

// Returns one HTML file that needs no network and no other file: what the
// report is about, in plain text, what its first estimates come to, tables,
// which readers may sort, and plots.
std::string SectionsPage(absl::string_view title, absl::string_view about,
                         absl::Span<const ReportSection> sections);

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_H_
