#ifndef TARA_ENGINE_ANALYSIS_REQUEST_H_
#define TARA_ENGINE_ANALYSIS_REQUEST_H_

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tara/core/state.h"
#include "tara/engine/engine_options.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/tree/tree.h"

namespace tara::engine {

struct AnalysisTextOptions {
  int max_actions = 0;  // 0: all that were visited
  float confidence_z = 0;
  // The rules that the network has not learned, without a space; empty: none.
  std::string not_learned = {};
};

// Returns a search as one line of text, without its end, as in
// docs/reference/protocol.md:
//   root simulations N value V margin M not_learned RULES  info action A visits
//   N value V prior P lcb L order K pv A B C  info action ...
std::string AnalysisLine(const mcts::Tree& tree,
                         const AnalysisTextOptions& options);

// Requests of the JSON protocol (docs/reference/protocol.md, section 2), read
// strictly.

using Json = nlohmann::ordered_json;

// Optional parts of an answer.
struct ReportFlags {
  bool actions = false;     // statistics of each action
  bool pv = false;          // lines: of the root, and of each action told
  bool policy = false;      // the priors of all legal actions
  bool evaluation = false;  // win, draw, loss, margin without a search
  bool margins = false;     // the distribution of the final margin
};

// Positions to be analysed.
struct AnalyzeRequest {
  // By turn: the number of actions before it.
  struct Position {
    int turn;
    State state;
  };
  std::vector<Position> positions;
  mcts::SearchOptions search;
  absl::Duration time = absl::InfiniteDuration();
  absl::Duration report_every = absl::InfiniteDuration();
  int priority = 0;
  int max_actions = 0;  // 0: all that were visited
  ReportFlags report;
};

struct TerminateRequest {
  Json terminate_id;
};
struct TerminateAllRequest {};
struct QueryVersionRequest {};
struct ClearCacheRequest {};

struct RequestProblem {
  std::string message;
  std::string field = {};  // empty: none in particular
};

// A line that was read.
struct Request {
  Json id;  // null: none
  std::string command;
  std::vector<RequestProblem> warnings;
  std::variant<RequestProblem, AnalyzeRequest, TerminateRequest,
               TerminateAllRequest, QueryVersionRequest, ClearCacheRequest>
      body;
};

// Reads any line; the options are the defaults of a request.
// Errors become a RequestProblem.
Request ParseRequest(absl::string_view line, const EngineOptions& options);

// The arguments of the command `analyze` of the line protocol.
struct AnalyzeArguments {
  mcts::AnalysisLimits limits;
  AnalysisTextOptions text;
};

// Reads [INTERVAL] [interval INTERVAL] [simulations N] [actions N]; intervals
// are in hundredths of a second. Returns INVALID_ARGUMENT with the expected
// form.
absl::StatusOr<AnalyzeArguments> ParseAnalyzeArguments(
    const std::vector<std::string>& words);

}  // namespace tara::engine

#endif  // TARA_ENGINE_ANALYSIS_REQUEST_H_
