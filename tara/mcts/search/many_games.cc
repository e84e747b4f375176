#include "tara/mcts/search/many_games.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/base/threads.h"
#include "tara/mcts/solver/endgame_solver.h"

namespace tara::mcts {
namespace {

// Adds up the times of one thread. Without SearchTimes it costs nothing.
class StageTimer {
 public:
  explicit StageTimer(SearchTimes* times) : times_(times) { Skip(); }

  // Adds the time since the last call to a stage.
  void Add(std::atomic<int64_t> SearchTimes::* stage) {
    if (times_ == nullptr) return;
    const absl::Time now = times_->clock();
    (times_->*stage)
        .fetch_add(absl::ToInt64Nanoseconds(now - last_),
                   std::memory_order_relaxed);
    last_ = now;
  }

  // Adds the time since the last call to none.
  void Skip() {
    if (times_ != nullptr) last_ = times_->clock();
  }

 private:
  SearchTimes* const times_;
  absl::Time last_;
};

// A place for a game, and its leaves in flight. Leaves and answers are reused:
// their memory lives through all games of the slot.
struct Slot {
  std::unique_ptr<SearchedGame> game;  // null: nothing to play
  std::vector<Tree::Leaf> leaves;
  std::vector<Evaluation> answers;  // of the leaves
  size_t num_leaves = 0;            // in flight, the first ones of `leaves`
  size_t unanswered = 0;            // of these
};

// Games that gather and evaluate together. A game continues when all of its
// leaves are answered, so its leaves do not depend on the contents of a cache.
class Group {
 public:
  Group(int games, const ManyGamesOptions& options, const GameSource& next_game,
        const std::function<bool()>& stop, Evaluator& evaluator,
        SearchCounters& counters)
      : leaves_per_game_(options.leaves_per_game),
        next_game_(next_game),
        stop_(stop),
        counters_(counters),
        timer_(options.times),
        slots_(games),
        queue_(evaluator.NewQueue()) {
    idle_.resize(slots_.size());
    std::iota(idle_.begin(), idle_.end(), 0);
  }

  // Moves every game on until it waits for an evaluation, or all is played.
  absl::Status Gather() {
    timer_.Skip();
    counters_.batches += std::exchange(batches_, 0);
    counters_.left_waiting += std::exchange(left_waiting_, 0);
    // The source may have games by now.
    ready_.insert(ready_.end(), idle_.begin(), idle_.end());
    idle_.clear();
    while (!ready_.empty()) {
      if (stop_()) {
        stopped_ = true;
        return absl::OkStatus();
      }
      TARA_RETURN_IF_ERROR(MoveReadyOn());
      timer_.Add(&SearchTimes::gather);
      answered_.clear();
      queue_->Submit(requests_, answered_);
      known_ += static_cast<int64_t>(answered_.size());
      TakeAnswers();
      timer_.Add(&SearchTimes::evaluate);
    }
    return absl::OkStatus();
  }

  bool stopped() const { return stopped_; }
  bool waiting() const { return queue_->waiting() > 0; }

  // Evaluates a batch of what waits. The games are not touched.
  absl::Status Evaluate() {
    answered_.clear();
    TARA_RETURN_IF_ERROR(queue_->Evaluate(answered_));
    TakeAnswers();
    ++batches_;
    left_waiting_ += static_cast<int64_t>(queue_->waiting());
    return absl::OkStatus();
  }

  // Gives the trees the answers still due; gives up leaves without one.
  void Close() {
    for (Slot& slot : slots_) {
      if (slot.unanswered == 0) {
        counters_.evaluations += static_cast<int64_t>(slot.num_leaves);
        counters_.simulations += static_cast<int64_t>(slot.num_leaves);
        Apply(slot);
      }
      for (size_t i = 0; i < slot.num_leaves; ++i) {
        slot.game->tree().Cancel(slot.leaves[i]);
      }
      slot.num_leaves = 0;
    }
  }

