// Positions evaluated per second of processor time by the JSON engine that
// analyses positions of random games, and by self-play with searches of the
// same size: how much of a network's speed the protocol keeps.

#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/game.pb.h"
#include "tara/base/check.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/engine/engine.h"
#include "tara/engine/sessions.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tara/train/play/self_play.h"

namespace tara {
namespace {

constexpr int kSimulations = 100;
constexpr int kInLockstep = 64;
constexpr int kRequests = 1000;
constexpr int kCachedPositions = 1 << 16;

// A small network of random weights, which counts the positions.
class CountingNetwork : public mcts::Evaluator {
 public:
  explicit CountingNetwork(std::atomic<int64_t>* positions)
      : positions_(positions) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    static const nn::LoadedNetwork* const network = new nn::LoadedNetwork(
        nn::MakeNetwork(
            "the network",
            nn::NewCheckpoint({.channels = 32, .blocks = 4}, 1).value(), {})
            .value());
    *positions_ += static_cast<int64_t>(states.size());
    return network->evaluator->Evaluate(states, results);
  }

 private:
  std::atomic<int64_t>* const positions_;
};

void BM_SelfPlay(benchmark::State& bench) {
  train::SelfPlayOptions options;
  options.starts = {InitialState(Variant::kSacredHillL1)};
  options.search.simulations = kSimulations;
  options.search.dirichlet_fraction = 0.25f;
  options.threads = 1;
  options.games_per_thread = kInLockstep;
  std::vector<uint64_t> games(kInLockstep);
  std::iota(games.begin(), games.end(), 0);
  std::atomic<int64_t> positions = 0;
  CountingNetwork network(&positions);
  for (auto _ : bench) {
    mcts::CachingEvaluator cache(
        &network,
        mcts::CachingOptions{.positions = kCachedPositions, .symmetric = true});
    train::SelfPlayStats stats;
    const absl::Status status = train::PlayGames(
        options, games, cache,
        [](const proto::GameRecord&) { return absl::OkStatus(); },
        [] { return false; }, stats);
    TARA_CHECK(status.ok(), "self-play");
  }
  bench.SetItemsProcessed(positions);
}
BENCHMARK(BM_SelfPlay)->MeasureProcessCPUTime()->Unit(benchmark::kSecond);

// Returns requests for positions of random games, any ply as likely as another.
std::string Requests() {
  Random random(1);
  const State start = InitialState(Variant::kSacredHillL1);
  std::string lines;
  for (int i = 0; i < kRequests; ++i) {
    std::vector<std::string> actions;
    for (State state = start; !state.finished();) {
      const Action action = RandomAction(state, random);
      actions.push_back(ActionToText(action, state));
      ApplyAction(action, state);
    }
    actions.resize(random.Below(static_cast<uint32_t>(actions.size())));
    const nlohmann::json request = {{"id", i},
                                    {"variant", "sacred_hill_l1"},
                                    {"actions", actions},
                                    {"report", {"actions", "pv"}}};
    absl::StrAppend(&lines, request.dump(), "\n");
  }
  return lines;
}

void BM_JsonEngine(benchmark::State& bench) {
  const std::string requests = Requests();
  engine::EngineOptions options;
  options.search.simulations = kSimulations;
  options.threads = 1;
  options.positions = kInLockstep;
  std::atomic<int64_t> positions = 0;
  for (auto _ : bench) {
    const std::unique_ptr<engine::EngineModel> model =
        engine::EngineModel::OfEvaluator(
            std::make_unique<CountingNetwork>(&positions), kCachedPositions);
    std::istringstream in(requests);
    std::ostringstream out;
    engine::RunJsonEngine(*model, options, in, out);
    TARA_CHECK(out.str().find("\"error\"") == std::string::npos,
               "an answer of the engine");
  }
  bench.SetItemsProcessed(positions);
}
BENCHMARK(BM_JsonEngine)->MeasureProcessCPUTime()->Unit(benchmark::kSecond);

}  // namespace
}  // namespace tara
