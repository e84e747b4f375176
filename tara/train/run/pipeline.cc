#include "tara/train/run/pipeline.h"

#include "tara/base/status_macros.h"
#include "tara/train/config/device_check.h"
#include "tara/train/folder/checkpoints.h"
#include "tara/train/folder/run_folder.h"
#include "tara/train/run/training_run.h"

namespace tara::train {

absl::Status CheckRun(const proto::TrainConfig& config) {
  TARA_ASSIGN_OR_RETURN(const proto::TrainConfig resumed,
                        CheckRunFolder(config));
  TARA_RETURN_IF_ERROR(CheckDevices(resumed));
  return CheckInitFrom(resumed);
}

absl::StatusOr<TrainSummary> RunTraining(const proto::TrainConfig& config,
                                         const TrainCallbacks& callbacks,
                                         const StopCheck& stop,
                                         Progress& progress) {
  TrainingRun run(config, callbacks, stop, progress);
  TARA_RETURN_IF_ERROR(run.Open());
  return run.Run();
}

}  // namespace tara::train
