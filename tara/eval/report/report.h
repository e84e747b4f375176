#ifndef TARA_EVAL_REPORT_REPORT_H_
#define TARA_EVAL_REPORT_REPORT_H_

// A report is written once, as rows of typed cells. Its text for terminals, its
// JSON and its page derive from them, so that all round alike.

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
  // As many digits as tell the ends of an interval apart, four at most.
  static constexpr int kByInterval = -1;

  double scale = 1;
  int digits = 2;
  bool sign = false;  // "+" before positive numbers

  // What plots colour, on either side of the value that is `even`.
  enum class Colours { kNone, kBetterAndWorse, kRedAndBlue };
  Colours colours = Colours::kNone;
  double even = 0;  // before scaling
};

inline constexpr NumberFormat kPercent = {.scale = 100, .digits = 1};
inline constexpr NumberFormat kScore = {
    .scale = 100,
    .digits = 1,
    .colours = NumberFormat::Colours::kBetterAndWorse,
    .even = 0.5};
inline constexpr NumberFormat kElo = {
    .digits = 0,
    .sign = true,
    .colours = NumberFormat::Colours::kBetterAndWorse};
inline constexpr NumberFormat kMargin = {
    .sign = true, .colours = NumberFormat::Colours::kBetterAndWorse};
inline constexpr NumberFormat kEstimate = {.digits = NumberFormat::kByInterval};
inline constexpr NumberFormat kEstimatedPercent = {
    .scale = 100, .digits = NumberFormat::kByInterval};

// A value of a report.
struct ReportCell {
  enum class Kind { kNone, kText, kNumber, kEstimate, kCounts };

  Kind kind = Kind::kNone;
  std::string text = {};   // "47.2"
  std::string range = {};  // of an estimate: "[46.1, 48.3]", "-" if not known
  nlohmann::ordered_json value = {};  // in JSON, unrounded
  Interval interval = {};             // of an estimate
  std::string label = {};  // in place of `text` on pages, unless empty
  NumberFormat format = {};
};

ReportCell TextCell(absl::string_view text);
// A text that is another value in JSON.
ReportCell JsonCell(absl::string_view text, nlohmann::ordered_json value);
ReportCell CountCell(int64_t count);
ReportCell NumberCell(double number, const NumberFormat& format = {});

// A value with its 95 % interval: two columns of a text table.
ReportCell EstimateCell(const Interval& interval, const NumberFormat& format);

// How many games had each value, an object: in JSON and as a plot of pages.
ReportCell CountsCell(nlohmann::ordered_json counts);

// Nothing is known: left out of JSON.
ReportCell NoCell(absl::string_view text = "-");

// A variant: its identifier, followed by the mark of NotLearnedMark; on pages
// its name.
ReportCell VariantCell(Variant variant, absl::string_view not_learned = "");

// A cell with its name in JSON (empty: not there) and its heading in tables
// (empty: not there).
struct ReportField {
  std::string name;
  std::string heading;
  ReportCell cell;
};

// REQUIRES, of the rows of one table: the same headings in the same order. Rows
// with fields named "run" and "generation" are points of curves over training.
using ReportRow = std::vector<ReportField>;

// Returns the fields of all parts, in their order.
ReportRow Joined(std::initializer_list<ReportRow> parts);

// Returns an object of the fields that have names: an estimate puts "name",
// "name_low" and "name_high".
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
  // What a page draws of it beside the table: each column of estimates, by the
  // first column if several are of text, and the counts; or the numbers of each
  // row as a stack of bars, in `unit`.
  enum class Plots { kNone, kEstimates, kStacks };
  Plots plots = Plots::kNone;
  std::string unit = {};
};

// Returns the sections as text, without those that have no rows.
std::string SectionsText(absl::Span<const ReportSection> sections);

// What stands above the tables of a page, in plain text.
struct PageHeader {
  std::string title;
  std::string about;                      // what the report is of
  std::vector<std::string> verdict = {};  // what it comes to, in sentences
};

// Returns one HTML file that needs no network and no other file: tables, which
// readers may sort, and plots.
std::string SectionsPage(const PageHeader& header,
                         absl::Span<const ReportSection> sections);

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_H_
