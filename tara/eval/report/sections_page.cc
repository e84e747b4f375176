// The page of a report: what its text has, as HTML with plots.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tara/base/text.h"
#include "tara/eval/report/plots.h"
#include "tara/eval/report/report.h"
#include "tara/eval/report/report_page.h"

namespace tara::eval {
namespace {

using Kind = ReportField::Kind;

const std::string& LabelOf(const ReportField& field) {
  return field.label.empty() ? field.text : field.label;
}

bool IsNumber(const ReportField& field) {
  return field.kind == Kind::kNumber || field.kind == Kind::kEstimate;
}

// Returns a name of JSON or a heading of text as a heading: "Mean length".
std::string Words(absl::string_view name) {
  std::string words = absl::StrReplaceAll(name, {{"_", " "}});
  if (!words.empty()) words[0] = absl::ascii_toupper(words[0]);
  return words;
}

std::string InLines(absl::string_view text) {
  return absl::StrReplaceAll(Escaped(absl::StripSuffix(text, "\n")),
                             {{"\n", "<br>"}});
}

// A section with its columns told apart.
struct Table {
  const ReportSection& section;
  std::vector<size_t> columns;  // of a row's fields: those in tables
  size_t names = 0;             // how many of them have the name of a row

  explicit Table(const ReportSection& given) : section(given) {
    const ReportRow& first = given.rows[0];
    for (size_t i = 0; i < first.size(); ++i) {
      if (!first[i].heading.empty() && first[i].kind != Kind::kCounts) {
        columns.push_back(i);
      }
    }
    const auto numbers =
        std::find_if(columns.begin(), columns.end(), [&](size_t column) {
          return std::any_of(
              given.rows.begin(), given.rows.end(),
              [&](const ReportRow& row) { return IsNumber(row[column]); });
        });
    names = static_cast<size_t>(numbers - columns.begin());
  }
};

// --- Tables ------------------------------------------------------------------

std::string CellHtml(const ReportField& field) {
  std::string html =
      IsNumber(field) ? Typeset(field.text) : Escaped(LabelOf(field));
  if (field.kind == Kind::kEstimate && field.range != "-" &&
      !field.range.empty()) {
    absl::StrAppend(&html, "<small>", Typeset(field.range), "</small>");
  }
  return html;
}

// The number of a cell for sorting and CSV, where its text is another one;
// page.js reads the others, and the intervals, from the text.
std::string CellData(const ReportField& field) {
  double shown = 0;
  if (ParseDecimal(field.text, &shown)) return "";
  if (!field.value.is_number()) return "";
  return absl::StrCat(" data-v=\"", field.value.get<double>(), "\"");
}

// Returns what draws the estimates of a column within its cells, on one axis.
class Marks {
 public:
  Marks(const ReportSection& section, size_t column) {
    if (section.plots != "marks") return;
    for (const ReportRow& row : section.rows) {
      const ReportField& field = row[column];
      if (!IsMarked(field)) continue;
      for (const double value : {field.interval.mean, field.interval.low,
                                 field.interval.high, field.format.even}) {
        if (!std::isfinite(value)) continue;
        least_ = std::min(least_, value);
        most_ = std::max(most_, value);
      }
    }
  }

  std::string Of(const ReportField& field) const {
    if (least_ > most_ || !IsMarked(field)) return "";
    return IntervalMark(field.interval, field.format.even, least_, most_);
  }

