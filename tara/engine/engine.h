#ifndef TARA_ENGINE_ENGINE_H_
#define TARA_ENGINE_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/tree/tree.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/inference_options.h"

namespace tara::engine {

inline constexpr char kEngineName[] = "Tara";
// Version of the line protocol: that of the Go Text Protocol, which it follows.
inline constexpr int kLineProtocolVersion = 2;
// Version of the JSON protocol; raised by changes that clients would notice.
inline constexpr int kJsonProtocolVersion = 1;

// How much of a client's input or of the answers for it waits at most, before
// no more input is read: many requests, as clients may send all of theirs
// before they read an answer, but no more memory than that.
inline constexpr int64_t kMaxWaiting = int64_t{1} << 16;  // requests
inline constexpr size_t kMaxWaitingBytes = size_t{1} << 26;

// How the engine searches. Of `threads` the line protocol has so many for a
// position, and JSON for all of them.
struct EngineOptions : mcts::SessionOptions {
  EngineOptions()
      : SessionOptions{.search = mcts::ForPlay({.simulations = 1000,
                                                .max_bytes = int64_t{1} << 30}),
                       .reuse = true,
                       .confidence_z = mcts::kPlayConfidenceZ} {}

  // Thinking time of an action by the clock, in place of search.simulations;
  // zero: none.
  absl::Duration time = absl::ZeroDuration();
  // JSON: concurrent positions per thread, whose leaves make a batch.
  int positions = 64;
  // The level of strength that was set last, from 1; 0: none. Setting it sets
  // the options that it stands for, which may be changed afterwards.
  int level = 0;
  // Seed of everything that is drawn at random.
  uint64_t seed = 1;
};

// Sets an option by its name, such as "sims" to "400": one of the engine's own
// or of the search (tara/mcts/options/search_options.h). Returns
// INVALID_ARGUMENT naming the value and what was expected, or the options that
// exclude each other; the options are then as before.
absl::Status SetEngineOption(absl::string_view name, absl::string_view value,
                             EngineOptions& options);

// Sets options given as "name=value,name=value"; empty: none.
absl::Status SetEngineOptions(absl::string_view text, EngineOptions& options);

// Returns the options of the engine and of the search that differ from their
// defaults, a line "name value" each.
std::string ListEngineOptions(EngineOptions options);

// Returns all options for --help, a line each.
std::string EngineOptionsHelp();

// The engine's evaluator: a network, or random games. Caches
// evaluations. Thread-safe.
class EngineModel : public mcts::Evaluator {
 public:
  // Evaluates positions by random games, the same for the same seed.
  static std::unique_ptr<EngineModel> OfPlayouts(uint64_t seed,
                                                 int64_t cache_positions);

  // Loads a network for inference. Errors as LoadNetwork.
  static absl::StatusOr<std::unique_ptr<EngineModel>> OfNetwork(
      const std::string& path, const nn::InferenceOptions& inference,
      int64_t cache_positions);

  // Evaluates with the given evaluator, for measurements and tests: a network,
  // or an evaluator that answers alike for symmetric positions.
  static std::unique_ptr<EngineModel> OfEvaluator(
      std::unique_ptr<mcts::Evaluator> evaluator, int64_t cache_positions);

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override
      ABSL_LOCKS_EXCLUDED(clearing_);

  // Drops the evaluations kept. Waits for evaluations under way.
  void ClearCache() ABSL_LOCKS_EXCLUDED(clearing_);

  // Until this is called, Evaluate gives no distribution of margins, which
  // would double the memory of a position. To be called before a search whose
  // utility needs it (Utility::needs_margins); drops the evaluations kept.
  void KeepMargins() ABSL_LOCKS_EXCLUDED(clearing_);

  // Fills `evaluation` with all outputs of the model, without the evaluations
  // kept.
  absl::Status EvaluateFully(const State& state, mcts::Evaluation& evaluation);

  // Sets the rules that the network has learned; until then they are unknown.
  // `untrained`: positions under other rules may be evaluated, too. Not
  // thread-safe: to be called before anything else.
  void SetLearned(std::vector<nn::BundleVariant> learned, bool untrained);

  // Returns OK if the model may evaluate a position, else FAILED_PRECONDITION
  // naming the rules of it that the network has not learned.
  absl::Status CheckLearned(const State& state) const;

