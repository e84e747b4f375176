#include "tara/eval/playouts/variant_statistics.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "nlohmann/json.hpp"
#include "tara/base/threads.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
PlayoutStatistics PlayRandomGames(int64_t games, int threads,
                                  const PlayChunk& play_chunk,
                                  const MassProgressCallback& on_progress) {
  // Games per piece of work of a thread: milliseconds of work for a prompt
  // reaction to interrupts, and many times the concurrent games for a low
  // overhead of starting and finishing.
  constexpr int64_t kChunkGames = 16384;
  const int64_t chunks = (games + kChunkGames - 1) / kChunkGames;
  threads = static_cast<int>(
      std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, chunks)));
  std::atomic<int64_t> next_game = 0;
  std::atomic<bool> stopped = false;
  absl::Mutex mutex;
  PlayoutStatistics statistics;
  RunOnThreads(threads, [&](int) {
    while (!stopped) {
      const int64_t first_game = next_game.fetch_add(kChunkGames);
      if (first_game >= games) return;
      const PlayoutStatistics chunk =
          play_chunk(first_game, std::min(kChunkGames, games - first_game));
      int64_t games_done = 0;
      {
        absl::MutexLock lock(&mutex);
        statistics += chunk;
        games_done = statistics.games;
      }
      if (on_progress && !on_progress(games_done)) stopped = true;
    }
  });
  return statistics;
}

namespace {

// A mean over games, and the standard deviation of a single game.
struct Spread {
  Interval mean;
  double deviation = 0;
};

// Returns the spread of values from their number, sum and sum of squares, with
// Student's interval; infinite for a single game.
Spread SpreadOf(double games, double sum, double squares) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double mean = sum / games;
  if (games < 2) return {{mean, -kInfinity, kInfinity}, 0};
  // Rounding must not make it negative where the values do not vary.
  const double variance = std::max(0.0, squares - sum * mean) / (games - 1);
  const double half_width =
      StudentQuantile95(games - 1) * std::sqrt(variance / games);
  return {{mean, mean - half_width, mean + half_width}, std::sqrt(variance)};
}

Spread MarginSpread(const PlayoutStatistics& sums) {
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < std::size(sums.margins); ++i) {
    const double margin = static_cast<double>(i) - kMaxMargin;
    const auto games = static_cast<double>(sums.margins[i]);
    sum += games * margin;
    squares += games * margin * margin;
  }
  return SpreadOf(static_cast<double>(sums.games), sum, squares);
}

double PerGame(const VariantStatistics& s, int64_t total) {
  return static_cast<double>(total) / static_cast<double>(s.sums.games);
}

// The share of the games with a result: 0 won by Red, 1 drawn, 2 lost.
ReportField ResultField(absl::string_view name, absl::string_view heading,
                        const VariantStatistics& s, int result) {
  return ShareField(name, heading,
                    WilsonInterval(PerGame(s, s.sums.results[result]),
                                   static_cast<double>(s.sums.games)));
}

using Json = nlohmann::ordered_json;
using Variants = absl::Span<const VariantStatistics>;

// Endings that games have, and phases in which actions are chosen.
constexpr Ending kEndings[] = {Ending::kOut, Ending::kDoubleCapture,
                               Ending::kPassed, Ending::kBoardFull,
                               Ending::kNoProgress};
constexpr Phase kPhases[] = {Phase::kPlacement, Phase::kManoeuvres,
                             Phase::kBattle, Phase::kLink};

constexpr NumberFormat kFirstSideScore = {.scale = 100,
                                          .digits = kDigitsByInterval,
                                          .above = "red",
                                          .below = "blue",
                                          .even = 0.5};

// "-" where nothing was, so that "0.00" means little.
ReportField RareField(absl::string_view name, absl::string_view heading,
                      double mean, const NumberFormat& format = {}) {
  ReportField field = NumberField(name, heading, mean, format);
  if (mean == 0) field.text = "-";
  return field;
}

ReportRow GameFields(const VariantStatistics& s) {
  const PlayoutStatistics& sums = s.sums;
  const auto games = static_cast<double>(sums.games);
  const auto plies = static_cast<double>(sums.plies);
  const auto squares = static_cast<double>(sums.length_squares);
  const Spread length = SpreadOf(games, plies, squares);
  return {CountField("games", "number", sums.games),
          CountField("plies", "", sums.plies),
          MeanField("mean_length", "length", length.mean),
          NumberField("length_deviation", "sd", length.deviation),
          CountField("max_length", "longest", sums.max_length),
          MeanField(
              "mean_branching", "branching",
              RatioInterval({.games = games,
                             .x = static_cast<double>(sums.legal_actions),
                             .y = plies,
                             .xx = static_cast<double>(sums.legal_squares),
                             .xy = static_cast<double>(sums.legal_times_length),
                             .yy = squares}))};
}

ReportRow WinFields(const VariantStatistics& s) {
  return {EstimateField("first_side_score", "first side scores %",
                        ScoreIntervalOf(SumsOfGames(
                            static_cast<double>(s.sums.games),
                            static_cast<double>(s.sums.results[0]),
                            static_cast<double>(s.sums.results[1]))),
                        kFirstSideScore),
          ResultField("first_side_win_rate", "wins %", s, 0),
          ResultField("second_side_win_rate", "loses %", s, 2)};
}

ReportRow MarginFields(const VariantStatistics& s) {
  const Spread margin = MarginSpread(s.sums);
  return {ResultField("draw_rate", "draws %", s, 1),
          MeanField("mean_margin", "first side's margin", margin.mean),
          NumberField("margin_deviation", "sd", margin.deviation)};
}

