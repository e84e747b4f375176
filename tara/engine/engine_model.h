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
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "tara/core/state.h"
#include "tara/engine/engine_options.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/bundle/golden.h"
#include "tara/nn/inference/final_forecast.h"
#include "tara/nn/inference_options.h"

namespace tara::engine {

// What the engine judges positions with: a network, or random games. Remembers
// what it was asked. Thread-safe.
class EngineModel : public mcts::Evaluator {
 public:
  // Judges positions by random games, the same for the same seed.
  static std::unique_ptr<EngineModel> OfPlayouts(uint64_t seed,
                                                 int64_t cache_positions);

  // Loads a network for inference. Errors as LoadNetwork.
  static absl::StatusOr<std::unique_ptr<EngineModel>> OfNetwork(
      const std::string& path, const nn::InferenceOptions& inference,
      int64_t cache_positions);

  // Judges with what is given, for measurements and tests: a network, or an
  // evaluator that answers alike for symmetric positions.
  static std::unique_ptr<EngineModel> OfEvaluator(
      std::unique_ptr<mcts::Evaluator> evaluator, int64_t cache_positions);

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override
      ABSL_LOCKS_EXCLUDED(clearing_);

  // Forgets what was asked. Waits for evaluations under way.
  void ClearCache() ABSL_LOCKS_EXCLUDED(clearing_);

  // Until this is called, Evaluate tells no distribution of margins, which
  // would double what is remembered of a position. To be called before a search
  // whose utility asks for it (Utility::needs_margins); forgets what was asked.
  void KeepMargins() ABSL_LOCKS_EXCLUDED(clearing_);

  // Fills `evaluation` with all that the model tells, past what is remembered.
  absl::Status EvaluateFully(const State& state, mcts::Evaluation& evaluation);

  // Tells what the network has learned; until then nothing is known of it.
  // `untrained`: it may be asked about other rules, too. Not thread-safe: to be
  // called before anything else.
  void SetLearned(std::vector<nn::BundleVariant> learned, bool untrained);

  // Returns OK if the model may be asked about a position, else
  // FAILED_PRECONDITION: what of its rules the network has not learned.
  absl::Status CheckMayJudge(const State& state) const;

  // Returns what of a position's rules the network has not learned, as
  // NotLearned (tara/nn/bundle/manifest.h); empty: nothing that is known.
  std::string NotLearnedOf(const State& state) const;

  // What tells the board's end; null: nothing does.
  nn::FinalForecaster* forecaster() const { return forecaster_.get(); }

  // "random games", or the file of the network.
  const std::string& name() const { return name_; }
  // What computes and in which precision; empty for random games.
  const std::string& backend() const { return backend_; }
  const std::string& precision() const { return precision_; }

  // What is usual of searches with it: the network's are the defaults.
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
  std::unique_ptr<nn::FinalForecaster> forecaster_;
  std::optional<std::vector<nn::BundleVariant>> learned_;
  bool untrained_ = false;
  std::string name_;
  std::string backend_;
  std::string precision_;
};

}  // namespace tara::engine

#endif  // TARA_ENGINE_ENGINE_MODEL_H_
