#include "tara/train/self_play.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/rules.h"
#include "tara/record/game_record.h"

namespace tara {
namespace {

// A game that is being played: its tree, its stream and its record so far.
// Owned by one worker.
class Game {
 public:
  Game(const SelfPlayOptions& options, uint64_t game_index)
      : Game(options, game_index,
             DeriveSeed(options.run_seed, game_index,
                        StreamPurpose::kSelfPlay)) {}

  Tree& tree() { return tree_; }
  Tree::Leaf& leaf() { return leaf_; }
  bool finished() const { return tree_.root().finished(); }

  // Plays an action by the root's visits. REQUIRES: the tree is done.
  void Play();

  // REQUIRES: finished().
  const proto::GameRecord& Finish() {
    SetResult(tree_.root(), record_);
    return record_;
  }

 private:
  Game(const SelfPlayOptions& options, uint64_t game_index, uint64_t seed)
      : options_(options),
        random_(seed),
        tree_(options.search, Start(options, game_index), random_()),
        record_(NewGameRecord(tree_.root(), {.seed = seed,
                                             .model_id = options.model_id,
                                             .generation = options.generation,
                                             .game_index = game_index})) {}

  static const State& Start(const SelfPlayOptions& options,
                            uint64_t game_index) {
    return options.starts[game_index % options.starts.size()];
  }

  const SelfPlayOptions& options_;
  Random random_;  // before tree_, which is seeded from it
  Tree tree_;
  Tree::Leaf leaf_;
  proto::GameRecord record_;
};

void Game::Play() {
  const std::vector<RootAction> actions = tree_.root_actions();
  const bool draws = record_.steps_size() < options_.temperature_plies;
  const Action action =
      ChooseAction(actions, draws ? options_.temperature : 0.0f, random_);
  proto::Step& step = AddStep(action, record_);
  for (const RootAction& candidate : actions) {
    if (candidate.visits == 0) continue;
    step.add_visited_action(static_cast<uint32_t>(Index(candidate.action)));
    step.add_visits(static_cast<uint32_t>(candidate.visits));
  }
  step.set_root_value(std::clamp(tree_.root_value(), -1.0f, 1.0f));
  tree_.Advance(action);
}

// The games still to be started and what the workers share. Thread-safe.
class Work {
 public:
  Work(absl::Span<const uint64_t> game_indices, const StopCheck& stop)
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

// Plays many games in step on one thread: a leaf of each makes a batch.
class Worker {
 public:
  Worker(const SelfPlayOptions& options, int num_games, Work& work,
         Evaluator& evaluator, const GameSink& sink, SelfPlayStats& stats)
      : options_(options),
        work_(work),
        evaluator_(evaluator),
        sink_(sink),
        stats_(stats),
        games_(num_games) {}

  absl::Status Run() {
    results_.resize(games_.size());
    while (!work_.stopped()) {
      TARA_RETURN_IF_ERROR(GatherBatch());
      if (states_.empty()) return absl::OkStatus();
      const auto results = absl::MakeSpan(results_).first(states_.size());
      TARA_RETURN_IF_ERROR(evaluator_.Evaluate(states_, results));
      stats_.batches += 1;
      stats_.evaluations += static_cast<int64_t>(states_.size());
      stats_.simulations += static_cast<int64_t>(states_.size());
      for (size_t i = 0; i < states_.size(); ++i) {
        in_batch_[i]->tree().Apply(in_batch_[i]->leaf(), results[i]);
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status GatherBatch() {
    states_.clear();
    in_batch_.clear();
    for (std::unique_ptr<Game>& game : games_) {
      TARA_RETURN_IF_ERROR(WalkToLeaf(game));
      if (game == nullptr) continue;
      states_.push_back(game->leaf().state);
      in_batch_.push_back(game.get());
    }
    return absl::OkStatus();
  }

  // Goes on with a slot's game, and the games after it, until a leaf needs an
  // evaluation. Empties the slot when no game is left to start.
  absl::Status WalkToLeaf(std::unique_ptr<Game>& game) {
    while (true) {
      if (game == nullptr) {
        uint64_t game_index;
        if (!work_.NextGame(game_index)) return absl::OkStatus();
        game = std::make_unique<Game>(options_, game_index);
      }
      if (game->tree().done()) {
        game->Play();
        stats_.plies += 1;
        if (!game->finished()) continue;
        TARA_RETURN_IF_ERROR(sink_(game->Finish()));
        stats_.games += 1;
        game = nullptr;
        continue;
      }
      const Tree::Gathered gathered = game->tree().Gather(game->leaf());
      if (gathered == Tree::Gathered::kLeaf) return absl::OkStatus();
      TARA_CHECK(gathered == Tree::Gathered::kFinished,
                 "a tree with no leaf in flight met one");
      stats_.simulations += 1;
    }
  }

  const SelfPlayOptions& options_;
  Work& work_;
  Evaluator& evaluator_;
  const GameSink& sink_;
  SelfPlayStats& stats_;
  std::vector<std::unique_ptr<Game>> games_;  // slots; null: nothing to play
  // The batch, in parallel, and the evaluations, kept for their memory.
  std::vector<State> states_;
  std::vector<Game*> in_batch_;
  std::vector<Evaluation> results_;
};

}  // namespace

absl::Status PlayGames(const SelfPlayOptions& options,
                       absl::Span<const uint64_t> game_indices,
                       Evaluator& evaluator, const GameSink& sink,
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

  Work work(game_indices, stop);
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([&] {
      Worker worker(options, in_step, work, evaluator, sink, stats);
      const absl::Status status = worker.Run();
      if (!status.ok()) work.Fail(status);
    });
  }
  for (std::thread& thread : pool) thread.join();
  return work.status();
}

}  // namespace tara
