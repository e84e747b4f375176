#ifndef TARA_TRAIN_PLAY_SELF_PLAY_GAME_H_
#define TARA_TRAIN_PLAY_SELF_PLAY_GAME_H_

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/game.pb.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/choice/resignation.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/time/stop_rule.h"
#include "tara/mcts/tree/node.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"
#include "tara/record/game_store.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/play/self_play_options.h"

namespace tara::train {

// How many of the positions that games were played for are different: self-play
// that repeats itself teaches little. Symmetric positions are one. Positions of
// openings and those played by proof do not count. Thread-safe.
class DistinctPositions {
 public:
  // Errors as Replay (game_record.h).
  absl::Status Add(const proto::GameRecord& game) ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the distinct ones' share of all; 0 before the first.
  double share() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  mutable absl::Mutex mutex_;
  std::unordered_set<uint64_t> hashes_ ABSL_GUARDED_BY(mutex_);
  int64_t positions_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns what the games of a store that were played on tell of resigning: of
// the newest `window_games` with an index below `end_index`. Depends only on
// the store, so that a run that was stopped goes on with the same thresholds.
// `run_seed` is of the run whose games they are.
// Errors as the store's and of Replay (tara/record/game_record.h).
absl::StatusOr<mcts::ResignationCounts> CountResignations(
    record::GameStore& store, const mcts::ResignationOptions& options,
    uint64_t run_seed, uint64_t end_index, int64_t window_games);

// A game of self-play: its tree, its stream and its record so far. Hands itself
// to the sink when it is over.
class SelfPlayGame : public mcts::SearchedGame {
 public:
  // `solver` may be null. `threshold`: of resigning, in all games of the call.
  // What is handed in must outlive the game.
  SelfPlayGame(const SelfPlayOptions& options, uint64_t game_index,
               mcts::LeafSolver* solver, std::optional<float> threshold,
               const GameSink& sink, SelfPlayStats& stats);

  mcts::Tree& tree() override { return tree_; }
  absl::StatusOr<bool> Play() override;

 private:
  SelfPlayGame(const SelfPlayOptions& options, uint64_t game_index,
               uint64_t seed, mcts::LeafSolver* solver,
               std::optional<float> threshold, const GameSink& sink,
               SelfPlayStats& stats);

  // The options of a turn's search.
  mcts::SearchOptions OptionsOf(const mcts::TurnSearch& turn) const;
  mcts::TurnSearch DrawTurn();

  // How actions are compared by what is proved of them.
  mcts::ChoiceOptions Choice(float temperature) const;
  Action Choose(const std::vector<mcts::RootAction>& actions);
  // Returns the policy target as shares of the actions; empty: the visits.
  std::vector<float> TargetShares(
      const std::vector<mcts::RootAction>& actions) const;
  // Adds an action and what was thought of it to the record.
  void Record(Action action, const std::vector<mcts::RootAction>& actions);
  // Adds to a step what teaches the policy. `actions` were searched.
  void RecordPolicy(const std::vector<mcts::RootAction>& actions,
                    proto::Step& step);

  // An action that keeps what the position is proved to be worth, and the
  // proved bounds of the margin for the side to move.
  struct ProvedPlay {
    Action action;
    mcts::MarginBounds margin;
  };
  // Returns what the tree, or else the solver, proves; nothing where neither
  // can.
  std::optional<ProvedPlay> FindProvedPlay();
  // Plays by proof as far as that goes: to the end, but where the tree has
  // lost what proved the position.
  void PlayByProof();
  // Hands the game to the sink and counts it. `winner` is a side, or -1.
  absl::Status End(int winner);
  void CountResignation(int winner);

  const SelfPlayOptions& options_;
  const GameSink& sink_;
  SelfPlayStats& stats_;
  const mcts::Utility utility_;
  const std::optional<float> threshold_;
  std::optional<mcts::ResignationWatch> watch_;  // where sides may resign
  mcts::SearchOptions search_;                   // of full searches
  Random random_;                                // before what is drawn from it
  const Opening opening_;
  mcts::TurnSearch turn_;
  mcts::Tree tree_;
  proto::GameRecord record_;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_PLAY_SELF_PLAY_GAME_H_
