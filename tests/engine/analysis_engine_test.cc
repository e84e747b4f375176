#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/engine.h"
#include "tara/engine/sessions.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"

namespace tara::engine {
namespace {

// What was told of tasks, by their number. Thread-safe.
class Told {
 public:
  struct Told1 {
    std::vector<AnalysisEvent> events;
    int simulations = -1;  // of the last event with a tree
    std::string error;
    std::vector<int> visits;  // by action
  };

  AnalysisTask Task(int number, const State& state, int simulations) {
    return {
        .state = state,
        .search = {.simulations = simulations},
        .listener = [this, number](AnalysisEvent event, const mcts::Tree* tree,
                                   const absl::Status& status) {
          absl::MutexLock lock(&mutex_);
          Told1& told = told_[number];
          told.events.push_back(event);
          told.error = std::string(status.message());
          order_.push_back(number);
          if (tree == nullptr) return;
          told.simulations = tree->root_visits();
          told.visits.clear();
          for (const mcts::RootAction& action : tree->root_actions()) {
            told.visits.push_back(action.visits);
          }
        }};
  }

  Told1 of(int number) {
    absl::MutexLock lock(&mutex_);
    return told_[number];
  }
  std::vector<int> order() {
    absl::MutexLock lock(&mutex_);
    return order_;
  }

 private:
  absl::Mutex mutex_;
  std::map<int, Told1> told_;
  std::vector<int> order_;
};

// Evaluates nothing until it is opened.
class Gate : public mcts::Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    absl::MutexLock lock(&mutex_);
    entered_ = true;
    mutex_.Await(absl::Condition(&open_));
    return uniform_.Evaluate(states, results);
  }
  void AwaitEntered() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&entered_));
  }
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }

 private:
  absl::Mutex mutex_;
  bool open_ = false;
  bool entered_ = false;
  mcts::UniformEvaluator uniform_;
};

// Evaluates uniformly where `check` returns OK.
class Checked : public mcts::Evaluator {
 public:
  using Check = std::function<absl::Status(absl::Span<const State> states)>;
  explicit Checked(Check check) : check_(std::move(check)) {}
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    absl::Status status = check_(states);
    status.Update(uniform_.Evaluate(states, results));
    return status;
  }

 private:
  const Check check_;
  mcts::UniformEvaluator uniform_;
};

using Events = std::vector<AnalysisEvent>;

EngineOptions Options(int threads, int positions) {
  EngineOptions options;
  options.threads = threads;
  options.positions = positions;
  return options;
}

TEST(AnalysisEngineTest, FindsTheSameAsASearchAlone) {
  mcts::PlayoutEvaluator evaluator(1, 1);
  Told told;
  {
    AnalysisEngine engine(&evaluator, Options(2, 3));
    int number = 0;
    for (int i = 0; i < 3; ++i) {
      for (const VariantInfo& info : kVariants) {
        engine.Add(told.Task(number++, InitialState(info.variant), 50));
      }
    }
    engine.Finish();
    EXPECT_GE(engine.counters().evaluations, 30 * 50);
  }
  for (int number = 0; number < 3 * kNumVariants; ++number) {
    mcts::Tree tree({.simulations = 50},
                    InitialState(kVariants[number % kNumVariants].variant), 1);
    mcts::Tree* const trees[] = {&tree};
    ASSERT_TRUE(mcts::RunSearches(trees, evaluator).ok());
    std::vector<int> visits;
    for (const mcts::RootAction& action : tree.root_actions()) {
      visits.push_back(action.visits);
    }
    const Told::Told1 found = told.of(number);
    EXPECT_EQ(found.events, Events{AnalysisEvent::kDone});
    EXPECT_EQ(found.simulations, 50);
    EXPECT_EQ(found.visits, visits) << number;
  }
}

