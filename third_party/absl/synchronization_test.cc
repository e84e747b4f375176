// Correct uses of Abseil's locks, in which ThreadSanitizer must see no race
// (--config=tsan): the test of tsan_mutex.cc.

#include <deque>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace {

TEST(SynchronizationTest, AwaitHandsOverWhatTheLockGuards) {
  constexpr int kNumItems = 2000;
  absl::Mutex mutex;
  std::deque<std::vector<int>> queue;
  bool closed = false;
  int sum = 0;
  auto ready = [&] { return closed || !queue.empty(); };

  std::vector<std::thread> consumers;
  for (int i = 0; i < 3; ++i) {
    consumers.emplace_back([&] {
      while (true) {
        std::vector<int> item;
        {
          absl::MutexLock lock(&mutex);
          mutex.Await(absl::Condition(&ready));
          if (queue.empty()) return;
          item = std::move(queue.front());
          queue.pop_front();
          sum += item[0];
        }
        item[0] = 0;
      }
    });
  }
  for (int i = 0; i < kNumItems; ++i) {
    absl::MutexLock lock(&mutex);
    queue.push_back({1});
  }
  {
    absl::MutexLock lock(&mutex);
    closed = true;
  }
  for (std::thread& consumer : consumers) consumer.join();
  EXPECT_EQ(sum, kNumItems);
}

TEST(SynchronizationTest, ConditionVariableHandsOver) {
  absl::Mutex mutex;
  absl::CondVar changed;
  int step = 0;
  std::thread other([&] {
    absl::MutexLock lock(&mutex);
    while (step != 1) changed.Wait(&mutex);
    step = 2;
    changed.Signal();
  });
  {
    absl::MutexLock lock(&mutex);
    step = 1;
    changed.Signal();
    while (step != 2) changed.WaitWithTimeout(&mutex, absl::Minutes(1));
  }
  other.join();
}

TEST(SynchronizationTest, NotificationHandsOverToWaitersAndPollers) {
  int value = 0;
  absl::Notification first;
  absl::Notification second;
  std::thread other([&] {
    value = 1;
    first.Notify();
    second.WaitForNotification();
    EXPECT_EQ(value, 2);
  });
  while (!first.HasBeenNotified()) std::this_thread::yield();
  EXPECT_EQ(value, 1);
  value = 2;
  second.Notify();
  other.join();
}

TEST(SynchronizationTest, BlockingCounterHandsOver) {
  constexpr int kNumThreads = 4;
  int values[kNumThreads] = {};
  absl::BlockingCounter counter(kNumThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kNumThreads; ++i) {
    threads.emplace_back([&, i] {
      values[i] = 1;
      counter.DecrementCount();
    });
  }
  counter.Wait();
  for (int value : values) EXPECT_EQ(value, 1);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
