#ifndef TARA_TRAIN_RUN_FLEET_PLAYER_H_
#define TARA_TRAIN_RUN_FLEET_PLAYER_H_

#include "absl/status/status.h"
#include "tara/base/stop.h"
#include "tara/fleet/fleet.h"
#include "tara/train/progress/progress.h"
#include "tara/train/run/pipeline.h"

namespace tara::train {

// Has a run's games played by a fleet: a GamePlayer. `progress` shows what the
// fleet does. Errors as Fleet::Play.
absl::Status PlayOnFleet(fleet::Fleet& fleet, const SelfPlayJob& job,
                         const GamesSink& sink, const StopCheck& stop,
                         Progress& progress);

}  // namespace tara::train

#endif  // TARA_TRAIN_RUN_FLEET_PLAYER_H_
