#include "tara/eval/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/report/sections_page.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

// Returns how many digits tell the ends of an interval apart.
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
  return !field.heading.empty() && field.cell.kind != ReportCell::Kind::kCounts;
}

// Whether a column has no numbers.
bool IsText(absl::Span<const ReportRow> rows, size_t column) {
  return std::none_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
    return row[column].cell.kind == ReportCell::Kind::kNumber ||
           row[column].cell.kind == ReportCell::Kind::kEstimate;
  });
}

// How many columns there are before the first with numbers.
size_t NameColumns(absl::Span<const ReportRow> rows) {
  size_t columns = 0;
  for (size_t i = 0; i < rows[0].size() && IsText(rows, i); ++i) {
    columns += InTables(rows[0][i]) ? 1 : 0;
  }
  return columns;
}

// The first row that has an estimate in a column; none: the end.
auto FirstEstimate(absl::Span<const ReportRow> rows, size_t column) {
  return std::find_if(rows.begin(), rows.end(), [&](const ReportRow& row) {
    return row[column].cell.kind == ReportCell::Kind::kEstimate;
  });
}

// The cell as sections_page.html reads it.
Json CellJson(const ReportCell& cell) {
  const std::string& text = cell.label.empty() ? cell.text : cell.label;
  if (cell.kind == ReportCell::Kind::kNumber) {
    return {{"text", text}, {"v", cell.value}};
  }
  if (cell.kind != ReportCell::Kind::kEstimate) return text;
  Json json = {{"text", text}, {"range", cell.range}};
  PutInterval("v", cell.interval, json);
  return json;
}

// The heading and, of estimates, how they are drawn.
Json ColumnJson(absl::Span<const ReportRow> rows, size_t column) {
  Json json = {{"heading", rows[0][column].heading}};
  const auto row = FirstEstimate(rows, column);
  if (row == rows.end()) return json;
  const NumberFormat& format = (*row)[column].cell.format;
  json["scale"] = format.scale;
  if (format.colours == NumberFormat::Colours::kNone) return json;
  const bool sides = format.colours == NumberFormat::Colours::kRedAndBlue;
  json["even"] = format.scale * format.even;
  json["colours"] = {sides ? "red" : "better", sides ? "blue" : "worse"};
  return json;
}

Json SectionJson(const ReportSection& section) {
  constexpr const char* kPlots[] = {"none", "estimates", "stacks"};
  Json json = {
      {"title", section.heading.empty() ? section.title : section.heading},
      {"notes", section.notes},
      {"plots", kPlots[static_cast<int>(section.plots)]},
      {"unit", section.unit},
      {"names", NameColumns(section.rows)},
      {"columns", Json::array()},
      {"rows", Json::array()}};
  const ReportRow& first = section.rows[0];
  for (size_t i = 0; i < first.size(); ++i) {
    if (!InTables(first[i])) continue;
    json["columns"].push_back(ColumnJson(section.rows, i));
  }
  for (const ReportRow& row : section.rows) {
    Json& line = json["rows"].emplace_back(Json::object());
    for (const ReportField& field : row) {
      if (InTables(field)) line["cells"].push_back(CellJson(field.cell));
      if (field.cell.kind == ReportCell::Kind::kCounts) {
        line["counts"].push_back(
            {{"title", field.heading}, {"games", field.cell.value}});
      }
      if (field.name == "run" || field.name == "generation") {
        line[field.name] = field.cell.value;
      }
    }
  }
  return json;
}

}  // namespace

ReportCell TextCell(absl::string_view text) {
  return JsonCell(text, std::string(text));
}

ReportCell JsonCell(absl::string_view text, Json value) {
  return {.kind = ReportCell::Kind::kText,
          .text = std::string(text),
          .value = std::move(value)};
}

ReportCell CountCell(int64_t count) {
  return {.kind = ReportCell::Kind::kNumber,
          .text = absl::StrCat(count),
          .value = count};
}

ReportCell NumberCell(double number, const NumberFormat& format) {
  return {.kind = ReportCell::Kind::kNumber,
          .text = Written(number, format),
          .value = Finite(number)};
}

ReportCell EstimateCell(const Interval& interval, const NumberFormat& format) {
  NumberFormat used = format;
  if (format.digits == NumberFormat::kByInterval) {
    used.digits = DigitsOf(interval, format.scale);
  }
  const bool known =
      std::isfinite(interval.low) || std::isfinite(interval.high);
  return {.kind = ReportCell::Kind::kEstimate,
          .text = Written(interval.mean, used),
          .range = known ? absl::StrCat("[", Written(interval.low, used), ", ",
                                        Written(interval.high, used), "]")
                         : "-",
          .interval = interval,
          .format = format};
}

ReportCell CountsCell(Json counts) {
  return {.kind = ReportCell::Kind::kCounts, .value = std::move(counts)};
}

ReportCell NoCell(absl::string_view text) {
  return {.text = std::string(text), .range = std::string(text)};
}

ReportCell VariantCell(Variant variant, absl::string_view not_learned) {
  const VariantInfo& info = Info(variant);
  const std::string mark = NotLearnedMark(not_learned);
  ReportCell cell = TextCell(info.id);
  cell.text += mark;
  cell.label = absl::StrCat(info.name, mark);
  return cell;
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
  for (const auto& [name, heading, cell] : row) {
    if (name.empty() || cell.kind == ReportCell::Kind::kNone) continue;
    if (cell.kind == ReportCell::Kind::kEstimate) {
      PutInterval(name, cell.interval, object);
    } else {
      object[name] = cell.value;
    }
  }
  return object;
}

std::string TableText(absl::Span<const ReportRow> rows) {
  std::vector<std::vector<std::string>> table(rows.size() + 1);
  std::vector<bool> left;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (!InTables(rows[0][i])) continue;
    table[0].push_back(rows[0][i].heading);
    left.push_back(IsText(rows, i));
    for (size_t j = 0; j < rows.size(); ++j) {
      table[j + 1].push_back(rows[j][i].cell.text);
    }
    if (FirstEstimate(rows, i) == rows.end()) continue;
    table[0].push_back("95 %");
    left.push_back(false);
    for (size_t j = 0; j < rows.size(); ++j) {
      table[j + 1].push_back(rows[j][i].cell.range);
    }
  }
  return TextTable(table, left);
}

std::vector<ReportRow> WithoutEmptyColumns(std::vector<ReportRow> rows) {
  if (rows.empty()) return rows;
  for (size_t i = rows[0].size(); i-- > 0;) {
    const bool empty =
        InTables(rows[0][i]) &&
        std::all_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
          return row[i].cell.text.empty() || row[i].cell.text == "-";
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

std::string SectionsPage(const PageHeader& header,
                         absl::Span<const ReportSection> sections) {
  Json list = Json::array();
  for (const ReportSection& section : sections) {
    if (!section.rows.empty()) list.push_back(SectionJson(section));
  }
  const Json report = {{"about", header.about},
                       {"verdict", header.verdict},
                       {"sections", std::move(list)}};
  return ReportPage(absl::StrCat(header.title, "\n", SectionsPageTemplate()),
                    {{"{{report.json}}", JsonInPage(JsonText(report))}});
}

}  // namespace tara::eval
