#ifndef TARA_TRAIN_GAME_PLAN_H_
#define TARA_TRAIN_GAME_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "tara/core/state.h"
#include "tara/train/game_store.h"

namespace tara {

// The games of a generation: the indices from `begin` to before `end`.
struct GamePlan {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<uint64_t> missing;  // still to be played, ascending

  int64_t size() const { return static_cast<int64_t>(end - begin); }
  int64_t kept() const { return size() - static_cast<int64_t>(missing.size()); }
};

// Returns the plan of a generation of `games` games, which follow those of the
// generation before it in the store. What is planned depends only on the store,
// so a run that was stopped goes on with the same games. A generation that has
// more games already (the config has changed) keeps them.
// Returns DATA_LOSS when the store lacks the generation before, and the
// store's errors.
absl::StatusOr<GamePlan> PlanGames(GameStore& store, int generation,
                                   int64_t games);

// Returns the start positions of the config's variants, in its order: game
// index i is played from the (i mod n)-th. Rule options go to the variants that
// have them. Returns INVALID_ARGUMENT for an unknown variant, and for an option
// that is wrong or that none of the variants has.
absl::StatusOr<std::vector<State>> StartPositions(
    const proto::TrainConfig& config);

}  // namespace tara

#endif  // TARA_TRAIN_GAME_PLAN_H_
