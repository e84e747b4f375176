#include "tara/eval/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/report/sections_page.h"

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
  const double scaled = format.scale * number;
  return format.sign ? absl::StrFormat("%+.*f", format.digits, scaled)
                     : absl::StrFormat("%.*f", format.digits, scaled);
}

// Whether a field has a column of its own.
bool InTables(const ReportField& field) {
  return !field.heading.empty() && field.kind != Kind::kCounts;
}

// Whether a column has a field of one of the kinds.
bool Has(Rows rows, size_t column, std::initializer_list<Kind> kinds) {
  return std::any_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
    return std::find(kinds.begin(), kinds.end(), row[column].kind) !=
           kinds.end();
  });
}

// A number with the digits that plots can show; null if it is infinite.
Json Rounded(double number) {
  double rounded = 0;
  return std::isfinite(number) &&
                 absl::SimpleAtod(absl::StrFormat("%.6g", number), &rounded)
             ? Json(rounded)
             : Json();
}

// A field as sections_page.html reads it: its text, with its value if it has
// another one. What is not known is a text.
Json CellJson(const ReportField& field) {
  const std::string& text = field.label.empty() ? field.text : field.label;
  if (field.kind == Kind::kCounts) return field.value;
  if (field.kind == Kind::kEstimate) {
    const Interval& interval = field.interval;
    return {text, field.range, Rounded(interval.mean), Rounded(interval.low),
            Rounded(interval.high)};
  }
  if (!field.value.is_number()) return text;
  if (field.value.dump() == text) return field.value;
  return {text, Rounded(field.value.get<double>())};
}

// What the fields of a column have in common.
Json ColumnJson(Rows rows, size_t column) {
  constexpr Kind kKinds[] = {Kind::kText, Kind::kNumber, Kind::kEstimate,
                             Kind::kCounts};
  constexpr const char* kNames[] = {"text", "number", "estimate", "counts"};
  const ReportField& first = rows[0][column];
  Json json = {{"name", first.name}, {"heading", first.heading}};
  json["kind"] = "text";
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (Has(rows, column, {kKinds[i]})) json["kind"] = kNames[i];
  }
  for (const ReportRow& row : rows) {
    if (row[column].kind != Kind::kEstimate) continue;
    const NumberFormat& format = row[column].format;
    json["scale"] = format.scale;
    if (format.above.empty()) break;
    json["even"] = format.scale * format.even;
    json["colours"] = {std::string(format.above), std::string(format.below)};
    break;
  }
  return json;
}

Json SectionJson(const ReportSection& section) {
  const std::string& heading =
      section.heading.empty() ? section.title : section.heading;
  Json columns = Json::array();
  std::vector<Json> rows(section.rows.size(), Json::array());
  for (size_t i = 0; i < section.rows[0].size(); ++i) {
    // What the page does not show is in JSON alone.
    const ReportField& first = section.rows[0][i];
    if (first.heading.empty() && first.name != "run" &&
        first.name != "generation") {
      continue;
    }
    columns.push_back(ColumnJson(section.rows, i));
    for (size_t row = 0; row < rows.size(); ++row) {
      rows[row].push_back(CellJson(section.rows[row][i]));
    }
  }
  return {{"heading", heading},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)},
          {"notes", section.notes},
          {"plots", std::string(section.plots)},
          {"unit", std::string(section.unit)}};
}

// Whether the page of a section has plots of Chart.js.
bool IsPlotted(const ReportSection& section) {
  return section.plots == "estimates" || section.plots == "stacks" ||
         std::any_of(section.rows.begin(), section.rows.end(),
                     [](const ReportRow& row) {
                       return std::any_of(row.begin(), row.end(),
                                          [](const ReportField& field) {
                                            return field.kind ==
                                                       Kind::kCounts &&
                                                   !field.heading.empty();
                                          });
                     });
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
  const bool known =
      std::isfinite(interval.low) || std::isfinite(interval.high);
  field.range = known ? absl::StrCat("[", Written(interval.low, used), ", ",
                                     Written(interval.high, used), "]")
                      : "-";
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
      PutInterval(field.name, field.interval, object);
    } else {
      object[field.name] = field.value;
    }
  }
  return object;
}

std::string TableText(Rows rows) {
  std::vector<std::vector<std::string>> table(rows.size() + 1);
  std::vector<bool> left;
  const auto add = [&](size_t column, const std::string& heading,
                       std::string ReportField::* text) {
    table[0].push_back(heading);
    for (size_t i = 0; i < rows.size(); ++i) {
      table[i + 1].push_back(rows[i][column].*text);
    }
  };
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (!InTables(rows[0][i])) continue;
    add(i, rows[0][i].heading, &ReportField::text);
    left.push_back(!Has(rows, i, {Kind::kNumber, Kind::kEstimate}));
    if (!Has(rows, i, {Kind::kEstimate})) continue;
    add(i, "95 %", &ReportField::range);
    left.push_back(false);
  }
  return TextTable(table, left);
}

std::vector<ReportRow> WithoutEmptyColumns(std::vector<ReportRow> rows) {
  if (rows.empty()) return rows;
  for (size_t i = rows[0].size(); i-- > 0;) {
    const bool empty =
        InTables(rows[0][i]) &&
        std::all_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
          return row[i].text.empty() || row[i].text == "-";
        });
    if (!empty) continue;
    for (ReportRow& row : rows) row.erase(row.begin() + static_cast<int>(i));
  }
  return rows;
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

std::string SectionsPage(absl::string_view title, absl::string_view about,
                         absl::Span<const ReportSection> sections,
                         absl::Span<const std::string> verdict) {
  Json report = {{"about", std::string(about)},
                 {"verdict", Json::array()},
                 {"sections", Json::array()}};
  for (const std::string& paragraph : verdict) {
    report["verdict"].push_back(paragraph);
  }
  for (const ReportSection& section : sections) {
    if (!section.rows.empty()) {
      report["sections"].push_back(SectionJson(section));
    }
  }
  return ReportPage(absl::StrCat(title, "\n", SectionsPageTemplate()),
                    {{"{{report.json}}", JsonInPage(JsonText(report))}},
                    std::any_of(sections.begin(), sections.end(), IsPlotted));
}

}  // namespace tara::eval
