#include "tara/engine/output_queue.h"

#include <utility>

namespace tara::engine {

OutputQueue::OutputQueue(std::ostream* out)
    : out_(out), thread_([this] { Run(); }) {}

OutputQueue::~OutputQueue() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  thread_.join();
}

void OutputQueue::Push(std::string line) {
  absl::MutexLock lock(&mutex_);
  lines_.push_back(std::move(line));
}

void OutputQueue::Run() {
  const auto ready = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return closed_ || !lines_.empty();
  };
  std::deque<std::string> lines;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (lines_.empty()) return;
      lines.swap(lines_);
    }
    for (const std::string& line : lines) *out_ << line << '\n';
    out_->flush();
    lines.clear();
  }
}

}  // namespace tara::engine
