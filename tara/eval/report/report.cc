#include "tara/eval/report/report.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tara/base/text.h"
#include "tara/base/version.h"
#include "tara/eval/report/page_script.h"
#include "tara/eval/report/page_style.h"
#include "tara/eval/report/page_template.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ReportField::Kind;
using Rows = absl::Span<const ReportRow>;

int DigitsOf(const Interval& interval, double scale) {
  const double width = scale * (interval.high - interval.low);
  if (!std::isfinite(width) || width <= 0) return 2;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 1, 4);
}

std::string Written(double number, const NumberFormat& format) {
  double scaled = format.scale * number;
  // No "-0".
  if (std::abs(scaled) <= 0.5 * std::pow(10, -format.digits)) scaled = 0;
  return format.sign ? absl::StrFormat("%+.*f", format.digits, scaled)
                     : absl::StrFormat("%.*f", format.digits, scaled);
}

// Whether a field has a column of its own.
bool InTables(const ReportField& field) {
  return !field.heading.empty() && field.kind != Kind::kCounts;
}

bool HasText(const ReportField& field) {
  return !field.text.empty() && field.text != "-";
}

// Whether any field of a column is so.
bool Any(Rows rows, size_t column, bool (*is)(const ReportField&)) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const ReportRow& row) { return is(row[column]); });
}

bool IsNumber(const ReportField& field) {
  return field.kind == Kind::kNumber || field.kind == Kind::kEstimate;
}

const std::string& LabelOf(const ReportField& field) {
  return field.label.empty() ? field.text : field.label;
}

// The value with its range, unless that is "-".
std::string Told(const ReportField& field) {
  return field.range == "-" ? field.text
                            : absl::StrCat(field.text, " ", field.range);
}

const ReportField* Named(const ReportRow& row, Name name) {
  for (const ReportField& field : row) {
    if (field.name == name && field.kind != Kind::kNone) return &field;
  }
  return nullptr;
}

// 1 and -1: the whole interval is above or below what is even; else 0.
int PlaceOf(const ReportField& field) {
  if (field.interval.low > field.format.even) return 1;
  return field.interval.high < field.format.even ? -1 : 0;
}

// Returns what a row is called: its texts before the first number.
std::string RowName(const ReportRow& row) {
  std::vector<std::string> parts;
  for (const ReportField& field : row) {
    if (IsNumber(field) && !field.heading.empty()) break;
    if (field.kind == Kind::kText && InTables(field) && HasText(field)) {
      parts.push_back(LabelOf(field));
    }
  }
  return absl::StrJoin(parts, ", ");
}

// The columns of a row's fields that tables have.
std::vector<size_t> ColumnsOf(Rows rows) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (InTables(rows[0][i])) columns.push_back(i);
  }
  return columns;
}

// Returns the cells as lines with columns aligned, two spaces apart: those that
// are `left` to the left, the others, which are numbers, to the right.
std::string Aligned(std::vector<std::vector<std::string>> rows,
                    const std::vector<bool>& left) {
  for (std::vector<std::string>& row : rows) {
    for (std::string& cell : row) cell = Printable(cell);
  }
  std::vector<size_t> widths(left.size());
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

// Returns null for infinite numbers, which JSON lacks.
Json Finite(double number) {
  if (!std::isfinite(number)) return nullptr;
  return number;
}

// Returns the colour of an estimate by its place, or "".
absl::string_view ColourOf(const ReportField& field) {
  if (field.kind != Kind::kEstimate) return "";
  const int place = PlaceOf(field);
  return place > 0 ? field.format.above : place < 0 ? field.format.below : "";
}

}  // namespace

ReportField TextField(Name name, Name heading, absl::string_view text) {
  return JsonField(name, heading, text, std::string(text));
}

ReportField JsonField(Name name, Name heading, absl::string_view text,
                      Json value) {
  return {.name = std::string(name),
          .heading = std::string(heading),
          .kind = Kind::kText,
          .text = std::string(text),
          .value = std::move(value)};
}

ReportField CountField(Name name, Name heading, int64_t count) {
  ReportField field = JsonField(name, heading, absl::StrCat(count), count);
  field.kind = Kind::kNumber;
  return field;
}

ReportField NumberField(Name name, Name heading, double number,
                        const NumberFormat& format) {
  ReportField field =
      JsonField(name, heading, Written(number, format), Finite(number));
  field.kind = Kind::kNumber;
  return field;
}

