#include "tara/eval/playouts/variant_statistics_report.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tara/core/outcome.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report_parts.h"
#include "tara/eval/report/text_table.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// Endings that games have, and phases in which actions are chosen.
constexpr Ending kEndings[] = {Ending::kOut, Ending::kDoubleCapture,
                               Ending::kPassed, Ending::kBoardFull,
                               Ending::kNoProgress};
constexpr Phase kPhases[] = {Phase::kPlacement, Phase::kManoeuvres,
                             Phase::kBattle, Phase::kLink};

int64_t Games(const VariantStatistics& statistics, Ending ending) {
  return statistics.sums.endings[static_cast<size_t>(ending)];
}

double Length(const VariantStatistics& statistics, Phase phase) {
  return statistics.phase_lengths[static_cast<size_t>(phase)];
}

// "0" where nothing was, so that "0.00" means little.
std::string Percent(int64_t part, int64_t whole) {
  if (part == 0) return "0";
  return absl::StrFormat(
      "%.2f", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string NameOf(const VariantStatistics& statistics) {
  return std::string(Info(statistics.variant).id);
}

// Returns the counts that are not 0, by value; the first is that of `first`.
template <typename Counts>
Json Histogram(const Counts& counts, int first) {
  Json object = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    object[absl::StrCat(first + static_cast<int>(i))] = counts[i];
  }
  return object;
}

Json ToJson(const VariantStatistics& s) {
  Json object;
  object["name"] = std::string(Info(s.variant).name);
  object["rule_options"] = RuleOptionsToJson(s.variant, s.options);
  object["games"] = s.sums.games;
  object["plies"] = s.sums.plies;
  PutInterval("mean_length", s.length.mean, object);
  object["length_deviation"] = s.length.deviation;
  object["max_length"] = s.sums.max_length;
  PutInterval("mean_branching", s.branching, object);
  PutInterval("first_side_score", s.first_side_score, object);
  PutInterval("first_side_win_rate", s.first_side_win_rate, object);
  PutInterval("draw_rate", s.draw_rate, object);
  PutInterval("second_side_win_rate", s.second_side_win_rate, object);
  PutInterval("mean_margin", s.margin.mean, object);
  object["margin_deviation"] = s.margin.deviation;
  object["mean_captures"] = s.captures;
  object["mean_kings_captured"] = s.kings_captured;
  for (const Ending ending : kEndings) {
    object["ended_by"][std::string(EndingName(ending))] = Games(s, ending);
  }
  for (const Phase phase : kPhases) {
    object["phase_lengths"][std::string(PhaseName(phase))] = Length(s, phase);
  }
  object["length_counts"] = Histogram(s.sums.lengths, 0);
  object["margin_counts"] = Histogram(s.sums.margins, -kMaxMargin);
  return object;
}

std::string GameTable(absl::Span<const VariantStatistics> variants) {
  std::vector<Cells> table = {{"games", "number", "length", "95 %", "sd",
                               "longest", "branching", "95 %"}};
  for (const VariantStatistics& s : variants) {
    Cells& row = table.emplace_back();
    row = {NameOf(s), absl::StrCat(s.sums.games)};
    AddInterval(s.length.mean, 1, row);
    row.push_back(TwoDigits(s.length.deviation));
    row.push_back(absl::StrCat(s.sums.max_length));
    AddInterval(s.branching, 1, row);
  }
  return TextTable(table, 1);
}

std::string WinTable(absl::Span<const VariantStatistics> variants) {
  std::vector<Cells> table = {{"results", "first side scores %", "95 %",
                               "wins %", "95 %", "loses %", "95 %"}};
  for (const VariantStatistics& s : variants) {
    Cells& row = table.emplace_back();
    row = {NameOf(s)};
    AddInterval(s.first_side_score, 100, row);
    AddInterval(s.first_side_win_rate, 100, row);
    AddInterval(s.second_side_win_rate, 100, row);
  }
  return TextTable(table, 1);
}

std::string MarginTable(absl::Span<const VariantStatistics> variants) {
  std::vector<Cells> table = {
      {"results", "draws %", "95 %", "first side's margin", "95 %", "sd"}};
  for (const VariantStatistics& s : variants) {
    Cells& row = table.emplace_back();
    row = {NameOf(s)};
    AddInterval(s.draw_rate, 100, row);
    AddInterval(s.margin.mean, 1, row);
    row.push_back(TwoDigits(s.margin.deviation));
  }
  return TextTable(table, 1);
}

// Shares of the games by how they ended; of endings that some game had.
std::string EndingTable(absl::Span<const VariantStatistics> variants) {
  std::vector<Cells> table = {{"games that end by"}};
  for (const VariantStatistics& s : variants) table.push_back({NameOf(s)});
  for (const Ending ending : kEndings) {
    bool any = false;
    for (const VariantStatistics& s : variants) any |= Games(s, ending) > 0;
    if (!any) continue;
    table[0].push_back(absl::StrCat(EndingName(ending), " %"));
    for (size_t i = 0; i < variants.size(); ++i) {
      table[i + 1].push_back(
          Percent(Games(variants[i], ending), variants[i].sums.games));
    }
  }
  return TextTable(table, 1);
}

// Means a game: actions by phase (of phases that some game had), captures.
std::string PhaseTable(absl::Span<const VariantStatistics> variants) {
  std::vector<Cells> table = {{"actions a game in"}};
  for (const VariantStatistics& s : variants) table.push_back({NameOf(s)});
  const auto add_column = [&](absl::string_view heading, auto value) {
    bool any = false;
    for (const VariantStatistics& s : variants) any |= value(s) > 0;
    if (!any) return;
    table[0].push_back(std::string(heading));
    for (size_t i = 0; i < variants.size(); ++i) {
      const double number = value(variants[i]);
      table[i + 1].push_back(number == 0 ? "0" : TwoDigits(number));
    }
  };
  for (const Phase phase : kPhases) {
    add_column(PhaseName(phase), [phase](const VariantStatistics& s) {
      return Length(s, phase);
    });
  }
  add_column("captures", [](const VariantStatistics& s) { return s.captures; });
  add_column("kings captured",
             [](const VariantStatistics& s) { return s.kings_captured; });
  return TextTable(table, 1);
}

// A line for each variant whose rules were changed.
std::string ChangedRules(absl::Span<const VariantStatistics> variants) {
  std::string text;
  for (const VariantStatistics& s : variants) {
    if (s.options == RuleOptions()) continue;
    absl::StrAppend(&text, NameOf(s), " with ", FormatRuleOptions(s.options),
                    "\n");
  }
  return text.empty() ? text : absl::StrCat(text, "\n");
}

}  // namespace

std::string VariantStatisticsText(
    absl::Span<const VariantStatistics> variants) {
  if (variants.empty()) return "no games\n";
  return absl::StrCat(ChangedRules(variants), GameTable(variants), "\n",
                      WinTable(variants), "\n", MarginTable(variants), "\n",
                      EndingTable(variants), "\n", PhaseTable(variants));
}

std::string VariantStatisticsJson(
    absl::Span<const VariantStatistics> variants) {
  Json object = Json::object();
  for (const VariantStatistics& statistics : variants) {
    object[NameOf(statistics)] = ToJson(statistics);
  }
  return object.dump(2);
}

}  // namespace tara::eval
