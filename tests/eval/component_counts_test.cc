#include <array>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/eval/alpha_beta/hand_features.h"

namespace tara::eval {
namespace {

TEST(ComponentCountsTest, FourBoardsAreCountedAsOneByOne) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int round = 0; round < 20000; ++round) {
    std::array<Board, 4> boards;
    for (Board& board : boards) {
      // From sparse to full: the and, or neither, or the or of two draws.
      board = random();
      if (round % 3 == 0) board &= random();
      if (round % 3 == 1) board |= random();
      board &= kAllHills;
    }
    const std::array<int, 4> counts = CountComponentsOfFour(boards);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(counts[i], CountComponents(boards[i])) << boards[i];
    }
  }
}

TEST(ComponentCountsTest, FullAndEmptyBoardsAndStripesAreCounted) {
  const Board stripes = RankBoard(0) | RankBoard(2) | RankBoard(4);
  EXPECT_EQ(CountComponentsOfFour({0, kAllHills, stripes, FileBoard(3)}),
            (std::array<int, 4>{0, 1, 3, 1}));
}

}  // namespace
}  // namespace tara::eval
