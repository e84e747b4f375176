#ifndef TARA_ENGINE_JSON_SESSION_H_
#define TARA_ENGINE_JSON_SESSION_H_

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "tara/engine/engine_model.h"

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

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Speaks the JSON protocol until the input ends; then answers what is left.
// The calling thread reads.
void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out);

}  // namespace tara::engine

#endif  // TARA_ENGINE_JSON_SESSION_H_
