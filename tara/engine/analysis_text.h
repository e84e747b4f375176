#ifndef TARA_ENGINE_ANALYSIS_TEXT_H_
#define TARA_ENGINE_ANALYSIS_TEXT_H_

#include <string>

#include "tara/mcts/tree/tree.h"

namespace tara::engine {

struct AnalysisTextOptions {
  int max_actions = 0;  // 0: all that were visited
  float confidence_z = 0;
  // What of the rules the network has not learned, without a space; empty:
  // nothing.
  std::string not_learned = {};
};

// Returns a search as one line of text, without its end, as docs/protocol.md
// says:
//   root simulations N value V margin M not_learned RULES  info action A visits
//   N value V prior P lcb L order K pv A B C  info action ...
std::string AnalysisLine(const mcts::Tree& tree,
                         const AnalysisTextOptions& options);

}  // namespace tara::engine

#endif  // TARA_ENGINE_ANALYSIS_TEXT_H_
