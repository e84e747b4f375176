#ifndef TARA_ENGINE_JSON_SESSION_H_
#define TARA_ENGINE_JSON_SESSION_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tara/engine/analysis_engine.h"
#include "tara/engine/analysis_request.h"
#include "tara/engine/engine_model.h"
#include "tara/engine/engine_options.h"

namespace tara::engine {

// The JSON protocol of docs/reference/protocol.md: takes one line after
// another, answers from any thread. Not thread-safe itself.
class JsonSession {
 public:
  // Takes an answer: a line without its end. Called from several threads.
  using Sink = std::function<void(std::string line)>;

  // The model must outlive it.
  JsonSession(EngineModel* model, const EngineOptions& options, Sink sink);
  // Answers the remaining requests.
  ~JsonSession();

  // Processes any line. Blocks while too many positions wait
  // (AnalysisEngine::AwaitRoom).
  void Take(absl::string_view line);

  // Answers a line that was too long to be read.
  void Refuse();

  const mcts::SearchCounters& counters() const { return engine_->counters(); }

 private:
  using CancelFlag = std::atomic<bool>;

  // One position of a request.
  struct Analysis;

  void Answer(const Request& request, const RequestProblem& problem);
  void Answer(const Request& request, const AnalyzeRequest& body);
  void Answer(const Request& request, const TerminateRequest& body);
  void Answer(const Request& request, const TerminateAllRequest& body);
  void Answer(const Request& request, const QueryVersionRequest& body);
  void Answer(const Request& request, const ClearCacheRequest& body);

  void Warn(const Request& request, const RequestProblem& problem);
  // Writes the progress or the result of a position's search. Thread-safe.
  void Report(const Analysis& analysis, AnalysisEvent event,
              const mcts::Tree* tree, const absl::Status& status);
  absl::Status AddNetworkOutputs(const Analysis& analysis, Json& answer);
  // `actions`: the list of actions in JSON, if there is one.
  void Write(const Json& answer, absl::string_view actions = "");

  // Cancels the requests of an id. Returns how many there were.
  int Cancel(const std::string& id);
  // Forgets requests that are answered, once in a while.
  void ForgetAnswered();

  EngineModel* const model_;
  const EngineOptions options_;
  const Sink sink_;
  // By id, as text: the unanswered requests, and some answered ones.
  absl::flat_hash_map<std::string, std::vector<std::weak_ptr<CancelFlag>>>
      flags_;
  size_t forget_at_ = 1024;
  std::unique_ptr<AnalysisEngine> engine_;  // last: it calls Report
};

// Speaks the JSON protocol until the input ends; then answers what is left.
// The calling thread reads.
void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out);

}  // namespace tara::engine

#endif  // TARA_ENGINE_JSON_SESSION_H_
