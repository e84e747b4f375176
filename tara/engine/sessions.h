#ifndef TARA_ENGINE_SESSIONS_H_
#define TARA_ENGINE_SESSIONS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/core/state.h"
#include "tara/engine/engine.h"

namespace tara::engine {

// A line of input, without its end.
struct InputLine {
  std::string text;
  // The line was longer than the limit; `text` is its beginning.
  bool too_long = false;
};

// Reads a line, ended by '\n' or the end of the input, as PlainText returns it.
// Keeps no more than `most` bytes of it. Returns false at the end of the input.
bool ReadLine(std::istream& in, size_t most, InputLine& line);

// Lines on their way from one thread to another. Thread-safe.
class LineQueue {
 public:
  explicit LineQueue(int64_t most_lines = kMaxWaiting)
      : most_lines_(most_lines) {}

  // Adds a line.
  void Push(InputLine line) ABSL_LOCKS_EXCLUDED(mutex_);
  // Blocks while too many wait: `most_lines`, kMaxWaitingBytes.
  void AwaitRoom() ABSL_LOCKS_EXCLUDED(mutex_);
  // No more lines will come.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until there is a line and takes it; nothing when the queue is closed
  // and empty.
  std::optional<InputLine> Pop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether Pop would not block.
  bool ready() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether no more lines will come. Takes no lock.
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

 private:
  bool ReadyLocked() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return closed() || !lines_.empty();
  }

  const int64_t most_lines_;
  mutable absl::Mutex mutex_;
  std::deque<InputLine> lines_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of these
  std::atomic<bool> closed_ = false;          // set under the mutex
};

// Writes lines on a thread of its own, in order. A thread that pushes a line
// does not wait for a slow reader, nor does a client that writes first and
// reads later block the engine. Thread-safe.
class OutputQueue {
 public:
  // The stream must outlive it, and nothing else may use it.
  explicit OutputQueue(std::ostream* out);
  // Writes the remaining lines.
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Adds a line, without its end.
  void Push(std::string line) { lines_.Push({.text = std::move(line)}); }

  // Blocks while kMaxWaitingBytes of lines or more wait to be written.
  void AwaitRoom() { lines_.AwaitRoom(); }

 private:
  LineQueue lines_;
  std::thread thread_;  // last: it uses the queue
};

// The input that arrives while a line is executed. Thread-safe functions.
struct LineInput {
  // Whether another line has arrived or the input has ended, which ends an
  // analysis.
  std::function<bool()> ready = [] { return false; };
  // Whether none will: nobody may be there any more, so a search for an action
  // gets a second of the processor's time yet, counted from its beginning where
  // that is later.
  std::function<bool()> closed = [] { return false; };
};

// Executes a line of the line protocol of docs/reference/protocol.md and writes
// its answer, flushed. Whatever the line holds is answered. Returns false when
// the line was to quit. Not thread-safe.
using LineSession = std::function<bool(
    absl::string_view line, const LineInput& input, std::ostream& out)>;

// The model must outlive it. `start` is the first game's; REQUIRES: the model
// may evaluate it (EngineModel::CheckLearned).
LineSession NewLineSession(EngineModel* model, const EngineOptions& options,
                           const State& start);

// Speaks the line protocol until the command `quit` or the end of the input;
// lines read by then are executed. The calling thread reads, another one
// executes, so that an analysis notices the next line.
void RunLineEngine(EngineModel& model, const EngineOptions& options,
                   const State& start, std::istream& in, std::ostream& out);

// Processes a line of the JSON protocol of docs/reference/protocol.md, any
// line; blocks while too many positions wait (AnalysisEngine::AwaitRoom). Its
// end answers the remaining requests. Not thread-safe.
using JsonSession = std::function<void(absl::string_view line)>;

// The model must outlive it. `sink` takes the answers, lines without their
// ends, from several threads.
JsonSession NewJsonSession(EngineModel* model, const EngineOptions& options,
                           std::function<void(std::string line)> sink);

// Speaks the JSON protocol until the input ends; then answers what is left.
// The calling thread reads.
void RunJsonEngine(EngineModel& model, const EngineOptions& options,
                   std::istream& in, std::ostream& out);

}  // namespace tara::engine

#endif  // TARA_ENGINE_SESSIONS_H_