// Shares of the games by how they ended; in JSON their numbers.
ReportRow EndingFields(const VariantStatistics& s) {
  ReportRow row;
  for (const Ending ending : kEndings) {
    const std::string name(EndingName(ending));
    const int64_t games = s.sums.endings[static_cast<size_t>(ending)];
    row.push_back(
        RareField(name, name + " %", PerGame(s, games), {.scale = 100}));
    row.back().value = games;
  }
  return row;
}

// Means per game: actions by phase.
ReportRow PhaseFields(const VariantStatistics& s) {
  ReportRow row;
  for (const Phase phase : kPhases) {
    const std::string name(PhaseName(phase));
    row.push_back(
        RareField(name, name,
                  PerGame(s, s.sums.phase_plies[static_cast<size_t>(phase)])));
  }
  return row;
}

ReportRow CaptureFields(const VariantStatistics& s) {
  return {RareField("mean_captures", "captures", PerGame(s, s.sums.captures)),
          RareField("mean_kings_captured", "kings captured",
                    PerGame(s, s.sums.kings_captured))};
}

// Returns the counts that are not 0, by value; the first is that of `first`.
Json CountsJson(absl::Span<const int64_t> counts, int first) {
  Json object = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    object[absl::StrCat(first + static_cast<int>(i))] = counts[i];
  }
  return object;
}

ReportRow CountFields(const VariantStatistics& s) {
  return {CountsField("length_counts", "length, actions",
                      CountsJson(s.sums.lengths, 0)),
          CountsField("margin_counts",
                      "margin, points of the first side minus the other's",
                      CountsJson(s.sums.margins, -kMaxMargin))};
}

// Returns a row for each variant, after its name.
template <typename FieldsOf>
std::vector<ReportRow> TableOf(Variants variants, const std::string& heading,
                               const FieldsOf& fields_of) {
  std::vector<ReportRow> rows;
  for (const VariantStatistics& s : variants) {
    rows.push_back(
        Joined({{VariantField("", heading, s.variant)}, fields_of(s)}));
  }
  return rows;
}

std::vector<ReportSection> SectionsOf(Variants variants) {
  const auto phases = [](const VariantStatistics& s) {
    return Joined({PhaseFields(s), CountFields(s)});
  };
  std::vector<ReportRow> captures =
      WithoutEmptyColumns(TableOf(variants, "per game", CaptureFields));
  if (!captures.empty() && captures[0].size() == 1) captures.clear();
  return {{.heading = "Games",
           .rows = TableOf(variants, "games", GameFields),
           .plots = "estimates"},
          {.heading = "Results",
           .rows = TableOf(variants, "results", WinFields),
           .plots = "estimates"},
          {.heading = "Draws and margins",
           .rows = TableOf(variants, "results", MarginFields),
           .plots = "estimates"},
          {.heading = "Endings",
           .rows = WithoutEmptyColumns(
               TableOf(variants, "games ended by", EndingFields))},
          {.heading = "Captures", .rows = std::move(captures)},
          {.heading = "Phases",
           .rows = WithoutEmptyColumns(
               TableOf(variants, "actions per game in", phases))}};
}

Json ToJson(const VariantStatistics& s) {
  Json object = {{"name", std::string(Info(s.variant).name)},
                 {"rule_options", RuleOptionsToJson(s.variant, s.options)}};
  object.update(RowJson(Joined(
      {GameFields(s), WinFields(s), MarginFields(s), CaptureFields(s)})));
  object["ended_by"] = RowJson(EndingFields(s));
  object["phase_lengths"] = RowJson(PhaseFields(s));
  object.update(RowJson(CountFields(s)));
  return object;
}

// A line for each variant whose rules were changed.
std::string ChangedRules(Variants variants) {
  std::string text;
  for (const VariantStatistics& s : variants) {
    if (s.options == RuleOptions()) continue;
    absl::StrAppend(&text, Info(s.variant).id, " with ",
                    FormatRuleOptions(s.options), "\n");
  }
  return text;
}

std::string StatisticsText(Variants variants) {
  if (variants.empty()) return "no games\n";
  const std::string rules = ChangedRules(variants);
  return absl::StrCat(rules, rules.empty() ? "" : "\n",
                      SectionsText(SectionsOf(variants)));
}

std::string StatisticsPage(Variants variants, uint64_t seed) {
  int64_t games = 0;
  int64_t plies = 0;
  for (const VariantStatistics& s : variants) {
    games += s.sums.games;
    plies += s.sums.plies;
  }
  return SectionsPage(
      "Statistics of random play",
      absl::StrCat(
          games, " games of ", variants.size(),
          variants.size() == 1 ? " variant" : " variants", " of Tara, ", plies,
          " actions, each chosen uniformly among the legal ones. Seed ", seed,
          ". The first side is Red.\n", ChangedRules(variants)),
      SectionsOf(variants),
      {VerdictOn(TableOf(variants, "results", WinFields), "first_side_score",
                 {.above = "first side scores: above 50 % for ",
                  .below = "first side scores: below 50 % for ",
                  .neither = "first side scores: neither is shown for "})});
}

}  // namespace

Report ReportStatistics(Variants variants, uint64_t seed) {
  Json json = Json::object();
  for (const VariantStatistics& s : variants) {
    json[std::string(Info(s.variant).id)] = ToJson(s);
  }
  return {.text = StatisticsText(variants), .json = json.dump(2), .page = [=] {
            return StatisticsPage(variants, seed);
          }};
}

}  // namespace tara::eval
