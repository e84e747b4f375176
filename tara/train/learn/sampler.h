#ifndef TARA_TRAIN_LEARN_SAMPLER_H_
#define TARA_TRAIN_LEARN_SAMPLER_H_

// Which games are learned from: how many of the newest, and which of them only
// measure.

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "tara/base/random.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_store.h"
#include "tara/train/learn/sampled_game.h"

namespace tara::train {

struct WindowOptions {
  int max_games = 2000;  // the newest; positive
  // With a growth a, the window has only
  //   c * (1 + b * ((N / c)^a - 1) / a)
  // of the N games of the run, c being min_games and b the growth's rate at the
  // start: early games, of a weak player, leave it soon, and it grows as what
  // is learned changes less. 0: it has max_games from the start.
  // Source: Wu 2019 (arXiv:1902.10565), appendix C, with a = 0.75, b = 0.4, in
  // samples; here in games, whose number is known even where old ones are gone.
  double growth = 0;
  double growth_rate = 0.4;  // in (0, 1], so that the window never goes back
  int min_games = 250;       // positive
};

// Returns how many of the newest games are learned from when a run has played
// `games`. Of runs with fewer games these are all there are.
// REQUIRES: growth in [0, 1].
int64_t WindowGames(const WindowOptions& options, int64_t games);

// Whether a game is held out: never learned from, so that its losses are those
// on games not seen. About `share` of the games of any run. Depends on nothing
// else, so that a game stays held out or not.
bool IsHeldOut(double share, uint64_t run_seed, uint64_t game_index);

struct SamplerOptions {
  WindowOptions window = {};
  TargetOptions targets = {};
  // Part of the games that are never learned from (IsHeldOut).
  double held_out_share = 0;
  // A variant has a share of the samples in proportion to
  //   (its games in the window)^(1 - variant_balance):
  // 0: in proportion to its games; 1: equal shares. Never by positions, of
  // which long games have more.
  double variant_balance = 0;
};

// Draws training samples from a sliding window of the newest games of a store.
// Games are decoded and replayed once, as they enter the window. Thread-safety:
// one owner; const functions may run at the same time.
class Sampler {
 public:
  // `store` must outlive the sampler. REQUIRES: options are in their ranges.
  Sampler(record::GameStore& store, const SamplerOptions& options,
          uint64_t run_seed);

  // Moves the window to the newest games with an index below `end_index`,
  // which is how many games the run has had.
  // Errors as the store's; DATA_LOSS for a game that is damaged or, though
  // listed, missing: the window stays where it was. FAILED_PRECONDITION where
  // the window has games, but none to learn from.
  absl::Status MoveWindow(uint64_t end_index);

  // Returns the batch of a step: a variant is drawn (variant_balance), then one
  // of its positions in the window by weight, then a symmetry, uniformly.
  // Depends only on the run's seed, the step and the window.
  // REQUIRES: positions() > 0.
  std::vector<nn::Sample> Batch(int64_t step, int size) const;

  // Games of the window that are learned from, and the positions that can be
  // drawn of them.
  int64_t games() const { return learned_.games; }
  int64_t positions() const { return learned_.positions(); }
  // Of the games with an index of at least `begin_index`.
  int64_t PositionsFrom(uint64_t begin_index) const;

  // Variants with held-out positions in the window, in the order of kVariants.
  std::vector<Variant> HeldOutVariants() const;
  int64_t held_out_games() const { return held_out_.games; }
  int64_t HeldOutPositions(Variant variant) const;
  // Returns at most `size` held-out positions of a variant, evenly spaced over
  // the window; constant for the same window.
  std::vector<nn::Sample> HeldOutSamples(Variant variant, int size) const;

 private:
  // A position of the window.
  struct Place {
    uint32_t game;  // in games_
    uint32_t ply;
  };
  // Positions of one variant, with the sums of their weights up to each.
  struct Pool {
    int64_t games = 0;
    std::vector<Place> places;
    std::vector<uint64_t> last_weights;
  };
  // Positions of one side of the window: those to learn, or those held out.
  struct Positions {
    int64_t games = 0;
    std::array<Pool, kNumVariants> pools;

    int64_t positions() const;
    void Add(const SampledGame& game, uint32_t place, bool weighted);
  };

  void FillPools();
  nn::Sample SampleAt(const Place& place, Random* random) const;

  record::GameStore& store_;
  const SamplerOptions options_;
  const uint64_t run_seed_;
  // [variant, seat]: what SymmetriesToSeatZero returns.
  std::array<std::array<std::vector<Symmetry>, 4>, kNumVariants> symmetries_;
  std::deque<SampledGame> games_;  // by increasing index
  Positions learned_;
  Positions held_out_;
  std::vector<double> last_shares_;  // of variants up to each; the last is all
};

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_SAMPLER_H_
