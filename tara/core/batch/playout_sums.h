#ifndef TARA_CORE_BATCH_PLAYOUT_SUMS_H_
#define TARA_CORE_BATCH_PLAYOUT_SUMS_H_

#include <cstdint>

#include "tara/core/batch/lanes.h"
#include "tara/core/playout_statistics.h"

namespace tara::batch {

// The plain arrays behind PlayoutStatistics, for units that may not call the
// inline functions of the standard library (see lanes.h). What derives from
// the distributions of length and margin is left to ToStatistics.
struct PlayoutSums {
  int64_t games = 0;
  int64_t plies = 0;
  int64_t length_squares = 0;
  int64_t max_length = 0;
  int64_t lengths[kMaxCountedLength + 1] = {};
  int64_t legal_actions = 0;
  int64_t legal_squares = 0;
  int64_t legal_times_length = 0;
  int64_t margins[kNumMargins] = {};
  int64_t endings[6] = {};
  int64_t captures = 0;
  int64_t kings_captured = 0;
  int64_t phase_plies[5] = {};
};

// How finished games stand, lane by lane. `margin` is Red's points minus
// Blue's as a signed number; `ending` an Ending.
template <InstructionSet kSet>
struct FinishedGames {
  Word<kSet> length;
  Word<kSet> legal_actions;
  Word<kSet> margin;
  Word<kSet> ending;
};

// Adds the games in the lanes of the mask to everything but captures,
// kings_captured and phase_plies.
template <InstructionSet kSet>
TARA_INLINE void AddGames(Mask<kSet> mask, const FinishedGames<kSet>& games,
                          PlayoutSums& sums) {
  constexpr int kLanes = Word<kSet>::kLanes;
  alignas(64) uint64_t lengths[kLanes];
  alignas(64) uint64_t legal_actions[kLanes];
  alignas(64) uint64_t margins[kLanes];
  alignas(64) uint64_t endings[kLanes];
  games.length.Store(lengths);
  games.legal_actions.Store(legal_actions);
  games.margin.Store(margins);
  games.ending.Store(endings);
  for (unsigned bits = Bits(mask); bits != 0; bits &= bits - 1) {
    const int i = __builtin_ctz(bits);
    const int64_t length = static_cast<int64_t>(lengths[i]);
    const int64_t legal = static_cast<int64_t>(legal_actions[i]);
    ++sums.games;
    sums.plies += length;
    sums.length_squares += length * length;
    if (length > sums.max_length) sums.max_length = length;
    ++sums.lengths[length < kMaxCountedLength ? length : kMaxCountedLength];
    sums.legal_actions += legal;
    sums.legal_squares += legal * legal;
    sums.legal_times_length += legal * length;
    ++sums.margins[static_cast<int64_t>(margins[i]) + kMaxMargin];
    ++sums.endings[endings[i]];
  }
}

// Sums over games of their lengths and legal actions, lane by lane.
template <InstructionSet kSet>
class GameSums {
 public:
  using W = Word<kSet>;

  // Adds the games of all lanes; those without a game hold zeros.
  TARA_INLINE void Add(W length, W legal_actions) {
    length_ += length;
    length_squares_ += MultiplyLow32(length, length);
    legal_ += legal_actions;
    legal_squares_ += MultiplyLow32(legal_actions, legal_actions);
    legal_times_length_ += MultiplyLow32(legal_actions, length);
  }

  // Adds all to the sums. Returns the plies.
  TARA_INLINE int64_t AddTo(PlayoutSums& sums) const {
    const int64_t plies = Sum(length_);
    sums.plies += plies;
    sums.length_squares += Sum(length_squares_);
    sums.legal_actions += Sum(legal_);
    sums.legal_squares += Sum(legal_squares_);
    sums.legal_times_length += Sum(legal_times_length_);
    return plies;
  }

 private:
  W length_{uint64_t{0}};
  W length_squares_{uint64_t{0}};
  W legal_{uint64_t{0}};
  W legal_squares_{uint64_t{0}};
  W legal_times_length_{uint64_t{0}};
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_PLAYOUT_SUMS_H_
