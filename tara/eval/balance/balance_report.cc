#include "tara/eval/balance/balance_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/balance_page_template.h"
#include "tara/eval/balance/compensation.h"
#include "tara/eval/balance/fair_search.h"
#include "tara/eval/balance/fair_study.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/balance/verdict.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/hypotheses.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

Json Optional(const std::optional<double>& number) {
  return number.has_value() ? Finite(*number) : Json(nullptr);
}

Json Counts(const std::map<int, int64_t>& counts) {
  Json object = Json::object();
  for (const auto& [value, count] : counts) object[absl::StrCat(value)] = count;
  return object;
}

Json Texts(absl::Span<const Action> actions) {
  Json array = Json::array();
  for (const Action action : actions) array.push_back(ActionToText(action));
  return array;
}

void PutResults(const BalanceReportRow& row, Json& object) {
  const BalanceStatistics& s = row.statistics;
  PutInterval("first_side_score", s.score, object);
  PutInterval("first_side_win_rate", s.wins, object);
  PutInterval("draw_rate", s.draws, object);
  PutInterval("second_side_win_rate", s.losses, object);
  object["p_even"] = s.p_even;
  object["p_even_holm"] = row.p_even_holm;
  object["q_even"] = row.q_even;
  PutInterval("mean_margin", s.margin, object);
  object["margin_deviation"] = s.margin_deviation;
  PutInterval("mean_margin_size", s.margin_size, object);
  object["margin_counts"] = Counts(s.margins);
  const Compensation& compensation = s.compensation;
  PutInterval("fair_points", compensation.points, object);
  object["practical_points"] = compensation.practical;
  PutInterval("score_with_practical_points", compensation.score, object);
  object["draw_rate_with_practical_points"] = compensation.draws;
}

void PutCourse(const BalanceStatistics& s, Json& object) {
  PutInterval("mean_length", s.length, object);
  object["length_quantiles"] = {{"5", s.length_quantiles[0]},
                                {"50", s.length_quantiles[1]},
                                {"95", s.length_quantiles[2]}};
  object["length_counts"] = Counts(s.lengths);
  PutInterval("mean_branching", s.branching, object);
  for (const auto& [ending, count] : s.endings) {
    object["ended_by"][std::string(EndingName(ending))] = count;
  }
  for (size_t type = 0; type < s.types.size(); ++type) {
    if (s.types[type].mean == 0) continue;
    PutInterval(ActionTypeName(static_cast<ActionType>(type)), s.types[type],
                object["actions"]);
  }
  PutInterval("kings_captured", s.kings_captured, object);
  if (!s.drama.has_value()) return;
  Json& drama = object["drama"];
  drama["games"] = s.drama->games;
  PutInterval("lead_changes", s.drama->lead_changes, drama);
  PutInterval("decided_ply", s.drama->decided_ply, drama);
  PutInterval("decided_share", s.drama->decided_share, drama);
  PutInterval("winners_deficit", s.drama->deficit, drama);
  PutInterval("comebacks", s.drama->comebacks, drama);
}

void PutOpenings(const BalanceStatistics& s, Json& object) {
  Json& choices = object["policy_choices"] = Json::array();
  for (const std::optional<Interval>& interval : s.choices) {
    Json& choice = choices.emplace_back();
    if (interval.has_value()) PutInterval("choices", *interval, choice);
  }
  Json& lines = object["lines"] = Json::array();
  for (const auto& [plies, interval] : s.lines) {
    Json& line = lines.emplace_back();
    line["plies"] = plies;
    PutInterval("choices", interval, line);
  }
  Json& firsts = object["first_actions"] = Json::array();
  for (const FirstActionStatistics& first : s.first_actions) {
    Json& one = firsts.emplace_back();
    one["actions"] = Texts(first.actions);
    one["games"] = first.games;
    PutInterval("score", first.score, one);
    PutInterval("margin", first.margin, one);
    one["policy"] = Optional(first.policy);
    one["search_score"] = Optional(first.search_score);
  }
  if (!s.pie.has_value()) return;
  Json& pie = object["pie_rule"];
  pie["band"] = kEvenBand;
  PutInterval("share_within_band", s.pie->spread.within_band, pie);
  pie["deviation_of_first_actions"] = s.pie->spread.deviation;
  pie["fairest"] = ActionToText(s.pie->fairest);
  pie["games"] = s.pie->games;
  if (s.pie->games == 0) return;
  PutInterval("score", s.pie->score, pie);
  PutInterval("chooser_score", s.pie->chooser_score, pie);
}

