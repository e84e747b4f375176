#ifndef TARA_ENGINE_ENGINE_MODEL_H_
#define TARA_ENGINE_ENGINE_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
#include "tara/nn/bundle/golden.h"
#include "tara/nn/inference_options.h"

namespace tara::engine {

inline constexpr char kEngineName[] = "Tara";
// Version of the line protocol: that of the Go Text Protocol, which it follows.
inline constexpr int kLineProtocolVersion = 2;
// Version of the JSON protocol; raised by changes that clients would notice.
inline constexpr int kJsonProtocolVersion = 1;

// How the engine searches.
struct EngineOptions {
  mcts::SearchOptions search =
      mcts::ForPlay({.simulations = 1000, .max_bytes = int64_t{1} << 30});
  // Thinking time of an action by the clock, in place of search.simulations;
  // zero: none.
  absl::Duration time = absl::ZeroDuration();
  // Leaves of one position in a batch, at most. More fills the batches of a
  // single position, but chooses leaves knowing less.
  int leaves = 1;
  // Line protocol: threads that search a position together. JSON: threads that
  // search positions.
  int threads = 1;
  // JSON: concurrent positions per thread, whose leaves make a batch.
  int positions = 64;
  // Line protocol: whether to reuse the tree of the previous position.
  bool reuse = true;
  // 0: play the most visited action. Above 0: play the one with the highest
  // lower confidence bound, this many standard errors below its mean.
  float confidence_z = mcts::kPlayConfidenceZ;
  // Actions are drawn from visits^(1/temperature); 0 plays the best.
  float temperature = 0;
  // Above 0, in their place: ChooseWithinMargin (tara/mcts/levels/levels.h).
  float value_margin = 0;
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

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_MODEL_H_
