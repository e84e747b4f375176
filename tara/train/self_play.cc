#include "tara/train/self_play.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/core/rules.h"
#include "tara/record/game_record.h"

namespace tara {
namespace {

// A game that is being played: its tree, its stream and its record so far.
// Hands itself to the sink when it is over.
class Game : public SearchedGame {
 public:
  Game(const SelfPlayOptions& options, uint64_t game_index,
       const GameSink& sink, SelfPlayStats& stats)
      : Game(options, game_index,
             DeriveSeed(options.run_seed, game_index, StreamPurpose::kSelfPlay),
             sink, stats) {}

  Tree& tree() override { return tree_; }
  absl::StatusOr<bool> Play() override;

 private:
  Game(const SelfPlayOptions& options, uint64_t game_index, uint64_t seed,
       const GameSink& sink, SelfPlayStats& stats)
      : options_(options),
        sink_(sink),
        stats_(stats),
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

  // Plays an action by the root's visits and records it.
  void PlayAction();

  const SelfPlayOptions& options_;
  const GameSink& sink_;
  SelfPlayStats& stats_;
  Random random_;  // before tree_, which is seeded from it
  Tree tree_;
  proto::GameRecord record_;
};

absl::StatusOr<bool> Game::Play() {
  PlayAction();
  stats_.plies += 1;
  if (!tree_.finished()) return true;
  SetResult(tree_.root(), record_);
  TARA_RETURN_IF_ERROR(sink_(record_));
  stats_.games += 1;
  return false;
}

void Game::PlayAction() {
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
      const absl::Status status = PlayManyGames(
          {.games = in_step},
          [&]() -> std::unique_ptr<SearchedGame> {
            uint64_t game_index;
            if (!work.NextGame(game_index)) return nullptr;
            return std::make_unique<Game>(options, game_index, sink, stats);
          },
          evaluator, [&] { return work.stopped(); }, stats);
      if (!status.ok()) work.Fail(status);
    });
  }
  for (std::thread& thread : pool) thread.join();
  return work.status();
}

}  // namespace tara