void PutOptions(const BalanceGameOptions& options,
                const std::string& not_learned, Json& object) {
  object["variant"] = std::string(Info(options.variant).id);
  object["name"] =
      absl::StrCat(Info(options.variant).name, NotLearnedMark(not_learned));
  if (!not_learned.empty()) object["not_learned"] = not_learned;
  object["rule_options"] =
      RuleOptionsToJson(options.variant, options.rule_options);
  object["changed"] = ChangedOptions(options);
}

Json ToJson(const BalanceReportRow& row) {
  const BalanceStatistics& s = row.statistics;
  Json object;
  PutOptions(row.options, row.not_learned, object);
  object["player"] = row.player;
  object["seed"] = row.options.seed;
  object["opening_plies"] = row.options.opening_plies;
  object["drawn_plies"] = row.options.drawn_plies;
  object["temperature"] = row.options.temperature;
  object["games"] = s.games;
  object["distinct_games"] = s.distinct_games;
  PutResults(row, object);
  PutCourse(s, object);
  PutOpenings(s, object);
  for (size_t seat = 0; seat < s.seats.size(); ++seat) {
    Json& one = object["seats"].emplace_back();
    one["seat"] = seat;
    PutInterval("actions", s.seats[seat].actions, one);
    PutInterval("branching", s.seats[seat].branching, one);
    PutInterval("captures", s.seats[seat].captures, one);
    PutInterval("first_out", s.seats[seat].first_out, one);
  }
  return object;
}

Json ToJson(const BalanceReportChange& change) {
  const BalanceDifference& difference = change.difference;
  Json object;
  PutOptions(change.to, change.not_learned, object);
  object["instead_of"] = ChangedOptions(change.from);
  object["player"] = change.player;
  object["games"] = difference.games;
  object["distinct_games"] = difference.distinct_games;
  PutInterval("first_side_score", difference.score, object);
  object["p_score"] = difference.p_score;
  object["p_score_holm"] = change.p_score_holm;
  object["q_score"] = change.q_score;
  PutInterval("mean_margin", difference.margin, object);
  PutInterval("mean_margin_size", difference.margin_size, object);
  PutInterval("draw_rate", difference.draws, object);
  PutInterval("mean_length", difference.length, object);
  return object;
}

// Half points as points; null beyond the range.
Json PointsWithin(int halves, const CompensationRange& range) {
  if (halves < range.low || halves > range.high) return nullptr;
  return halves / 2.0;
}

Json ToJson(const FairReportRow& row) {
  Json object;
  PutOptions(row.options, row.not_learned, object);
  object["instead_of"] = ChangedOptions(row.from);
  object["player"] = row.player;
  object["temperature"] = row.options.temperature;
  if (row.searched) {
    object["compensation"] = row.estimate.halves / 2.0;
    object["compensation_low"] = PointsWithin(row.estimate.low, row.range);
    object["compensation_high"] = PointsWithin(row.estimate.high, row.range);
    object["search_games"] = row.search_games;
    for (const auto& [halves, games] : row.tried) {
      object["search"].push_back({{"compensation", halves / 2.0},
                                  {"wins", games.wins},
                                  {"draws", games.draws},
                                  {"losses", games.losses},
                                  {"fitted_score", games.fitted}});
    }
  }
  object["fresh_games"] = row.games;
  object["fresh_games_wanted"] = row.wanted_games;
  object["distinct_games"] = row.distinct_games;
  PutInterval("first_side_score", row.score, object);
  PutInterval("draw_rate", row.draws, object);
  if (row.options.rule_options.pie_rule) {
    PutInterval("chooser_score", SecondSideScore(row.score), object);
  }
  return object;
}

Json ToJson(const OpeningReportRow& row) {
  Json object;
  PutOptions(row.options, "", object);
  object["player"] = row.player;
  object["temperature"] = row.options.temperature;
  if (row.chosen.has_value()) {
    object["expected_repeated"] = row.chosen->repeated;
  }
  if (row.cost.has_value()) {
    PutInterval("first_side_cost", (*row.cost)[0], object);
    PutInterval("second_side_cost", (*row.cost)[1], object);
  }
  return object;
}

