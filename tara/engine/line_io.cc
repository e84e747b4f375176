#include "tara/engine/line_io.h"

#include <limits>
#include <streambuf>

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
  bytes_ += line.text.size();
  lines_.push_back(std::move(line));
}

void LineQueue::AwaitRoom() {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return static_cast<int64_t>(lines_.size()) < most_lines_ &&
           bytes_ < kMaxWaitingBytes;
  };
  mutex_.Await(absl::Condition(&has_room));
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
    : lines_(std::numeric_limits<int64_t>::max()), thread_([this, out] {
        while (const std::optional<InputLine> line = lines_.Pop()) {
          *out << line->text << '\n';
          if (!lines_.ready()) out->flush();
        }
        out->flush();
      }) {}

OutputQueue::~OutputQueue() {
  lines_.Close();
  thread_.join();
}

}  // namespace tara::engine
