#include "tara/train/run/pipeline.h"

#include "tara/base/status_macros.h"
#include "tara/train/run/training_run.h"

namespace tara {

absl::StatusOr<TrainSummary> RunTraining(const proto::TrainConfig& config,
                                         const TrainCallbacks& callbacks,
                                         const StopCheck& stop,
                                         Progress& progress) {
  TrainingRun run(config, callbacks, stop, progress);
  TARA_RETURN_IF_ERROR(run.Open());
  return run.Run();
}

}  // namespace tara
