#ifndef TARA_EVAL_REPORT_REPORT_H_
#define TARA_EVAL_REPORT_REPORT_H_

// A report is a list of rows of typed fields. Its text for terminals, its JSON
// and its page derive from them, with the same rounding.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/json.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// Format of a number: multiplied by `scale`, with `digits` after the point.
struct NumberFormat {
  double scale = 1;
  int digits = 2;
  bool sign = false;  // "+" before positive numbers
  // Whether an interval is written as half its width, in the same column.
  bool around = false;
  // Colours of plots (page.css) above and below `even`, a value before scaling.
  absl::string_view above = "";
  absl::string_view below = "";
  double even = 0;
};

// As many digits as distinguish the ends of an interval, at most four.
inline constexpr int kDigitsByInterval = -1;

inline constexpr NumberFormat kPercent = {.scale = 100, .digits = 1};
inline constexpr NumberFormat kScore = {.scale = 100,
                                        .digits = 1,
                                        .above = "better",
                                        .below = "worse",
                                        .even = 0.5};
inline constexpr NumberFormat kScoreChange = {.scale = 100,
                                              .digits = 1,
                                              .sign = true,
                                              .above = "better",
                                              .below = "worse"};
inline constexpr NumberFormat kElo = {
    .digits = 0, .sign = true, .above = "better", .below = "worse"};
inline constexpr NumberFormat kMargin = {
    .sign = true, .above = "better", .below = "worse"};

// A report in its forms.
struct Report {
  std::string text;  // for terminals; whole lines
  std::string json;
  // Returns one self-contained HTML file. Borrows the arguments of the function
  // that has made the report.
  std::function<std::string()> page;
};

// A value of a report.
struct ReportField {
  enum class Kind { kNone, kText, kNumber, kEstimate, kCounts };

  std::string name;     // in JSON; empty: not there
  std::string heading;  // in tables; empty: not there
  Kind kind = Kind::kNone;
  std::string text = {};  // "47.2"
  // Of an estimate: "[46.1, 48.3]" or, of its format, "+-1.1"; "-": unknown.
  std::string range = {};
  nlohmann::ordered_json value = {};  // in JSON, unrounded
  Interval interval = {};             // of an estimate
  NumberFormat format = {};
  std::string label = {};  // in place of `text` on pages, unless empty
};

using Name = absl::string_view;

ReportField TextField(Name name, Name heading, absl::string_view text);

// A text with a different value in JSON.
ReportField JsonField(Name name, Name heading, absl::string_view text,
                      nlohmann::ordered_json value);

ReportField CountField(Name name, Name heading, int64_t count);
ReportField NumberField(Name name, Name heading, double number,
                        const NumberFormat& format = {});

// A value with its 95 % interval: two columns of a text table, and "name",
// "name_low" and "name_high" in JSON. The digits of a mean and of a share, in
// per cent, depend on the interval, which without any width is unknown.
ReportField EstimateField(Name name, Name heading, const Interval& interval,
                          const NumberFormat& format);
ReportField MeanField(Name name, Name heading, const Interval& mean);
ReportField ShareField(Name name, Name heading, const Interval& share);

// The number of games with each value: an object, and a plot on pages.
ReportField CountsField(Name name, Name heading, nlohmann::ordered_json counts);

// An unknown value: a dash in tables, and omitted in JSON.
ReportField NoField(Name name, Name heading);

// A variant: its identifier, or on pages its name, and NotLearnedMark.
ReportField VariantField(Name name, Name heading, Variant variant,
                         absl::string_view not_learned = "");

// The rows of one table must have the same headings in the same order. Rows
// with fields named "run" and "generation" are points of curves over training.
using ReportRow = std::vector<ReportField>;

// Returns the fields of all parts, in their order.
ReportRow Joined(std::initializer_list<ReportRow> parts);

// Returns an object of the named fields.
nlohmann::ordered_json RowJson(const ReportRow& row);

