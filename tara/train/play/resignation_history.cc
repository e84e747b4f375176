#include "tara/train/play/resignation_history.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "proto/game.pb.h"
#include "tara/base/random.h"
#include "tara/base/status_macros.h"
#include "tara/record/game_record.h"

namespace tara::train {

absl::StatusOr<mcts::ResignationCounts> CountResignations(
    GameStore& store, const mcts::ResignationOptions& options,
    uint64_t run_seed, uint64_t end_index, int64_t window_games) {
  TARA_ASSIGN_OR_RETURN(const std::vector<uint64_t> indices, store.Indices({}));
  const auto end = std::lower_bound(indices.begin(), indices.end(), end_index);
  mcts::ResignationCounts counts;
  for (auto it = end - std::min<int64_t>(end - indices.begin(), window_games);
       it != end; ++it) {
    const uint64_t seed =
        DeriveSeed(run_seed, *it, StreamPurpose::kResignation);
    if (!mcts::IsPlayedOn(options, seed)) continue;
    TARA_ASSIGN_OR_RETURN(const proto::GameRecord record, store.Get(*it));
    TARA_ASSIGN_OR_RETURN(const record::ReplayedGame game,
                          record::Replay(record));
    // Resigned under another share of games to be played on.
    if (game.resigned_by.has_value()) continue;
    mcts::ResignationWatch watch(options, std::nullopt, /*played_on=*/true);
    for (auto ply = static_cast<int>(record.opening_plies());
         ply < record.steps_size(); ++ply) {
      watch.Observe(game.states[ply].side(), record.steps(ply).root_value());
    }
    watch.AddTo(counts, game.outcome.winner());
  }
  return counts;
}

}  // namespace tara::train
