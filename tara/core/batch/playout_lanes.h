#ifndef TARA_CORE_BATCH_PLAYOUT_LANES_H_
#define TARA_CORE_BATCH_PLAYOUT_LANES_H_

// What all playouts in lanes share: random streams, start positions, sums over
// finished games, and which games the lanes play.

#include <array>
#include <cstdint>

#include "tara/base/random.h"
#include "tara/core/batch/kernel_table.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/playouts.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::batch {

// The lanes' twin of tara::Random (tara/base/random.h has sources and
// formulas): lane i draws the very stream of its game.
template <InstructionSet kSet>
class RandomLanes {
 public:
  using W = Word<kSet>;

  RandomLanes() = default;
  // The playout stream (seed, index) of each lane.
  TARA_INLINE RandomLanes(W seeds, W indices) {
    W seed = MixedBits(MixedBits(MixedBits(seeds) ^ indices) ^
                       W(static_cast<uint64_t>(StreamPurpose::kPlayouts)));
    for (W& word : words_) word = seed = MixedBits(seed);
  }
  // Lane i: the playout stream of game first_game + i.
  TARA_INLINE RandomLanes(uint64_t run_seed, uint64_t first_game)
      : RandomLanes(W(run_seed), W(first_game) + W::Index()) {}

  TARA_INLINE W operator()() {
    const W result = RotateLeft(words_[0] + words_[3], 23) + words_[0];
    const W shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = RotateLeft(words_[3], 45);
    return result;
  }

  // A number in [0, bound) of each lane, one draw each; 0 where bound is 0.
  // REQUIRES: bound < 2^32. The bias is below bound / 2^32.
  TARA_INLINE W Below(W bound) {
    return MultiplyLow32((*this)() >> 32, bound) >> 32;
  }

  // Goes back to `before` in the lanes of the mask.
  TARA_INLINE void Restore(Mask<kSet> mask, const RandomLanes& before) {
    for (int i = 0; i < 4; ++i) {
      words_[i] = Select(mask, before.words_[i], words_[i]);
    }
  }

  // The i-th of the four words of the lanes' states.
  TARA_INLINE W WordAt(int i) const { return words_[i]; }
  TARA_INLINE void SetWord(int i, W word) { words_[i] = word; }

  // Lane `to` continues the stream of lane `from` of `source`.
  TARA_INLINE void CopyLane(int to, const RandomLanes& source, int from) {
    for (int i = 0; i < 4; ++i) words_[i].v[to] = source.words_[i].v[from];
  }

