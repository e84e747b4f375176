#ifndef TARA_TRAIN_RUN_GENERATION_GAMES_H_
#define TARA_TRAIN_RUN_GENERATION_GAMES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "proto/config.pb.h"
#include "tara/base/stop.h"
#include "tara/record/game_store.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/run_log.h"

namespace tara::train {

// What the self-play of a run uses. All references outlive it.
struct GenerationContext {
  const proto::TrainConfig& config;  // resolved
  record::GameStore& store;
  RunLog& log;
  Progress& progress;
  // Told of each game once the store has it; from several threads. May be
  // empty.
  const std::function<void(uint64_t game_index)>& on_game_stored;
};

// Plays the games that a plan lacks, with the checkpoint at `checkpoint_path`,
// and logs how fast that went. Returns OK when `stop` ends it early, and the
// errors of LoadNetworkEvaluator, PlayGames and the store.
absl::Status PlayGeneration(const GenerationContext& context,
                            const GamePlan& plan,
                            const std::string& checkpoint_path,
                            const StopCheck& stop);

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_GENERATION_GAMES_H_
