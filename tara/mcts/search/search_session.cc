#include "tara/mcts/search/search_session.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/core/rules.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::mcts {
namespace {

// Simulations of an analysis between two looks at the clock and the input: a
// millisecond with a small network.
constexpr int kStep = 32;

// Near the end of a game most walks need no evaluation: after this number of
// walks a thread checks again whether to stop.
constexpr int kMaxFinished = 64;

// Holds a lock that others hold for some microseconds at a time. A thread that
// goes to sleep needs longer than that to wake up again, so at first it only
// lets others run: else two threads with a small network are slower than one.
class ABSL_SCOPED_LOCKABLE BriefLock {
 public:
  explicit BriefLock(absl::Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    for (int i = 0; i < kTries; ++i) {
      if (mutex->TryLock()) return;
      std::this_thread::yield();
    }
    mutex->Lock();
  }
  ~BriefLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  BriefLock(const BriefLock&) = delete;
  BriefLock& operator=(const BriefLock&) = delete;

 private:
  static constexpr int kTries = 100;

  absl::Mutex* const mutex_;
};

// Several threads that search one tree. A thread that has the lock adds what
// its last leaves have brought and walks down to the next; it evaluates them
// without the lock. One that finds only others' leaves waits for one of them.
class SharedSearch {
 public:
  SharedSearch(Tree& tree, Evaluator& evaluator, const SessionOptions& options,
               const SearchTime& time, const std::function<bool()>& stop)
      : evaluator_(evaluator),
        options_(options),
        stop_(stop),
        tree_(tree),
        deadline_(time, tree) {}

  // Called once. No leaf is in flight afterwards, unless memory ran out.
  absl::Status Run() {
    RunOnThreads(options_.threads, [this](int) { RunThread(); });
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  // One thread's leaves and their evaluations.
  struct Batch {
    std::vector<Tree::Leaf> leaves;
    std::vector<State> states;  // of the leaves in flight
    std::vector<Evaluation> results;
    absl::Status status;    // of their evaluation
    bool complete = false;  // their evaluation can start, or has
  };

  void RunThread() ABSL_LOCKS_EXCLUDED(mutex_) {
    Batch batch;
    batch.leaves.resize(static_cast<size_t>(options_.leaves_per_game));
    batch.results.resize(batch.leaves.size());
    batch.states.reserve(batch.leaves.size());
    while (Step(stop_(), deadline_.Now(), batch)) {
      if (!batch.complete) continue;
      batch.status = CatchExhaustion([&] {
        return evaluator_.Evaluate(
            batch.states,
            absl::MakeSpan(batch.results).first(batch.states.size()));
      });
    }
  }

  // Applies evaluated leaves to the tree, and gathers. Returns whether to
  // continue.
  bool Step(bool stopped, absl::Time now, Batch& batch)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    const BriefLock lock(&mutex_);
    try {
      if (batch.complete) Apply(batch);
      over_ = over_ || stopped || !status_.ok() || tree_.done() ||
              deadline_.IsOver(tree_, now);
      if (!over_) Gather(batch);
    } catch (const std::bad_alloc&) {
      status_ = NoMoreSimulations(tree_.root_visits());
      over_ = true;
      batch.states.clear();
    }
    if (over_) Drop(batch);
    return !over_;
  }

  void Apply(Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    status_.Update(batch.status);
    for (size_t i = 0; batch.status.ok() && i < batch.states.size(); ++i) {
      tree_.Apply(batch.leaves[i], batch.results[i]);
    }
    if (!batch.status.ok()) Drop(batch);
    ++rounds_;
    batch.states.clear();
    batch.complete = false;
  }

  // Gives up the leaves of a batch.
  void Drop(Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (size_t i = 0; i < batch.states.size(); ++i) {
      tree_.Cancel(batch.leaves[i]);
    }
    batch.states.clear();
  }

  // Walks until the batch is complete, or many walks have ended without a leaf
  // to evaluate. Waits if all leaves are in flight on other threads.
  void Gather(Batch& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    int finished = 0;
    while (batch.states.size() < batch.leaves.size() &&
           tree_.in_flight() < tree_.simulations_left()) {
      Tree::Leaf& leaf = batch.leaves[batch.states.size()];
      const Gathered gathered = tree_.Gather(leaf);
      if (gathered == Gathered::kLeaf) {
        batch.states.push_back(leaf.state);
      } else if (gathered != Gathered::kFinished) {
        break;
      } else if (++finished == kMaxFinished) {
        return;
      } else if (tree_.done()) {
        break;
      }
    }
    batch.complete = !batch.states.empty();
    if (batch.complete || finished > 0 || tree_.in_flight() == 0) return;
    const int64_t seen = rounds_;
    const auto go_on = [this, seen]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return rounds_ != seen || over_;
    };
    mutex_.Await(absl::Condition(&go_on));
  }

  Evaluator& evaluator_;
  const SessionOptions& options_;
  const std::function<bool()>& stop_;
  absl::Mutex mutex_;
  Tree& tree_ ABSL_GUARDED_BY(mutex_);
  SearchDeadline deadline_;  // IsOver is called under the lock
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t rounds_ ABSL_GUARDED_BY(mutex_) = 0;  // batches given to the tree
};

}  // namespace