TEST(AnalysisEngineTest, LargerPrioritiesComeFirst) {
  Gate gate;
  Told told;
  AnalysisEngine engine(&gate, Options(1, 1));
  const State state = InitialState(Variant::kFourTreasures);
  engine.Add(told.Task(0, state, 2));
  gate.AwaitEntered();  // the others wait behind it
  const int priorities[] = {0, 5, -1, 5};
  for (int i = 0; i < 4; ++i) {
    AnalysisTask task = told.Task(1 + i, state, 2);
    task.priority = priorities[i];
    engine.Add(std::move(task));
  }
  gate.Open();
  engine.Finish();
  EXPECT_EQ(told.order(), (std::vector<int>{0, 2, 4, 1, 3}));
}

TEST(AnalysisEngineTest, CancelledTasksAreToldOf) {
  Gate gate;
  Told told;
  AnalysisEngine engine(&gate, Options(1, 1));
  const State state = InitialState(Variant::kFourTreasures);
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  for (int i = 0; i < 3; ++i) {
    AnalysisTask task = told.Task(i, state, 1 << 20);
    if (i < 2) task.cancelled = cancelled;
    if (i == 2) task.search.simulations = 3;
    engine.Add(std::move(task));
    if (i == 0) gate.AwaitEntered();
  }
  *cancelled = true;
  engine.SweepCancelled();
  EXPECT_EQ(told.of(1).events, Events{AnalysisEvent::kCancelled});
  EXPECT_EQ(told.of(1).simulations, -1);
  EXPECT_TRUE(told.of(0).events.empty());
  gate.Open();
  engine.Finish();
  EXPECT_EQ(told.of(0).events, Events{AnalysisEvent::kCancelled});
  EXPECT_LE(told.of(0).simulations, 1);
  EXPECT_EQ(told.of(2).events, Events{AnalysisEvent::kDone});
  EXPECT_EQ(told.of(2).simulations, 3);
}

TEST(AnalysisEngineTest, AnErrorIsToldAndTheOthersGoOn) {
  Checked evaluator([](absl::Span<const State> states) {
    for (const State& state : states) {
      if (state.variant == Variant::kHighKingsL1) {
        return absl::InternalError("broken");
      }
    }
    return absl::OkStatus();
  });
  Told told;
  AnalysisEngine engine(&evaluator, Options(1, 1));
  for (int i = 0; i < 4; ++i) {
    engine.Add(told.Task(
        i,
        InitialState(i == 1 ? Variant::kHighKingsL1 : Variant::kFourTreasures),
        10));
  }
  engine.Finish();
  EXPECT_EQ(told.of(1).events, Events{AnalysisEvent::kFailed});
  EXPECT_EQ(told.of(1).error, "broken");
  for (const int i : {0, 2, 3}) {
    EXPECT_EQ(told.of(i).events, Events{AnalysisEvent::kDone}) << i;
    EXPECT_EQ(told.of(i).simulations, 10);
  }
}

TEST(AnalysisEngineTest, WantOfMemoryIsToldAndTheOthersGoOn) {
  std::atomic<int> calls = 0;
  Checked evaluator([&](absl::Span<const State>) {
    if (calls++ == 0) throw std::bad_alloc();
    return absl::OkStatus();
  });
  Told told;
  AnalysisEngine engine(&evaluator, Options(1, 1));
  for (int i = 0; i < 3; ++i) {
    engine.Add(told.Task(i, InitialState(Variant::kFourTreasures), 10));
  }
  engine.Finish();
  EXPECT_EQ(told.of(0).events, Events{AnalysisEvent::kFailed});
  EXPECT_EQ(told.of(0).error, "out of memory");
  for (const int i : {1, 2}) {
    EXPECT_EQ(told.of(i).events, Events{AnalysisEvent::kDone}) << i;
  }
}

