#include "tara/mcts/search/threaded_search.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/exhaustion.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/tree/shared_walker.h"

namespace tara::mcts {

EvaluationThread::EvaluationThread() : thread_([this] { Run(); }) {}

EvaluationThread::~EvaluationThread() {
  {
    absl::MutexLock lock(&mutex_);
    const auto not_busy = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return stage_ != Stage::kStarted;
    };
    mutex_.Await(absl::Condition(&not_busy));
    stage_ = Stage::kClosed;
  }
  thread_.join();
}

void EvaluationThread::Start(std::function<absl::Status()> evaluate) {
  absl::MutexLock lock(&mutex_);
  TARA_CHECK(stage_ == Stage::kIdle, "a batch is under way");
  evaluate_ = std::move(evaluate);
  stage_ = Stage::kStarted;
}

absl::Status EvaluationThread::Wait() {
  absl::MutexLock lock(&mutex_);
  TARA_CHECK(stage_ != Stage::kIdle, "no batch was started");
  const auto evaluated = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stage_ == Stage::kEvaluated;
  };
  mutex_.Await(absl::Condition(&evaluated));
  stage_ = Stage::kIdle;
  return status_;
}

void EvaluationThread::Run() {
  const auto called = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stage_ == Stage::kStarted || stage_ == Stage::kClosed;
  };
  while (true) {
    std::function<absl::Status()> evaluate;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&called));
      if (stage_ == Stage::kClosed) return;
      evaluate = std::move(evaluate_);
    }
    const absl::Status status = CatchExhaustion(evaluate);
    absl::MutexLock lock(&mutex_);
    status_ = status;
    stage_ = Stage::kEvaluated;
  }
}

namespace {

// Lets threads that found no leaf wait for one to be evaluated. Costs the
// others an atomic addition a batch while nobody waits.
class Arrivals {
 public:
  // The count to hand to Await, read before looking for leaves.
  int64_t count() const { return count_.load(); }

  // Says that leaves were applied, or that all is over.
  void Announce() ABSL_LOCKS_EXCLUDED(mutex_) {
    count_.fetch_add(1);
    // A waiter counts itself before it looks at count_: either it sees the
    // addition, or it is seen here.
    if (waiters_.load() == 0) return;
    absl::MutexLock lock(&mutex_);  // its end makes the waiters look again
  }

  // Blocks until there was an announcement after `seen`.
  void Await(int64_t seen) ABSL_LOCKS_EXCLUDED(mutex_) {
    waiters_.fetch_add(1);
    {
      absl::MutexLock lock(&mutex_);
      const auto is_new = [this, seen] { return count() != seen; };
      mutex_.Await(absl::Condition(&is_new));
    }
    waiters_.fetch_sub(1);
  }

 private:
  std::atomic<int64_t> count_ = 0;
  std::atomic<int> waiters_ = 0;
  absl::Mutex mutex_;  // for waiting alone
};

// The data that the threads share.
struct Search {
  Tree& tree;
  Evaluator& evaluator;
  const ThreadedSearchOptions& options;
  const std::function<bool()>& stop;
  Arrivals arrivals;
  std::atomic<bool> failed = false;

  bool over() const {
    return failed.load(std::memory_order_relaxed) || tree.DoneShared() ||
           stop();
  }
};

// Near the end of a game most walks need no evaluation: after so many of them a
// thread checks again whether to stop.
constexpr int kMostFinished = 64;

// One thread's leaves and their evaluations.
class Batch {
 public:
  explicit Batch(Search& search)
      : search_(search),
        walker_(search.tree.shared_data(), search.options.leaves_per_game,
                search.options.threads) {
    leaves_.resize(static_cast<size_t>(search.options.leaves_per_game));
    results_.resize(leaves_.size());
    states_.reserve(leaves_.size());
  }