Json ToJson(const Verdict& verdict) {
  return {{"variant", std::string(Info(verdict.variant).id)},
          {"name", std::string(Info(verdict.variant).name)},
          {"player", verdict.player},
          {"text", absl::StrJoin(verdict.sentences, " ")},
          {"sentences", verdict.sentences}};
}

}  // namespace

Interval SecondSideScore(const Interval& score) {
  return {1 - score.mean, 1 - score.high, 1 - score.low};
}

FairReportRow SummarizeFair(const FairResult& result, std::string player,
                            std::string not_learned) {
  int draws = 0;
  for (const GameFacts& game : result.games) draws += game.result == 0;
  const auto games = static_cast<double>(result.games.size());
  const std::vector<int> clusters = ClustersOfGames(result.games);
  return {.from = result.from,
          .options = result.options,
          .player = std::move(player),
          .not_learned = std::move(not_learned),
          .searched = result.searched,
          .range = result.range,
          .estimate = result.estimate,
          .tried = result.tried,
          .search_games = result.search_games,
          .games = static_cast<int>(result.games.size()),
          .wanted_games = result.wanted_games,
          .distinct_games = DifferentIn(clusters),
          .score = FirstSideScore(result.games),
          .draws = WilsonInterval(
              draws / games, EffectiveCount(result.games.size(), clusters))};
}

void CorrectForMany(BalanceReport& report) {
  std::vector<double> even;
  for (const BalanceReportRow& row : report.rows) {
    even.push_back(row.statistics.p_even);
  }
  const std::vector<double> even_holm = HolmAdjusted(even);
  const std::vector<double> even_q = BenjaminiHochbergAdjusted(even);
  for (size_t i = 0; i < even.size(); ++i) {
    report.rows[i].p_even_holm = even_holm[i];
    report.rows[i].q_even = even_q[i];
  }
  std::vector<double> same;
  for (const BalanceReportChange& change : report.changes) {
    same.push_back(change.difference.p_score);
  }
  const std::vector<double> same_holm = HolmAdjusted(same);
  const std::vector<double> same_q = BenjaminiHochbergAdjusted(same);
  for (size_t i = 0; i < same.size(); ++i) {
    report.changes[i].p_score_holm = same_holm[i];
    report.changes[i].q_score = same_q[i];
  }
}

std::string ChangedOptions(const BalanceGameOptions& options) {
  return options.rule_options == RuleOptions()
             ? ""
             : FormatRuleOptions(options.rule_options);
}

std::string BalanceReportJson(const BalanceReport& report) {
  Json object;
  object["verdicts"] = Json::array();
  for (const Verdict& verdict : VerdictsOf(report)) {
    object["verdicts"].push_back(ToJson(verdict));
  }
  object["studies"] = Json::array();
  for (const BalanceReportRow& row : report.rows) {
    object["studies"].push_back(ToJson(row));
  }
  object["what_if"] = Json::array();
  for (const BalanceReportChange& change : report.changes) {
    object["what_if"].push_back(ToJson(change));
  }
  for (const OpeningReportRow& row : report.openings) {
    object["openings"].push_back(ToJson(row));
  }
  for (const FairReportRow& row : report.fair) {
    object["fair"].push_back(ToJson(row));
  }
  return JsonText(object, 2);
}

namespace {

using Cells = std::vector<std::string>;
using Rows = absl::Span<const BalanceReportRow>;

// First actions of a study that are listed.
constexpr size_t kFirstActionsShown = 5;

std::string NameOf(const BalanceGameOptions& options,
                   const std::string& not_learned) {
  const std::string changed = ChangedOptions(options);
  return absl::StrCat(Info(options.variant).id, changed.empty() ? "" : " with ",
                      changed, NotLearnedMark(not_learned));
}

std::string NameOf(const BalanceReportRow& row) {
  return NameOf(row.options, row.not_learned);
}

// What the players' networks have not learned, a line a study.
std::string NotLearnedLines(Rows rows) {
  std::string text;
  for (const BalanceReportRow& row : rows) {
    text += NotLearnedLine(
        absl::StrCat(Info(row.options.variant).id, " by ", row.player),
        row.not_learned);
  }
  return text;
}

std::string Probability(double p) {
  return p < 0.0001 ? "<0.0001" : absl::StrFormat("%.4f", p);
}

// Lines of at most 78 characters, each after two spaces.
std::string Wrapped(const std::vector<std::string>& sentences) {
  std::string text;
  size_t column = 0;
  for (const absl::string_view word :
       absl::StrSplit(absl::StrJoin(sentences, " "), ' ')) {
    if (column == 0 || column + 1 + word.size() > 78) {
      absl::StrAppend(&text, text.empty() ? "  " : "\n  ", word);
      column = word.size();
    } else {
      absl::StrAppend(&text, " ", word);
      column += 1 + word.size();
    }
  }
  return absl::StrCat(text, "\n");
}

std::string VerdictText(const BalanceReport& report) {
  std::string text;
  for (const Verdict& verdict : VerdictsOf(report)) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", Info(verdict.variant).id,
                    ", ", verdict.player, ":\n", Wrapped(verdict.sentences));
  }
  return text;
}

