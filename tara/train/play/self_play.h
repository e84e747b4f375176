#ifndef TARA_TRAIN_PLAY_SELF_PLAY_H_
#define TARA_TRAIN_PLAY_SELF_PLAY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tara/base/stop.h"
#include "tara/mcts/evaluator.h"
#include "tara/train/play/self_play_options.h"

namespace tara::train {

// Plays the games with the given indices, each seat by search with
// `evaluator`, and hands each to `sink` as soon as it is finished. Blocks until
// all are played, or `stop` says so: then unfinished games are dropped and the
// result is OK. Returns the first error of the evaluator or the sink.
// REQUIRES: starts is not empty; none is finished.
absl::Status PlayGames(const SelfPlayOptions& options,
                       absl::Span<const uint64_t> game_indices,
                       mcts::Evaluator& evaluator, const GameSink& sink,
                       const StopCheck& stop, SelfPlayStats& stats);

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_SELF_PLAY_H_
