#include "tara/eval/arena/arena_report.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "tara/eval/arena/arena_page_template.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/sprt.h"

namespace tara::eval {
namespace {

using Cells = std::vector<std::string>;

// A table of faults is to be read, not to scroll by.
constexpr int kFaultsShown = 10;

// Under the table of scores where sequential tests ended the games.
constexpr absl::string_view kSequentialNote =
    "Intervals of a sequential test (naive): they are those of a number of "
    "games fixed\nbeforehand. On average score, Elo and margin are further "
    "from "
    "even than the truth.\n";

// Under the games that repeat each other.
constexpr absl::string_view kRepetitionNote =
    "Intervals and sequential tests count games that repeat others once.\n";

std::string Elo(double elo) {
  if (std::isinf(elo)) return elo > 0 ? "+inf" : "-inf";
  return absl::StrFormat("%+.0f", elo);
}

std::string Margin(double margin) {
  if (std::isinf(margin)) return margin > 0 ? "+inf" : "-inf";
  return absl::StrFormat("%+.2f", margin);
}

std::string Range(const std::string& low, const std::string& high) {
  return absl::StrCat("[", low, ", ", high, "]");
}

const Cells& NumberHeadings() {
  static const auto* const headings = new Cells{
      "games", "wins",   "draws", "losses",   "score %",   "95 %",  "Elo",
      "95 %",  "margin", "95 %",  "as Red %", "as Blue %", "length"};
  return *headings;
}

// What is said of games and of matches alike: how many, their results, and the
// score with what it is worth.
template <typename Result>
Cells ScoreCells(int64_t count, const Result& r) {
  return {absl::StrCat(count),
          absl::StrCat(r.wins),
          absl::StrCat(r.draws),
          absl::StrCat(r.losses),
          Percent(r.score),
          Range(Percent(r.score_low), Percent(r.score_high)),
          Elo(r.elo),
          Range(Elo(r.elo_low), Elo(r.elo_high))};
}

Cells NumberCells(const ArenaResult& r) {
  Cells cells = ScoreCells(r.games, r);
  cells.insert(cells.end(),
               {Margin(r.mean_margin),
                Range(Margin(r.mean_margin_low), Margin(r.mean_margin_high)),
                Percent(r.score_as_red), Percent(r.score_as_blue),
                absl::StrFormat("%.1f", r.mean_length)});
  return cells;
}

const Cells& MatchHeadings() {
  static const auto* const headings =
      new Cells{"matches", "won", "drawn", "lost", "score %",
                "95 %",    "Elo", "95 %",  "lead", "95 %"};
  return *headings;
}

Cells MatchCells(const MatchResult& r) {
  Cells cells = ScoreCells(r.matches, r);
  cells.insert(cells.end(),
               {Margin(r.mean_lead),
                Range(Margin(r.mean_lead_low), Margin(r.mean_lead_high))});
  return cells;
}

std::string MoveTime(const ClockResult& clock) {
  return absl::StrFormat("%.3f", absl::ToDoubleSeconds(clock.MeanMove()));
}

std::string VariantCell(const ArenaReportRow& row) {
  return absl::StrCat(Info(row.variant).id, NotLearnedMark(row.not_learned));
}

// How the columns of the two players are called.
struct PlayerNames {
  std::string a;
  std::string b;
};

Cells ClockHeadings(const PlayerNames& names) {
  return {"games", names.a + " s/move", names.b + " s/move",
          names.a + " on time", names.b + " on time"};
}

Cells ClockCells(const ArenaResult& r) {
  return {absl::StrCat(r.games), MoveTime(r.clock_a), MoveTime(r.clock_b),
          absl::StrCat(r.clock_a.forfeits), absl::StrCat(r.clock_b.forfeits)};
}

// What the table of clocks is of.
std::string ClockTitle(absl::Span<const ArenaReportRow> rows) {
  std::string title = "\nClocks";
  const bool same =
      std::all_of(rows.begin(), rows.end(), [&](const ArenaReportRow& row) {
        return row.time_control == rows[0].time_control;
      });
  if (same) absl::StrAppend(&title, " (", rows[0].time_control, ")");
  return absl::StrCat(title, ", mean time of a move and games lost on time:\n");
}

const Cells& SprtHeadings() {
  static const auto* const headings = new Cells{
      "variant", "0", "1/2", "1", "3/2", "2", "LLR", "bounds", "decision"};
  return *headings;
}

// What the sequential tests of several rows have come to; they have the same
// options.
std::string SprtTable(absl::Span<const ArenaReportRow> rows) {
  std::vector<Cells> table = {SprtHeadings()};
  std::string title;
  for (const ArenaReportRow& row : rows) {
    if (!row.result.sprt.has_value()) continue;
    const Sprt& sprt = *row.result.sprt;
    title = absl::StrCat("\nSequential test (", SprtOptionsText(sprt.options()),
                         "), pairs by points of A:\n");
    Cells cells = {VariantCell(row)};
    for (const int64_t count : sprt.counts()) {
      cells.push_back(absl::StrCat(count));
    }
    cells.push_back(absl::StrFormat("%+.2f", sprt.llr()));
    cells.push_back(absl::StrFormat("[%+.2f, %+.2f]", sprt.lower_bound(),
                                    sprt.upper_bound()));
    cells.emplace_back(SprtDecisionName(sprt.decision()));
    table.push_back(cells);
  }
  return table.size() == 1 ? "" : title + TextTable(table, 1);
}

bool SamePlayers(absl::Span<const ArenaReportRow> rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const ArenaReportRow& row) {
    return row.player_a == rows[0].player_a && row.player_b == rows[0].player_b;
  });
}