  // Walks until the batch is full, no more leaves are to be had or many walks
  // have ended in finished games. Returns whether any simulation was made or
  // begun.
  bool Gather() {
    states_.clear();
    bool any = false;
    int finished = 0;
    // A walk that meets a leaf in flight may find another way the next time,
    // for its own leaf is in flight then; with none there is no use in trying.
    while (states_.size() < leaves_.size()) {
      const Gathered gathered = walker_.Gather(leaves_[states_.size()]);
      if (gathered == Gathered::kLeaf) {
        states_.push_back(leaves_[states_.size()].leaf.state);
      } else if (gathered != Gathered::kFinished) {
        break;
      } else if (++finished >= kMostFinished || search_.tree.DoneShared()) {
        return true;
      }
      any = true;
    }
    return any;
  }

  absl::Status EvaluateAndApply() {
    if (states_.empty()) return absl::OkStatus();
    const absl::Status status = search_.evaluator.Evaluate(
        states_, absl::MakeSpan(results_).first(states_.size()));
    for (size_t i = 0; i < states_.size(); ++i) {
      if (status.ok()) {
        walker_.Apply(leaves_[i], results_[i]);
      } else {
        walker_.Cancel(leaves_[i]);
      }
    }
    return status;
  }

 private:
  Search& search_;
  SharedWalker walker_;
  std::vector<SharedWalker::Leaf> leaves_;
  std::vector<State> states_;  // of the leaves in flight
  std::vector<Evaluation> results_;
};

// Searches until all is over, with a walker of its own.
absl::Status Walk(Search& search) {
  Batch batch(search);
  absl::Status status;
  while (status.ok() && !search.over()) {
    const int64_t seen = search.arrivals.count();
    if (batch.Gather()) {
      status = batch.EvaluateAndApply();
      search.arrivals.Announce();
    } else if (!search.over()) {
      search.arrivals.Await(seen);
    }
  }
  return status;
}

absl::Status RunThread(Search& search) {
  absl::Status status = CatchExhaustion([&] { return Walk(search); });
  if (!status.ok()) search.failed.store(true, std::memory_order_relaxed);
  search.arrivals.Announce();
  return status;
}

}  // namespace

absl::Status NoMoreSimulations(int made) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for more simulations; ", made, " made"));
}

namespace {

// Evaluates the root, which the threads need as their start.
absl::Status EvaluateRoot(Tree& tree, Evaluator& evaluator) {
  Tree::Leaf leaf;
  if (!tree.root_actions().empty()) return absl::OkStatus();
  TARA_CHECK(tree.Gather(leaf) == Gathered::kLeaf, "a leaf is in flight");
  std::vector<Evaluation> results(1);
  const absl::Status status = evaluator.Evaluate(
      absl::MakeConstSpan(&leaf.state, 1), absl::MakeSpan(results));
  if (!status.ok()) {
    tree.Cancel(leaf);
    return status;
  }
  tree.Apply(leaf, results[0]);
  return absl::OkStatus();
}

}  // namespace

absl::Status SearchWithThreads(Tree& tree, Evaluator& evaluator,
                               const ThreadedSearchOptions& options,
                               const std::function<bool()>& stop) {
  TARA_CHECK(options.threads >= 1, "threads must be >= 1");
  TARA_CHECK(options.leaves_per_game >= 1, "leaves_per_game must be >= 1");
  const LeafSolver* const solver = tree.options().solver;
  TARA_CHECK(options.threads == 1 || solver == nullptr || solver->thread_safe(),
             "the solver must be thread-safe");
  // Besides what is gathered at a time, what a walker keeps in stock.
  constexpr int kStock = 8;
  try {
    TARA_RETURN_IF_ERROR(EvaluateRoot(tree, evaluator));
    tree.BeginSharing(options.threads * (options.leaves_per_game + kStock));
  } catch (const std::bad_alloc&) {
    return NoMoreSimulations(tree.root_visits());
  }
  Search search{.tree = tree,
                .evaluator = evaluator,
                .options = options,
                .stop = stop,
                .arrivals = {},
                .failed = false};
  std::vector<absl::Status> statuses(static_cast<size_t>(options.threads));
  RunOnThreads(options.threads,
               [&](int thread) { statuses[thread] = RunThread(search); });
  tree.EndSharing();
  for (const absl::Status& status : statuses) {
    TARA_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace tara::mcts
