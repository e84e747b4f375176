#include <csignal>
#include <cstdlib>

#include "gtest/gtest.h"
#include "tara/base/threads.h"

namespace tara::train {
namespace {

// Each in a process of its own: handlers and the flag are the process's.
void InterruptOnce() {
  const StopCheck stop = StopOnSignals();
  if (stop()) std::_Exit(1);  // before any signal
  std::raise(SIGINT);
  std::_Exit(stop() ? 7 : 2);
}

void InterruptTwice() {
  const StopCheck stop = StopOnSignals();
  std::raise(SIGINT);
  std::raise(SIGINT);
  std::_Exit(3);
}

TEST(StopDeathTest, TheFirstSignalAsksToStopAndDoesNotKill) {
  EXPECT_EXIT(InterruptOnce(), ::testing::ExitedWithCode(7), "");
}

TEST(StopDeathTest, TheSecondSignalKills) {
  EXPECT_EXIT(InterruptTwice(), ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace tara::train