 private:
  static bool IsMarked(const ReportField& field) {
    return field.kind == Kind::kEstimate && !field.format.above.empty() &&
           std::isfinite(field.interval.mean);
  }

  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

std::string TableHtml(const Table& table, absl::string_view name) {
  std::string html = absl::StrCat(
      "<div class=\"card wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Table: ",
      Escaped(name), "\"><table><thead><tr>");
  const std::vector<ReportRow>& rows = table.section.rows;
  for (const size_t column : table.columns) {
    const bool has_interval =
        std::any_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
          return row[column].kind == Kind::kEstimate;
        });
    absl::StrAppend(
        &html, "<th scope=\"col\"", has_interval ? " data-interval" : "",
        "><button class=\"sort\"",
        has_interval ? " title=\"with its 95 % interval\"" : "", ">",
        Escaped(Words(rows[0][column].heading)), "</button></th>");
  }
  html += "</tr></thead>\n<tbody>";
  std::vector<Marks> marks;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    marks.emplace_back(table.section, i);
  }
  for (const ReportRow& row : rows) {
    html += "<tr>";
    for (const size_t column : table.columns) {
      const ReportField& field = row[column];
      const absl::string_view colour = ColourOf(field);
      const bool first = column == table.columns[0];
      absl::StrAppend(&html, first ? "<th scope=\"row\"" : "<td",
                      CellData(field));
      if (!colour.empty()) absl::StrAppend(&html, " class=\"", colour, "\"");
      absl::StrAppend(&html, ">", CellHtml(field), marks[column].Of(field),
                      first ? "</th>" : "</td>");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// --- Plots -------------------------------------------------------------------

Interval Scaled(const Interval& interval, double scale) {
  return {scale * interval.mean, scale * interval.low, scale * interval.high};
}

std::string Told(const ReportField& field) {
  return field.range == "-" ? field.text
                            : absl::StrCat(field.text, " ", field.range);
}

const ReportField* Named(const ReportRow& row, absl::string_view name) {
  for (const ReportField& field : row) {
    if (field.name == name && field.kind != Kind::kNone) return &field;
  }
  return nullptr;
}

// Returns the title of the axis of a column.
std::string UnitOf(const Table& table, const ReportField& field) {
  return table.section.unit.empty() ? Words(field.heading)
                                    : std::string(table.section.unit);
}

using RowPointers = std::vector<const ReportRow*>;

// Returns lines over the generations of runs, each with its band; other players
// are dashed lines. None if no run has two generations.
std::string OverTraining(const Table& table, const RowPointers& rows,
                         size_t column, const std::string& title,
                         size_t name_from) {
  std::map<std::string, PlotLine> lines;  // by run
  std::set<double> generations;
  const std::string unit = UnitOf(table, (*rows[0])[column]);
  for (const ReportRow* row : rows) {
    const ReportField* const run = Named(*row, "run");
    if (run == nullptr) continue;
    const ReportField& field = (*row)[column];
    const double generation = Named(*row, "generation")->value.get<double>();
    generations.insert(generation);
    PlotLine& line = lines[run->text];
    line.name = run->text;
    line.points.push_back(
        {.x = generation,
         .y = Scaled(field.interval, field.format.scale),
         .text =
             absl::StrCat(run->text, ": ", Typeset(Told(field)), " ", unit)});
  }
  if (generations.size() < 2) return "";
  std::vector<PlotLine> all;
  for (auto& [run, line] : lines) {
    std::sort(line.points.begin(), line.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    all.push_back(std::move(line));
  }
  for (const ReportRow* row : rows) {
    if (Named(*row, "run") != nullptr) continue;
    const ReportField& field = (*row)[column];
    const double level = field.format.scale * field.interval.mean;
    PlotLine line = {.name = RowName(*row, name_from),
                     .kind = PlotLine::Kind::kDashed};
    for (const double x : {*generations.begin(), *generations.rbegin()}) {
      line.points.push_back({.x = x, .y = {level, level, level}});
    }
    all.push_back(std::move(line));
  }
  return CurvesPlot(title, "generation", unit, all);
}

// Returns a plot of a column of estimates: over training, or a point a row.
std::string EstimatesHtml(const Table& table, const RowPointers& all,
                          size_t column, const std::string& group,
                          size_t name_from) {
  RowPointers rows;
  for (const ReportRow* row : all) {
    const ReportField& field = (*row)[column];
    if (field.kind == Kind::kEstimate && std::isfinite(field.interval.mean)) {
      rows.push_back(row);
    }
  }
  if (rows.empty()) return "";
  const ReportField& first = (*rows[0])[column];
  const std::string unit = UnitOf(table, first);
  const std::string title = group.empty()
                                ? Words(first.heading)
                                : absl::StrCat(group, ": ", first.heading);
  std::string curves = OverTraining(table, rows, column, title, name_from);
  if (!curves.empty()) return curves;
  std::vector<PlotRow> points;
  for (const ReportRow* row : rows) {
    const ReportField& field = (*row)[column];
    const NumberFormat& format = field.format;
    const absl::string_view colour = ColourOf(field);
    points.push_back({.name = RowName(*row, name_from),
                      .text = Told(field),
                      .value = Scaled(field.interval, format.scale),
                      .colour = format.above.empty() ? "accent"
                                : colour.empty()     ? "draw"
                                                     : colour});
  }
  const NumberFormat& format = first.format;
  std::optional<double> even;
  if (!format.above.empty()) even = format.scale * format.even;
  return IntervalsPlot(title, unit, points, even, format.scale / 20);
}

// Returns plots of all columns of estimates; if several columns name a row, and
// the first one alone does not, for each group of rows with the same first one.
std::string AllEstimates(const Table& table) {
  const std::vector<ReportRow>& rows = table.section.rows;
  std::set<std::string> first_names;
  for (const ReportRow& row : rows) {
    first_names.insert(LabelOf(row[table.columns[0]]));
  }
  const bool in_groups = table.names >= 2 && first_names.size() < rows.size();
  std::vector<std::pair<std::string, RowPointers>> groups;
  for (const ReportRow& row : rows) {
    const std::string group = in_groups ? LabelOf(row[table.columns[0]]) : "";
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](auto& each) { return each.first == group; });
    if (found == groups.end()) found = groups.insert(found, {group, {}});
    found->second.push_back(&row);
  }
  std::string html;
  for (const auto& [group, members] : groups) {
    for (const size_t column : table.columns) {
      html += EstimatesHtml(table, members, column, group, in_groups ? 1 : 0);
    }
  }
  return html;
}

std::string Stacks(const Table& table) {
  std::vector<std::string> parts;
  for (size_t i = table.names; i < table.columns.size(); ++i) {
    parts.push_back(Words(table.section.rows[0][table.columns[i]].heading));
  }
  std::vector<StackRow> rows;
  for (const ReportRow& row : table.section.rows) {
    StackRow& stack = rows.emplace_back(StackRow{.name = RowName(row)});
    for (size_t i = table.names; i < table.columns.size(); ++i) {
      double part = 0;
      // As it is written: its JSON may be a count.
      if (!ParseDecimal(row[table.columns[i]].text, &part)) part = 0;
      stack.parts.push_back(part);
    }
  }
  const std::string& title = table.section.rows[0][table.columns[0]].heading;
  return StacksPlot(Words(title), table.section.unit, parts, rows);
}

std::string Histograms(const Table& table) {
  std::string html;
  for (const ReportRow& row : table.section.rows) {
    for (const ReportField& field : row) {
      if (field.kind != Kind::kCounts) continue;
      std::map<int, int64_t> games;
      for (const auto& [value, count] : field.value.items()) {
        int number = 0;
        if (absl::SimpleAtoi(value, &number)) games[number] = count;
      }
      const std::vector<std::string> heading =
          absl::StrSplit(field.heading, ", ");
      html += HistogramPlot(absl::StrCat(RowName(row), ": ", heading[0]),
                            field.heading, games);
    }
  }
  return html;
}

std::string PlotsHtml(const Table& table) {
  const absl::string_view plots = table.section.plots;
  const std::string html =
      absl::StrCat(plots == "estimates" ? AllEstimates(table) : "",
                   plots == "stacks" ? Stacks(table) : "", Histograms(table));
  if (html.empty()) return "";
  const bool coloured = absl::StrContains(html, "<circle class=\"better\"") ||
                        absl::StrContains(html, "<circle class=\"worse\"");
  return absl::StrCat(
      coloured ? "<p class=\"faint\">Green: the whole interval is above the "
                 "dashed line. Orange: below it. Grey: neither is shown.</p>\n"
               : "",
      "<div class=\"grid\">", html, "</div>\n");
}

// --- The page ----------------------------------------------------------------

// Returns a name for an address: "Games of all" is "games-of-all".
std::string Anchor(absl::string_view heading, std::set<std::string>& used) {
  std::string anchor;
  for (const char c : heading) {
    if (absl::ascii_isalnum(c)) {
      anchor += absl::ascii_tolower(c);
    } else if (!anchor.empty() && anchor.back() != '-') {
      anchor += '-';
    }
  }
  while (!used.insert(anchor).second) anchor += "-2";
  return anchor;
}

std::string VerdictHtml(absl::Span<const std::string> verdict) {
  std::string html = "<div class=\"verdict\">";
  for (const std::string& paragraph : verdict) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(paragraph, absl::MaxSplits('\n', 1));
    absl::StrAppend(&html, "<p>",
                    parts.second.empty()
                        ? InLines(paragraph)
                        : absl::StrCat("<strong>", Escaped(parts.first),
                                       "</strong><br>", InLines(parts.second)),
                    "</p>");
  }
  return html + "</div>\n";
}

}  // namespace