ReportField EstimateField(Name name, Name heading, const Interval& interval,
                          const NumberFormat& format) {
  NumberFormat used = format;
  if (used.digits < 0) used.digits = DigitsOf(interval, format.scale);
  ReportField field = NumberField(name, heading, interval.mean, used);
  field.kind = Kind::kEstimate;
  field.interval = interval;
  field.format = used;
  if (interval.low == interval.high) {
    field.interval.low = -std::numeric_limits<double>::infinity();
    field.interval.high = std::numeric_limits<double>::infinity();
  }
  const bool known =
      std::isfinite(field.interval.low) || std::isfinite(field.interval.high);
  if (!known) {
    field.range = format.around ? "" : "-";
  } else if (format.around) {
    field.range =
        absl::StrFormat("+-%.*f", used.digits,
                        format.scale * (interval.high - interval.low) / 2);
  } else {
    field.range = absl::StrCat("[", Written(interval.low, used), ", ",
                               Written(interval.high, used), "]");
  }
  return field;
}

ReportField MeanField(Name name, Name heading, const Interval& mean) {
  return EstimateField(name, heading, mean, {.digits = kDigitsByInterval});
}

ReportField ShareField(Name name, Name heading, const Interval& share) {
  return EstimateField(name, heading, share,
                       {.scale = 100, .digits = kDigitsByInterval});
}

ReportField CountsField(Name name, Name heading, Json counts) {
  ReportField field = JsonField(name, heading, "", std::move(counts));
  field.kind = Kind::kCounts;
  return field;
}

ReportField NoField(Name name, Name heading) {
  return {.name = std::string(name),
          .heading = std::string(heading),
          .text = "-",
          .range = "-"};
}

ReportField VariantField(Name name, Name heading, Variant variant,
                         absl::string_view not_learned) {
  const std::string mark = NotLearnedMark(not_learned);
  ReportField field = TextField(name, heading, Info(variant).id);
  field.text += mark;
  field.label = absl::StrCat(Info(variant).name, mark);
  return field;
}

ReportRow Joined(std::initializer_list<ReportRow> parts) {
  ReportRow row;
  for (const ReportRow& part : parts) {
    row.insert(row.end(), part.begin(), part.end());
  }
  return row;
}

Json RowJson(const ReportRow& row) {
  Json object = Json::object();
  for (const ReportField& field : row) {
    if (field.name.empty() || field.kind == Kind::kNone) continue;
    if (field.kind == Kind::kEstimate) {
      object[field.name] = Finite(field.interval.mean);
      object[field.name + "_low"] = Finite(field.interval.low);
      object[field.name + "_high"] = Finite(field.interval.high);
    } else {
      object[field.name] = field.value;
    }
  }
  return object;
}

Json RowsToJson(Rows rows) {
  Json list = Json::array();
  for (const ReportRow& row : rows) list.push_back(RowJson(row));
  return list;
}

std::string RowsJson(Rows rows) { return JsonText(RowsToJson(rows), 2); }

std::string TableText(Rows rows) {
  std::vector<std::vector<std::string>> table(rows.size() + 1);
  std::vector<bool> left;
  const auto add = [&](size_t column, const std::string& heading,
                       std::string (*text)(const ReportField&)) {
    table[0].push_back(heading);
    for (size_t i = 0; i < rows.size(); ++i) {
      table[i + 1].push_back(text(rows[i][column]));
    }
  };
  for (const size_t i : ColumnsOf(rows)) {
    add(i, rows[0][i].heading, [](const ReportField& field) {
      return field.format.around && !field.range.empty()
                 ? absl::StrCat(field.text, " ", field.range)
                 : field.text;
    });
    left.push_back(!Any(rows, i, IsNumber));
    if (!Any(rows, i, [](const ReportField& field) {
          return field.kind == Kind::kEstimate && !field.format.around;
        })) {
      continue;
    }
    add(i, "95 %", [](const ReportField& field) { return field.range; });
    left.push_back(false);
  }
  return Aligned(std::move(table), left);
}

std::vector<ReportRow> WithoutEmptyColumns(std::vector<ReportRow> rows) {
  if (rows.empty()) return rows;
  for (size_t i = rows[0].size(); i-- > 0;) {
    if (!InTables(rows[0][i]) || Any(rows, i, HasText)) continue;
    for (ReportRow& row : rows) row.erase(row.begin() + static_cast<int>(i));
  }
  return rows;
}

