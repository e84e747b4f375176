#ifndef TARA_TRAIN_RUN_FLEET_PLAYER_H_
#define TARA_TRAIN_RUN_FLEET_PLAYER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/fleet.pb.h"
#include "tara/base/stop.h"
#include "tara/train/play/self_play.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"

namespace tara::train {

// Has a run's games played by a process that spreads them over machines
// (python/tara/fleet.py), and takes none for granted: each is replayed by the
// rules, compared with what the request determines of it, and stored once. A
// game that comes again is compared with the one that is there.
//
// Out go lines of JSON:
//   {"event":"play", "generation":, "checkpoint":PATH, "games":[FIRST, END,
//    FIRST, END, ...], "request":BASE64 of a PlayRequest}
//   {"event":"refused", "game":, "node":, "why":}    to be played again
// In come PlayedGames, each after its size, four bytes, little-endian. Not
// thread-safe.
class FleetPlayer {
 public:
  // `in` and `out` are open file descriptors, the caller's. `progress` shows
  // what the fleet does.
  FleetPlayer(int in, int out, Progress& progress)
      : in_(in), out_(out), progress_(progress) {}

  // As GamePlayer. ABORTED where the other process has ended; DATA_LOSS
  // where two nodes have played one game differently.
  absl::Status Play(const SelfPlayJob& job, const GamesSink& sink,
                    const StopCheck& stop);

 private:
  struct Generation;  // what is played now

  absl::Status Send(absl::string_view line);
  // Waits a moment for messages. Returns the next one's bytes, or none yet.
  absl::StatusOr<bool> Receive(proto::PlayedGames& message);
  absl::Status Take(const proto::PlayedGames& message, Generation& generation,
                    const GamesSink& sink);
  absl::Status Compare(const proto::GameRecord& game, const std::string& node,
                       Generation& generation);

  const int in_;
  const int out_;
  Progress& progress_;
  std::string received_;  // of messages that are not whole
};

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_FLEET_PLAYER_H_
