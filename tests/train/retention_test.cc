#include <algorithm>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/train/folder/checkpoints.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

proto::RetentionConfig Keep(uint32_t last, uint32_t every) {
  proto::RetentionConfig config;
  config.set_keep_last_checkpoints(last);
  config.set_keep_every_checkpoints(every);
  return config;
}

std::vector<int> UpTo(int newest) {
  std::vector<int> there(newest + 1);
  std::iota(there.begin(), there.end(), 0);
  return there;
}

TEST(RetentionTest, TheFirstTheNewestAndEveryNthAreKept) {
  EXPECT_THAT(CheckpointsToRemove(UpTo(12), Keep(2, 5), {}),
              ElementsAre(2, 3, 4, 6, 7, 8, 9));
}

TEST(RetentionTest, WhatIsNeededIsKept) {
  EXPECT_THAT(CheckpointsToRemove(UpTo(6), Keep(1, 0), {3, 5}),
              ElementsAre(2, 4));
}

TEST(RetentionTest, ZeroAndZeroKeepAll) {
  EXPECT_THAT(CheckpointsToRemove(UpTo(100), Keep(0, 0), {}), IsEmpty());
}

TEST(RetentionTest, ALongRunKeepsAsManyAsItsConfigSays) {
  // Thinned after each generation, as a run does it.
  std::vector<int> there = {0};
  for (int newest = 1; newest <= 300; ++newest) {
    there.push_back(newest);
    for (const int old :
         CheckpointsToRemove(there, Keep(10, 10), {newest, newest - 1})) {
      there.erase(std::find(there.begin(), there.end(), old));
    }
  }
  // 0 and 1; 10, 20, ..., 290; 291 to 300.
  EXPECT_EQ(there.size(), 2u + 29u + 10u);
  EXPECT_THAT(CheckpointsToRemove(there, Keep(10, 10), {300}), IsEmpty());
}

}  // namespace
}  // namespace tara::train
