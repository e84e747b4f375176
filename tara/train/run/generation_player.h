#ifndef TARA_TRAIN_RUN_GENERATION_PLAYER_H_
#define TARA_TRAIN_RUN_GENERATION_PLAYER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/fleet.pb.h"
#include "tara/base/threads.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/train/play/self_play.h"

namespace tara::train {

// Plays games of a generation in this process: those of a run, or on a worker
// of a fleet, as the other side of PlayOnFleet. One call at a time.
class GenerationPlayer {
 public:
  // Plays with the network in a file, on this many threads: by the inference
  // of the config, or else the best for the device. Errors as LoadNetwork.
  static absl::StatusOr<std::unique_ptr<GenerationPlayer>> Create(
      const proto::PlayRequest& request, const std::string& checkpoint,
      int threads = 1, const std::string& device = "");

  // Returns NumericClassOf the network on positions of the games' rules.
  absl::StatusOr<std::string> NumericClass() const;

  // Plays games by their index in the run, as PlayGames; sets the shares of
  // `stats` too. `on_all_started`: as in SelfPlayOptions.
  absl::Status Play(absl::Span<const uint64_t> games, const GameSink& sink,
                    const StopCheck& stop, SelfPlayStats& stats,
                    const std::function<void()>& on_all_started = {});

  // The same, of a worker: adds games to `played`, until `stop` is true.
  // Returns INVALID_ARGUMENT for an index that is not of the generation.
  absl::Status Play(absl::Span<const uint64_t> games, const StopCheck& stop,
                    proto::PlayedGames& played);

 private:
  GenerationPlayer() = default;

  nn::LoadedNetwork network_;
  SelfPlayOptions options_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  std::unique_ptr<mcts::CachingEvaluator> cache_;
  std::unique_ptr<mcts::Evaluator> warm_start_;  // null: the network plays
};

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_GENERATION_PLAYER_H_
