#include "tara/engine/engine_model.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "tara/base/status_macros.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/nn/bundle/manifest.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"

namespace tara::engine {

EngineModel::EngineModel(std::unique_ptr<mcts::Evaluator> evaluator,
                         bool is_network, int64_t cache_positions)
    : evaluator_(std::move(evaluator)),
      is_network_(is_network),
      cache_positions_(cache_positions),
      cache_(NewCache(/*margins=*/false)) {}

std::unique_ptr<mcts::CachingEvaluator> EngineModel::NewCache(
    bool margins) const {
  return std::make_unique<mcts::CachingEvaluator>(
      evaluator_.get(), mcts::CachingOptions{.positions = cache_positions_,
                                             .symmetric = is_network_,
                                             .margins = margins});
}

std::unique_ptr<EngineModel> EngineModel::OfPlayouts(uint64_t seed,
                                                     int64_t cache_positions) {
  auto model = std::unique_ptr<EngineModel>(
      new EngineModel(std::make_unique<mcts::PlayoutEvaluator>(1, seed),
                      /*is_network=*/false, cache_positions));
  model->name_ = "random games";
  return model;
}

absl::StatusOr<std::unique_ptr<EngineModel>> EngineModel::OfNetwork(
    const std::string& path, const nn::InferenceOptions& inference,
    int64_t cache_positions) {
  TARA_ASSIGN_OR_RETURN(nn::LoadedNetwork network,
                        nn::LoadNetwork(path, inference));
  auto model = OfEvaluator(std::move(network.evaluator), cache_positions);
  model->name_ = path;
  model->backend_ = std::string(nn::BackendName(network.info.backend));
  model->precision_ = std::string(nn::PrecisionName(network.info.precision));
  return model;
}

std::unique_ptr<EngineModel> EngineModel::OfEvaluator(
    std::unique_ptr<mcts::Evaluator> evaluator, int64_t cache_positions) {
  auto model = std::unique_ptr<EngineModel>(new EngineModel(
      std::move(evaluator), /*is_network=*/true, cache_positions));
  model->name_ = "network";
  return model;
}

absl::Status EngineModel::Evaluate(absl::Span<const State> states,
                                   absl::Span<mcts::Evaluation> results) {
  absl::ReaderMutexLock lock(&clearing_);
  return cache_->Evaluate(states, results);
}

void EngineModel::ClearCache() {
  absl::WriterMutexLock lock(&clearing_);
  cache_->Clear();
}

void EngineModel::KeepMargins() {
  absl::WriterMutexLock lock(&clearing_);
  if (keeps_margins_) return;
  keeps_margins_ = true;
  cache_ = NewCache(/*margins=*/true);
}

absl::Status EngineModel::EvaluateFully(const State& state,
                                        mcts::Evaluation& evaluation) {
  return evaluator_->Evaluate(absl::MakeConstSpan(&state, 1),
                              absl::MakeSpan(&evaluation, 1));
}

void EngineModel::SetLearned(std::vector<nn::BundleVariant> learned,
                             bool untrained) {
  learned_ = std::move(learned);
  untrained_ = untrained;
}

absl::Status EngineModel::CheckLearned(const State& state) const {
  if (!learned_.has_value() || untrained_) return absl::OkStatus();
  const absl::Status status = nn::CheckNetworkLearned(name_, *learned_, state);
  if (status.ok()) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(status.message(),
                   ". Started with --untrained, the engine answers, marked"));
}

std::string EngineModel::NotLearnedOf(const State& state) const {
  return learned_.has_value() ? nn::NotLearned(*learned_, state) : "";
}

EngineOptions EngineModel::default_options() const {
  EngineOptions options;
  if (!is_network_) {
    options.search.c_puct = mcts::kPlayoutCPuct;
    options.leaves = mcts::kPlayoutLeaves;
  }
  return options;
}

}  // namespace tara::engine
