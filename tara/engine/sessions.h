#ifndef TARA_ENGINE_SESSIONS_H_
#define TARA_ENGINE_SESSIONS_H_

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/state.h"
#include "tara/engine/engine_model.h"

namespace tara::engine {

// The line protocol of docs/reference/protocol.md: executes one line after
// another. Not thread-safe.
class LineSession {
 public:
  // The model must outlive it. `start` is the first game's; REQUIRES: the model
  // may evaluate it (EngineModel::CheckLearned).
  LineSession(EngineModel* model, const EngineOptions& options,
              const State& start);
  ~LineSession();

  // The input that arrives while a line is executed. Thread-safe functions.
  struct Input {
    // Whether another line has arrived or the input has ended, which ends an
    // analysis.
    std::function<bool()> ready = [] { return false; };
    // Whether none will: nobody may be there any more, so a search for an
    // action gets a second of the processor's time yet, counted from its
    // beginning where that is later.
    std::function<bool()> closed = [] { return false; };
  };

  // Executes a line and writes its answer, flushed. Whatever the line holds is
  // answered. Returns false when the line was to quit.
  bool Execute(absl::string_view line, const Input& input, std::ostream& out);

  // Answers a line that was too long to be read.
  static void Refuse(absl::string_view line, std::ostream& out);

  // Whether a line is a command to quit: nothing needs to be read after it.
  static bool IsQuit(absl::string_view line);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

// Speaks the line protocol until the command `quit` or the end of the input;
// lines read by then are executed. The calling thread reads, another one
// executes, so that an analysis notices the next line.
void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out);

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

#endif  // TARA_ENGINE_SESSIONS_H_
