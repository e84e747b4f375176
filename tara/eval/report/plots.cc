#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tara/eval/report/report.h"

namespace tara::eval {
namespace {

constexpr int kWantedTicks = 5;
constexpr size_t kLineColours = 10;  // classes c0 to c9 of page.css

// The part of an axis that is shown.
struct Axis {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void Include(const Interval& interval) {
    Include(interval.mean);
    Include(interval.low);
    Include(interval.high);
  }
  // Makes an empty axis, or one of a single value, wide enough to be drawn.
  void Widen() {
    if (low > high) low = high = 0;
    if (low == high) ++high;
  }
  // The place of a value along the axis in per cent.
  double At(double value) const { return 100 * (value - low) / (high - low); }
  std::string PercentAt(double value, bool vertical = false) const {
    return absl::StrFormat("%.4g%%", vertical ? 100 - At(value) : At(value));
  }
};

struct Tick {
  double value;
  std::string text;
};

// Returns round values of the axis: multiples of 1, 2 or 5 times a power of 10.
std::vector<Tick> TicksOf(const Axis& axis) {
  const double least = (axis.high - axis.low) / kWantedTicks;
  const double power = std::pow(10, std::floor(std::log10(least)));
  const double step = power * (least <= power       ? 1
                               : least <= 2 * power ? 2
                               : least <= 5 * power ? 5
                                                    : 10);
  const int digits =
      std::max(0, -static_cast<int>(std::floor(std::log10(step * 1.0001))));
  std::vector<Tick> ticks;
  const double slack = step * 1e-6;
  for (double i = std::ceil((axis.low - slack) / step);
       i * step <= axis.high + slack; ++i) {
    ticks.push_back(
        {i * step, Typeset(absl::StrFormat("%.*f", digits, i * step + 0.0))});
  }
  return ticks;
}

std::string TipAttribute(absl::string_view text) {
  return absl::StrCat(" data-tip=\"", Escaped(text), "\"");
}

// Returns the ticks below or at the left of a plot, and its lines of the grid.
std::string TicksHtml(const std::vector<Tick>& ticks, const Axis& axis,
                      bool vertical) {
  std::string html =
      absl::StrCat("<div class=\"", vertical ? "y" : "x", "ticks\">");
  for (const Tick& tick : ticks) {
    absl::StrAppend(&html, "<i style=\"", vertical ? "top:" : "left:",
                    axis.PercentAt(tick.value, vertical), "\">", tick.text,
                    "</i>");
  }
  return html + "</div>";
}

std::string GridLine(const Axis& axis, double value, bool vertical,
                     absl::string_view colour) {
  const std::string at = axis.PercentAt(value, vertical);
  return vertical
             ? absl::StrCat("<line class=\"", colour, "\" x2=\"100%\" y1=\"",
                            at, "\" y2=\"", at, "\"/>")
             : absl::StrCat("<line class=\"", colour, "\" x1=\"", at,
                            "\" x2=\"", at, "\" y2=\"100%\"/>");
}

std::string Grid(const std::vector<Tick>& ticks, const Axis& axis,
                 bool vertical, std::optional<double> even) {
  std::string svg;
  for (const Tick& tick : ticks) {
    svg += GridLine(axis, tick.value, vertical, "grid");
  }
  if (even.has_value()) svg += GridLine(axis, *even, vertical, "even");
  return svg;
}

// Returns a plot with its heading and the text for those who do not see it.
std::string Figure(absl::string_view title, absl::string_view what,
                   absl::Span<const std::string> texts,
                   absl::string_view content) {
  return absl::StrCat("<figure class=\"card plot\"><h3>", Escaped(title),
                      "</h3><div role=\"img\" aria-label=\"",
                      Escaped(absl::StrCat(title, " \u2013 plot of ", what,
                                           texts.empty() ? "" : ": ",
                                           absl::StrJoin(texts, "; "))),
                      "\">", content, "</div></figure>\n");
}

std::string Legend(absl::Span<const std::string> names) {
  std::string html = "<p class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StrAppend(&html, "<span><i class=\"c", i % kLineColours, "\"></i>",
                    Escaped(names[i]), "</span> ");
  }
  return html + "</p>";
}

std::string AxisTitle(absl::string_view unit) {
  return absl::StrCat("<p class=\"axis\">", Escaped(unit), "</p>");
}

// A path in a picture of 1000 by 1000 that is stretched to its place.
std::string Path(absl::string_view shape, absl::string_view data) {
  return absl::StrCat("<path class=\"", shape, "\" d=\"", data, "\"/>");
}

std::string Stretched(absl::string_view paths) {
  return absl::StrCat(
      "<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" "
      "width=\"100%\" height=\"100%\">",
      paths, "</svg>");
}

