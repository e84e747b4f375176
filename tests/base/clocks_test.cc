#include "tara/base/clocks.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tara {
namespace {

TEST(ClocksTest, TheCoarseTimeOfAThreadFollowsItsTimeAndIsNeverAhead) {
  for (int i = 0; i < 3; ++i) {
    const absl::Time before = ThreadTime();
    while (ThreadTime() < before + absl::Milliseconds(1)) {
      const absl::Time coarse = CoarseThreadTime();
      EXPECT_LE(coarse, ThreadTime());
      EXPECT_LE(coarse, CoarseThreadTime());
    }
    EXPECT_GE(CoarseThreadTime(), before);
  }
}

}  // namespace
}  // namespace tara
