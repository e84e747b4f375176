#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/train/run/pipeline.h"

namespace tara::train {
namespace {

proto::TrainConfig TimedConfig(int generations, float minutes,
                               float cpu_minutes = 0) {
  proto::TrainConfig config;
  config.set_generations(generations);
  config.set_minutes(minutes);
  config.set_cpu_minutes(cpu_minutes);
  return config;
}

RunTime Seconds(double wall, double cpu) {
  return {.wall = absl::Seconds(wall), .cpu = absl::Seconds(cpu)};
}

TEST(ShareOfTimeTest, IsNothingWithoutALimit) {
  EXPECT_EQ(ShareOfTime(TimedConfig(20, 0), Seconds(1e6, 1e6)), 0);
}

TEST(ShareOfTimeTest, IsThatOfTheNearestLimit) {
  EXPECT_DOUBLE_EQ(ShareOfTime(TimedConfig(20, 10), Seconds(60, 1e6)), 0.1);
  EXPECT_DOUBLE_EQ(ShareOfTime(TimedConfig(20, 0, 2), Seconds(1e6, 60)), 0.5);
  EXPECT_DOUBLE_EQ(ShareOfTime(TimedConfig(20, 10, 2), Seconds(60, 60)), 0.5);
  EXPECT_DOUBLE_EQ(ShareOfTime(TimedConfig(20, 10, 2), Seconds(540, 60)), 0.9);
}

TEST(ExpectedGenerationsTest, AreThoseOfTheConfigWithoutALimitOfTime) {
  EXPECT_EQ(ExpectedGenerations(TimedConfig(20, 0), 5, Seconds(1e6, 1e6)), 20);
  // Nothing is known of the time before the first is done.
  EXPECT_EQ(ExpectedGenerations(TimedConfig(20, 1), 0, Seconds(0, 0)), 20);
  EXPECT_EQ(ExpectedGenerations(TimedConfig(20, 1), 0, Seconds(9, 9)), 20);
}

TEST(ExpectedGenerationsTest, AreAsManyAsFitIntoTheMinutes) {
  // 4 took 100 s, so 10 minutes hold 24.
  EXPECT_EQ(ExpectedGenerations(TimedConfig(100, 10), 4, Seconds(100, 1)), 24);
  EXPECT_EQ(ExpectedGenerations(TimedConfig(100, 0, 10), 4, Seconds(1, 100)),
            24);
  EXPECT_EQ(ExpectedGenerations(TimedConfig(20, 10), 4, Seconds(100, 1)), 20);
  // 20 took 595 s: the 21st is learned if the run came to ask.
  EXPECT_EQ(ExpectedGenerations(TimedConfig(100, 10), 20, Seconds(595, 1)), 21);
  EXPECT_EQ(ExpectedGenerations(TimedConfig(20, 10), 20, Seconds(700, 1)), 20);
  EXPECT_EQ(ExpectedGenerations(TimedConfig(100, 1e7), 1, Seconds(1e-6, 0)),
            100);
}

// With the clocks of tests/base/jumping_clock.cc.
TEST(ProcessTimeTest, DoesNotGoByTheSystemClock) {
  const absl::Time before = absl::Now();
  ASSERT_GE(absl::Now() - before, absl::Hours(1)) << "the clock does not jump";
  const RunTime begin = ProcessTime();
  EXPECT_EQ((ProcessTime() - begin).wall, absl::Milliseconds(1));
}

TEST(ProcessTimeTest, CountsTheWorkOfTheProcess) {
  const RunTime begin = ProcessTime();
  RunTime used;
  double sink = 1;
  // Ends by itself: the loop is work.
  while (used.cpu < absl::Milliseconds(20)) {
    for (int i = 0; i < 100000; ++i) sink = sink * 1.0000001 + 1e-9;
    used = ProcessTime() - begin;
  }
  EXPECT_GT(sink, 0);
  EXPECT_GT(used.wall, absl::ZeroDuration());
}

}  // namespace
}  // namespace tara::train
