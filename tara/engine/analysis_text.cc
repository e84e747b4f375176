#include "tara/engine/analysis_text.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/engine/ranked_actions.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/tree/line_after.h"

namespace tara::engine {
namespace {

// Without the sign of a zero, which would say nothing.
std::string Number(double value) {
  std::string text = absl::StrFormat("%.4f", value);
  return text == "-0.0000" ? "0.0000" : text;
}

}  // namespace

std::string AnalysisLine(const mcts::Tree& tree,
                         const AnalysisTextOptions& options) {
  std::string line = absl::StrCat("root simulations ", tree.root_visits(),
                                  " value ", Number(tree.root_value()),
                                  " margin ", Number(tree.root_margin()));
  const mcts::MarginBounds proved = tree.root_bounds();
  if (proved.low == proved.high) {
    absl::StrAppend(&line, " proved ", int{proved.low});
  }
  if (!options.not_learned.empty()) {
    absl::StrAppend(&line, " not_learned ", options.not_learned);
  }
  int order = 0;
  for (const mcts::RootAction& action :
       RankActions(tree, options.confidence_z)) {
    if (options.max_actions > 0 && order == options.max_actions) break;
    if (action.visits == 0 && order > 0) continue;
    absl::StrAppend(
        &line, " info action ", ActionToText(action.action), " visits ",
        action.visits, " value ", Number(action.mean_value), " prior ",
        Number(action.prior), " lcb ",
        Number(action.visits > 0
                   ? mcts::LowerConfidenceBound(action, options.confidence_z)
                   : -1),
        " order ", order, " pv");
    for (const Action next : mcts::LineAfter(tree, action.action)) {
      absl::StrAppend(&line, " ", ActionToText(next));
    }
    ++order;
  }
  return line;
}

}  // namespace tara::engine