 private:
  // Collects the slots that can continue: all of their leaves are answered.
  void TakeAnswers() {
    for (const int index : answered_) {
      if (--slots_[index].unanswered == 0) ready_.push_back(index);
    }
  }

  // Gives the ready slots' trees their answers and gathers their next leaves: a
  // tree is touched once while it is in the processor's caches.
  absl::Status MoveReadyOn() {
    requests_.clear();
    int64_t applied = 0;
    for (const int index : ready_) {
      Slot& slot = slots_[index];
      applied += static_cast<int64_t>(slot.num_leaves);
      try {
        Apply(slot);
        TARA_RETURN_IF_ERROR(MoveOn(slot));
        if (slot.answers.size() < slot.num_leaves) {
          slot.answers.resize(slot.num_leaves);
        }
      } catch (const std::bad_alloc&) {
        if (slot.game == nullptr) throw;
        slot.num_leaves = 0;
        const std::unique_ptr<SearchedGame> game = std::move(slot.game);
        TARA_RETURN_IF_ERROR(game->RunOut());
      }
      if (slot.game == nullptr) idle_.push_back(index);
      for (size_t i = 0; i < slot.num_leaves; ++i) {
        requests_.push_back({.state = &slot.leaves[i].state,
                             .result = &slot.answers[i],
                             .tag = index});
      }
      slot.unanswered = slot.num_leaves;
    }
    ready_.clear();
    counters_.evaluations += applied;
    counters_.simulations += applied;
    counters_.known += std::exchange(known_, 0);
    return absl::OkStatus();
  }

  // Gives a slot's tree its answers, in the order in which they were submitted.
  static void Apply(Slot& slot) {
    for (size_t i = 0; i < slot.num_leaves; ++i) {
      slot.game->tree().Apply(slot.leaves[i], slot.answers[i]);
    }
    slot.num_leaves = 0;
  }

  // Goes on with a slot's game, and the games after it, until there are leaves
  // or no game is left to start.
  absl::Status MoveOn(Slot& slot) {
    while (true) {
      if (slot.game == nullptr) {
        timer_.Add(&SearchTimes::gather);
        slot.game = next_game_();
        timer_.Add(&SearchTimes::play);
      }
      if (slot.game == nullptr) return absl::OkStatus();
      if (!slot.game->searched()) GatherLeaves(slot);
      if (slot.num_leaves > 0) return absl::OkStatus();
      if (!slot.game->searched()) continue;
      timer_.Add(&SearchTimes::gather);
      TARA_ASSIGN_OR_RETURN(const bool goes_on, slot.game->Play());
      timer_.Add(&SearchTimes::play);
      if (!goes_on) slot.game = nullptr;
    }
  }

  void GatherLeaves(Slot& slot) {
    Tree& tree = slot.game->tree();
    while (static_cast<int>(slot.num_leaves) < leaves_per_game_ &&
           tree.in_flight() < tree.simulations_left()) {
      if (slot.num_leaves == slot.leaves.size()) slot.leaves.emplace_back();
      const Tree::Gathered gathered = tree.Gather(slot.leaves[slot.num_leaves]);
      if (gathered == Tree::Gathered::kLeaf) {
        ++slot.num_leaves;
      } else if (gathered == Tree::Gathered::kFinished) {
        counters_.simulations += 1;
        if (slot.game->searched()) return;
      } else {
        TARA_CHECK(gathered == Tree::Gathered::kFull || slot.num_leaves > 0,
                   "a leaf in flight, but none of this batch");
        return;
      }
    }
  }

