#include "tara/engine/analysis_report.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/engine/analysis_engine.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {
namespace {

constexpr const char* kSideNames[] = {"red", "blue"};

// Rounded to four decimals: more would be noise, and take bytes.
double Rounded(double value) {
  return std::round(value * 1e4) / 1e4 + 0.0;  // + 0: no minus zero
}

// Appends a number as Rounded would have it: "0.25", "-1.0".
void AppendRounded(double value, std::string& text) {
  const int64_t units = std::llround(value * 1e4);
  const int64_t size = std::abs(units);
  absl::StrAppend(&text, units < 0 ? "-" : "", size / 10000, ".");
  char decimals[4];
  int64_t rest = size % 10000;
  for (int i = 3; i >= 0; --i, rest /= 10) {
    decimals[i] = static_cast<char>('0' + rest % 10);
  }
  int count = 4;
  while (count > 1 && decimals[count - 1] == '0') --count;
  text.append(decimals, count);
}

void AppendAction(const mcts::Tree& tree, const mcts::RootAction& action,
                  const AnalysisReportOptions& options, std::string& text) {
  absl::StrAppend(&text, R"({"action":")",
                  ActionToText(action.action, tree.root()), R"(","visits":)",
                  action.visits);
  const auto add = [&](absl::string_view name, double value) {
    absl::StrAppend(&text, ",\"", name, "\":");
    AppendRounded(value, text);
  };
  if (action.visits > 0) {
    add("value", action.mean_value);
    add("deviation", action.value_deviation);
    add("lcb", mcts::LowerConfidenceBound(action, options.confidence_z));
  }
  add("prior", action.prior);
  if (action.low > -kMaxMargin || action.high < kMaxMargin) {
    absl::StrAppend(&text, ",\"proved\":[", int{action.low}, ",",
                    int{action.high}, "]");
  }
  if (options.report.pv) {
    absl::StrAppend(&text, ",\"pv\":[");
    const char* separator = "\"";
    for (const std::string& next :
         LineToTexts(mcts::LineAfter(tree, action.action), tree.root())) {
      absl::StrAppend(&text, separator, next, "\"");
      separator = ",\"";
    }
    text += ']';
  }
  text += '}';
}

}  // namespace

void AddTurnOrResult(const State& state, Json& answer) {
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

void AddSearch(const mcts::Tree& tree, const AnalysisReportOptions& options,
               Json& answer) {
  const std::vector<mcts::RootAction> actions =
      mcts::RankActions(tree, options.confidence_z);
  answer["simulations"] = tree.root_visits();
  if (actions.empty()) return;
  answer["value"] = Rounded(tree.root_value());
  answer["margin"] = Rounded(tree.root_margin());
  const mcts::MarginBounds proved = tree.root_bounds();
  if (proved.low > -kMaxMargin || proved.high < kMaxMargin) {
    answer["proved"] = {int{proved.low}, int{proved.high}};
  }
  if (tree.root_visits() > 0 || tree.settled()) {
    answer["best"] = ActionToText(actions[0].action, tree.root());
    if (options.report.pv) {
      answer["pv"] =
          LineToTexts(mcts::LineAfter(tree, actions[0].action), tree.root());
    }
  }
  if (options.report.policy) {
    Json policy = Json::object();
    for (const mcts::RootAction& action : tree.root_actions()) {
      policy[ActionToText(action.action, tree.root())] = Rounded(action.prior);
    }
    answer["policy"] = std::move(policy);
  }
}

std::string ActionsText(const mcts::Tree& tree,
                        const AnalysisReportOptions& options) {
  std::string text = "[";
  int count = 0;
  for (const mcts::RootAction& action :
       mcts::RankActions(tree, options.confidence_z)) {
    if (options.max_actions > 0 && count == options.max_actions) break;
    if (action.visits == 0 && count > 0) continue;
    if (count++ > 0) text += ',';
    AppendAction(tree, action, options, text);
  }
  text += ']';
  return text;
}

void AddEvaluation(const mcts::Evaluation& evaluation,
                   const ReportFlags& report, Json& answer) {
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

}  // namespace tara::engine
