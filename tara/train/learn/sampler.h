#ifndef TARA_TRAIN_LEARN_SAMPLER_H_
#define TARA_TRAIN_LEARN_SAMPLER_H_

// The training samples of games, and the choice of games: how many of the
// newest, and which of them are held out.

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/game.pb.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"

namespace tara::train {

// --- A game as samples -------------------------------------------------------

// Mixes value targets from the outcome of the game and the root values of its
// searches.
struct ValueTargetOptions {
  // The share of the searches, s below; the rest is the outcome's. 0: the
  // outcome alone, which is noisy but right on average.
  float search_share = 0;
  // The searches are averaged over about this many plies after the position;
  // the outcome stands for later ones. At least 1.
  float horizon = 16;
};

// The value target of a position, for the side to move there.
struct ValueTarget {
  float value = 0;  // win minus loss probability
  float draw = 0;   // probability; value + draw and draw - value are at most 1

  // Probabilities of win, draw and loss; sum to 1.
  std::array<float, 3> result() const {
    return {(1 - draw + value) / 2, draw, (1 - draw - value) / 2};
  }
};

// Returns the value targets of the positions before each step of a record.
//
// With z the outcome (1 won, 0 drawn, -1 lost), q_k the root value of the
// search k plies later, both for the side to move at the position (by side,
// never by parity), and n the plies to the end, a target is
//
//   (1 - s) z + s ((1 - a) sum_{k < n} a^k q_k + a^n z),   a = 1 - 1 / horizon.
//
// Where the result is proved it takes the place of everything that comes later:
// such a position has the proved result as its target, and counts as that
// result for the positions before it. Plies without a search are skipped. The
// draws that a search expected are not recorded: draws only have the share of
// the outcome.
//
// Source: the average with a horizon is that of KataGo's short-term value
// targets, docs/KataGoMethods.md; mixing outcome and search, Willemsen, Baier
// and Kaisers 2022, "Value targets in off-policy AlphaZero".
//
// REQUIRES: `game` is the record's; root values are win minus loss (not of
// another utility) where search_share > 0; horizon >= 1.
std::vector<ValueTarget> ValueTargets(const proto::GameRecord& record,
                                      const record::ReplayedGame& game,
                                      const ValueTargetOptions& options);

// A game as positions and targets, packed for memory: about 90 bytes a
// position and 4 an action of a policy target.
struct SampledGame {
  struct Position {
    State state;
    ValueTarget value;
    uint32_t first_target;  // in `targets`
    uint16_t num_targets;   // 0: the position teaches no policy
    int16_t reply;          // the opponent's next position with targets, or -1
    int8_t margin;          // own points minus the opponent's
    bool has_margin;
    // False for actions that were drawn at random or played only by a proof.
    bool is_taught;
    // Before a swap that has transposed the board: hills were elsewhere.
    bool is_transposed = false;
  };
  // One action of a policy target; its share is in proportion to the weight.
  struct Target {
    uint16_t action;
    uint16_t weight;
  };

  uint64_t game_index = 0;
  Variant variant = Variant::kSacredHillL1;
  std::vector<Position> positions;  // one per step
  std::vector<Target> targets;
  // The end of the game by side, where it was played to its end.
  bool has_final = false;
  std::array<Board, 2> final_hills = {};
  std::array<int, 2> final_kingdoms = {};
};

// Replays a record into positions and targets.
//
// Where the margin is proved exactly, it takes the place of the game's. The
// reply is the policy of the opponent's next turn, at its first action.
//
// Errors as Replay (tara/record/game_record.h).
absl::StatusOr<SampledGame> UnpackGame(const proto::GameRecord& record,
                                       const ValueTargetOptions& options = {});

// Returns the symmetries of positions of the variant that map `seat` to seat 0,
// under which the network may see the position. Not empty.
std::vector<Symmetry> SymmetriesToSeatZero(Variant variant, Seat seat);

// Returns a position as a training sample, seen through the symmetry.
nn::Sample MakeSample(const SampledGame& game, int ply,
                      const Symmetry& symmetry);

// --- The window --------------------------------------------------------------

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
  ValueTargetOptions value = {};
  // Part of the games that are never learned from (IsHeldOut).
  double held_out_share = 0;
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

  // Returns the batch of a step: a variant is drawn, in proportion to its games
  // in the window (not to positions, of which long games have more), then one
  // of its positions, then a symmetry, uniformly.
  // Depends only on the run's seed, the step and the window.
  // REQUIRES: positions() > 0.
  std::vector<nn::Sample> Batch(int64_t step, int size) const;

  // Games of the window that are learned from, and the positions that can be
  // drawn of them.
  int64_t games() const { return learned_.count(); }
  int64_t positions() const;

  int64_t held_out_games() const { return held_out_.count(); }
  // Returns at most `size` held-out positions of a variant, evenly spaced over
  // the window; constant for the same window.
  std::vector<nn::Sample> HeldOutSamples(Variant variant, int size) const;

 private:
  // A position of the window.
  struct Place {
    uint32_t game;  // in games_
    uint32_t ply;
  };
  // One side of the window, by variant: what is learned, or what is held out.
  struct Pools {
    std::array<int64_t, kNumVariants> games = {};  // that have places
    std::array<std::vector<Place>, kNumVariants> places;

    int64_t count() const;  // games
  };

  void FillPools();
  nn::Sample SampleAt(const Place& place, Random* random) const;

  record::GameStore& store_;
  const SamplerOptions options_;
  const uint64_t run_seed_;
  // [variant, seat]: what SymmetriesToSeatZero returns.
  std::array<std::array<std::vector<Symmetry>, 4>, kNumVariants> symmetries_;
  std::deque<SampledGame> games_;  // by increasing index
  Pools learned_;
  Pools held_out_;
};

}  // namespace tara::train

#endif  // TARA_TRAIN_LEARN_SAMPLER_H_