std::string VerdictOn(Rows rows, Name name, const VerdictWords& words) {
  const auto is_total = [](const ReportRow& row) {
    return absl::StartsWith(RowName(row), "total");
  };
  const bool has_total = std::any_of(rows.begin(), rows.end(), is_total);
  std::vector<std::string> above, below, neither, few;
  for (const ReportRow& row : rows) {
    if (has_total && !is_total(row)) continue;
    const std::string row_name = RowName(row);
    const ReportField& field = *Named(row, name);
    const ReportField* const distinct = Named(row, "distinct_games");
    if (distinct != nullptr && distinct->value < kMinGamesForVerdict) {
      few.push_back(
          absl::StrCat(row_name, " (", distinct->value.get<int>(), ")"));
      continue;
    }
    const int place = PlaceOf(field);
    (place > 0   ? above
     : place < 0 ? below
                 : neither)
        .push_back(absl::StrCat(row_name, " (", field.text,
                                field.format.scale == 100 ? " %" : "",
                                field.range == "-" ? "" : " ",
                                field.range == "-" ? "" : field.range, ")"));
  }
  std::string text;
  const auto add = [&](absl::string_view begin,
                       const std::vector<std::string>& names) {
    if (names.empty()) return;
    absl::StrAppend(&text, text.empty() ? "" : "; ", begin,
                    absl::StrJoin(names, ", "));
  };
  add(words.above, above);
  add(words.below, below);
  add(words.neither, neither);
  add(absl::StrCat("not enough different games for a verdict, fewer than ",
                   kMinGamesForVerdict, ": "),
      few);
  if (text.empty()) return "Nothing was played.";
  text[0] = absl::ascii_toupper(text[0]);
  return text + ".";
}

std::string SectionsText(absl::Span<const ReportSection> sections) {
  std::string text;
  for (const ReportSection& section : sections) {
    if (section.rows.empty()) continue;
    if (!text.empty()) text += "\n";
    if (!section.title.empty()) absl::StrAppend(&text, section.title, ":\n");
    absl::StrAppend(&text, TableText(section.rows), section.notes);
  }
  return text;
}

std::string Percent(double share) {
  return absl::StrFormat("%.1f", 100 * share);
}

