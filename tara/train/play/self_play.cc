#include "tara/train/play/self_play.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tara/base/check.h"
#include "tara/base/threads.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/train/play/self_play_game.h"

namespace tara::train {
namespace {

// The games still to be started and what the workers share. Thread-safe.
class GameQueue {
 public:
  GameQueue(absl::Span<const uint64_t> game_indices, const StopCheck& stop)
      : game_indices_(game_indices), stop_(stop) {}

  // Returns false when every game has been started.
  bool NextGame(uint64_t& game_index) {
    const size_t next = next_.fetch_add(1, std::memory_order_relaxed);
    if (next >= game_indices_.size()) return false;
    game_index = game_indices_[next];
    return true;
  }

  bool stopped() const {
    return failed_.load(std::memory_order_relaxed) || stop_();
  }

  // Stops the other workers; the first error is kept.
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_) {
    failed_.store(true, std::memory_order_relaxed);
    absl::MutexLock lock(&mutex_);
    status_.Update(status);
  }

  absl::Status status() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  const absl::Span<const uint64_t> game_indices_;
  const StopCheck& stop_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// Measures the time that another solver takes.
class TimedSolver : public mcts::LeafSolver {
 public:
  TimedSolver(mcts::LeafSolver* solver, SelfPlayTimes* times)
      : solver_(solver), times_(times) {}

  std::optional<int> SolveRedMargin(const State& state) override {
    const absl::Time begin = times_->clock();
    const std::optional<int> margin = solver_->SolveRedMargin(state);
    times_->solve += absl::ToInt64Nanoseconds(times_->clock() - begin);
    return margin;
  }

 private:
  mcts::LeafSolver* const solver_;
  SelfPlayTimes* const times_;
};

// Adds the time of one worker.
class WorkerTime {
 public:
  explicit WorkerTime(SelfPlayTimes* times) : times_(times) {
    if (times_ != nullptr) begin_ = times_->clock();
  }
  WorkerTime(const WorkerTime&) = delete;
  WorkerTime& operator=(const WorkerTime&) = delete;
  ~WorkerTime() {
    if (times_ == nullptr) return;
    const int64_t time = absl::ToInt64Nanoseconds(times_->clock() - begin_);
    times_->workers += time;
    int64_t longest = times_->longest_worker;
    while (longest < time &&
           !times_->longest_worker.compare_exchange_weak(longest, time)) {
    }
  }

 private:
  SelfPlayTimes* const times_;
  absl::Time begin_;
};

// Plays games of the queue until there are no more: one thread's work.
absl::Status PlayAsWorker(const SelfPlayOptions& options, int in_step,
                          mcts::Evaluator& evaluator, const GameSink& sink,
                          GameQueue& queue, SelfPlayStats& stats) {
  const WorkerTime worker_time(options.times);
  std::optional<mcts::EndgameSolver> solver;
  std::optional<TimedSolver> timed_solver;
  mcts::LeafSolver* leaf_solver = nullptr;
  if (options.search.proof && options.search.solver_vacant_hills > 0) {
    leaf_solver = &solver.emplace();
    if (options.times != nullptr) {
      leaf_solver = &timed_solver.emplace(leaf_solver, options.times);
    }
  }
  const std::optional<float> threshold =
      options.resignation_counts.ChooseThreshold(options.resignation);
  const mcts::ManyGamesOptions many = {
      .games = in_step,
      .leaves_per_game = options.leaves_per_game,
      .groups = options.evaluation_groups,
      .times = options.times};
  return mcts::PlayManyGames(
      many,
      [&]() -> std::unique_ptr<mcts::SearchedGame> {
        uint64_t game_index;
        if (!queue.NextGame(game_index)) return nullptr;
        return std::make_unique<SelfPlayGame>(options, game_index, leaf_solver,
                                              threshold, sink, stats);
      },
      evaluator, [&] { return queue.stopped(); }, stats);
}

}  // namespace

absl::Status PlayGames(const SelfPlayOptions& options,
                       absl::Span<const uint64_t> game_indices,
                       mcts::Evaluator& evaluator, const GameSink& sink,
                       const StopCheck& stop, SelfPlayStats& stats) {
  TARA_CHECK(!options.starts.empty(), "self-play without a start position");
  if (game_indices.empty()) return absl::OkStatus();
  // Games of a variant are about equally long: rather than a last wave of a few
  // games with small batches, all waves are made equally large.
  const int threads = std::max(options.threads, 1);
  const int games = static_cast<int>(game_indices.size());
  const int most = std::max(options.games_per_thread, 1) * threads;
  const int waves = (games + most - 1) / most;
  const int in_step = (games + waves * threads - 1) / (waves * threads);
  const int in_group =
      (in_step + options.evaluation_groups - 1) / options.evaluation_groups;
  stats.batch_room = in_group * options.leaves_per_game;

  GameQueue queue(game_indices, stop);
  RunOnThreads(threads, [&](int) {
    const absl::Status status =
        PlayAsWorker(options, in_step, evaluator, sink, queue, stats);
    if (!status.ok()) queue.Fail(status);
  });
  return queue.status();
}

}  // namespace tara::train
