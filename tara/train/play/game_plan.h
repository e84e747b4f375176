#ifndef TARA_TRAIN_PLAY_GAME_PLAN_H_
#define TARA_TRAIN_PLAY_GAME_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "proto/run_state.pb.h"
#include "tara/core/state.h"
#include "tara/train/store/game_store.h"

namespace tara::train {

// The games of a generation: the indices from `begin` to before `end`.
struct GamePlan {
  int generation = 0;
  int model = 0;  // number of the checkpoint that plays
  uint64_t begin = 0;
  uint64_t end = 0;
  // Of each game, in order: from which of StartPositions it is played.
  std::vector<int> starts;
  std::vector<uint64_t> missing;  // still to be played, ascending

  int64_t size() const { return static_cast<int64_t>(end - begin); }
  int64_t kept() const { return size() - static_cast<int64_t>(missing.size()); }
  int start_of(uint64_t game_index) const { return starts[game_index - begin]; }
};

// Plans a generation whose games follow those of `before`, the plan of the
// generation before it (null: none is recorded; then what the store has tells).
// `shares` are of the variants, in the config's order (mixture.h). Games of the
// generation that the store has already, of a run without records, count.
// Returns DATA_LOSS when neither a record nor the store has the generation
// before, and the store's errors.
absl::StatusOr<proto::GenerationPlan> PlanGeneration(
    const proto::TrainConfig& config, GameStore& store, int generation,
    int model, const proto::GenerationPlan* before,
    const std::vector<double>& shares);

// Returns a recorded plan with the games that the store lacks: what is to be
// played depends on record and store alone, so that a run that was stopped goes
// on with the same games.
// Returns FAILED_PRECONDITION if the plan is for other variants than the
// config, and the store's errors.
absl::StatusOr<GamePlan> ExpandPlan(const proto::TrainConfig& config,
                                    GameStore& store,
                                    const proto::GenerationPlan& recorded);

// Returns the recorded plans of which the store lacks games with an index from
// `begin` to before `end`, ascending, each with those games as the missing
// ones. Returns DATA_LOSS if the store lacks a game of no recorded plan, and
// the errors of ExpandPlan.
absl::StatusOr<std::vector<GamePlan>> LostGames(
    const proto::TrainConfig& config, GameStore& store,
    const proto::RunState& state, uint64_t begin, uint64_t end);

// Returns the start positions of the config's variants, in its order. Rule
// options go to the variants that have them. Returns INVALID_ARGUMENT for an
// unknown variant, and for an option that is wrong or that none of the variants
// has.
absl::StatusOr<std::vector<State>> StartPositions(
    const proto::TrainConfig& config);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_GAME_PLAN_H_
