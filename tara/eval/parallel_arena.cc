#include "tara/eval/parallel_arena.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/status_macros.h"

namespace tara {
namespace {

// What all threads of a match have in common.
class Match {
 public:
  Match(const ArenaProgressCallback& on_progress, int threads)
      : on_progress_(on_progress), progress_(threads) {}

  // Notes the progress of a thread's part, and tells of that of the match.
  // Returns false when all threads are to stop.
  bool Report(int thread, const ArenaProgress& part) {
    if (stopped_) return false;
    ArenaProgress all;
    double points = 0;
    {
      absl::MutexLock lock(&mutex_);
      progress_[thread] = part;
      for (const ArenaProgress& each : progress_) {
        all.games_done += each.games_done;
        points += each.score * each.games_done;
      }
    }
    all.games = games;
    if (all.games_done > 0) all.score = points / all.games_done;
    if (on_progress_ && !on_progress_(all)) stopped_ = true;
    return !stopped_;
  }

  // Notes how a thread's part has ended; an error stops the others.
  void Finish(const absl::StatusOr<ArenaResult>& result) {
    absl::MutexLock lock(&mutex_);
    if (!result.ok()) {
      error_.Update(result.status());
      stopped_ = true;
      return;
    }
    played_.insert(played_.end(), result->played.begin(), result->played.end());
  }

  // Returns the result of the match. REQUIRES: all threads have finished.
  absl::StatusOr<ArenaResult> Result() {
    absl::MutexLock lock(&mutex_);
    TARA_RETURN_IF_ERROR(error_);
    // Each thread's pairs are consecutive and in order.
    std::stable_sort(
        played_.begin(), played_.end(),
        [](const ArenaGame& x, const ArenaGame& y) { return x.pair < y.pair; });
    return SummarizeGames(played_);
  }

  int games = 0;  // of all threads

 private:
  const ArenaProgressCallback& on_progress_;
  std::atomic<bool> stopped_ = false;
  absl::Mutex mutex_;
  std::vector<ArenaProgress> progress_ ABSL_GUARDED_BY(mutex_);  // by thread
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::vector<ArenaGame> played_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<ArenaResult> PlayPart(const ArenaOptions& options,
                                     const PlayerFactory& make_a,
                                     const PlayerFactory& make_b, int thread,
                                     Match& match) {
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<Player> a, make_a());
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<Player> b, make_b());
  return PlayArena(options, *a, *b, [&](const ArenaProgress& progress) {
    return match.Report(thread, progress);
  });
}

}  // namespace

absl::StatusOr<ArenaResult> PlayArenaInParallel(
    const ArenaOptions& options, const PlayerFactory& make_a,
    const PlayerFactory& make_b, int threads,
    const ArenaProgressCallback& on_progress) {
  const int per_pair = GamesPerPair(options);
  const int pairs = (options.games + per_pair - 1) / per_pair;
  threads = std::clamp(threads, 1, std::max(1, pairs));
  Match match(on_progress, threads);
  match.games = per_pair * pairs;
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    // As even as can be, in order.
    const int begin = static_cast<int>(int64_t{pairs} * thread / threads);
    const int end = static_cast<int>(int64_t{pairs} * (thread + 1) / threads);
    ArenaOptions part = options;
    part.first_pair += begin;
    part.games = per_pair * (end - begin);
    workers.emplace_back([&, part, thread] {
      match.Finish(PlayPart(part, make_a, make_b, thread, match));
    });
  }
  for (std::thread& worker : workers) worker.join();
  return match.Result();
}

}  // namespace tara