std::string PointsCell(const FairReportRow& row) {
  const auto end = [&](int halves) {
    return halves < row.range.low
               ? absl::StrFormat("<%.1f", row.range.low / 2.0)
           : halves > row.range.high
               ? absl::StrFormat(">%.1f", row.range.high / 2.0)
               : absl::StrFormat("%.1f", halves / 2.0);
  };
  return absl::StrCat("[", end(row.estimate.low), ", ", end(row.estimate.high),
                      "]");
}

std::string FairTable(absl::Span<const FairReportRow> rows) {
  if (rows.empty()) return "";
  std::vector<Cells> table = {
      {"what makes it fair", "player", "points", "95 %", "searched", "fresh",
       "distinct", "first side scores %", "95 %", "draws %", "95 %"}};
  for (const FairReportRow& row : rows) {
    Cells& cells = table.emplace_back();
    cells = {NameOf(row.options, row.not_learned), row.player};
    if (row.searched) {
      cells.insert(cells.end(),
                   {absl::StrFormat("%.1f", row.estimate.halves / 2.0),
                    PointsCell(row), absl::StrCat(row.search_games)});
    } else {
      cells.insert(cells.end(), 3, "-");
    }
    cells.insert(cells.end(),
                 {absl::StrCat(row.games), absl::StrCat(row.distinct_games)});
    AddInterval(row.score, 100, cells);
    AddInterval(row.draws, 100, cells);
  }
  return TextTable(table, 2);
}

// How the openings were chosen that games with remedies begin with.
std::string OpeningNotes(absl::Span<const OpeningReportRow> rows) {
  std::string text;
  for (const OpeningReportRow& row : rows) {
    if (!row.chosen.has_value()) continue;
    absl::StrAppendFormat(
        &text,
        "%s, %s: openings at temperature %g, some %.1f %% of games repeat "
        "another%s\n",
        NameOf(row.options, ""), row.player, row.chosen->temperature,
        100 * row.chosen->repeated,
        row.chosen->repeated > kMostRepeated
            ? "; --opening-plies makes them differ"
            : "");
  }
  return text;
}

// Returns a table of one line a study: its name, its player, and what `fill`
// adds under `headings`.
template <typename Fill>
std::string StudyTable(Rows rows, Cells headings, Fill fill) {
  headings.insert(headings.begin() + 1, "player");
  std::vector<Cells> table = {std::move(headings)};
  for (const BalanceReportRow& row : rows) {
    Cells& cells = table.emplace_back();
    cells = {NameOf(row), row.player};
    fill(row, cells);
  }
  return TextTable(table, 2);
}

std::string ScoreTable(Rows rows) {
  Cells headings = {"is it fair?", "games",   "first side scores %",
                    "95 %",        "draws %", "95 %",
                    "p even"};
  // Of one study they are the same.
  const bool several = rows.size() > 1;
  if (several) headings.insert(headings.end(), {"p of all", "q"});
  return StudyTable(rows, std::move(headings),
                    [&](const BalanceReportRow& row, Cells& cells) {
                      const BalanceStatistics& s = row.statistics;
                      cells.push_back(absl::StrCat(s.games));
                      AddInterval(s.score, 100, cells);
                      AddInterval(s.draws, 100, cells);
                      cells.push_back(Probability(s.p_even));
                      if (!several) return;
                      cells.push_back(Probability(row.p_even_holm));
                      cells.push_back(Probability(row.q_even));
                    });
}

// Says where games repeat each other.
std::string RepetitionNotes(Rows rows) {
  std::string text;
  for (const BalanceReportRow& row : rows) {
    const BalanceStatistics& s = row.statistics;
    if (s.distinct_games >= kFewestDistinct * s.games) continue;
    absl::StrAppend(&text, NameOf(row), ", ", row.player, ": ", s.games,
                    " games, but only ", s.distinct_games, " different ones\n");
  }
  if (text.empty()) return text;
  return absl::StrCat(
      "Games repeat each other, which widens the intervals; more "
      "--opening-plies make\ngames differ:\n",
      text);
}

