#include "tara/eval/playouts/variant_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tara/base/check.h"
#include "tara/core/outcome.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/playouts/statistics_page_template.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/hypotheses.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

// Returns the interval around `mean` for a sum of squared deviations over
// `games`; infinite for a single game.
Interval StudentInterval(double mean, double squared_deviations, double games) {
  const double half_width =
      games < 2 ? std::numeric_limits<double>::infinity()
                : StudentQuantile95(games - 1) *
                      std::sqrt(squared_deviations / (games - 1) / games);
  return {mean, mean - half_width, mean + half_width};
}

// Returns the spread of values from their number, sum and sum of squares.
Spread SpreadOf(double games, double sum, double squares) {
  const double mean = sum / games;
  // Rounding must not make it negative where the values do not vary.
  const double squared_deviations = std::max(0.0, squares - sum * mean);
  return {StudentInterval(mean, squared_deviations, games),
          games < 2 ? 0 : std::sqrt(squared_deviations / (games - 1))};
}

Interval BranchingOf(const PlayoutStatistics& sums) {
  return RatioInterval({.games = static_cast<double>(sums.games),
                        .x = static_cast<double>(sums.legal_actions),
                        .y = static_cast<double>(sums.plies),
                        .xx = static_cast<double>(sums.legal_squares),
                        .xy = static_cast<double>(sums.legal_times_length),
                        .yy = static_cast<double>(sums.length_squares)});
}

// Returns the score, in [0, 1], with its interval.
Interval ScoreOf(double wins, double draws, double games) {
  return ScoreIntervalOf(
      {.count = games, .sum = wins + draws / 2, .squares = wins + draws / 4});
}

Spread MarginOf(const PlayoutStatistics& sums) {
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < sums.margins.size(); ++i) {
    const double margin = static_cast<double>(i) - kMaxMargin;
    const auto games = static_cast<double>(sums.margins[i]);
    sum += games * margin;
    squares += games * margin * margin;
  }
  return SpreadOf(static_cast<double>(sums.games), sum, squares);
}

}  // namespace

VariantStatistics Summarize(Variant variant, const RuleOptions& options,
                            const PlayoutStatistics& sums) {
  TARA_CHECK(sums.games > 0, "statistics of no games");
  const auto games = static_cast<double>(sums.games);
  const auto a_game = [&](int64_t total) {
    return static_cast<double>(total) / games;
  };
  const auto share = [&](int64_t count) {
    return WilsonInterval(a_game(count), games);
  };
  VariantStatistics statistics = {
      .variant = variant,
      .options = options,
      .sums = sums,
      .length = SpreadOf(games, static_cast<double>(sums.plies),
                         static_cast<double>(sums.length_squares)),
      .branching = BranchingOf(sums),
      .first_side_win_rate = share(sums.results[0]),
      .draw_rate = share(sums.results[1]),
      .second_side_win_rate = share(sums.results[2]),
      .first_side_score = ScoreOf(static_cast<double>(sums.results[0]),
                                  static_cast<double>(sums.results[1]), games),
      .margin = MarginOf(sums),
      .captures = a_game(sums.captures),
      .kings_captured = a_game(sums.kings_captured),
  };
  for (size_t i = 0; i < sums.phase_plies.size(); ++i) {
    statistics.phase_lengths[i] = a_game(sums.phase_plies[i]);
  }
  return statistics;
}

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

std::string StatisticsPage(absl::Span<const VariantStatistics> variants,
                           uint64_t seed) {
  return ReportPage(
      StatisticsPageTemplate(),
      {{"{{seed}}", absl::StrCat(seed)},
       {"{{statistics.json}}", JsonInPage(VariantStatisticsJson(variants))}});
}

}  // namespace tara::eval