 private:
  static TARA_INLINE W MixedBits(W x) {
    x = x + W(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * W(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * W(0x94d049bb133111eb);
    return x ^ (x >> 31);
  }

  W words_[4];
};

// An element by side: the units of this folder may not call the inline
// functions of the standard library (see lanes.h), such as those of std::array.
template <typename T>
TARA_INLINE T At(const std::array<T, 2>& by_side, int side) {
  return reinterpret_cast<const T*>(&by_side)[side];
}

// In games of hills: the games take the hills chosen in the last round, if
// there are any, and the boards change hands.
template <InstructionSet kSet>
TARA_INLINE void BeginRound(const BitChoice<kSet>& choice, Word<kSet>& own,
                            Word<kSet>& enemy) {
  const Word<kSet> hills = choice.Chosen();
  const Word<kSet> before = own | hills;
  own = enemy & ~hills;
  enemy = before;
}

// Returns their legal hills, once it is resolved whose Battle starts.
template <typename Rules, InstructionSet kSet>
TARA_INLINE Word<kSet> LegalInAnyPhase(const rules::BoardView<Word<kSet>>& view,
                                       Mask<kSet>& manoeuvres) {
  const Word<kSet> battle = Rules::BattleTargets(view);
  if constexpr (Rules::kHasManoeuvres) {
    if (Any(manoeuvres)) {
      const Word<kSet> targets = Rules::ManoeuvresTargets(view);
      manoeuvres = manoeuvres & !Rules::ManoeuvresOver(targets, view);
      return Select(manoeuvres, targets, battle);
    }
  }
  return battle;
}

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
                          PlayoutStatistics& sums) {
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
  TARA_INLINE int64_t AddTo(PlayoutStatistics& sums) const {
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

// --- Which games lanes play, one after the other -----------------------------
//
// RunJobs and PositionJobs are used alike:
//
//   static constexpr bool kStatistics; whether sums over games are needed, or
//                                       the margin of each
//   Results receives the sums or the margins
//   bool empty() const;                 whether no game is left
//   int64_t left() const;               games left
//   Job Take(int lane, RandomLanes<kSet>& random);
//       The next game; lane `lane` of `random` gets its stream.
//       REQUIRES: !empty().

struct Job {
  // Not a copy: a processor that has just written 64 bytes at once makes reads
  // of single fields wait.
  const State& start;
  uint64_t id;  // where the result goes, if it goes anywhere
};

// By the ids of games: Red's margins.
struct Margins {
  int8_t* by_id;
};

// Writes the margins in the first `games` lanes.
template <InstructionSet kSet>
TARA_INLINE void WriteMargins(Word<kSet> margins, const uint64_t* ids,
                              int games, Margins& results) {
  alignas(64) uint64_t by_lane[Word<kSet>::kLanes];
  margins.Store(by_lane);
  for (int i = 0; i < games; ++i) {
    results.by_id[ids[i]] = static_cast<int8_t>(by_lane[i]);
  }
}

TARA_INLINE const RuleOptions& OptionsOf(const PlayoutsFromRequest& request) {
  return request.starts[request.order[0]].options;
}

// Calls play<n>() with the number of vectors, at most kMaxVectors (a power of
// two), that suits this number of games.
template <InstructionSet kSet, int kMaxVectors, typename Play>
TARA_INLINE void WithVectorsFor(int64_t games, const Play& play) {
  if constexpr (kMaxVectors > 1) {
    if (games <= kMaxVectors / 2 * Word<kSet>::kLanes) {
      return WithVectorsFor<kSet, kMaxVectors / 2>(games, play);
    }
  }
  play.template operator()<kMaxVectors>();
}

// The games of a run, all from one position; for their statistics.
template <InstructionSet kSet>
class RunJobs {
 public:
  static constexpr bool kStatistics = true;
  using Results = PlayoutStatistics;

  explicit TARA_INLINE RunJobs(const PlayoutRequest& request)
      : start_(request.start),
        seed_(request.seed),
        next_(static_cast<uint64_t>(request.first_game)),
        left_(request.games) {}

  TARA_INLINE bool empty() const { return left_ == 0; }
  TARA_INLINE int64_t left() const { return left_; }

  TARA_INLINE Job Take(int lane, RandomLanes<kSet>& random) {
    if (fresh_ == 0) {
      streams_ = RandomLanes<kSet>(seed_, next_);
      next_ += kLanes;
      fresh_ = kLanes;
    }
    random.CopyLane(lane, streams_, kLanes - fresh_--);
    --left_;
    return {start_, 0};
  }

 private:
  static constexpr int kLanes = Word<kSet>::kLanes;

  const State start_;
  const uint64_t seed_;
  uint64_t next_;  // first game whose stream is not in streams_
  int64_t left_;
  int fresh_ = 0;  // streams not yet taken: the last of streams_
  RandomLanes<kSet> streams_;
};

// Games from given positions: those at places `begin` to `end` - 1 of the
// request's order. A job's id is the index of its margin.
template <InstructionSet kSet>
class PositionJobs {
 public:
  static constexpr bool kStatistics = false;
  using Results = Margins;

  TARA_INLINE PositionJobs(const PlayoutsFromRequest& request, int64_t begin,
                           int64_t end)
      : request_(request),
        next_place_(begin),
        left_((end - begin) * request.playouts) {}

  TARA_INLINE bool empty() const { return left_ == 0; }
  TARA_INLINE int64_t left() const { return left_; }

  TARA_INLINE Job Take(int lane, RandomLanes<kSet>& random) {
    if (fresh_ == 0) Refill();
    const int i = kLanes - fresh_--;
    random.CopyLane(lane, streams_, i);
    --left_;
    return {request_.starts[index_[i]],
            index_[i] * static_cast<uint64_t>(request_.playouts) + playout_[i]};
  }

 private:
  static constexpr int kLanes = Word<kSet>::kLanes;

  // Finds the next games and their streams.
  TARA_INLINE void Refill() {
    alignas(64) uint64_t seeds[kLanes] = {};
    for (int i = 0; i < kLanes && i < left_; ++i) {
      index_[i] = static_cast<uint64_t>(request_.order[next_place_]);
      playout_[i] = next_playout_;
      seeds[i] = request_.seeds[index_[i]];
      if (++next_playout_ == static_cast<uint64_t>(request_.playouts)) {
        next_playout_ = 0;
        ++next_place_;
      }
    }
    using W = Word<kSet>;
    streams_ = RandomLanes<kSet>(W::Load(seeds), W::Load(playout_));
    fresh_ = kLanes;
  }

  const PlayoutsFromRequest& request_;
  int64_t next_place_;  // of the first game not yet among the fresh
  uint64_t next_playout_ = 0;
  int64_t left_;
  int fresh_ = 0;  // games found and not yet taken: the last of those below
  alignas(64) uint64_t index_[kLanes] = {};  // of the starts
  alignas(64) uint64_t playout_[kLanes] = {};
  RandomLanes<kSet> streams_;
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_PLAYOUT_LANES_H_