// An invisible strip of a plot, as high as it, which tells a text.
std::string Strip(double left, double right, absl::string_view text) {
  return absl::StrFormat(
      "<rect class=\"strip\" x=\"%.4g%%\" width=\"%.4g%%\"%s/>", left,
      right - left, TipAttribute(text));
}

// The content of a plot with two axes.
std::string TwoAxes(const Axis& x, const Axis& y, absl::string_view x_unit,
                    absl::string_view y_unit, std::optional<double> even,
                    absl::string_view svg) {
  const std::vector<Tick> ticks = TicksOf(y);
  return absl::StrCat(AxisTitle(y_unit), "<div class=\"area two\">",
                      TicksHtml(ticks, y, /*vertical=*/true), "<svg>",
                      Grid(ticks, y, /*vertical=*/true, even), svg, "</svg>",
                      TicksHtml(TicksOf(x), x, /*vertical=*/false), "</div>",
                      AxisTitle(x_unit));
}

}  // namespace

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {"\"", "&quot;"}});
}

std::string Typeset(absl::string_view number) {
  std::string text;
  for (size_t i = 0; i < number.size(); ++i) {
    const char before = i == 0 ? ' ' : number[i - 1];
    if (number.substr(i, 2) == "+-") {
      text += "\u00b1";
      ++i;
    } else if (number[i] == '-' && i + 1 < number.size() &&
               (absl::ascii_isdigit(number[i + 1]) || number[i + 1] == 'i')) {
      text += "\u2212";
    } else if (number.substr(i, 3) == "inf") {
      text += "\u221e";
      i += 2;
    } else if (absl::ascii_isdigit(number[i]) && before != '.' &&
               !absl::ascii_isdigit(before)) {
      size_t end = i;
      while (end < number.size() && absl::ascii_isdigit(number[end])) ++end;
      for (; i < end; ++i) {
        text += number[i];
        if ((end - i) % 3 == 1 && i + 1 < end) text += ",";
      }
      --i;
    } else {
      text += number[i];
    }
  }
  return text;
}

std::string IntervalsPlot(absl::string_view title, absl::string_view unit,
                          absl::Span<const PlotRow> rows,
                          std::optional<double> even, double span) {
  Axis axis;
  for (const PlotRow& row : rows) axis.Include(row.value);
  if (even.has_value()) {
    axis.Include(*even - span);
    axis.Include(*even + span);
  }
  axis.Widen();
  const std::vector<Tick> ticks = TicksOf(axis);
  std::string html = absl::StrCat("<div class=\"area\"><svg class=\"behind\">",
                                  Grid(ticks, axis, false, even), "</svg>");
  std::vector<std::string> texts;
  for (const PlotRow& row : rows) {
    texts.push_back(absl::StrCat(row.name, " ", Typeset(row.text)));
    absl::StrAppend(&html, "<div class=\"row\"",
                    TipAttribute(absl::StrCat(row.name, "\n", unit, ": ",
                                              Typeset(row.text))),
                    "><span>", Escaped(row.name), "</span><svg>");
    // An end that is not known is not drawn.
    const auto end = [&](double value) {
      return axis.PercentAt(std::isfinite(value) ? value : row.value.mean);
    };
    absl::StrAppend(&html, "<line class=\"bar\" x1=\"", end(row.value.low),
                    "\" x2=\"", end(row.value.high),
                    "\" y1=\"8\" y2=\"8\"/><circle class=\"", row.colour,
                    "\" cx=\"", axis.PercentAt(row.value.mean),
                    "\" cy=\"8\" r=\"5\"/></svg></div>");
  }
  absl::StrAppend(&html, "</div>", TicksHtml(ticks, axis, false),
                  AxisTitle(unit));
  return Figure(title, unit, texts, html);
}

std::string IntervalMark(const Interval& value, double even, double least,
                         double most) {
  Axis axis = {least, most};
  axis.Widen();
  const auto at = [&](double x) {
    return absl::StrFormat("%.0f%%", 5 + 0.9 * axis.At(x));
  };
  const auto end = [&](double x) {
    return at(std::isfinite(x) ? x : value.mean);
  };
  const std::string even_at = at(even);
  return absl::StrCat(
      "<i style=\"", even_at == "50%" ? "" : absl::StrCat("--e:", even_at, ";"),
      "--l:", end(value.low), ";--h:", end(value.high), ";--m:", at(value.mean),
      "\"></i>");
}

