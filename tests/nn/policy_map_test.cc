#include <set>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace {

Action Parsed(const char* text) { return *ParseAction(text); }

TEST(PolicyMapTest, EveryActionHasAnOutputOfItsOwn) {
  std::set<int> outputs;
  for (int index = 0; index < kNumActions; ++index) {
    const int output = PolicyOutput(static_cast<Action>(index));
    EXPECT_GE(output, 0);
    EXPECT_LT(output, kNumPolicyOutputs);
    EXPECT_TRUE(outputs.insert(output).second)
        << ActionToText(static_cast<Action>(index));
  }
}

TEST(PolicyMapTest, OutputsAreWhereTheDrawingSays) {
  constexpr int kD4 = 3 * 7 + 3;  // rank 4, file D
  EXPECT_EQ(PolicyOutput(Parsed("D4")), kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-E6")), 1 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-F5")), 2 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-C6")), 8 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4-E6*")), 9 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4=E4")), 17 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(Parsed("D4=D5")), 18 * 49 + kD4);
  EXPECT_EQ(PolicyOutput(kPass), 931);
}

// The square of an output turns with the board, whatever the action (a link's
// square is its western or southern hill, which a turn may exchange).
TEST(PolicyMapTest, OutputsTurnWithTheBoard) {
  for (uint8_t board = 0; board < kNumBoardTransforms; ++board) {
    for (int index = 0; index < kFirstLink; ++index) {
      const auto action = static_cast<Action>(index);
      const Action image = TransformAction({board, 0}, action);
      const ActionParts parts = Parts(action);
      const Hill hill = parts.from >= 0 ? parts.from : parts.to;
      EXPECT_EQ(PolicyOutput(image) % kNumSquares,
                SquareOf(TransformHill(board, hill)));
      EXPECT_EQ(Parts(image).kind, parts.kind);
    }
  }
}

// All moves of one direction share a plane, and a turn takes planes to planes:
// a convolution sees one pattern, not 224 moves.
TEST(PolicyMapTest, ATurnTakesEachPlaneToOnePlane) {
  for (uint8_t board = 0; board < kNumBoardTransforms; ++board) {
    int image_plane[kNumPolicyPlanes];
    for (int& plane : image_plane) plane = -1;
    for (int index = 0; index < kPassIndex; ++index) {
      const auto action = static_cast<Action>(index);
      const int from = PolicyOutput(action) / kNumSquares;
      const int to =
          PolicyOutput(TransformAction({board, 0}, action)) / kNumSquares;
      if (image_plane[from] < 0) image_plane[from] = to;
      EXPECT_EQ(to, image_plane[from]) << ActionToText(action);
    }
  }
}

}  // namespace
}  // namespace tara::nn