// Searches in step do not fail with the one that there is no memory for: here,
// for its answer.
TEST(AnalysisEngineTest, OneTasksWantOfMemoryIsItsOwn) {
  mcts::UniformEvaluator evaluator;
  Told told;
  std::atomic<bool> has_run_out = false;
  {
    AnalysisEngine engine(&evaluator, Options(1, 8));
    for (int i = 0; i < 8; ++i) {
      AnalysisTask task =
          told.Task(i, InitialState(Variant::kFourTreasures), 10 + i);
      if (i == 3) {
        task.listener = [&, tell = task.listener](AnalysisEvent event,
                                                  const mcts::Tree* tree,
                                                  const absl::Status& status) {
          if (!has_run_out.exchange(true)) throw std::bad_alloc();
          tell(event, tree, status);
        };
      }
      engine.Add(std::move(task));
    }
  }
  EXPECT_EQ(told.of(3).events, Events{AnalysisEvent::kFailed});
  EXPECT_EQ(told.of(3).error, "no memory for more simulations; 13 made");
  for (const int i : {0, 1, 2, 4, 5, 6, 7}) {
    EXPECT_EQ(told.of(i).events, Events{AnalysisEvent::kDone}) << i;
    EXPECT_EQ(told.of(i).simulations, 10 + i);
  }
}

TEST(AnalysisEngineTest, NoMoreTasksWaitThanMay) {
  Gate gate;
  std::atomic<int64_t> added = 0;
  AnalysisEngine engine(&gate, Options(1, 1));
  std::thread adding([&] {
    for (int64_t i = 0; i < kMaxWaiting + 100; ++i) {
      engine.AwaitRoom();
      engine.Add({.state = InitialState(Variant::kFourTreasures),
                  .search = {.simulations = 1},
                  .listener = [](AnalysisEvent, const mcts::Tree*,
                                 const absl::Status&) {}});
      ++added;
    }
  });
  while (added < kMaxWaiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(added, kMaxWaiting + 1);  // one is searched
  gate.Open();
  adding.join();
  EXPECT_EQ(added, kMaxWaiting + 100);
}

TEST(AnalysisEngineTest, TimeEndsASearch) {
  mcts::UniformEvaluator evaluator;
  Told told;
  AnalysisEngine engine(&evaluator, Options(1, 4));
  AnalysisTask task =
      told.Task(0, InitialState(Variant::kSacredHillL1), (1 << 24) - 2);
  task.time = absl::Milliseconds(5);
  engine.Add(std::move(task));
  engine.Finish();
  EXPECT_EQ(told.of(0).events, Events{AnalysisEvent::kDone});
  EXPECT_GE(told.of(0).simulations, 1);
}

// However slow the machine is: the search goes on until progress was told.
TEST(AnalysisEngineTest, ProgressIsToldUntilTheEnd) {
  mcts::UniformEvaluator evaluator;
  Told told;
  AnalysisEngine engine(&evaluator, Options(1, 4));
  AnalysisTask task =
      told.Task(0, InitialState(Variant::kSacredHillL1), (1 << 24) - 2);
  task.report_every = absl::Microseconds(1);
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  task.cancelled = cancelled;
  task.listener = [cancelled, tell = task.listener, reports = 0](
                      AnalysisEvent event, const mcts::Tree* tree,
                      const absl::Status& status) mutable {
    tell(event, tree, status);
    if (++reports == 3) *cancelled = true;
  };
  engine.Add(std::move(task));
  engine.Finish();
  EXPECT_EQ(told.of(0).events,
            (Events{AnalysisEvent::kProgress, AnalysisEvent::kProgress,
                    AnalysisEvent::kProgress, AnalysisEvent::kCancelled}));
}

TEST(AnalysisEngineTest, EndsWithoutTasks) {
  mcts::UniformEvaluator evaluator;
  AnalysisEngine engine(&evaluator, Options(3, 64));
  engine.Finish();
  EXPECT_EQ(engine.counters().evaluations, 0);
}

}  // namespace
}  // namespace tara::engine
