#include "tara/engine/analysis_engine.h"

#include <algorithm>
#include <new>
#include <optional>
#include <system_error>

#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/clocks.h"
#include "tara/base/threads.h"
#include "tara/engine/line_io.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::engine {
namespace {

// Remembers why an evaluator failed, for the searches that it breaks off.
class NotingEvaluator : public mcts::Evaluator {
 public:
  explicit NotingEvaluator(mcts::Evaluator* evaluator)
      : evaluator_(evaluator) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    status_ =
        CatchExhaustion([&] { return evaluator_->Evaluate(states, results); });
    return status_;
  }
  const absl::Status& status() const { return status_; }

 private:
  mcts::Evaluator* const evaluator_;
  absl::Status status_;
};

bool IsCancelled(const AnalysisTask& task) {
  return task.cancelled != nullptr &&
         task.cancelled->load(std::memory_order_relaxed);
}

}  // namespace

// The data of one thread.
struct AnalysisEngine::Worker {
  NotingEvaluator evaluator;
  mcts::EndgameSolver solver;
  int64_t searching = 0;  // tasks; guarded by the engine's mutex
};

// The search of a task. Its destructor reports the end. The tree is created
// with the first progress, so that a lack of memory fails only this task
// (SearchedGame::RunOut).
class AnalysisEngine::TaskSearch : public mcts::SearchedGame {
 public:
  TaskSearch(std::unique_ptr<AnalysisTask> task, AnalysisEngine* engine,
             Worker* worker)
      : task_(std::move(task)),
        engine_(engine),
        worker_(worker),
        has_clock_(std::min(task_->time, task_->report_every) <
                   absl::InfiniteDuration()),
        start_(has_clock_ ? SteadyTime() : absl::Time()),
        next_report_(start_ + task_->report_every) {}

  ~TaskSearch() override {
    if (!ended_) {
      tree_.reset();  // the answer takes memory, too
      failure_.Update(worker_->evaluator.status());
      failure_.Update(absl::ResourceExhaustedError("out of memory"));
      task_->listener(AnalysisEvent::kFailed, nullptr, failure_);
    }
    engine_->Leave(*worker_);
  }

  mcts::Tree& tree() override { return *tree_; }

  bool searched() override {
    if (!tree_.has_value()) {
      tree_.emplace(SearchOf(*task_, worker_->solver), task_->state,
                    task_->seed);
      tree_->Reserve();
    }
    if (tree_->done() || IsCancelled(*task_)) return true;
    if (!has_clock_ || tree_->root_visits() == 0) return false;
    const absl::Time now = SteadyTime();
    if (now - start_ >= task_->time) return true;
    if (now >= next_report_ && tree_->in_flight() == 0) {
      task_->listener(AnalysisEvent::kProgress, &*tree_, absl::OkStatus());
      next_report_ = now + task_->report_every;
    }
    return false;
  }

  absl::StatusOr<bool> Play() override {
    task_->listener(
        IsCancelled(*task_) ? AnalysisEvent::kCancelled : AnalysisEvent::kDone,
        &*tree_, absl::OkStatus());
    ended_ = true;
    return false;
  }

  absl::Status RunOut() override {
    failure_ =
        mcts::NoMoreSimulations(tree_.has_value() ? tree_->root_visits() : 0);
    return absl::OkStatus();
  }

 private:
  static mcts::SearchOptions SearchOf(const AnalysisTask& task,
                                      mcts::LeafSolver& solver) {
    mcts::SearchOptions search = task.search;
    mcts::SetForVariant(task.state.variant, &solver, search);
    return search;
  }

  const std::unique_ptr<AnalysisTask> task_;
  AnalysisEngine* const engine_;
  Worker* const worker_;
  std::optional<mcts::Tree> tree_;
  const bool has_clock_;
  const absl::Time start_;
  absl::Time next_report_;
  absl::Status failure_;
  bool ended_ = false;
};

