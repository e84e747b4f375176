#ifndef TARA_FLEET_FLEET_H_
#define TARA_FLEET_FLEET_H_

// Games that are played elsewhere: by a process that spreads them over the
// machines of a cluster (python/tara/fleet.py).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/fleet.pb.h"
#include "proto/game.pb.h"
#include "tara/base/threads.h"

namespace tara::fleet {

// A unit of work and of its results: a game, or the games of a match.
struct Piece {
  uint64_t id = 0;      // within its job
  std::string payload;  // further data for the worker; may be empty
};

// Games that are decided by a request, files and the ids of their pieces: they
// are the same wherever they are played.
struct Job {
  std::string name;                // for people, "generation 3"
  proto::FleetRequest request;     // the instructions of a worker
  std::vector<std::string> files;  // networks that it needs
  // The run, which resumes with the same numbers; empty: not a run.
  std::string folder;
  int ahead = 1 << 16;  // pieces that the fleet has at a time
  // Returns the next piece to be played; none: there are no more, for now.
  std::function<absl::StatusOr<std::optional<Piece>>()> next;
  // Returns how many games the pieces have, and which one a game is of.
  int games_per_piece = 1;
  std::function<uint64_t(const proto::GameRecord&)> piece_of;
  // Returns INVALID_ARGUMENT, with what was expected, if a game cannot be the
  // nth of its piece (from 0). The caller checks the rules.
  std::function<absl::Status(const proto::GameRecord&, int nth)> check;
  // Receives the new games of complete pieces. An error ends the job.
  std::function<absl::Status(std::vector<proto::GameRecord>)> take;
  // Told of each message that has some of its games. May be empty.
  std::function<void(const proto::PlayedGames&)> on_message = {};
  // Asked all the time; false ends the job.
  std::function<bool()> go_on;
};

// The way to the process, and the games on it. Nothing that comes is taken for
// granted: each game is replayed by the rules and checked by its job, and taken
// once; one that comes again is compared with the one before.
//
// Out go lines of JSON, of a job by its number, from 1:
//   {"event":"job", "job":, "name":, "request":BASE64 of a FleetRequest,
//    "files":[PATH, ...], "folder":}
//   {"event":"games", "job":, "games":[FIRST, END, FIRST, END, ...],
//    "payloads":[BASE64, ...]}    further pieces; empty without payloads
//   {"event":"refused", "job":, "game":, "node":, "why":}  to be played again
//   {"event":"end", "job":}   the fleet stops playing it
// In come messages, each after its size and its job, of four bytes each,
// little-endian: PlayedGames; of the job 0 text for people. Thread-safe: jobs
// may be played at the same time.
class Fleet {
 public:
  // The file descriptors are open and belong to the caller. Throws
  // std::system_error if a pipe or thread cannot be created.
  Fleet(int in, int out);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Plays all pieces of a job. Returns the first error of its functions;
  // ABORTED where the other process has ended; DATA_LOSS where two nodes have
  // played one piece differently.
  absl::Status Play(const Job& job);

  // What the fleet does, for people.
  std::string status() const;

 private:
  class Playing;

  absl::Status Send(absl::string_view line);
  void Read();  // on a thread
  // Takes whole messages out of `received_`. Returns an error for invalid ones.
  absl::Status Sort(std::string& received);
  // Waits a moment for a message of the job; none: it has not come yet.
  absl::StatusOr<std::optional<std::string>> Receive(uint32_t job);

  const int in_;
  const int out_;
  int wake_[2] = {-1, -1};  // ends the thread
  absl::Mutex send_mutex_;
  mutable absl::Mutex mutex_;
  uint32_t jobs_ ABSL_GUARDED_BY(mutex_) = 0;
  // Messages for running jobs that were received and not yet processed.
  std::map<uint32_t, std::deque<std::string>> inboxes_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // in all of them
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // why nothing comes any more
  std::string status_ ABSL_GUARDED_BY(mutex_);
  std::thread reader_;
};

// Calls play(0), ..., play(count - 1), whose games a fleet plays, all
// concurrently. Without a fleet (null) one after another. Returns the first
// error. After an error, and when `stop` is true, no further call begins, and
// the current ones are stopped.
absl::Status PlayAll(
    const Fleet* fleet, size_t count, const StopCheck& stop,
    const std::function<absl::Status(size_t i, const StopCheck& stop)>& play);

}  // namespace tara::fleet

#endif  // TARA_FLEET_FLEET_H_
