#include "tara/eval/balance/balance_report.h"

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_facts.h"
#include "tara/eval/balance/compensation.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/report/report_parts.h"
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

}  // namespace

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
  object["studies"] = Json::array();
  for (const BalanceReportRow& row : report.rows) {
    object["studies"].push_back(ToJson(row));
  }
  object["what_if"] = Json::array();
  for (const BalanceReportChange& change : report.changes) {
    object["what_if"].push_back(ToJson(change));
  }
  return object.dump(2);
}

}  // namespace tara::eval
