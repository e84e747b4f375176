#ifndef TARA_EVAL_REPORT_PLOTS_H_
#define TARA_EVAL_REPORT_PLOTS_H_

// Plots of pages, as HTML and SVG. Their places are percentages, so that they
// fit any width without a script, and their colours are classes of page.css, so
// that they follow the theme. What a plot tells is also its alternative text.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

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
// `least` to `most`, with a line at `even`. Tables have its text, and the cell
// its colour.
std::string IntervalMark(const Interval& value, double even, double least,
                         double most);

struct StackRow {
  std::string name;
  std::vector<double> parts = {};
};

// Returns horizontal bars, stacked from the parts of each row.
std::string StacksPlot(absl::string_view title, absl::string_view unit,
                       absl::Span<const std::string> parts,
                       absl::Span<const StackRow> rows);

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

#endif  // TARA_EVAL_REPORT_PLOTS_H_