SearchDeadline::SearchDeadline(const SearchTime& time, const Tree& tree)
    : time_(time), visits_before_(tree.root_visits()) {
  if (!time.limited()) return;
  begin_ = time.clock();
  limit_ = time.time;
  if (time.budget.has_value()) {
    // The clock runs while a kept tree is advanced, too.
    const absl::Duration spent = begin_ - time.start;
    limit_ = std::max(absl::ZeroDuration(), time.budget->limit - spent);
    target_ = time.budget->target - spent;
  }
  // A look at the root takes some microseconds.
  slice_ =
      std::clamp(limit_ / 50, absl::Milliseconds(2), absl::Milliseconds(50));
  next_look_ = begin_ + slice_;
}

bool SearchDeadline::IsOver(const Tree& tree, absl::Time now) {
  const int simulations = tree.root_visits() - visits_before_;
  if (!time_.limited() || simulations == 0) return false;
  if (now - begin_ >= limit_) return true;
  if (now < next_look_) return false;
  next_look_ = now + slice_;
  const std::vector<RootAction> actions = tree.root_actions();
  const SearchProgress progress = {.actions = actions,
                                   .root_settled = tree.settled(),
                                   .simulations = simulations,
                                   .elapsed = now - begin_};
  return (target_.has_value() && IsTargetReached(progress, *target_)) ||
         IsSettled(progress, limit_);
}

SearchSession::SearchSession(const SessionOptions& options,
                             Evaluator* evaluator, LeafSolver* solver)
    : options_(options), evaluator_(evaluator), solver_(solver) {
  TARA_CHECK(options.threads >= 1, "threads must be >= 1");
  TARA_CHECK(options.leaves_per_game >= 1, "leaves_per_game must be >= 1");
  TARA_CHECK(!options.search.gumbel || options.threads == 1,
             "a Gumbel root needs threads = 1");
}

SearchSession::~SearchSession() { StopPondering().IgnoreError(); }

bool SearchSession::Follow(const State& state,
                           absl::Span<const Action> actions) {
  if (!tree_.has_value() || !options_.reuse || options_.search.gumbel ||
      actions.size() < plies_) {
    return false;
  }
  for (const Action action : actions.subspan(plies_)) {
    if (tree_->finished() || !LegalActions(tree_->root()).Contains(action)) {
      return false;
    }
    tree_->Advance(action);
  }
  return tree_->root() == state;
}

void SearchSession::GoTo(const State& state, absl::Span<const Action> actions,
                         const std::function<uint64_t()>& draw_seed) {
  TARA_CHECK(!pondering_.joinable(), "not while pondering");
  if (!Follow(state, actions)) {
    SearchOptions search = options_.search;
    SetForVariant(state.variant, solver_, search);
    tree_.emplace(search, state, draw_seed());
  }
  plies_ = actions.size();
}

void SearchSession::SetSimulations(const SearchTime& time) {
  tree_->SetSimulations(time.limited() ? kMaxSimulations
                                       : options_.search.simulations);
}

absl::Status SearchSession::Run(const SearchTime& time,
                                const std::function<bool()>& stop) {
  const absl::Status status = CatchExhaustion([&] {
    return SharedSearch(*tree_, *evaluator_, options_, time, stop).Run();
  });
  if (!status.ok()) tree_.reset();
  return status;
}

absl::Status SearchSession::Search(const SearchTime& time,
                                   const std::function<bool()>& stop) {
  SetSimulations(time);
  return Run(time, stop);
}

absl::Status SearchSession::Analyze(
    const AnalysisLimits& limits, const std::function<bool()>& stop,
    const std::function<void(const Tree&)>& report) {
  const int limit =
      limits.simulations > 0 ? limits.simulations : kMaxSimulations;
  const int step = std::max(kStep, options_.leaves_per_game);
  int reported = -1;
  absl::Time next_report = SteadyTime() + limits.interval;
  while (true) {
    tree_->SetSimulations(limit);
    if (tree_->done()) break;
    // One thread proceeds in steps, so that its tree does not depend on the
    // time of a report; several run until the next report, each for at least
    // one batch.
    const bool by_steps = options_.threads == 1 || tree_->root_visits() == 0;
    if (by_steps) {
      tree_->SetSimulations(std::min(limit, tree_->root_visits() + step));
    }
    std::atomic<int> asked = 0;
    TARA_RETURN_IF_ERROR(Run({}, [&] {
      return !by_steps && asked++ >= options_.threads &&
             (stop() || SteadyTime() >= next_report);
    }));
    if (SteadyTime() >= next_report) {
      report(*tree_);
      reported = tree_->root_visits();
      next_report = SteadyTime() + limits.interval;
    }
    if (stop()) break;
  }
  if (tree_->root_visits() != reported) report(*tree_);
  return absl::OkStatus();
}

void SearchSession::Ponder(Action action, int simulations) {
  const Side side = tree_->root().side();
  tree_->Advance(action);
  ++plies_;
  if (tree_->finished() || tree_->root().side() == side) return;
  tree_->SetSimulations(simulations);
  stop_pondering_ = false;
  try {
    pondering_ = std::thread([this] {
      pondered_ = Run({}, [this] {
        return stop_pondering_.load(std::memory_order_relaxed);
      });
    });
  } catch (const std::system_error&) {
  }
}

absl::Status SearchSession::StopPondering() {
  if (!pondering_.joinable()) return absl::OkStatus();
  stop_pondering_ = true;
  pondering_.join();
  return pondered_;
}

}  // namespace tara::mcts