std::string MarginTable(Rows rows) {
  return StudyTable(
      rows,
      {"points", "margin", "95 %", "sd", "size", "95 %", "fair points", "95 %",
       "practical", "score % then", "95 %"},
      [](const BalanceReportRow& row, Cells& cells) {
        const BalanceStatistics& s = row.statistics;
        AddInterval(s.margin, 1, cells);
        cells.push_back(TwoDigits(s.margin_deviation));
        AddInterval(s.margin_size, 1, cells);
        AddInterval(s.compensation.points, 1, cells);
        cells.push_back(absl::StrFormat("%.1f", s.compensation.practical));
        AddInterval(s.compensation.score, 100, cells);
      });
}

std::string LengthTable(Rows rows) {
  return StudyTable(
      rows,
      {"games", "length", "95 %", "5-95 %", "branching", "95 %", "distinct",
       "openings of 2", "95 %", "of 4", "95 %"},
      [](const BalanceReportRow& row, Cells& cells) {
        const BalanceStatistics& s = row.statistics;
        AddInterval(s.length, 1, cells);
        cells.push_back(absl::StrFormat("%.0f-%.0f", s.length_quantiles[0],
                                        s.length_quantiles[2]));
        AddInterval(s.branching, 1, cells);
        cells.push_back(absl::StrCat(s.distinct_games));
        AddInterval(s.lines.at(2), 1, cells);
        AddInterval(s.lines.at(4), 1, cells);
      });
}

std::string DramaTable(Rows rows) {
  return StudyTable(rows,
                    {"drama", "lead changes", "95 %", "decided at %", "95 %",
                     "winner fell by %", "95 %", "comebacks %", "95 %"},
                    [](const BalanceReportRow& row, Cells& cells) {
                      const std::optional<DramaStatistics>& drama =
                          row.statistics.drama;
                      if (!drama.has_value()) {
                        cells.insert(cells.end(), 8, "-");
                        return;
                      }
                      AddInterval(drama->lead_changes, 1, cells);
                      AddInterval(drama->decided_share, 100, cells);
                      AddInterval(drama->deficit, 100, cells);
                      AddInterval(drama->comebacks, 100, cells);
                    });
}

std::string PieTable(Rows rows) {
  if (std::none_of(rows.begin(), rows.end(), [](const BalanceReportRow& row) {
        return row.statistics.pie.has_value();
      })) {
    return "";
  }
  return StudyTable(
      rows,
      {"pie rule", "even openings %", "95 %", "sd of openings %", "fairest",
       "games", "chooser scores %", "95 %"},
      [](const BalanceReportRow& row, Cells& cells) {
        const std::optional<PieRule>& pie = row.statistics.pie;
        if (!pie.has_value()) {
          cells.insert(cells.end(), 7, "-");
          return;
        }
        AddInterval(pie->spread.within_band, 100, cells);
        cells.push_back(absl::StrFormat("%.1f", 100 * pie->spread.deviation));
        cells.push_back(ActionToText(pie->fairest));
        cells.push_back(absl::StrCat(pie->games));
        if (pie->games == 0) {
          cells.insert(cells.end(), 2, "-");
        } else {
          AddInterval(pie->chooser_score, 100, cells);
        }
      });
}

// Actions a game, of types that some game had.
std::string ActionTable(Rows rows) {
  std::vector<Cells> table = {{"actions a game", "player"}};
  for (const BalanceReportRow& row : rows) {
    table.push_back({NameOf(row), row.player});
  }
  const auto add = [&](absl::string_view name, auto value) {
    if (std::all_of(rows.begin(), rows.end(), [&](const BalanceReportRow& row) {
          return value(row.statistics).mean == 0;
        })) {
      return;
    }
    table[0].insert(table[0].end(), {std::string(name), "95 %"});
    for (size_t i = 0; i < rows.size(); ++i) {
      AddInterval(value(rows[i].statistics), 1, table[i + 1]);
    }
  };
  for (size_t type = 0; type < kNumActionTypes; ++type) {
    add(ActionTypeName(static_cast<ActionType>(type)),
        [type](const BalanceStatistics& s) { return s.types[type]; });
  }
  add("kings captured",
      [](const BalanceStatistics& s) { return s.kings_captured; });
  return TextTable(table, 2);
}