absl::string_view BarOf(double share) {
  constexpr absl::string_view kBars[] = {"▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
  return kBars[std::clamp(static_cast<int>(share * 8), 0, 7)];
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

namespace {

// Returns the command of this process as a shell would take it, for HTML; ""
// where the system does not tell.
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
    const std::string quoted =
        absl::StrCat("'", absl::StrReplaceAll(words[i], {{"'", "'\\''"}}), "'");
    absl::StrAppend(&command, " ", Escaped(plain ? words[i] : quoted));
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

// Returns a name of JSON or a heading of text as a heading: "Mean length".
std::string Words(absl::string_view name) {
  std::string words = absl::StrReplaceAll(name, {{"_", " "}});
  if (!words.empty()) words[0] = absl::ascii_toupper(words[0]);
  return words;
}

// Returns sentences for HTML, with `line_end` where they have a new line.
std::string Sentences(absl::string_view text, absl::string_view line_end) {
  std::string html;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_sign = text[i] == '-' && i > 0 && i + 1 < text.size() &&
                         absl::StrContains(" [(", text.substr(i - 1, 1)) &&
                         absl::ascii_isdigit(text[i + 1]);
    html += is_sign ? "\u2212" : std::string(1, text[i]);
  }
  return absl::StrReplaceAll(Escaped(absl::StripSuffix(html, "\n")),
                             {{"\n", line_end}});
}

std::string InLines(absl::string_view text) { return Sentences(text, "<br>"); }

// --- Tables ------------------------------------------------------------------

std::string CellHtml(const ReportField& field) {
  std::string html =
      IsNumber(field) ? Typeset(field.text) : Escaped(LabelOf(field));
  if (field.kind == Kind::kEstimate && !field.range.empty() &&
      field.range != "-") {
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

// Whether an estimate can be drawn within its cell.
bool IsMarked(const ReportField& field) {
  return field.kind == Kind::kEstimate && !field.format.above.empty() &&
         std::isfinite(field.interval.mean);
}

// Returns the ends of the axis of the marks of a column.
std::pair<double, double> AxisOf(Rows rows, size_t column) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const ReportRow& row : rows) {
    const ReportField& field = row[column];
    if (!IsMarked(field)) continue;
    for (const double value : {field.interval.mean, field.interval.low,
                               field.interval.high, field.format.even}) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return {least, most};
}

std::string TableHtml(const ReportSection& section, absl::string_view name) {
  std::string html = absl::StrCat(
      "<div class=\"card wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Table: ",
      Escaped(name), "\"><table><thead><tr>");
  const std::vector<ReportRow>& rows = section.rows;
  const std::vector<size_t> columns = ColumnsOf(rows);
  for (const size_t column : columns) {
    const bool has_interval = Any(rows, column, [](const ReportField& field) {
      return field.kind == Kind::kEstimate;
    });
    const std::string& heading = rows[0][column].heading;
    // In a table of rows against each other it is the name of a row.
    const bool is_name =
        std::any_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
          return LabelOf(row[columns[0]]) == heading;
        });
    absl::StrAppend(
        &html, "<th scope=\"col\"", has_interval ? " data-interval" : "",
        "><button class=\"sort\"",
        has_interval ? " title=\"with its 95 % interval\"" : "", ">",
        Escaped(is_name ? heading : Words(heading)), "</button></th>");
  }
  html += "</tr></thead>\n<tbody>";
  std::vector<std::pair<double, double>> axes;
  for (size_t i = 0; i < rows[0].size(); ++i) axes.push_back(AxisOf(rows, i));
  for (const ReportRow& row : rows) {
    html += "<tr>";
    for (const size_t column : columns) {
      const ReportField& field = row[column];
      const absl::string_view colour = ColourOf(field);
      const bool first = column == columns[0];
      absl::StrAppend(&html, first ? "<th scope=\"row\"" : "<td",
                      CellData(field));
      if (!colour.empty()) absl::StrAppend(&html, " class=\"", colour, "\"");
      absl::StrAppend(&html, ">", CellHtml(field));
      if (section.plots == "marks" && IsMarked(field)) {
        const auto& [least, most] = axes[column];
        html += IntervalMark(field.interval, field.format.even, least, most);
      }
      html += first ? "</th>" : "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// --- Plots -------------------------------------------------------------------

Interval Scaled(const Interval& interval, double scale) {
  return {scale * interval.mean, scale * interval.low, scale * interval.high};
}

// Returns the title of the axis of a column.
std::string UnitOf(const ReportSection& section, const ReportField& field) {
  return section.unit.empty() ? Words(field.heading)
                              : std::string(section.unit);
}

using RowPointers = std::vector<const ReportRow*>;

// Returns lines over the generations of runs, each with its band; other players
// are dashed lines. None if no run has two generations.
std::string OverTraining(const ReportSection& section, const RowPointers& rows,
                         size_t column, const std::string& title) {
  std::map<std::string, PlotLine> lines;  // by run
  std::set<double> generations;
  const std::string unit = UnitOf(section, (*rows[0])[column]);
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
    PlotLine line = {.name = RowName(*row), .kind = PlotLine::Kind::kDashed};
    for (const double x : {*generations.begin(), *generations.rbegin()}) {
      line.points.push_back({.x = x, .y = {level, level, level}});
    }
    all.push_back(std::move(line));
  }
  return CurvesPlot(title, "generation", unit, all);
}

// Returns a plot of each column of estimates: over training, or a point a row.
std::string EstimatesHtml(const ReportSection& section) {
  std::string html;
  for (const size_t column : ColumnsOf(section.rows)) {
    RowPointers rows;
    std::vector<PlotRow> points;
    for (const ReportRow& row : section.rows) {
      const ReportField& field = row[column];
      if (field.kind != Kind::kEstimate ||
          !std::isfinite(field.interval.mean)) {
        continue;
      }
      const NumberFormat& format = field.format;
      const absl::string_view colour = ColourOf(field);
      rows.push_back(&row);
      points.push_back({.name = RowName(row),
                        .text = Told(field),
                        .value = Scaled(field.interval, format.scale),
                        .colour = format.above.empty() ? "accent"
                                  : colour.empty()     ? "draw"
                                                       : colour});
    }
    if (rows.empty()) continue;
    const ReportField& first = (*rows[0])[column];
    const std::string title = Words(first.heading);
    const std::string curves = OverTraining(section, rows, column, title);
    const NumberFormat& format = first.format;
    std::optional<double> even;
    if (!format.above.empty()) even = format.scale * format.even;
    html += !curves.empty() ? curves
                            : IntervalsPlot(title, UnitOf(section, first),
                                            points, even, format.scale / 20);
  }
  return html;
}

std::string Histograms(const ReportSection& section) {
  std::string html;
  for (const ReportRow& row : section.rows) {
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

std::string PlotsHtml(const ReportSection& section) {
  const std::string html =
      absl::StrCat(section.plots == "estimates" ? EstimatesHtml(section) : "",
                   Histograms(section));
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

std::string ReportPage(absl::string_view title, absl::string_view body,
                       absl::string_view script) {
  return ValidUtf8(absl::StrReplaceAll(
      PageTemplate(), {{"{{title}}", Escaped(title)},
                       {"{{page.css}}", PageStyle()},
                       {"{{body}}", body},
                       {"{{origin}}", Origin()},
                       {"{{page.js}}", absl::StrCat(PageScript(), script)}}));
}

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
      absl::StrAppend(&body, TableHtml(section, heading), "<p class=\"faint\">",
                      Sentences(section.notes, " "),
                      " <button class=\"csv\">Download CSV</button></p>\n",
                      PlotsHtml(section));
    }
    absl::StrAppend(&body, section.html, "</section>\n");
  }
  return ReportPage(
      title,
      absl::StrCat(
          VerdictHtml(verdict), "<p id=\"about\">", InLines(about), "</p>\n",
          anchors.size() > 1 ? absl::StrCat("<nav aria-label=\"Contents\"><ul>",
                                            contents, "</ul></nav>\n")
                             : "",
          body));
}

}  // namespace tara::eval
