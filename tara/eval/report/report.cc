#include "tara/eval/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tara/base/text.h"
#include "tara/eval/report/report_page.h"

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
                       std::string (*text)(const ReportField&)) {
    table[0].push_back(heading);
    for (size_t i = 0; i < rows.size(); ++i) {
      table[i + 1].push_back(text(rows[i][column]));
    }
  };
  for (size_t i = 0; i < rows[0].size(); ++i) {
    if (!InTables(rows[0][i])) continue;
    add(i, rows[0][i].heading, [](const ReportField& field) {
      return field.format.around && !field.range.empty()
                 ? absl::StrCat(field.text, " ", field.range)
                 : field.text;
    });
    left.push_back(!Has(rows, i, {Kind::kNumber, Kind::kEstimate}));
    const bool has_range =
        std::any_of(rows.begin(), rows.end(), [&](const ReportRow& row) {
          return row[i].kind == Kind::kEstimate && !row[i].format.around;
        });
    if (!has_range) continue;
    add(i, "95 %", [](const ReportField& field) { return field.range; });
    left.push_back(false);
  }
  return Aligned(std::move(table), left);
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

std::string RowName(const ReportRow& row, size_t skip) {
  std::vector<std::string> parts;
  for (const ReportField& field : row) {
    if (field.kind == Kind::kNumber || field.kind == Kind::kEstimate) {
      if (!field.heading.empty()) break;
      continue;
    }
    if (!InTables(field) || field.kind != Kind::kText) continue;
    if (skip > 0) {
      --skip;
    } else if (!field.text.empty() && field.text != "-") {
      parts.push_back(field.label.empty() ? field.text : field.label);
    }
  }
  return absl::StrJoin(parts, ", ");
}

absl::string_view ColourOf(const ReportField& field) {
  if (field.kind != Kind::kEstimate) return "";
  if (field.interval.low > field.format.even) return field.format.above;
  if (field.interval.high < field.format.even) return field.format.below;
  return "";
}

std::string VerdictOn(Rows rows, Name name, const VerdictWords& words) {
  const auto named = [](const ReportRow& row, Name name) {
    return std::find_if(row.begin(), row.end(), [&](const ReportField& field) {
      return field.name == name;
    });
  };
  const bool has_total =
      std::any_of(rows.begin(), rows.end(), [](const ReportRow& row) {
        return absl::StartsWith(RowName(row), "total");
      });
  std::vector<std::string> above, below, neither, few;
  for (const ReportRow& row : rows) {
    const std::string row_name = RowName(row);
    if (has_total && !absl::StartsWith(row_name, "total")) continue;
    const ReportField& field = *named(row, name);
    const auto distinct = named(row, "distinct_games");
    if (distinct != row.end() && distinct->value < kMinGamesForVerdict) {
      few.push_back(
          absl::StrCat(row_name, " (", distinct->value.get<int>(), ")"));
      continue;
    }
    const NumberFormat& format = field.format;
    std::vector<std::string>& side = field.interval.low > format.even ? above
                                     : field.interval.high < format.even
                                         ? below
                                         : neither;
    side.push_back(absl::StrCat(row_name, " (", field.text,
                                format.scale == 100 ? " %" : "",
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

std::string SummaryOf(absl::Span<const ReportSection> sections) {
  const ReportSection* section = nullptr;
  size_t column = 0;
  bool has_even = false;
  for (const ReportSection& each : sections) {
    if (each.plots != "estimates" || each.rows.empty()) continue;
    for (size_t i = 0; i < each.rows[0].size(); ++i) {
      const ReportField& field = each.rows[0][i];
      if (field.kind != Kind::kEstimate || has_even) continue;
      if (section != nullptr && field.format.above.empty()) continue;
      section = &each;
      column = i;
      has_even = !field.format.above.empty();
    }
  }
  if (section == nullptr) return "Nothing was played.";
  const ReportField& first = section->rows[0][column];
  const std::string heading(absl::StripSuffix(first.heading, " %"));
  if (has_even) {
    const std::string even =
        absl::StrCat(first.format.scale * first.format.even,
                     first.format.scale == 100 ? " %" : "", " for ");
    return VerdictOn(
        section->rows, first.name,
        {.above = absl::StrCat(heading, ": above ", even),
         .below = absl::StrCat(heading, ": below ", even),
         .neither = absl::StrCat(heading, ": neither is shown for ")});
  }
  std::map<std::string, std::vector<double>> values;
  const bool grouped = RowName(section->rows[0], 1) != "";
  for (const ReportRow& row : section->rows) {
    if (row[column].kind != Kind::kEstimate) continue;
    values[RowName(row, grouped ? 1 : 0)].push_back(row[column].format.scale *
                                                    row[column].interval.mean);
  }
  std::vector<std::pair<double, std::string>> means;
  for (const auto& [name, all] : values) {
    means.emplace_back(
        std::accumulate(all.begin(), all.end(), 0.0) / all.size(), name);
  }
  std::sort(means.begin(), means.end());
  std::string text = absl::StrFormat(
      "%s: the least by %s, %.2f; the most by %s, %.2f%s.", first.heading,
      means.front().second, means.front().first, means.back().second,
      means.back().first, grouped ? ", on average" : "");
  text[0] = absl::ascii_toupper(text[0]);
  return text;
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

}  // namespace tara::eval