  const int leaves_per_game_;
  const GameSource& next_game_;
  const std::function<bool()>& stop_;
  SearchCounters& counters_;
  StageTimer timer_;
  std::vector<Slot> slots_;
  std::unique_ptr<EvaluationQueue> queue_;
  std::vector<int> ready_;  // slots that can continue
  std::vector<int> idle_;   // slots without a game
  bool stopped_ = false;
  // Not counted yet.
  int64_t batches_ = 0;
  int64_t left_waiting_ = 0;
  int64_t known_ = 0;
  // Kept for their memory: requests of the ready slots, and slots answered.
  std::vector<EvaluationQueue::Request> requests_;
  std::vector<int> answered_;
};

absl::Status PlayOneGroup(Group& group, SearchTimes* times) {
  StageTimer timer(times);
  while (true) {
    TARA_RETURN_IF_ERROR(group.Gather());
    if (group.stopped() || !group.waiting()) return absl::OkStatus();
    timer.Skip();
    TARA_RETURN_IF_ERROR(group.Evaluate());
    timer.Add(&SearchTimes::evaluate);
  }
}

// Evaluates the batches of groups on its own thread, one at a time. Only one
// thread may call Start and Wait.
class EvaluationThread {
 public:
  EvaluationThread() : thread_([this] { Run(); }) {}
  // Waits for a batch under way.
  ~EvaluationThread() {
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &EvaluationThread::IsIdle));
      closed_ = true;
    }
    thread_.join();
  }
  EvaluationThread(const EvaluationThread&) = delete;
  EvaluationThread& operator=(const EvaluationThread&) = delete;

  // Begins with a batch of a group. REQUIRES: Wait was called for the last one.
  void Start(Group* group) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    TARA_CHECK(IsIdle(), "a batch is under way");
    group_ = group;
  }

  // Blocks until the batch is evaluated; returns its status.
  absl::Status Wait() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &EvaluationThread::IsIdle));
    return status_;
  }

 private:
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return group_ == nullptr;
  }
  bool IsCalled() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return group_ != nullptr || closed_;
  }

  void Run() ABSL_LOCKS_EXCLUDED(mutex_) {
    while (true) {
      Group* group = nullptr;
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(this, &EvaluationThread::IsCalled));
        if (closed_) return;
        group = group_;
      }
      const absl::Status status =
          CatchExhaustion([group] { return group->Evaluate(); });
      absl::MutexLock lock(&mutex_);
      status_ = status;
      group_ = nullptr;
    }
  }

  absl::Mutex mutex_;
  Group* group_ ABSL_GUARDED_BY(mutex_) = nullptr;  // whose batch is under way
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // of the last batch
  std::thread thread_;  // last: it uses all of the above
};

// The groups by turns: this one gathers while the other one is evaluated.
absl::Status PlayTwoGroups(absl::Span<Group> groups, SearchTimes* times) {
  StageTimer timer(times);
  EvaluationThread thread;
  bool evaluating = false;
  size_t turn = 0;
  while (true) {
    Group& group = groups[turn];
    turn = 1 - turn;
    TARA_RETURN_IF_ERROR(group.Gather());
    if (group.stopped()) return absl::OkStatus();
    if (evaluating) {
      timer.Skip();
      TARA_RETURN_IF_ERROR(thread.Wait());
      timer.Add(&SearchTimes::evaluate);
      evaluating = false;
    } else if (!group.waiting() && !groups[turn].waiting()) {
      return absl::OkStatus();
    }
    if (!group.waiting()) continue;
    thread.Start(&group);
    evaluating = true;
  }
}

}  // namespace

absl::Status NoMoreSimulations(int made) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for more simulations; ", made, " made"));
}

absl::Status SearchedGame::RunOut() {
  return NoMoreSimulations(tree().root_visits());
}

