#include "tara/eval/playouts/mass_playouts.h"

#include <algorithm>
#include <atomic>

#include "absl/synchronization/mutex.h"
#include "tara/base/threads.h"

namespace tara::eval {
namespace {

// Games per piece of work of a thread: milliseconds of work for a prompt
// reaction to interrupts, and many times the concurrent games for a low
// overhead of starting and finishing.
constexpr int64_t kChunkGames = 16384;

}  // namespace

PlayoutStatistics PlayRandomGames(int64_t games, int threads,
                                  const PlayChunk& play_chunk,
                                  const MassProgressCallback& on_progress) {
  const int64_t chunks = (games + kChunkGames - 1) / kChunkGames;
  threads = static_cast<int>(
      std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, chunks)));
  std::atomic<int64_t> next_game = 0;
  std::atomic<bool> stopped = false;
  absl::Mutex mutex;
  PlayoutStatistics statistics;
  RunOnThreads(threads, [&](int) {
    while (!stopped) {
      const int64_t first_game = next_game.fetch_add(kChunkGames);
      if (first_game >= games) return;
      const PlayoutStatistics chunk =
          play_chunk(first_game, std::min(kChunkGames, games - first_game));
      int64_t games_done = 0;
      {
        absl::MutexLock lock(&mutex);
        statistics += chunk;
        games_done = statistics.games;
      }
      if (on_progress && !on_progress(games_done)) stopped = true;
    }
  });
  return statistics;
}

}  // namespace tara::eval
