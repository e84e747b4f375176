#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/base/status_macros.h"
#include "tara/train/config/config_options.h"
#include "tara/train/play/self_play.h"
#include "tara/train/run/pipeline.h"

namespace tara::train {

absl::Status PlayOnFleet(fleet::Fleet& fleet, const SelfPlayJob& job,
                         const GamesSink& sink, const StopCheck& stop,
                         Progress& progress) {
  TARA_ASSIGN_OR_RETURN(const SelfPlayOptions options,
                        ToSelfPlayOptions(job.request));
  job.stats.batch_room = options.games_per_thread * options.leaves_per_game;
  proto::FleetRequest request;
  *request.mutable_self_play() = job.request;
  size_t next = 0;
  int64_t requests = 0;
  int64_t hits = 0;
  return fleet.Play({
      .name = absl::StrCat("generation ", job.request.generation()),
      .request = std::move(request),
      .files = {job.checkpoint_path},
      .folder = job.request.config().run_dir(),
      .next = [&]() -> absl::StatusOr<std::optional<fleet::Piece>> {
        if (next == job.missing.size()) return std::nullopt;
        return fleet::Piece{.id = job.missing[next++], .payload = {}};
      },
      .piece_of =
          [](const proto::GameRecord& game) { return game.game_index(); },
      .check = [&](const proto::GameRecord& game,
                   int /*nth*/) { return CheckPlayedBy(options, game); },
      .take =
          [&](std::vector<proto::GameRecord> games) {
            TARA_RETURN_IF_ERROR(sink(games));
            job.stats.games += static_cast<int64_t>(games.size());
            return absl::OkStatus();
          },
      .on_message =
          [&](const proto::PlayedGames& message) {
            job.games_by_node[message.node()] += message.game_size();
            requests += message.cache_requests();
            hits += message.cache_hits();
            job.stats.cached_share =
                static_cast<double>(hits) / std::max<double>(1, requests);
            int i = 0;
            for (const auto& [counter, count] : kSelfPlayCounters) {
              // Games are counted as they are stored.
              if (i < message.count_size() &&
                  counter != &SelfPlayStats::games) {
                job.stats.*counter += message.count(i);
              }
              ++i;
            }
          },
      .go_on =
          [&] {
            progress.SetFleet(fleet.status());
            return !stop();
          },
  });
}

}  // namespace tara::train