absl::Status PlayManyGames(const ManyGamesOptions& options,
                           const GameSource& next_game, Evaluator& evaluator,
                           const std::function<bool()>& stop,
                           SearchCounters& counters) {
  TARA_CHECK(options.games >= 1, "games must be >= 1");
  TARA_CHECK(options.leaves_per_game >= 1, "leaves_per_game must be >= 1");
  TARA_CHECK(options.groups == 1 || options.groups == 2,
             "groups must be 1 or 2");
  std::vector<Group> groups;
  const int in_group = (options.games + options.groups - 1) / options.groups;
  for (int i = 0; i < options.groups; ++i) {
    groups.emplace_back(in_group, options, next_game, stop, evaluator,
                        counters);
  }
  const absl::Status status = CatchExhaustion([&] {
    return options.groups == 1
               ? PlayOneGroup(groups[0], options.times)
               : PlayTwoGroups(absl::MakeSpan(groups), options.times);
  });
  // Without memory for that either, the trees are no longer usable.
  CatchExhaustion([&] {
    for (Group& group : groups) group.Close();
    return absl::OkStatus();
  }).IgnoreError();
  return status;
}

absl::Status RunSearches(absl::Span<Tree* const> trees, Evaluator& evaluator,
                         int leaves_per_game) {
  size_t next = 0;
  SearchCounters counters;
  return PlayManyGames(
      {.games = std::max<int>(1, static_cast<int>(trees.size())),
       .leaves_per_game = leaves_per_game},
      [&]() -> std::unique_ptr<SearchedGame> {
        if (next == trees.size()) return nullptr;
        return std::make_unique<OneSearch>(trees[next++]);
      },
      evaluator, [] { return false; }, counters);
}

namespace {

// Positions searched by a thread at a time, and the simulations that the trees
// of all threads may hold together, some 500 bytes each.
constexpr int kMaxTrees = 64;
constexpr int kMaxHeldSimulations = 1000000;

// The search of one position, which hands over its tree at the end.
class PositionSearch : public SearchedGame {
 public:
  PositionSearch(Tree tree, std::function<void(Tree&&)> on_searched)
      : tree_(std::move(tree)), on_searched_(std::move(on_searched)) {}

  Tree& tree() override { return tree_; }
  absl::StatusOr<bool> Play() override {
    on_searched_(std::move(tree_));
    return false;
  }

 private:
  Tree tree_;
  const std::function<void(Tree&&)> on_searched_;
};

}  // namespace

absl::Status SearchPositions(
    absl::Span<const State> positions, const SearchPositionsOptions& options,
    Evaluator& evaluator,
    const std::function<void(size_t place, Tree&& tree)>& on_searched,
    SearchCounters& counters) {
  if (positions.empty()) return absl::OkStatus();
  SharedSolver solver;
  const int count = static_cast<int>(positions.size());
  const int threads = std::clamp(options.threads, 1, count);
  const int share = (count + threads - 1) / threads;
  const int trees = std::max(
      1,
      std::min({share, kMaxTrees,
                kMaxHeldSimulations / options.search.simulations / threads}));
  std::atomic<bool> failed = false;
  const auto stopped = [&] { return options.stop && options.stop(); };
  const auto report = [&] {
    if (options.on_progress) options.on_progress();
  };
  std::atomic<size_t> next = 0;
  const auto next_search = [&]() -> std::unique_ptr<SearchedGame> {
    const size_t place = next++;
    if (place >= positions.size()) return nullptr;
    SearchOptions search = options.search;
    SetForVariant(positions[place].variant, &solver, search);
    return std::make_unique<PositionSearch>(
        Tree(search, positions[place],
             DeriveSeed(options.seed, place, StreamPurpose::kArena)),
        [&on_searched, place](Tree&& tree) {
          on_searched(place, std::move(tree));
        });
  };
  std::vector<absl::Status> statuses(static_cast<size_t>(threads));
  RunOnThreads(threads, [&](int thread) {
    absl::Status& status = statuses[static_cast<size_t>(thread)];
    status = PlayManyGames(
        {.games = trees, .leaves_per_game = options.leaves_per_game},
        next_search, evaluator,
        [&] {
          report();
          return failed || stopped();
        },
        counters);
    if (!status.ok()) failed = true;
  });
  for (const absl::Status& status : statuses) TARA_RETURN_IF_ERROR(status);
  report();
  return stopped() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

}  // namespace tara::mcts
