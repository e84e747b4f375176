#include "tara/eval/playouts/mass_playouts.h"

#include <algorithm>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/threads.h"

namespace tara::eval {
namespace {

// Games that a thread takes at a time: milliseconds of work, so that an
// interrupt is answered at once, and many times as many as are played in step,
// so that starting and finishing them costs little.
constexpr int64_t kChunkGames = 16384;

// What the threads share: the games still to be given out, and what those
// played came to.
class Work {
 public:
  Work(int64_t games, const PlayChunk& play_chunk,
       const MassProgressCallback& on_progress)
      : games_(games), play_chunk_(play_chunk), on_progress_(on_progress) {}

  // Plays chunks until none is left: what each thread does.
  void Run() {
    int64_t first_game = 0;
    int64_t games = 0;
    while (Take(first_game, games)) Finish(play_chunk_(first_game, games));
  }

  // REQUIRES: all threads have finished.
  PlayoutStatistics statistics() {
    absl::MutexLock lock(&mutex_);
    return statistics_;
  }

 private:
  // Gives out the next chunk; false when there is none, or when stopped.
  bool Take(int64_t& first_game, int64_t& games) {
    absl::MutexLock lock(&mutex_);
    games = std::min(kChunkGames, games_ - next_game_);
    if (stopped_ || games <= 0) return false;
    first_game = next_game_;
    next_game_ += games;
    return true;
  }

  void Finish(const PlayoutStatistics& chunk) {
    int64_t games_done = 0;
    {
      absl::MutexLock lock(&mutex_);
      statistics_ += chunk;
      games_done = statistics_.games;
    }
    if (!on_progress_ || on_progress_(games_done)) return;
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }

  const int64_t games_;
  const PlayChunk& play_chunk_;
  const MassProgressCallback& on_progress_;
  absl::Mutex mutex_;
  int64_t next_game_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  PlayoutStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

PlayoutStatistics PlayRandomGames(int64_t games, int threads,
                                  const PlayChunk& play_chunk,
                                  const MassProgressCallback& on_progress) {
  Work work(games, play_chunk, on_progress);
  const int64_t chunks = (games + kChunkGames - 1) / kChunkGames;
  threads = static_cast<int>(
      std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, chunks)));
  RunOnThreads(threads, [&](int) { work.Run(); });
  return work.statistics();
}

}  // namespace tara::eval
