#ifndef TARA_ENGINE_LINE_IO_H_
#define TARA_ENGINE_LINE_IO_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

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

// How much of a client's input or of the answers for it waits at most, before
// no more input is read: many requests, as clients may send all of theirs
// before they read an answer, but no more memory than that.
inline constexpr int64_t kMaxWaiting = int64_t{1} << 16;  // requests
inline constexpr size_t kMaxWaitingBytes = size_t{1} << 26;

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
  bool closed() const { return is_closed_.load(std::memory_order_relaxed); }

 private:
  bool ReadyLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || !lines_.empty();
  }

  const int64_t most_lines_;
  mutable absl::Mutex mutex_;
  std::deque<InputLine> lines_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of these
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_closed_ = false;  // a copy
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

}  // namespace tara::engine

#endif  // TARA_ENGINE_LINE_IO_H_
