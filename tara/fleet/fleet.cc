#include "tara/fleet/fleet.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "tara/base/check.h"
#include "tara/base/child_process.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/record/game_record.h"
#include "third_party/crc32c/crc32c.h"

namespace tara::fleet {
namespace {

using nlohmann::ordered_json;

constexpr size_t kHeaderBytes = 8;
// The limit of a message: a block of games has some hundred kilobytes.
constexpr uint32_t kMaxMessage = 1u << 28;
// When so much has not been looked at, nothing more is read: a store that is
// slow makes the fleet wait.
constexpr size_t kMaxBytes = 64u << 20;
// The interval at which a waiting job checks whether to stop.
constexpr absl::Duration kPatience = absl::Milliseconds(100);

absl::Status Gone() {
  return absl::AbortedError(
      "the process that runs the fleet has ended; finished games are kept, "
      "and the same command resumes");
}

uint32_t NumberAt(absl::string_view bytes, size_t begin) {
  uint32_t value = 0;
  for (size_t i = begin + 4; i-- > begin;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

// Valid UTF-8 for JSON, from any bytes of a node.
std::string Line(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace

// A job in progress: its pieces, and their results.
class Fleet::Playing {
 public:
  Playing(Fleet& fleet, uint32_t number, const Job& job)
      : fleet_(fleet), number_(number), job_(job) {}

  absl::Status Play() {
    TARA_RETURN_IF_ERROR(fleet_.Send(
        Line({{"event", "job"},
              {"job", number_},
              {"name", job_.name},
              {"request", absl::Base64Escape(job_.request.SerializeAsString())},
              {"files", job_.files},
              {"folder", job_.folder}})));
    while (true) {
      TARA_RETURN_IF_ERROR(HandOut());
      if (wanted_.empty() || !job_.go_on()) break;
      TARA_ASSIGN_OR_RETURN(const std::optional<std::string> message,
                            fleet_.Receive(number_));
      if (message.has_value()) TARA_RETURN_IF_ERROR(Take(*message));
    }
    return fleet_.Send(Line({{"event", "end"}, {"job", number_}}));
  }

 private:
  struct Played {
    std::string node;
    uint32_t checksum = 0;  // of the games
  };

  // Assigns pieces to the fleet up to its capacity.
  absl::Status HandOut() {
    const auto ahead = static_cast<size_t>(job_.ahead);
    if (all_out_ || wanted_.size() > ahead / 2) return absl::OkStatus();
    std::vector<uint64_t> ranges;  // [first, end) after [first, end)
    std::vector<std::string> payloads;
    while (wanted_.size() < ahead) {
      TARA_ASSIGN_OR_RETURN(const std::optional<Piece> piece, job_.next());
      if (!piece.has_value()) {
        all_out_ = true;
        break;
      }
      TARA_CHECK(wanted_.insert(piece->id).second, "a piece handed out twice");
      if (!ranges.empty() && ranges.back() == piece->id) {
        ranges.back() = piece->id + 1;
      } else {
        ranges.insert(ranges.end(), {piece->id, piece->id + 1});
      }
      if (!piece->payload.empty()) {
        payloads.push_back(absl::Base64Escape(piece->payload));
      }
    }
    if (ranges.empty()) return absl::OkStatus();
    return fleet_.Send(Line({{"event", "games"},
                             {"job", number_},
                             {"games", ranges},
                             {"payloads", payloads}}));
  }

  absl::Status Take(const std::string& bytes) {
    proto::PlayedGames message;
    if (!message.ParseFromString(bytes)) {
      return absl::DataLossError(
          "malformed PlayedGames message from the fleet");
    }
    std::map<uint64_t, std::vector<proto::GameRecord>> pieces;
    std::map<uint64_t, uint32_t> checksums;
    for (const std::string& game : message.game()) {
      proto::GameRecord record;
      if (!record.ParseFromString(game)) {
        return absl::DataLossError(absl::StrCat("node ", message.node(),
                                                " has sent a malformed game"));
      }
      const uint64_t id = job_.piece_of(record);
      checksums[id] = crc32c::Extend(checksums[id], game.data(), game.size());
      pieces[id].push_back(std::move(record));
    }
    std::vector<proto::GameRecord> taken;
    for (auto& [id, games] : pieces) {
      const bool is_wanted = wanted_.contains(id);
      if (!is_wanted && !played_.contains(id)) continue;  // nobody's
      if (const absl::Status status = Check(games); !status.ok()) {
        TARA_RETURN_IF_ERROR(fleet_.Send(Line({{"event", "refused"},
                                               {"job", number_},
                                               {"game", id},
                                               {"node", message.node()},
                                               {"why", status.message()}})));
        continue;
      }
      const Played played = {message.node(), checksums[id]};
      if (is_wanted) {
        wanted_.erase(id);
        played_[id] = played;
        for (proto::GameRecord& game : games) taken.push_back(std::move(game));
      } else if (played.checksum != played_[id].checksum) {
        return absl::DataLossError(absl::StrCat(
            "game ", id, " of ", job_.name, " was played differently on ",
            played_[id].node, " and on ", played.node,
            "; expected the same game: one of these machines is faulty"));
      }
    }
    if (!taken.empty()) TARA_RETURN_IF_ERROR(job_.take(std::move(taken)));
    if (job_.on_message) job_.on_message(message);
    return absl::OkStatus();
  }

  // Checks that these can be the games of a piece.
  absl::Status Check(const std::vector<proto::GameRecord>& games) const {
    if (static_cast<int>(games.size()) != job_.games_per_piece) {
      return absl::InvalidArgumentError(absl::StrCat(
          games.size(), " games; expected ", job_.games_per_piece));
    }
    for (int nth = 0; nth < job_.games_per_piece; ++nth) {
      const proto::GameRecord& game = games[static_cast<size_t>(nth)];
      TARA_RETURN_IF_ERROR(job_.check(game, nth));
      TARA_RETURN_IF_ERROR(record::ValidateRecord(game));
    }
    return absl::OkStatus();
  }

  Fleet& fleet_;
  const uint32_t number_;
  const Job& job_;
  bool all_out_ = false;       // all pieces have been handed out
  std::set<uint64_t> wanted_;  // handed out, and not taken
  std::map<uint64_t, Played> played_;
};

Fleet::Fleet(int in, int out) : in_(in), out_(out) {
  if (pipe(wake_) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "the fleet: cannot make a pipe");
  }
  reader_ = std::thread([this] { Read(); });
}

Fleet::~Fleet() {
  {
    absl::MutexLock lock(&mutex_);
    end_ = Gone();
  }
  close(wake_[1]);
  reader_.join();
  close(wake_[0]);
}

absl::Status Fleet::Play(const Job& job) {
  uint32_t number = 0;
  {
    absl::MutexLock lock(&mutex_);
    number = ++jobs_;
    inboxes_[number];
  }
  const absl::Status status = Playing(*this, number, job).Play();
  absl::MutexLock lock(&mutex_);
  for (const std::string& message : inboxes_[number]) {
    bytes_ -= message.size();
  }
  inboxes_.erase(number);
  return status;
}

std::string Fleet::status() const {
  absl::MutexLock lock(&mutex_);
  return status_;
}

absl::Status Fleet::Send(absl::string_view line) {
  absl::MutexLock lock(&send_mutex_);
  const WithoutSigpipe without_sigpipe;
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t size = write(out_, line.data() + sent, line.size() - sent);
    if (size < 0 && errno != EINTR) return Gone();
    if (size > 0) sent += static_cast<size_t>(size);
  }
  return absl::OkStatus();
}

void Fleet::Read() {
  std::string received;  // of messages that are not whole
  std::vector<char> buffer(1 << 18);
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      const auto may_read = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return bytes_ < kMaxBytes || !end_.ok();
      };
      mutex_.Await(absl::Condition(&may_read));
      if (!end_.ok()) return;
    }
    pollfd waiting[] = {{.fd = in_, .events = POLLIN, .revents = 0},
                        {.fd = wake_[0], .events = POLLIN, .revents = 0}};
    if (poll(waiting, 2, -1) < 0) continue;  // interrupted
    if (waiting[1].revents != 0) return;
    const ssize_t count = read(in_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    absl::Status status = Gone();
    if (count > 0) {
      received.append(buffer.data(), static_cast<size_t>(count));
      status = Sort(received);
    }
    absl::MutexLock lock(&mutex_);
    if (end_.ok()) end_ = status;
  }
}

absl::Status Fleet::Sort(std::string& received) {
  absl::MutexLock lock(&mutex_);
  size_t begin = 0;
  const auto left = [&] { return received.size() - begin; };
  while (left() >= kHeaderBytes) {
    const uint32_t size = NumberAt(received, begin);
    const uint32_t job = NumberAt(received, begin + 4);
    if (size > kMaxMessage) {
      return absl::DataLossError(absl::StrCat(
          "a message of ", size, " bytes from the fleet; expected ",
          kMaxMessage, " or less"));
    }
    if (left() < kHeaderBytes + size) break;
    std::string message = received.substr(begin + kHeaderBytes, size);
    begin += kHeaderBytes + size;
    const auto inbox = inboxes_.find(job);
    if (job == 0) {
      status_ = std::move(message);
    } else if (inbox != inboxes_.end()) {
      bytes_ += message.size();
      inbox->second.push_back(std::move(message));
    }
  }
  received.erase(0, begin);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Fleet::Receive(uint32_t job) {
  absl::MutexLock lock(&mutex_);
  std::deque<std::string>& messages = inboxes_[job];
  const auto has_something = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !messages.empty() || !end_.ok();
  };
  mutex_.AwaitWithTimeout(absl::Condition(&has_something), kPatience);
  if (messages.empty()) {
    TARA_RETURN_IF_ERROR(end_);
    return std::nullopt;
  }
  std::string message = std::move(messages.front());
  messages.pop_front();
  bytes_ -= message.size();
  return message;
}

absl::Status PlayAll(
    const Fleet* fleet, size_t count, const StopCheck& stop,
    const std::function<absl::Status(size_t i, const StopCheck& stop)>& play) {
  absl::Mutex mutex;
  absl::Status first_error;
  std::atomic<bool> failed = false;
  const StopCheck is_over = [&] { return failed || stop(); };
  const auto run = [&](int i) {
    if (is_over()) return;
    const absl::Status status = play(static_cast<size_t>(i), is_over);
    if (status.ok()) return;
    absl::MutexLock lock(&mutex);
    first_error.Update(status);
    // Those that end because of it must not be first.
    failed = true;
  };
  const int all = static_cast<int>(count);
  if (fleet != nullptr && all > 0) {
    RunOnThreads(all, run);
  } else {
    for (int i = 0; i < all; ++i) run(i);
  }
  return first_error;
}

}  // namespace tara::fleet
