#include "tara/eval/playouts/mass_playouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "tara/core/playout_statistics.h"
#include "tara/core/playouts.h"
#include "tara/core/variant.h"

namespace tara::eval {
namespace {

// Enough for several chunks.
constexpr int64_t kGames = 50000;

PlayoutStatistics PlayChunkOfFourTreasures(int64_t first_game, int64_t games) {
  return PlayRandomGamesByPublicRules(Variant::kFourTreasures, {}, /*seed=*/7,
                                      first_game, games);
}

TEST(MassPlayoutsTest, TheNumberOfThreadsMakesNoDifference) {
  const PlayoutStatistics expected = PlayChunkOfFourTreasures(0, kGames);
  for (const int threads : {1, 2, 5, 100}) {
    EXPECT_EQ(PlayRandomGames(kGames, threads, PlayChunkOfFourTreasures),
              expected);
  }
}

TEST(MassPlayoutsTest, EveryGameIsPlayedOnce) {
  absl::Mutex mutex;
  std::vector<int> played(kGames);
  PlayRandomGames(kGames, 3, [&](int64_t first_game, int64_t games) {
    absl::MutexLock lock(&mutex);
    for (int64_t i = 0; i < games; ++i) ++played.at(first_game + i);
    PlayoutStatistics statistics;
    statistics.games = games;
    return statistics;
  });
  EXPECT_EQ(std::count(played.begin(), played.end(), 1), kGames);
}

TEST(MassPlayoutsTest, ProgressReachesAllGames) {
  std::atomic<int64_t> most = 0;
  const auto on_progress = [&](int64_t games_done) {
    int64_t seen = most;
    while (seen < games_done && !most.compare_exchange_weak(seen, games_done)) {
    }
    return true;
  };
  PlayRandomGames(kGames, 2, PlayChunkOfFourTreasures, on_progress);
  EXPECT_EQ(most, kGames);
}

TEST(MassPlayoutsTest, AStopKeepsWhatIsFinished) {
  const PlayoutStatistics statistics =
      PlayRandomGames(int64_t{1} << 50, 2, PlayChunkOfFourTreasures,
                      [](int64_t games_done) { return games_done < kGames; });
  EXPECT_GE(statistics.games, kGames);
  EXPECT_LT(statistics.games, 4 * kGames);
  EXPECT_EQ(std::accumulate(statistics.results.begin(),
                            statistics.results.end(), int64_t{0}),
            statistics.games);
}

TEST(MassPlayoutsTest, NoGamesAreNoStatistics) {
  EXPECT_EQ(PlayRandomGames(0, 4, PlayChunkOfFourTreasures),
            PlayoutStatistics());
}

}  // namespace
}  // namespace tara::eval
