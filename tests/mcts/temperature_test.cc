#include "gtest/gtest.h"
#include "tara/mcts/choice/choose_action.h"

namespace tara::mcts {
namespace {

TEST(TemperatureTest, TheFirstPliesHaveOneTemperatureAndTheOthersNone) {
  const auto schedule = TemperatureSchedule::FirstPlies(0.8f, 20);
  EXPECT_EQ(schedule.At(0), 0.8f);
  EXPECT_EQ(schedule.At(19), 0.8f);
  EXPECT_EQ(schedule.At(20), 0);
  EXPECT_EQ(schedule.At(100), 0);
}

TEST(TemperatureTest, AHalflifeHalvesTheDistanceToTheEnd) {
  const TemperatureSchedule schedule = {
      .start = 1.0f, .end = 0.2f, .halflife = 10};
  EXPECT_FLOAT_EQ(schedule.At(0), 1.0f);
  EXPECT_FLOAT_EQ(schedule.At(10), 0.6f);
  EXPECT_FLOAT_EQ(schedule.At(20), 0.4f);
  EXPECT_NEAR(schedule.At(1000), 0.2f, 1e-6);
}

TEST(TemperatureTest, TheCutOffEndsTheDecay) {
  const TemperatureSchedule schedule = {
      .start = 1.0f, .end = 0.2f, .halflife = 10, .cutoff_ply = 11};
  EXPECT_FLOAT_EQ(schedule.At(10), 0.6f);
  EXPECT_EQ(schedule.At(11), 0);
}

TEST(TemperatureTest, ACutOffAtTheStartAlwaysPlaysTheBest) {
  EXPECT_EQ(TemperatureSchedule::FirstPlies(1, 0).At(0), 0);
}

}  // namespace
}  // namespace tara::mcts