AnalysisEngine::AnalysisEngine(mcts::Evaluator* evaluator,
                               const AnalysisEngineOptions& options)
    : evaluator_(evaluator), options_(options) {
  TARA_CHECK(
      options.threads >= 1 && options.positions >= 1 && options.leaves >= 1,
      "threads, positions and leaves must be >= 1");
  for (int i = 0; i < options.threads; ++i) {
    try {
      threads_.emplace_back([this] { Run(); });
    } catch (const std::system_error&) {
      if (i == 0) throw;
      break;
    }
  }
}

AnalysisEngine::~AnalysisEngine() { Finish(); }

void AnalysisEngine::Add(AnalysisTask task) {
  TARA_CHECK(!task.state.finished(), "the root must not be a finished game");
  auto waiting = std::make_unique<AnalysisTask>(std::move(task));
  absl::MutexLock lock(&mutex_);
  TARA_CHECK(!closed_, "not after Finish");
  const std::pair<int, int64_t> key = {-waiting->priority, arrivals_++};
  waiting_.emplace(key, std::move(waiting));
  num_waiting_ = static_cast<int64_t>(waiting_.size());
}

void AnalysisEngine::SweepCancelled() {
  std::vector<std::unique_ptr<AnalysisTask>> swept;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (IsCancelled(*it->second)) {
        swept.push_back(std::move(it->second));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
    num_waiting_ = static_cast<int64_t>(waiting_.size());
  }
  for (const auto& task : swept) {
    task->listener(AnalysisEvent::kCancelled, nullptr, absl::OkStatus());
  }
}

void AnalysisEngine::Finish() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void AnalysisEngine::AwaitRoom() {
  absl::MutexLock lock(&mutex_);
  const auto has_room = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return static_cast<int64_t>(waiting_.size()) < kMaxWaiting;
  };
  mutex_.Await(absl::Condition(&has_room));
}

bool AnalysisEngine::AwaitTasks() {
  absl::MutexLock lock(&mutex_);
  const auto ready = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return closed_ || !waiting_.empty();
  };
  mutex_.Await(absl::Condition(&ready));
  return !waiting_.empty();
}

std::unique_ptr<AnalysisTask> AnalysisEngine::Next(Worker& worker) {
  // Asked for each free place before each batch.
  if (num_waiting_.load(std::memory_order_relaxed) == 0) return nullptr;
  absl::MutexLock lock(&mutex_);
  if (waiting_.empty()) return nullptr;
  const int64_t all = static_cast<int64_t>(waiting_.size()) + searching_;
  const int64_t share = (all + options_.threads - 1) / options_.threads;
  if (worker.searching >= share) return nullptr;
  std::unique_ptr<AnalysisTask> task = std::move(waiting_.begin()->second);
  waiting_.erase(waiting_.begin());
  num_waiting_ = static_cast<int64_t>(waiting_.size());
  ++worker.searching;
  ++searching_;
  return task;
}

void AnalysisEngine::Leave(Worker& worker) {
  absl::MutexLock lock(&mutex_);
  --worker.searching;
  --searching_;
}

void AnalysisEngine::Run() {
  Worker worker = {.evaluator = NotingEvaluator(evaluator_),
                   .solver = mcts::EndgameSolver()};
  while (AwaitTasks()) {
    // An error has broken all searches of this thread off, and their listeners
    // were called with it; there may be others.
    mcts::PlayManyGames(
        {.games = options_.positions, .leaves_per_game = options_.leaves},
        [&]() -> std::unique_ptr<mcts::SearchedGame> {
          std::unique_ptr<AnalysisTask> task = Next(worker);
          if (task == nullptr) return nullptr;
          try {
            return std::make_unique<TaskSearch>(std::move(task), this, &worker);
          } catch (const std::bad_alloc&) {
            Leave(worker);
            throw;
          }
        },
        worker.evaluator, [] { return false; }, counters_)
        .IgnoreError();
  }
}

}  // namespace tara::engine
