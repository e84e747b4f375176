#include "tara/core/draws_ahead.h"

#include <memory>

#include "gtest/gtest.h"
#include "tara/base/random.h"

namespace tara {
namespace {

TEST(DrawsAheadTest, DrawsTheUpperHalvesOfEachGamesStream) {
  constexpr uint64_t kSeed = 7;
  const auto draws = std::make_unique<DrawsAhead>();
  for (const uint64_t first_game : {uint64_t{0}, uint64_t{1} << 40}) {
    draws->Draw(kSeed, first_game);
    for (int i = 0; i < DrawsAhead::kGames; ++i) {
      Random random(
          DeriveSeed(kSeed, first_game + i, StreamPurpose::kPlayouts));
      for (int n = 0; n < DrawsAhead::kDraws; ++n) {
        ASSERT_EQ(draws->First(i)[n * DrawsAhead::kStride], random() >> 32)
            << "game " << first_game + i << ", number " << n;
      }
    }
  }
}

}  // namespace
}  // namespace tara
