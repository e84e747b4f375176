#ifndef TARA_TRAIN_PLAY_RESIGNATION_HISTORY_H_
#define TARA_TRAIN_PLAY_RESIGNATION_HISTORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tara/mcts/choice/resignation.h"
#include "tara/train/store/game_store.h"

namespace tara::train {

// Returns what the games of a store that were played on tell of resigning: of
// the newest `window_games` with an index below `end_index`. Depends only on
// the store, so that a run that was stopped goes on with the same thresholds.
// `run_seed` is of the run whose games they are.
// Errors as the store's and of Replay (tara/record/game_record.h).
absl::StatusOr<mcts::ResignationCounts> CountResignations(
    GameStore& store, const mcts::ResignationOptions& options,
    uint64_t run_seed, uint64_t end_index, int64_t window_games);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_RESIGNATION_HISTORY_H_