std::string FirstActionTable(Rows rows) {
  std::vector<Cells> table = {{"best first actions", "player", "actions",
                               "games", "first side scores %", "95 %", "margin",
                               "95 %", "policy %", "search %"}};
  const auto percent = [](const std::optional<double>& share) {
    return share.has_value() ? absl::StrFormat("%.1f", 100 * *share) : "-";
  };
  for (const BalanceReportRow& row : rows) {
    const auto& firsts = row.statistics.first_actions;
    for (size_t i = 0; i < std::min(firsts.size(), kFirstActionsShown); ++i) {
      const FirstActionStatistics& first = firsts[i];
      Cells& cells = table.emplace_back();
      cells = {i == 0 ? NameOf(row) : "", i == 0 ? row.player : ""};
      const size_t others = first.actions.size() - 1;
      cells.push_back(
          absl::StrCat(ActionToText(first.actions[0]),
                       others > 0 ? absl::StrCat(" (", others, " more)") : ""));
      cells.push_back(absl::StrCat(first.games));
      AddInterval(first.score, 100, cells);
      AddInterval(first.margin, 1, cells);
      cells.push_back(percent(first.policy));
      cells.push_back(percent(first.search_score));
    }
  }
  return TextTable(table, 3);
}

std::string SeatTable(Rows rows) {
  std::vector<Cells> table = {{"seats", "player", "seat", "actions", "95 %",
                               "branching", "95 %", "captures", "95 %",
                               "first out %", "95 %"}};
  constexpr absl::string_view kSeats[] = {"0 Red South", "1 Blue West",
                                          "2 Red North", "3 Blue East"};
  for (const BalanceReportRow& row : rows) {
    const auto& seats = row.statistics.seats;
    for (size_t seat = 0; seat < seats.size(); ++seat) {
      Cells& cells = table.emplace_back();
      cells = {seat == 0 ? NameOf(row) : "", seat == 0 ? row.player : "",
               std::string(kSeats[seat])};
      AddInterval(seats[seat].actions, 1, cells);
      AddInterval(seats[seat].branching, 1, cells);
      AddInterval(seats[seat].captures, 1, cells);
      AddInterval(seats[seat].first_out, 100, cells);
    }
  }
  return table.size() == 1 ? "" : TextTable(table, 3);
}

std::string ChangeTable(absl::Span<const BalanceReportChange> changes) {
  if (changes.empty()) return "";
  const bool several = changes.size() > 1;
  Cells headings = {
      "what if: more or less",   "player", "games", "score %", "95 %",
      several ? "p of all" : "p"};
  if (several) headings.emplace_back("q");
  headings.insert(headings.end(), {"margin", "95 %", "size", "95 %", "draws %",
                                   "95 %", "length", "95 %"});
  std::vector<Cells> table = {std::move(headings)};
  for (const BalanceReportChange& change : changes) {
    const BalanceDifference& difference = change.difference;
    Cells& cells = table.emplace_back();
    cells = {NameOf(change.to, change.not_learned), change.player,
             absl::StrCat(difference.games)};
    AddInterval(difference.score, 100, cells);
    cells.push_back(Probability(change.p_score_holm));
    if (several) cells.push_back(Probability(change.q_score));
    AddInterval(difference.margin, 1, cells);
    AddInterval(difference.margin_size, 1, cells);
    AddInterval(difference.draws, 100, cells);
    AddInterval(difference.length, 1, cells);
  }
  return TextTable(table, 2);
}

}  // namespace

std::string BalanceReportText(const BalanceReport& report) {
  if (report.rows.empty()) return "no games\n";
  std::string text;
  for (const std::string& table :
       {VerdictText(report), NotLearnedLines(report.rows),
        ScoreTable(report.rows), RepetitionNotes(report.rows),
        FairTable(report.fair), OpeningNotes(report.openings),
        ChangeTable(report.changes), MarginTable(report.rows),
        PieTable(report.rows), FirstActionTable(report.rows),
        LengthTable(report.rows), ActionTable(report.rows),
        DramaTable(report.rows), SeatTable(report.rows)}) {
    if (table.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n", table);
  }
  return text;
}

std::string BalancePage(const BalanceReport& report) {
  return ReportPage(
      BalancePageTemplate(),
      {{"{{report.json}}", JsonInPage(BalanceReportJson(report))}});
}

}  // namespace tara::eval