// Returns the rows as a list of objects; as text, indented.
nlohmann::ordered_json RowsToJson(absl::Span<const ReportRow> rows);
std::string RowsJson(absl::Span<const ReportRow> rows);

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
  // The plots of a page below the table: "estimates" draws each column of
  // estimates; "marks" draws estimates that can be even within the table.
  // Counts are always drawn.
  absl::string_view plots = "";
  absl::string_view unit = "";  // of the axis; "": the heading of the column
  std::string html = {};        // further content of pages, such as boards
};

// The words of a verdict on an estimate, before the names of the rows that are
// above what is even, below it, or neither.
struct VerdictWords {
  absl::string_view above;
  absl::string_view below;
  absl::string_view neither;
};

// Returns a sentence on which of the rows' estimates called `name` are above
// and below what is even. Rows called "total" stand for all others. Of rows
// with fewer than kMinGamesForVerdict "distinct_games" it only says so.
std::string VerdictOn(absl::Span<const ReportRow> rows, absl::string_view name,
                      const VerdictWords& words);

// Returns the sections with rows as text.
std::string SectionsText(absl::Span<const ReportSection> sections);

// Returns one self-contained HTML file: a verdict, the subject of the report in
// plain text, sortable tables, and plots. Paragraphs of the verdict are
// sentences, or lines of which the first is a name.
std::string SectionsPage(absl::string_view title, absl::string_view about,
                         absl::Span<const ReportSection> sections,
                         absl::Span<const std::string> verdict);

// Returns one self-contained HTML file: the title, the body (HTML), then the
// command of this process, the version and the date. `script` follows page.js.
std::string ReportPage(absl::string_view title, absl::string_view body,
                       absl::string_view script = "");

// Returns a share in percent: "12.3".
std::string Percent(double share);

// Returns one of eight bars for a share: "▁" to "█".
absl::string_view BarOf(double share);

// The mark of cells with figures of a network that has not learned the rules.
std::string NotLearnedMark(absl::string_view not_learned);

// The note of a report about this, with a newline: "Not learned, in
// high_kings_l1: no_progress_limit=20"; empty if `not_learned` is empty.
std::string NotLearnedLine(absl::string_view where,
                           absl::string_view not_learned);

// Returns "high_kings_l1 compensation=2.5": options that are not the default.
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

// Plots of pages, as HTML and SVG: with places in per cent, so that they fit
// any width, colours by classes of page.css, and alternative text.

// Returns text for HTML and for its attributes in double quotes.
std::string Escaped(absl::string_view text);

// Returns a written number as it is printed: with a minus sign, an infinity
// sign and commas between thousands.
std::string Typeset(absl::string_view number);

// A value with its interval, in the unit of the plot.
struct PlotRow {
  std::string name;
  std::string text;  // the value and its interval, written
  Interval value;
  absl::string_view colour = "accent";  // a class of page.css
};

// Returns points with intervals, a row each. The axis contains `even`, which is
// a dashed line, and `span` to either side of it.
std::string IntervalsPlot(absl::string_view title, absl::string_view unit,
                          absl::Span<const PlotRow> rows,
                          std::optional<double> even, double span);

// Returns a value with its interval as a mark within a cell, on an axis from
// `least` to `most`, with a line at `even`.
std::string IntervalMark(const Interval& value, double even, double least,
                         double most);

// Returns the shares of games with each value. If there are negative values,
// which are Blue's, positive ones are Red's.
std::string HistogramPlot(absl::string_view title, absl::string_view unit,
                          const std::map<int, int64_t>& games);

struct PlotPoint {
  double x = 0;
  Interval y = {};
  std::string text = {};          // what is told where one points at it
  absl::string_view colour = {};  // of its dot; empty: that of the line
};

struct PlotLine {
  enum class Kind { kLine, kDots, kBoth, kDashed };

  std::string name;
  Kind kind = Kind::kBoth;
  std::vector<PlotPoint> points = {};
};

// Returns lines over an axis of numbers, with bands for their intervals.
// `even` is a dashed line, and within the axis. REQUIRES: at least one point.
std::string CurvesPlot(absl::string_view title, absl::string_view x_unit,
                       absl::string_view y_unit,
                       absl::Span<const PlotLine> lines,
                       std::optional<double> even = std::nullopt);

}  // namespace tara::eval

#endif  // TARA_EVAL_REPORT_REPORT_H_
