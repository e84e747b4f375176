#ifndef TARA_TRAIN_PROGRESS_PROGRESS_TEXT_H_
#define TARA_TRAIN_PROGRESS_PROGRESS_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tara/train/strength.h"

namespace tara::train {

// Mean losses as they are shown.
struct LossSummary {
  double total = 0;
  double policy = 0;
  double value = 0;
  double margin = 0;
  double owner = 0;  // of auxiliary heads; 0: none
  double kingdoms = 0;
  double reply = 0;
};

// What a stretch of self-play came to.
struct SelfPlayRates {
  int64_t games = 0;
  double seconds = 0;
  double games_per_second = 0;
  double evaluations_per_second = 0;
  double positions_per_batch = 0;
  // Of the leaves of all games in step: those that waited when a batch was
  // made.
  double batch_fill = 0;
  // Of the batches that threads share, without those that the cache answered;
  // 0: they share none.
  double positions_per_merged_batch = 0;
  double cached_share = 0;  // of the evaluations: answered without the network
  // Of the positions that games were played for: different ones, where
  // symmetric ones are one.
  double distinct_share = 0;
  // Simulations need no evaluation where the game ends, is solved, or where
  // other lines have been.
  double simulations_per_second = 0;
  double simulations_per_evaluation = 0;
  double graph_share = 0;   // of the simulations: ended where others had been
  double solved_share = 0;  // of the simulations: asked the endgame solver
  double full_share = 0;    // of the actions: by a full search
  double proof_share = 0;   // of the actions: by proof, without a search
  // Resigning: see SelfPlayStats.
  int64_t resigned = 0;
  int64_t played_on = 0;
  int64_t resignable = 0;
  int64_t resignable_not_lost = 0;
};

// Where a run of training stands at one moment.
struct ProgressSnapshot {
  std::string run_dir;
  int generation = 0;   // being learned, or whose games are played for it
  int generations = 0;  // of the run
  // What is going on; self-play may go on beside the others.
  bool playing = false;
  bool learning = false;
  bool evaluating = false;

  int playing_generation = 0;
  int64_t games = 0;  // of that generation, finished
  int64_t games_wanted = 0;
  SelfPlayRates rates;

  int64_t steps = 0;  // of the generation
  int64_t steps_wanted = 0;
  bool has_losses = false;
  LossSummary losses;
  bool has_held_out = false;
  LossSummary held_out;  // after the last generation, the mean of the variants
  double learning_rate = 0;
  int64_t window_games = 0;
  int64_t window_positions = 0;

  StrengthProgress evaluated;  // of the evaluation going on

  std::string gate;  // how the gate stands; empty: there is none

  int strength_generation = -1;  // of the checkpoint; -1: none yet
  std::vector<StrengthResult> strength;
  absl::Duration time_left = absl::InfiniteDuration();  // infinite: unknown
};

// Returns the status block, a string a line, none wider than `width` columns.
std::vector<std::string> ProgressBlock(const ProgressSnapshot& snapshot,
                                       int width);

// Returns the same in one line, for logs.
std::string ProgressLine(const ProgressSnapshot& snapshot);

// Returns "random 98 % [95, 100]  greedy 71 % [63, 79]"; the variants are named
// when there are several.
std::string StrengthText(const std::vector<StrengthResult>& strength);

}  // namespace tara::train

#endif  // TARA_TRAIN_PROGRESS_PROGRESS_TEXT_H_