// Returns a line a row and, of several rows of the same two players, a total.
std::string Table(absl::Span<const ArenaReportRow> rows,
                  const PlayerNames& players, const Cells& headings,
                  Cells (*numbers_of)(const ArenaResult&)) {
  const bool same_players = SamePlayers(rows);
  Cells names = {"variant"};
  if (!same_players) names.insert(names.end(), {players.a, players.b});
  const auto with_numbers = [](Cells row, const Cells& numbers) {
    row.insert(row.end(), numbers.begin(), numbers.end());
    return row;
  };
  std::vector<Cells> table = {with_numbers(names, headings)};
  std::vector<ArenaGame> all_games;
  for (const ArenaReportRow& row : rows) {
    Cells cells = {VariantCell(row)};
    if (!same_players) {
      cells.insert(cells.end(), {row.player_a, row.player_b});
    }
    table.push_back(with_numbers(cells, numbers_of(row.result)));
    all_games.insert(all_games.end(), row.result.played.begin(),
                     row.result.played.end());
  }
  if (same_players && rows.size() > 1) {
    const bool marked = std::any_of(
        rows.begin(), rows.end(),
        [](const ArenaReportRow& row) { return !row.not_learned.empty(); });
    table.push_back(
        with_numbers({marked ? "total (not all learned)" : "total"},
                     numbers_of(SummarizeGames(
                         all_games, rows[0].result.pairs_per_opening))));
  }
  return TextTable(table, names.size());
}

// A line for each row whose games repeat each other.
std::string RepetitionNotes(absl::Span<const ArenaReportRow> rows) {
  std::string text;
  for (const ArenaReportRow& row : rows) {
    const ArenaResult& r = row.result;
    if (r.distinct_games == r.games) continue;
    absl::StrAppend(&text, VariantCell(row),
                    SamePlayers(rows) ? ""
                                      : absl::StrCat(", ", row.player_a,
                                                     " against ", row.player_b),
                    ": ", r.games, " games, ", r.distinct_games,
                    " different up to symmetry\n");
  }
  return text.empty() ? text : absl::StrCat(text, kRepetitionNote);
}

bool HasFaults(const ArenaReportRow& row) {
  return row.result.faults_a + row.result.faults_b > 0;
}

