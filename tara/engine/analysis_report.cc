#include "tara/engine/analysis_report.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/engine/ranked_actions.h"
#include "tara/mcts/choose_action.h"
#include "tara/mcts/line_after.h"
#include "tara/mcts/node.h"

namespace tara {
namespace {

constexpr const char* kSideNames[] = {"red", "blue"};

// Rounded to four decimals: more would tell of noise, and take bytes.
double Rounded(double value) {
  return std::round(value * 1e4) / 1e4 + 0.0;  // + 0: no minus zero
}

Json RoundedList(absl::Span<const float> values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(Rounded(value));
  return list;
}

Json LineJson(absl::Span<const Action> line) {
  Json list = Json::array();
  for (const Action action : line) list.push_back(ActionToText(action));
  return list;
}

Json ActionJson(const Tree& tree, const RootAction& action,
                const AnalysisReportOptions& options) {
  Json json = {{"action", ActionToText(action.action)},
               {"visits", action.visits}};
  if (action.visits > 0) {
    json["value"] = Rounded(action.mean_value);
    json["deviation"] = Rounded(action.value_deviation);
    json["lcb"] = Rounded(LowerConfidenceBound(action, options.confidence_z));
  }
  json["prior"] = Rounded(action.prior);
  if (action.low > -kMaxMargin || action.high < kMaxMargin) {
    json["proved"] = {int{action.low}, int{action.high}};
  }
  if (options.report.pv) {
    json["pv"] = LineJson(LineAfter(tree, action.action));
  }
  return json;
}

}  // namespace

void AddStanding(const State& state, Json& answer) {
  answer["finished"] = state.finished();
  if (!state.finished()) {
    answer["seat"] = int{state.seat};
    answer["side"] = kSideNames[state.side()];
    return;
  }
  const Outcome outcome = Score(state);
  answer["result"] = {
      {"points", outcome.points},
      {"kingdoms", outcome.kingdoms},
      {"territory", outcome.territory},
      {"bridges", outcome.bridges},
      {"kings_captured", outcome.kings_captured},
      {"winner", outcome.winner() < 0 ? Json() : Json(outcome.winner())},
      {"ended_by", std::string(EndingName(outcome.ended_by))}};
}

void AddSearch(const Tree& tree, const AnalysisReportOptions& options,
               Json& answer) {
  const std::vector<RootAction> actions =
      RankActions(tree, options.confidence_z);
  answer["simulations"] = tree.root_visits();
  if (actions.empty()) return;
  answer["value"] = Rounded(tree.root_value());
  answer["margin"] = Rounded(tree.root_margin());
  const MarginBounds proved = tree.root_bounds();
  if (proved.low > -kMaxMargin || proved.high < kMaxMargin) {
    answer["proved"] = {int{proved.low}, int{proved.high}};
  }
  if (tree.root_visits() > 0 || tree.settled()) {
    answer["best"] = ActionToText(actions[0].action);
    if (options.report.pv) {
      answer["pv"] = LineJson(LineAfter(tree, actions[0].action));
    }
  }
  if (options.report.policy) {
    Json policy = Json::object();
    for (const RootAction& action : tree.root_actions()) {
      policy[ActionToText(action.action)] = Rounded(action.prior);
    }
    answer["policy"] = std::move(policy);
  }
  if (!options.report.actions) return;
  Json list = Json::array();
  for (const RootAction& action : actions) {
    if (options.max_actions > 0 &&
        list.size() == static_cast<size_t>(options.max_actions)) {
      break;
    }
    if (action.visits == 0 && !list.empty()) continue;
    list.push_back(ActionJson(tree, action, options));
  }
  answer["actions"] = std::move(list);
}

void AddEvaluation(const Evaluation& evaluation, const ReportFlags& report,
                   Json& answer) {
  if (report.evaluation) {
    answer["evaluation"] = {{"win", Rounded(evaluation.win)},
                            {"draw", Rounded(evaluation.draw)},
                            {"loss", Rounded(evaluation.loss)},
                            {"margin", Rounded(evaluation.margin)}};
  }
  if (report.margins && !evaluation.margins.empty()) {
    // By margin; most are next to impossible.
    Json margins = Json::object();
    for (int margin = -kMaxMargin; margin <= kMaxMargin; ++margin) {
      const double chance = Rounded(evaluation.margins[margin + kMaxMargin]);
      if (chance > 0) margins[absl::StrCat(margin)] = chance;
    }
    answer["margins"] = std::move(margins);
  }
}

void AddForecast(const FinalForecast& forecast, const ReportFlags& report,
                 Json& answer) {
  if (report.ownership) {
    answer["ownership"] = {{"red", RoundedList(forecast.red)},
                           {"blue", RoundedList(forecast.blue)},
                           {"vacant", RoundedList(forecast.vacant)}};
  }
  if (report.kingdoms) {
    answer["kingdoms"] = {{"red", RoundedList(forecast.kingdoms[kRed])},
                          {"blue", RoundedList(forecast.kingdoms[kBlue])}};
  }
}

}  // namespace tara