std::string SectionsPage(absl::string_view title, absl::string_view about,
                         absl::Span<const ReportSection> sections,
                         absl::Span<const std::string> verdict) {
  std::string contents, body;
  std::set<std::string> anchors;
  for (const ReportSection& section : sections) {
    if (section.rows.empty() && section.html.empty()) continue;
    const std::string& heading =
        section.heading.empty() ? section.title : section.heading;
    const std::string anchor = Anchor(heading, anchors);
    absl::StrAppend(&contents, "<li><a href=\"#", anchor, "\">",
                    Escaped(heading), "</a></li>");
    absl::StrAppend(&body, "<section id=\"", anchor, "\"><h2><a href=\"#",
                    anchor, "\">", Escaped(heading), "</a></h2>\n");
    if (!section.rows.empty()) {
      const Table table(section);
      absl::StrAppend(&body, TableHtml(table, heading), "<p class=\"faint\">",
                      InLines(section.notes),
                      " <button class=\"csv\">Download CSV</button></p>\n",
                      PlotsHtml(table));
    }
    absl::StrAppend(&body, section.html, "</section>\n");
  }
  const std::vector<std::string> summary =
      verdict.empty()
          ? std::vector<std::string>{SummaryOf(sections)}
          : std::vector<std::string>(verdict.begin(), verdict.end());
  return ReportPage(
      title,
      absl::StrCat(
          VerdictHtml(summary), "<p id=\"about\">", InLines(about), "</p>\n",
          anchors.size() > 1 ? absl::StrCat("<nav aria-label=\"Contents\"><ul>",
                                            contents, "</ul></nav>\n")
                             : "",
          body));
}

}  // namespace tara::eval
