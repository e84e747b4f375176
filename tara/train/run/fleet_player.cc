#include "tara/train/run/fleet_player.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/game.pb.h"
#include "tara/base/status_macros.h"
#include "tara/record/game_record.h"
#include "tara/train/config/config_options.h"

namespace tara::train {
namespace {

using nlohmann::ordered_json;

constexpr size_t kSizeBytes = 4;
// More is no message: a block of games has some hundred kilobytes.
constexpr uint32_t kMaxMessage = 1u << 28;

absl::Status Gone() {
  return absl::AbortedError(
      "the process that has the games played elsewhere has ended; what was "
      "finished is kept, and the same command goes on");
}

// The indices as ranges, [first, end) after [first, end).
std::vector<uint64_t> RangesOf(absl::Span<const uint64_t> indices) {
  std::vector<uint64_t> ranges;
  for (const uint64_t index : indices) {
    if (!ranges.empty() && ranges.back() == index) {
      ranges.back() = index + 1;
    } else {
      ranges.insert(ranges.end(), {index, index + 1});
    }
  }
  return ranges;
}

// For JSON, whatever bytes a node has sent.
std::string Line(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

struct FleetPlayer::Generation {
  const SelfPlayJob& job;
  SelfPlayOptions options;
  std::set<uint64_t> wanted;
  std::map<uint64_t, std::string> node_of;  // those that have come
};

absl::Status FleetPlayer::Play(const SelfPlayJob& job, const GamesSink& sink,
                               const StopCheck& stop) {
  TARA_ASSIGN_OR_RETURN(SelfPlayOptions options,
                        SelfPlayOptionsOf(job.request));
  Generation generation = {.job = job,
                           .options = std::move(options),
                           .wanted = {job.missing.begin(), job.missing.end()},
                           .node_of = {}};
  TARA_RETURN_IF_ERROR(Send(Line(
      {{"event", "play"},
       {"generation", job.request.generation()},
       {"checkpoint", job.checkpoint_path},
       {"games", RangesOf(job.missing)},
       {"request", absl::Base64Escape(job.request.SerializeAsString())}})));
  job.stats.batch_room =
      generation.options.games_per_thread * generation.options.leaves_per_game;
  proto::PlayedGames message;
  while (!generation.wanted.empty() && !stop()) {
    TARA_ASSIGN_OR_RETURN(const bool received, Receive(message));
    if (!received) continue;
    if (!message.status().empty()) progress_.SetFleet(message.status());
    TARA_RETURN_IF_ERROR(Take(message, generation, sink));
    int i = 0;
    for (const auto& [counter, count] : kSelfPlayCounters) {
      // Games are counted as they are stored.
      if (i < message.count_size() && counter != &SelfPlayStats::games) {
        job.stats.*counter += message.count(i);
      }
      ++i;
    }
  }
  return absl::OkStatus();
}

absl::Status FleetPlayer::Send(absl::string_view line) {
  const std::string text = absl::StrCat(line, "\n");
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t size = write(out_, text.data() + sent, text.size() - sent);
    if (size < 0 && errno != EINTR) return Gone();
    if (size > 0) sent += static_cast<size_t>(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> FleetPlayer::Receive(proto::PlayedGames& message) {
  const auto size = [this]() -> size_t {
    uint32_t value = 0;
    for (size_t i = kSizeBytes; i-- > 0;) {
      value = value << 8 | static_cast<uint8_t>(received_[i]);
    }
    return value;
  };
  if (received_.size() < kSizeBytes || received_.size() < kSizeBytes + size()) {
    pollfd waiting = {.fd = in_, .events = POLLIN, .revents = 0};
    constexpr int kWaitMs = 100;  // then `stop` is asked again
    if (poll(&waiting, 1, kWaitMs) <= 0) return false;
    std::vector<char> buffer(1 << 18);
    const ssize_t count = read(in_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (count <= 0) return Gone();
    received_.append(buffer.data(), static_cast<size_t>(count));
  }
  if (received_.size() < kSizeBytes) return false;
  if (size() > kMaxMessage) {
    return absl::DataLossError(absl::StrCat("a message of ", size(),
                                            " bytes from the fleet; expected ",
                                            kMaxMessage, " or less"));
  }
  if (received_.size() < kSizeBytes + size()) return false;
  const size_t whole = kSizeBytes + size();
  const bool parsed = message.ParseFromArray(received_.data() + kSizeBytes,
                                             static_cast<int>(size()));
  received_.erase(0, whole);
  if (parsed) return true;
  return absl::DataLossError("a message from the fleet is no PlayedGames");
}

absl::Status FleetPlayer::Take(const proto::PlayedGames& message,
                               Generation& generation, const GamesSink& sink) {
  const std::string& node = message.node();
  std::vector<proto::GameRecord> taken, again;
  for (const std::string& bytes : message.game()) {
    proto::GameRecord game;
    if (!game.ParseFromString(bytes)) {
      return absl::DataLossError(
          absl::StrCat("node ", node, " has sent what is no game"));
    }
    const uint64_t index = game.game_index();
    const bool is_wanted = generation.wanted.contains(index);
    // Late games of a generation before this one are there already.
    if (!is_wanted && !generation.node_of.contains(index)) continue;
    absl::Status status = CheckPlayedBy(generation.options, game);
    if (status.ok()) status = record::ValidateRecord(game);
    if (!status.ok()) {
      TARA_RETURN_IF_ERROR(Send(Line({{"event", "refused"},
                                      {"game", index},
                                      {"node", node},
                                      {"why", status.message()}})));
      continue;
    }
    if (is_wanted) {
      generation.wanted.erase(index);
      generation.node_of[index] = node;
    }
    (is_wanted ? taken : again).push_back(std::move(game));
  }
  if (!taken.empty()) TARA_RETURN_IF_ERROR(sink(taken));
  generation.job.stats.games += static_cast<int64_t>(taken.size());
  for (const proto::GameRecord& game : again) {
    TARA_RETURN_IF_ERROR(Compare(game, node, generation));
  }
  return absl::OkStatus();
}

absl::Status FleetPlayer::Compare(const proto::GameRecord& game,
                                  const std::string& node,
                                  Generation& generation) {
  TARA_ASSIGN_OR_RETURN(const proto::GameRecord stored,
                        generation.job.store.Get(game.game_index()));
  if (stored.SerializeAsString() == game.SerializeAsString()) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "game ", game.game_index(), " of generation ", game.generation(),
      " was played differently on ", generation.node_of[game.game_index()],
      " and on ", node, ", which only a faulty machine does"));
}

}  // namespace tara::train
