#ifndef TARA_ENGINE_ANALYSIS_REPORT_H_
#define TARA_ENGINE_ANALYSIS_REPORT_H_

// Searches and games as answers of the JSON protocol
// (docs/reference/protocol.md, section 2).

#include <string>

#include "tara/core/state.h"
#include "tara/engine/analysis_request.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {

struct AnalysisReportOptions {
  ReportFlags report;
  int max_actions = 0;  // 0: all that were visited
  float confidence_z = 0;
};

// Adds the seat to move of a position, or the result.
void AddTurnOrResult(const State& state, Json& answer);

// Adds the results of a search except the list of actions. Missing results,
// such as an action before the first simulation, are omitted.
void AddSearch(const mcts::Tree& tree, const AnalysisReportOptions& options,
               Json& answer);

// Returns the statistics of each action, as a list in JSON. A text, for it is
// most of an answer: as values of the library it took several times as long,
// and a twentieth of an engine's time with a small network.
std::string ActionsText(const mcts::Tree& tree,
                        const AnalysisReportOptions& options);

// Adds win, draw, loss and margin, and the distribution of margins.
void AddEvaluation(const mcts::Evaluation& evaluation,
                   const ReportFlags& report, Json& answer);

}  // namespace tara::engine

#endif  // TARA_ENGINE_ANALYSIS_REPORT_H_