// The games that players lost by faults, the first of them by name.
std::string FaultsTable(absl::Span<const ArenaReportRow> rows) {
  std::vector<Cells> table = {{"variant", "by", "opening", "as", "fault"}};
  int faults = 0;
  const bool same_players = SamePlayers(rows);
  for (const ArenaReportRow& row : rows) {
    const std::string a = same_players ? "A" : row.player_a;
    const std::string b = same_players ? "B" : row.player_b;
    for (const ArenaGame& game : row.result.played) {
      if (game.fault.empty() || ++faults > kFaultsShown) continue;
      const bool by_a = game.forfeit == Forfeit::kByA;
      table.push_back({VariantCell(row), by_a ? a : b,
                       absl::StrCat(game.pair / row.result.pairs_per_opening),
                       by_a == game.a_is_red ? "Red" : "Blue", game.fault});
    }
  }
  std::string text = absl::StrCat("\nForfeits, ", faults, " in all (losses by ",
                                  kForfeitMargin, " points):\n");
  // The last column is padded, too.
  const std::string padded = TextTable(table, 5);
  for (const absl::string_view line :
       absl::StrSplit(padded, '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, absl::StripTrailingAsciiWhitespace(line), "\n");
  }
  if (faults > kFaultsShown) {
    absl::StrAppend(&text, "... and ", faults - kFaultsShown, " more\n");
  }
  return text;
}

bool HasClocks(const ArenaReportRow& row) { return !row.time_control.empty(); }

// JSON has no infinity.
nlohmann::ordered_json Number(double number) {
  if (!std::isfinite(number)) return nullptr;
  return number;
}

// What ScoreCells says, but for how many.
template <typename Result>
void AddScore(const Result& r, nlohmann::ordered_json& object) {
  object["wins"] = r.wins;
  object["draws"] = r.draws;
  object["losses"] = r.losses;
  object["score"] = Number(r.score);
  object["score_low"] = Number(r.score_low);
  object["score_high"] = Number(r.score_high);
  object["elo"] = Number(r.elo);
  object["elo_low"] = Number(r.elo_low);
  object["elo_high"] = Number(r.elo_high);
}

nlohmann::ordered_json MatchesToJson(const MatchResult& r) {
  nlohmann::ordered_json object = {{"matches", r.matches}};
  AddScore(r, object);
  object["mean_lead"] = Number(r.mean_lead);
  object["mean_lead_low"] = Number(r.mean_lead_low);
  object["mean_lead_high"] = Number(r.mean_lead_high);
  return object;
}

nlohmann::ordered_json ClocksToJson(const ArenaReportRow& row) {
  const ClockResult& a = row.result.clock_a;
  const ClockResult& b = row.result.clock_b;
  return {{"time_control", row.time_control},
          {"mean_move_s_a", absl::ToDoubleSeconds(a.MeanMove())},
          {"mean_move_s_b", absl::ToDoubleSeconds(b.MeanMove())},
          {"moves_a", a.use.moves},
          {"moves_b", b.use.moves},
          {"forfeits_a", a.forfeits},
          {"forfeits_b", b.forfeits}};
}

nlohmann::ordered_json FaultsToJson(const ArenaResult& r) {
  nlohmann::ordered_json games = nlohmann::ordered_json::array();
  for (const ArenaGame& game : r.played) {
    if (game.fault.empty()) continue;
    games.push_back({{"opening", game.pair / r.pairs_per_opening},
                     {"a_is_red", game.a_is_red},
                     {"by", game.forfeit == Forfeit::kByA ? "A" : "B"},
                     {"length", game.length},
                     {"fault", game.fault}});
  }
  return {{"a", r.faults_a}, {"b", r.faults_b}, {"games", games}};
}

nlohmann::ordered_json SprtToJson(const Sprt& sprt) {
  const SprtOptions& options = sprt.options();
  return {{"elo0", options.elo0},
          {"elo1", options.elo1},
          {"alpha", options.alpha},
          {"beta", options.beta},
          {"scale", std::string(EloScaleName(options.scale))},
          {"pairs", sprt.counts()},
          {"llr", Number(sprt.llr())},
          {"lower_bound", Number(sprt.lower_bound())},
          {"upper_bound", Number(sprt.upper_bound())},
          {"decision", std::string(SprtDecisionName(sprt.decision()))}};
}

}  // namespace