std::string HistogramPlot(absl::string_view title, absl::string_view unit,
                          const std::map<int, int64_t>& games) {
  double all = 0;
  int64_t most = 0;
  for (const auto& [value, count] : games) {
    all += static_cast<double>(count);
    most = std::max(most, count);
  }
  if (games.empty() || all == 0) return "";
  const int first = games.begin()->first;
  const int last = games.rbegin()->first;
  const Axis x = {first - 0.5, last + 0.5};
  const Axis y = {0, 100 * static_cast<double>(most) / all};
  std::map<absl::string_view, std::string> paths;  // by colour
  std::string strips;
  double mean = 0;
  for (const auto& [value, count] : games) {
    const double share = 100 * static_cast<double>(count) / all;
    mean += share / 100 * value;
    const absl::string_view colour = first >= 0  ? "accent"
                                     : value > 0 ? "red"
                                     : value < 0 ? "blue"
                                                 : "draw";
    absl::StrAppendFormat(&paths[colour], "M%.0f 1000V%.0fH%.0fV1000z",
                          10 * x.At(value - 0.44), 1000 - 10 * y.At(share),
                          10 * x.At(value + 0.44));
    strips += Strip(x.At(value - 0.5), x.At(value + 0.5),
                    absl::StrFormat("%s: %s\n%s games, %.3g %%", unit,
                                    Typeset(absl::StrCat(value)),
                                    Typeset(absl::StrCat(count)), share));
  }
  std::string bars;
  for (const auto& [colour, path] : paths) bars += Path(colour, path);
  return Figure(
      title, absl::StrCat("games by ", unit),
      {absl::StrFormat("from %s to %s, mean %s", Typeset(absl::StrCat(first)),
                       Typeset(absl::StrCat(last)),
                       Typeset(absl::StrFormat("%.1f", mean)))},
      TwoAxes(x, y, unit, "% of games", std::nullopt,
              absl::StrCat(Stretched(bars), strips)));
}

std::string CurvesPlot(absl::string_view title, absl::string_view x_unit,
                       absl::string_view y_unit,
                       absl::Span<const PlotLine> lines,
                       std::optional<double> even) {
  using Kind = PlotLine::Kind;
  Axis x, y;
  std::map<double, std::vector<std::string>> told;  // by place
  std::vector<std::string> names;
  for (const PlotLine& line : lines) {
    names.push_back(line.name);
    for (const PlotPoint& point : line.points) {
      x.Include(point.x);
      y.Include(point.y);
      if (!point.text.empty()) told[point.x].push_back(point.text);
    }
  }
  if (even.has_value()) y.Include(*even);
  x.Widen();
  y.Widen();
  std::string paths, dots;
  for (size_t i = 0; i < lines.size(); ++i) {
    const PlotLine& line = lines[i];
    const std::string colour = absl::StrCat("c", i % kLineColours);
    std::string path, upper, lower;
    for (const PlotPoint& point : line.points) {
      const auto place = [&](double value) {
        return absl::StrFormat(
            "L%.1f %.1f", 10 * x.At(point.x),
            1000 - 10 * y.At(std::isfinite(value) ? value : point.y.mean));
      };
      path += place(point.y.mean);
      upper += place(point.y.high);
      lower = place(point.y.low) + lower;
      if (line.kind != Kind::kDots && line.kind != Kind::kBoth) continue;
      absl::StrAppendFormat(
          &dots, "<circle class=\"%s\" cx=\"%s\" cy=\"%s\" r=\"4\"/>",
          point.colour.empty() ? absl::string_view(colour) : point.colour,
          x.PercentAt(point.x), y.PercentAt(point.y.mean, /*vertical=*/true));
    }
    if (path.empty() || line.kind == Kind::kDots) continue;
    if (line.kind == Kind::kBoth) {
      const std::string around = upper + lower;
      paths += Path(colour + " band", absl::StrCat("M", around.substr(1), "z"));
    }
    paths +=
        Path(absl::StrCat(
                 colour, line.kind == Kind::kDashed ? " line dashed" : " line"),
             absl::StrCat("M", path.substr(1)));
  }
  // A place is told up to the middle between it and its neighbours.
  std::string strips;
  std::vector<std::string> texts;
  for (auto place = told.begin(); place != told.end(); ++place) {
    const double left =
        place == told.begin()
            ? 0
            : x.At((std::prev(place)->first + place->first) / 2);
    const double right =
        std::next(place) == told.end()
            ? 100
            : x.At((std::next(place)->first + place->first) / 2);
    const std::string where = absl::StrCat(x_unit, " ", place->first);
    strips +=
        Strip(left, right,
              absl::StrCat(where, "\n", absl::StrJoin(place->second, "\n")));
    texts.push_back(
        absl::StrCat(where, ": ", absl::StrJoin(place->second, ", ")));
  }
  return Figure(
      title, absl::StrCat(y_unit, " by ", x_unit), texts,
      absl::StrCat(TwoAxes(x, y, x_unit, y_unit, even,
                           absl::StrCat(Stretched(paths), dots, strips)),
                   names.size() > 1 ? Legend(names) : ""));
}

}  // namespace tara::eval
