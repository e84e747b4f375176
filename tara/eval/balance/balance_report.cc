#include "tara/eval/balance/balance_report.h"

#include <algorithm>
#include <cstddef>
#include <limits>
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
#include "tara/eval/report/report.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/hypotheses.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

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

// The fields of a study, table by table.

ReportField ProbabilityField(absl::string_view name, absl::string_view heading,
                             double p) {
  ReportField field = NumberField(name, heading, p, {.digits = 4});
  if (p < 0.0001) field.text = "<0.0001";
  return field;
}

// A share that is not always known: null in JSON.
ReportField OptionalField(absl::string_view name, absl::string_view heading,
                          const std::optional<double>& share) {
  return share.has_value() ? NumberField(name, heading, *share, kPercent)
                           : JsonField(name, heading, "-", nullptr);
}

// A mean of what may never happen.
ReportField RareField(absl::string_view name, absl::string_view heading,
                      const Interval& mean) {
  ReportField field = MeanField(name, heading, mean);
  if (mean.mean == 0) field.text = field.range = "-";
  return field;
}

// Returns the headings of a row alone.
ReportRow Blank(ReportRow row) {
  for (ReportField& field : row) field = NoField(field.name, field.heading);
  return row;
}

// Of one study `several` is false: its p are the same.
ReportRow ScoreFields(const BalanceReportRow& row, bool several) {
  const BalanceStatistics& s = row.statistics;
  return {CountField("games", "games", s.games),
          CountField("distinct_games", "", s.distinct_games),
          ShareField("first_side_score", "first side scores %", s.score),
          ShareField("first_side_win_rate", "", s.wins),
          ShareField("draw_rate", "draws %", s.draws),
          ShareField("second_side_win_rate", "", s.losses),
          ProbabilityField("p_even", "p even", s.p_even),
          ProbabilityField("p_even_holm", several ? "p of all" : "",
                           row.p_even_holm),
          ProbabilityField("q_even", several ? "q" : "", row.q_even)};
}

ReportRow MarginFields(const BalanceReportRow& row) {
  const BalanceStatistics& s = row.statistics;
  const Compensation& fair = s.compensation;
  return {MeanField("mean_margin", "margin", s.margin),
          NumberField("margin_deviation", "sd", s.margin_deviation),
          MeanField("mean_margin_size", "size", s.margin_size),
          CountsField("margin_counts", "", Counts(s.margins)),
          MeanField("fair_points", "fair points", fair.points),
          NumberField("practical_points", "practical", fair.practical,
                      {.digits = 1}),
          ShareField("score_with_practical_points", "score % then", fair.score),
          NumberField("draw_rate_with_practical_points", "", fair.draws)};
}

ReportRow LengthFields(const BalanceReportRow& row) {
  const BalanceStatistics& s = row.statistics;
  const auto& quantiles = s.length_quantiles;
  return {
      MeanField("mean_length", "length", s.length),
      JsonField(
          "length_quantiles", "5-95 %",
          absl::StrFormat("%.0f-%.0f", quantiles[0], quantiles[2]),
          {{"5", quantiles[0]}, {"50", quantiles[1]}, {"95", quantiles[2]}}),
      CountsField("length_counts", "", Counts(s.lengths)),
      MeanField("mean_branching", "branching", s.branching),
      CountField("", "distinct", s.distinct_games),
      MeanField("", "openings of 2", s.lines.at(2)),
      MeanField("", "of 4", s.lines.at(4))};
}

// Actions per game, of types that some game had.
ReportRow ActionFields(const BalanceReportRow& row) {
  ReportRow fields;
  for (size_t type = 0; type < kNumActionTypes; ++type) {
    const std::string name(ActionTypeName(static_cast<ActionType>(type)));
    fields.push_back(RareField(name, name, row.statistics.types[type]));
    if (row.statistics.types[type].mean == 0) fields.back().name.clear();
  }
  return fields;
}

ReportRow KingFields(const BalanceReportRow& row) {
  return {RareField("kings_captured", "kings captured",
                    row.statistics.kings_captured)};
}

ReportRow DramaFields(const BalanceReportRow& row) {
  const DramaStatistics drama =
      row.statistics.drama.value_or(DramaStatistics());
  ReportRow fields = {
      CountField("games", "", drama.games),
      MeanField("lead_changes", "lead changes", drama.lead_changes),
      MeanField("decided_ply", "", drama.decided_ply),
      ShareField("decided_share", "decided at %", drama.decided_share),
      ShareField("winners_deficit", "winner fell by %", drama.deficit),
      ShareField("comebacks", "comebacks %", drama.comebacks)};
  return row.statistics.drama.has_value() ? fields : Blank(fields);
}

ReportRow PieFields(const BalanceReportRow& row) {
  const PieRule pie = row.statistics.pie.value_or(PieRule());
  ReportRow fields = {
      NumberField("band", "", kEvenBand),
      ShareField("share_within_band", "even openings %",
                 pie.spread.within_band),
      NumberField("deviation_of_first_actions", "sd of openings %",
                  pie.spread.deviation, kPercent),
      TextField("fairest", "fairest", ActionToText(pie.fairest)),
      CountField("games", "games", pie.games),
      ShareField("score", "", pie.score),
      ShareField("chooser_score", "chooser scores %", pie.chooser_score)};
  if (!row.statistics.pie.has_value()) return Blank(fields);
  if (pie.games == 0) {
    fields[5] = NoField("score", "");
    fields[6] = NoField("chooser_score", "chooser scores %");
  }
  return fields;
}