std::string ArenaReportText(absl::Span<const ArenaReportRow> rows,
                            absl::string_view name_a,
                            absl::string_view name_b) {
  const PlayerNames names = {.a = std::string(name_a),
                             .b = std::string(name_b)};
  if (rows.empty()) return "no games\n";
  std::string text;
  if (SamePlayers(rows)) {
    absl::StrAppend(&text, "A: ", rows[0].player_a, "\nB: ", rows[0].player_b,
                    "\n");
  }
  std::string last;
  for (const ArenaReportRow& row : rows) {
    const std::string line =
        NotLearnedLine(Info(row.variant).id, row.not_learned);
    if (line != last) text += line;
    last = line;
  }
  const bool by_match = std::any_of(
      rows.begin(), rows.end(),
      [](const ArenaReportRow& row) { return row.result.matches.matches > 0; });
  if (by_match) {
    absl::StrAppend(&text,
                    Table(rows, names, MatchHeadings(),
                          [](const ArenaResult& result) {
                            return MatchCells(result.matches);
                          }),
                    "\nThe games of the matches:\n");
  }
  absl::StrAppend(&text, Table(rows, names, NumberHeadings(), NumberCells),
                  RepetitionNotes(rows));
  if (std::any_of(rows.begin(), rows.end(), [](const ArenaReportRow& row) {
        return row.result.sprt.has_value();
      })) {
    absl::StrAppend(&text, kSequentialNote);
  }
  if (std::any_of(rows.begin(), rows.end(), HasClocks)) {
    absl::StrAppend(&text, ClockTitle(rows),
                    Table(rows, names, ClockHeadings(names), ClockCells));
  }
  if (std::any_of(rows.begin(), rows.end(), HasFaults)) {
    absl::StrAppend(&text, FaultsTable(rows));
  }
  absl::StrAppend(&text, SprtTable(rows));
  return text;
}

nlohmann::ordered_json ArenaRowJson(const ArenaReportRow& row) {
  const ArenaResult& r = row.result;
  nlohmann::ordered_json object = {
      {"variant", std::string(Info(row.variant).id)},
      {"player_a", row.player_a},
      {"player_b", row.player_b},
      {"games", r.games},
      {"distinct_games", r.distinct_games}};
  if (!row.not_learned.empty()) object["not_learned"] = row.not_learned;
  AddScore(r, object);
  if (r.sprt.has_value()) object["intervals"] = "naive, of a sequential test";
  object["mean_margin"] = Number(r.mean_margin);
  object["mean_margin_low"] = Number(r.mean_margin_low);
  object["mean_margin_high"] = Number(r.mean_margin_high);
  object["mean_length"] = Number(r.mean_length);
  object["adjudicated"] = r.adjudicated;
  object["games_as_red"] = r.games_as_red;
  object["wins_as_red"] = r.wins_as_red;
  object["draws_as_red"] = r.draws_as_red;
  object["score_as_red"] = Number(r.score_as_red);
  object["score_as_blue"] = Number(r.score_as_blue);
  if (r.matches.matches > 0) {
    object["by_match"] = MatchesToJson(r.matches);
  }
  if (HasFaults(row)) object["forfeits"] = FaultsToJson(r);
  if (HasClocks(row)) object["clock"] = ClocksToJson(row);
  if (r.sprt.has_value()) object["sprt"] = SprtToJson(*r.sprt);
  return object;
}

std::string ArenaReportJson(absl::Span<const ArenaReportRow> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ArenaReportRow& row : rows) list.push_back(ArenaRowJson(row));
  return JsonText(list, 2);
}

std::string MatchesPage(absl::Span<const ArenaReportRow> rows,
                        nlohmann::ordered_json players,
                        nlohmann::ordered_json worths) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::vector<ArenaGame> games;
  for (const ArenaReportRow& row : rows) {
    list.push_back(ArenaRowJson(row));
    list.back()["name"] = std::string(Info(row.variant).name);
    games.insert(games.end(), row.result.played.begin(),
                 row.result.played.end());
  }
  nlohmann::ordered_json total;
  if (rows.size() > 1 && SamePlayers(rows)) {
    ArenaReportRow all = rows[0];
    all.result = SummarizeGames(games, rows[0].result.pairs_per_opening);
    all.not_learned.clear();
    total = ArenaRowJson(all);
  }
  const nlohmann::ordered_json report = {{"players", std::move(players)},
                                         {"rows", std::move(list)},
                                         {"total", std::move(total)},
                                         {"worths", std::move(worths)}};
  return ReportPage(ArenaPageTemplate(),
                    {{"{{report.json}}", JsonInPage(JsonText(report))}});
}

std::string ArenaPage(absl::Span<const ArenaReportRow> rows) {
  nlohmann::ordered_json players = nlohmann::ordered_json::object();
  if (!rows.empty()) {
    players["A"] = rows[0].player_a;
    players["B"] = rows[0].player_b;
  }
  return MatchesPage(rows, std::move(players), nlohmann::ordered_json::array());
}

}  // namespace tara::eval