  // Returns the rules of a position that the network has not learned, as
  // NotLearned (tara/nn/bundle/manifest.h); empty: none, or unknown.
  std::string NotLearnedOf(const State& state) const;

  // "random games", or the file of the network.
  const std::string& name() const { return name_; }
  // Backend and precision; empty for random games.
  const std::string& backend() const { return backend_; }
  const std::string& precision() const { return precision_; }

  // The defaults of searches with it.
  EngineOptions default_options() const;

 private:
  EngineModel(std::unique_ptr<mcts::Evaluator> evaluator, bool is_network,
              int64_t cache_positions);

  std::unique_ptr<mcts::CachingEvaluator> NewCache(bool margins) const;

  const std::unique_ptr<mcts::Evaluator> evaluator_;
  const bool is_network_;
  const int64_t cache_positions_;
  // Held by readers while they evaluate: the cache is not to change then.
  absl::Mutex clearing_;
  std::unique_ptr<mcts::CachingEvaluator> cache_ ABSL_GUARDED_BY(clearing_);
  bool keeps_margins_ ABSL_GUARDED_BY(clearing_) = false;
  std::optional<std::vector<nn::BundleVariant>> learned_;
  bool untrained_ = false;
  std::string name_;
  std::string backend_;
  std::string precision_;
};

enum class AnalysisEvent {
  kProgress,   // the search continues
  kDone,       // it is over
  kCancelled,  // it was broken off, or never began
  kFailed,     // the evaluator failed, or memory ran out
};

// A position to be searched.
struct AnalysisTask {
  State state;
  mcts::SearchOptions search;  // its solver is the engine's
  uint64_t seed = 1;
  // The search ends after so much time since it began, but not before the first
  // simulation.
  absl::Duration time = absl::InfiniteDuration();
  // The time between reports of progress.
  absl::Duration report_every = absl::InfiniteDuration();
  int priority = 0;  // larger first; of equals the one that was there first
  // Breaks the search off once true; tasks may share it. Null: never.
  std::shared_ptr<const std::atomic<bool>> cancelled = {};
  // Called with the search's progress any number of times, then once at its
  // end. `tree` is null of a search that failed or never began; the status is
  // OK unless it failed. Called from any thread of the engine, or the thread
  // that adds and sweeps; never under a lock.
  std::function<void(AnalysisEvent event, const mcts::Tree* tree,
                     const absl::Status& status)>
      listener = {};
};

// Searches many positions concurrently, with several positions per thread, like
// self-play. The search of a position depends on no other. A small number of
// positions is distributed evenly over the threads. Thread-safe.
class AnalysisEngine {
 public:
  // The evaluator must outlive it. Of the options only threads, positions and
  // leaves_per_game count. Has fewer threads where there cannot be so many;
  // throws std::system_error where there can be none.
  AnalysisEngine(mcts::Evaluator* evaluator, const EngineOptions& options);
  // As Finish.
  ~AnalysisEngine();
  AnalysisEngine(const AnalysisEngine&) = delete;
  AnalysisEngine& operator=(const AnalysisEngine&) = delete;

  // REQUIRES: the position is not finished; not after Finish.
  void Add(AnalysisTask task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends the tasks that wait and are cancelled. (Those under way notice by
  // themselves.)
  void SweepCancelled() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks while kMaxWaiting tasks or more wait.
  void AwaitRoom() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until all tasks are over.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  const mcts::SearchCounters& counters() const { return counters_; }

 private:
  struct Worker;
  class TaskSearch;

  // Blocks until there is a task or there will be no more; whether there is.
  bool AwaitTasks() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the next task for a worker; null: none, or it has its share.
  std::unique_ptr<AnalysisTask> Next(Worker& worker)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A task of the worker is over.
  void Leave(Worker& worker) ABSL_LOCKS_EXCLUDED(mutex_);
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  mcts::Evaluator* const evaluator_;
  const EngineOptions options_;
  mcts::SearchCounters counters_;
  // Tasks that wait; a copy to be looked at without the lock.
  std::atomic<int64_t> num_waiting_ = 0;
  absl::Mutex mutex_;
  // By falling priority, then in the order of arrival.
  std::map<std::pair<int, int64_t>, std::unique_ptr<AnalysisTask>> waiting_
      ABSL_GUARDED_BY(mutex_);
  int64_t arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t searching_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_H_