ReportRow FirstActionFields(const FirstActionStatistics& first) {
  const size_t others = first.actions.size() - 1;
  return {JsonField("actions", "actions",
                    absl::StrCat(
                        ActionToText(first.actions[0]),
                        others > 0 ? absl::StrCat(" (", others, " more)") : ""),
                    Texts(first.actions)),
          CountField("games", "games", first.games),
          ShareField("score", "first side scores %", first.score),
          MeanField("margin", "margin", first.margin),
          OptionalField("policy", "policy %", first.policy),
          OptionalField("search_score", "search %", first.search_score)};
}

ReportRow SeatFields(size_t seat, const SeatStatistics& s) {
  constexpr absl::string_view kSeats[] = {"0 Red South", "1 Blue West",
                                          "2 Red North", "3 Blue East"};
  return {JsonField("seat", "seat", kSeats[seat], seat),
          MeanField("actions", "actions", s.actions),
          MeanField("branching", "branching", s.branching),
          MeanField("captures", "captures", s.captures),
          ShareField("first_out", "first out %", s.first_out)};
}

ReportRow ChangeFields(const BalanceReportChange& change, bool several) {
  const BalanceDifference& difference = change.difference;
  return {CountField("games", "games", difference.games),
          CountField("distinct_games", "", difference.distinct_games),
          ShareField("first_side_score", "score %", difference.score),
          ProbabilityField("p_score", "", difference.p_score),
          ProbabilityField("p_score_holm", several ? "p of all" : "p",
                           change.p_score_holm),
          ProbabilityField("q_score", several ? "q" : "", change.q_score),
          MeanField("mean_margin", "margin", difference.margin),
          MeanField("mean_margin_size", "size", difference.margin_size),
          ShareField("draw_rate", "draws %", difference.draws),
          MeanField("mean_length", "length", difference.length)};
}

// The compensation that was searched for; beyond the range its ends are not
// known.
ReportRow SearchFields(const FairReportRow& row) {
  const auto points = [](int halves) { return halves / 2.0; };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto& [low, high] = std::pair(row.estimate.low, row.estimate.high);
  const bool below = low < row.range.low;
  const bool above = high > row.range.high;
  ReportField found = EstimateField(
      "compensation", "points",
      {points(row.estimate.halves), below ? -kInfinity : points(low),
       above ? kInfinity : points(high)},
      {.digits = 1});
  found.range =
      absl::StrFormat("[%s%.1f, %s%.1f]", below ? "<" : "",
                      points(std::max(low, row.range.low)), above ? ">" : "",
                      points(std::min(high, row.range.high)));
  Json search = Json::array();
  for (const auto& [halves, games] : row.tried) {
    search.push_back({{"compensation", points(halves)},
                      {"wins", games.wins},
                      {"draws", games.draws},
                      {"losses", games.losses},
                      {"fitted_score", games.fitted}});
  }
  ReportRow fields = {found,
                      CountField("search_games", "searched", row.search_games),
                      JsonField("search", "", "", search)};
  if (search.empty()) fields.back() = NoField("search", "");
  return row.searched ? fields : Blank(fields);
}

