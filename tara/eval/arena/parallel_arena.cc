#include "tara/eval/arena/parallel_arena.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/status_macros.h"
#include "tara/eval/arena/arena_schedule.h"

namespace tara::eval {
namespace {

// How the threads of an arena end together.
class SharedEnd {
 public:
  bool stopped() const { return stopped_; }
  void Stop() { stopped_ = true; }
  // Notes how a thread has ended; an error stops the others.
  void Finish(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    error_.Update(status);
    if (!status.ok()) stopped_ = true;
  }
  absl::Status error() const {
    absl::MutexLock lock(&mutex_);
    return error_;
  }

 private:
  std::atomic<bool> stopped_ = false;
  mutable absl::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

// What one thread does.
absl::Status PlaySome(const ArenaOptions& options, const PlayerFactory& make_a,
                      const PlayerFactory& make_b, ArenaSchedule& schedule,
                      const std::function<bool()>& go_on) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<Player> a, make_a());
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<Player> b, make_b());
  return PlayFromSchedule(options, *a, *b, schedule, go_on);
}

}  // namespace

absl::StatusOr<ArenaResult> PlayArenaInParallel(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress) {
  TARA_RETURN_IF_ERROR(CheckArenaOptions(options));
  const int per_pair = GamesPerPair(options);
  const int pairs = std::max(PairsPerOpening(options),
                             (options.games + per_pair - 1) / per_pair);
  threads = std::clamp(threads, 1, pairs);
  ArenaOptions of_a_thread = options;
  // No thread takes all that there is.
  of_a_thread.concurrent_games =
      std::clamp(per_pair * pairs / threads, 1, options.concurrent_games);
  ArenaSchedule schedule(options);
  SharedEnd end;
  const auto go_on = [&] {
    if (end.stopped()) return false;
    if (on_progress && !on_progress(schedule.progress())) end.Stop();
    return !end.stopped();
  };
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&] {
      end.Finish(PlaySome(of_a_thread, make_a, make_b, schedule, go_on));
    });
  }
  for (std::thread& worker : workers) worker.join();
  TARA_RETURN_IF_ERROR(end.error());
  return schedule.Result();
}

}  // namespace tara::eval
