#include "tara/engine/line_io.h"

#include <streambuf>
#include <utility>

#include "tara/base/text.h"

namespace tara::engine {

bool ReadLine(std::istream& in, size_t most, InputLine& line) {
  line.text.clear();
  line.too_long = false;
  std::streambuf* const buffer = in.rdbuf();
  constexpr int kEnd = std::char_traits<char>::eof();
  int next = buffer->sbumpc();
  if (next == kEnd) return false;
  for (; next != kEnd && next != '\n'; next = buffer->sbumpc()) {
    if (line.text.size() < most) {
      line.text.push_back(static_cast<char>(next));
    } else {
      line.too_long = true;
    }
  }
  line.text = PlainText(line.text);
  return true;
}

void LineQueue::Push(InputLine line) {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return static_cast<int64_t>(lines_.size()) < kMaxWaiting &&
           bytes_ < kMaxWaitingBytes;
  };
  mutex_.Await(absl::Condition(&has_room));
  bytes_ += line.text.size();
  lines_.push_back(std::move(line));
}

void LineQueue::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  is_closed_.store(true, std::memory_order_relaxed);
}

std::optional<InputLine> LineQueue::Pop() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(
      +[](LineQueue* queue)
           ABSL_NO_THREAD_SAFETY_ANALYSIS { return queue->ReadyLocked(); },
      this));
  if (lines_.empty()) return std::nullopt;
  InputLine line = std::move(lines_.front());
  lines_.pop_front();
  bytes_ -= line.text.size();
  return line;
}

bool LineQueue::ready() const {
  absl::MutexLock lock(&mutex_);
  return ReadyLocked();
}

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
  const size_t size = line.size();
  lines_.push_back(std::move(line));
  bytes_ += size;
}

void OutputQueue::AwaitRoom() {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return bytes_ < kMaxWaitingBytes;
  };
  mutex_.Await(absl::Condition(&has_room));
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
    size_t written = 0;
    for (const std::string& line : lines) {
      *out_ << line << '\n';
      written += line.size();
    }
    out_->flush();
    lines.clear();
    absl::MutexLock lock(&mutex_);
    bytes_ -= written;
  }
}

}  // namespace tara::engine