ReportRow FairFields(const FairReportRow& row) {
  return {CountField("fresh_games", "fresh", row.games),
          CountField("fresh_games_wanted", "", row.wanted_games),
          CountField("distinct_games", "distinct", row.distinct_games),
          ShareField("first_side_score", "first side scores %", row.score),
          ShareField("draw_rate", "draws %", row.draws),
          row.options.rule_options.pie_rule
              ? ShareField("chooser_score", "", SecondSideScore(row.score))
              : NoField("chooser_score", "")};
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

Json ChoicesJson(const BalanceStatistics& s) {
  Json choices = Json::array();
  for (const std::optional<Interval>& interval : s.choices) {
    Json& choice = choices.emplace_back();
    if (interval.has_value()) PutInterval("choices", *interval, choice);
  }
  return choices;
}

Json LinesJson(const BalanceStatistics& s) {
  Json lines = Json::array();
  for (const auto& [plies, interval] : s.lines) {
    Json& line = lines.emplace_back();
    line["plies"] = plies;
    PutInterval("choices", interval, line);
  }
  return lines;
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
  object.update(RowJson(Joined({ScoreFields(row, true), MarginFields(row),
                                LengthFields(row), KingFields(row)})));
  for (const auto& [ending, count] : s.endings) {
    object["ended_by"][std::string(EndingName(ending))] = count;
  }
  object["actions"] = RowJson(ActionFields(row));
  if (s.drama.has_value()) object["drama"] = RowJson(DramaFields(row));
  object["policy_choices"] = ChoicesJson(s);
  object["lines"] = LinesJson(s);
  object["first_actions"] = Json::array();
  for (const FirstActionStatistics& first : s.first_actions) {
    object["first_actions"].push_back(RowJson(FirstActionFields(first)));
  }
  if (s.pie.has_value()) object["pie_rule"] = RowJson(PieFields(row));
  for (size_t seat = 0; seat < s.seats.size(); ++seat) {
    object["seats"].push_back(RowJson(SeatFields(seat, s.seats[seat])));
  }
  return object;
}

Json ToJson(const BalanceReportChange& change) {
  Json object;
  PutOptions(change.to, change.not_learned, object);
  object["instead_of"] = ChangedOptions(change.from);
  object["player"] = change.player;
  object.update(RowJson(ChangeFields(change, true)));
  return object;
}

Json ToJson(const FairReportRow& row) {
  Json object;
  PutOptions(row.options, row.not_learned, object);
  object["instead_of"] = ChangedOptions(row.from);
  object["player"] = row.player;
  object["temperature"] = row.options.temperature;
  object.update(RowJson(Joined({SearchFields(row), FairFields(row)})));
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

// Returns the rows as a table, if there are any.
std::string TextOf(const std::vector<ReportRow>& rows) {
  return rows.empty() ? "" : TableText(rows);
}

// The first two columns: of what the row is, under a heading that says of what
// the table is.
ReportRow HeadFields(absl::string_view heading, absl::string_view name,
                     absl::string_view player) {
  return {TextField("", std::string(heading), name),
          TextField("", "player", player)};
}

std::string FairTable(absl::Span<const FairReportRow> rows) {
  std::vector<ReportRow> table;
  for (const FairReportRow& row : rows) {
    table.push_back(
        Joined({HeadFields("what makes it fair",
                           NameOf(row.options, row.not_learned), row.player),
                SearchFields(row), FairFields(row)}));
  }
  return TextOf(table);
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

// Returns a table of one line a study: its name, its player and its fields.
template <typename FieldsOf>
std::string StudyTable(Rows rows, absl::string_view heading,
                       const FieldsOf& fields_of) {
  std::vector<ReportRow> table;
  for (const BalanceReportRow& row : rows) {
    table.push_back(
        Joined({HeadFields(heading, NameOf(row), row.player), fields_of(row)}));
  }
  return TextOf(WithoutEmptyColumns(std::move(table)));
}

// Returns a table of several lines a study, which is named in the first.
template <typename LinesOf>
std::string LinesTable(Rows rows, absl::string_view heading,
                       const LinesOf& lines_of) {
  std::vector<ReportRow> table;
  for (const BalanceReportRow& row : rows) {
    std::string name = NameOf(row);
    std::string player = row.player;
    for (const ReportRow& line : lines_of(row.statistics)) {
      table.push_back(Joined({HeadFields(heading, name, player), line}));
      name.clear();
      player.clear();
    }
  }
  return TextOf(table);
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

std::string PieTable(Rows rows) {
  const bool any =
      std::any_of(rows.begin(), rows.end(), [](const BalanceReportRow& row) {
        return row.statistics.pie.has_value();
      });
  return any ? StudyTable(rows, "pie rule", PieFields) : "";
}

std::vector<ReportRow> FirstActionLines(const BalanceStatistics& s) {
  std::vector<ReportRow> lines;
  for (const FirstActionStatistics& first : s.first_actions) {
    if (lines.size() == kFirstActionsShown) break;
    lines.push_back(FirstActionFields(first));
  }
  return lines;
}

std::vector<ReportRow> SeatLines(const BalanceStatistics& s) {
  std::vector<ReportRow> lines;
  for (size_t seat = 0; seat < s.seats.size(); ++seat) {
    lines.push_back(SeatFields(seat, s.seats[seat]));
  }
  return lines;
}

std::string ChangeTable(absl::Span<const BalanceReportChange> changes) {
  std::vector<ReportRow> table;
  for (const BalanceReportChange& change : changes) {
    table.push_back(Joined(
        {HeadFields("what if: more or less",
                    NameOf(change.to, change.not_learned), change.player),
         ChangeFields(change, changes.size() > 1)}));
  }
  return TextOf(table);
}

}  // namespace

std::string BalanceReportText(const BalanceReport& report) {
  if (report.rows.empty()) return "no games\n";
  const Rows rows = report.rows;
  const auto scores = [&](const BalanceReportRow& row) {
    return ScoreFields(row, rows.size() > 1);
  };
  const auto actions = [](const BalanceReportRow& row) {
    return Joined({ActionFields(row), KingFields(row)});
  };
  std::string text;
  for (const std::string& table :
       {VerdictText(report), NotLearnedLines(rows),
        StudyTable(rows, "is it fair?", scores), RepetitionNotes(rows),
        FairTable(report.fair), OpeningNotes(report.openings),
        ChangeTable(report.changes), StudyTable(rows, "points", MarginFields),
        PieTable(rows),
        LinesTable(rows, "best first actions", FirstActionLines),
        StudyTable(rows, "games", LengthFields),
        StudyTable(rows, "actions a game", actions),
        StudyTable(rows, "drama", DramaFields),
        LinesTable(rows, "seats", SeatLines)}) {
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
