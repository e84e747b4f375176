#ifndef TARA_ENGINE_OUTPUT_QUEUE_H_
#define TARA_ENGINE_OUTPUT_QUEUE_H_

#include <deque>
#include <ostream>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tara::engine {

// Writes lines on a thread of its own, each as soon as there is no other before
// it: whoever has something to say need not wait for a slow reader, nor does a
// reader who writes first and reads later hold everybody up. Thread-safe.
class OutputQueue {
 public:
  // The stream must outlive it, and is its own meanwhile.
  explicit OutputQueue(std::ostream* out);
  // Writes what is left.
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  // Adds a line, without its end.
  void Push(std::string line) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  std::ostream* const out_;
  absl::Mutex mutex_;
  std::deque<std::string> lines_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace tara::engine

#endif  // TARA_ENGINE_OUTPUT_QUEUE_H_
