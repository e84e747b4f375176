#ifndef TARA_MCTS_SOLVER_SOLVER_TABLE_H_
#define TARA_MCTS_SOLVER_SOLVER_TABLE_H_

// The transposition table of the endgame solver: bounds of the exact margin of
// earlier positions. Positions are packed without loss, so an entry never
// belongs to another position with the same hash.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/rules/view.h"
#include "tara/core/state.h"

namespace tara::mcts {

// A position without variant and rule options, in kWords words. The table uses
// some of their bits:
//
//   word 0   63      57 56      50 49                                0
//            | upper   | lower   |  position                         |
//   word 1   63   59 58  55 54 51 50   45 44                         0
//            | work | age  | game | best |  position                 |
//   word 2   |  position                                             |
//   word 3   63    56 55                                             0
//            | count |  position                                     |
template <int kWords>
using PackedPosition = std::array<uint64_t, kWords>;

inline constexpr uint64_t kPositionOfWord0 = (uint64_t{1} << 50) - 1;
inline constexpr uint64_t kPositionOfWord1 = (uint64_t{1} << 45) - 1;
inline constexpr uint64_t kPositionOfWord3 = (uint64_t{1} << 56) - 1;

// Packs the positions in which all turns take one hill.
inline PackedPosition<2> PackHillPosition(const rules::View& view) {
  // While the game is not finished, one announced to end has turns left.
  const uint64_t rest = static_cast<uint64_t>(view.seat) |
                        uint64_t{view.phase == Phase::kBattle} << 2 |
                        static_cast<uint64_t>(view.turns_left) << 3;
  return {BitsAt(view.own, kAllHills) | rest << kNumHills,
          BitsAt(view.enemy, kAllHills)};
}

// Packs any position; of High Kings without the number of actions without
// progress, which SolverBounds has. Kings (High Kings) or links (Stone of
// Destiny, whose sides have one king each) fill the last two words.
inline PackedPosition<4> PackPosition(const rules::View& view) {
  constexpr Board kWesternHills = kAllHills & (kAllHills >> 1);
  constexpr Board kSouthernHills = kAllHills & (kAllHills >> kRankStride);
  const uint64_t counts = static_cast<uint64_t>(view.phase) |
                          static_cast<uint64_t>(view.ending) << 3 |
                          static_cast<uint64_t>(view.turns_left) << 6 |
                          static_cast<uint64_t>(view.seat) << 8;
  PackedPosition<4> packed = {BitsAt(view.own, kAllHills),
                              BitsAt(view.enemy, kAllHills)};
  if (TraitsOf(view.variant).has_links) {
    // A king is at bit 0 to 59; 64: none.
    const auto own_king =
        static_cast<uint64_t>(std::countr_zero(view.own_kings));
    const auto enemy_king =
        static_cast<uint64_t>(std::countr_zero(view.enemy_kings));
    packed[2] =
        BitsAt(view.links_east, kWesternHills) | counts << 38 | own_king << 48;
    packed[3] = BitsAt(view.links_north, kSouthernHills) |
                static_cast<uint64_t>(view.no_progress) << 38 |
                enemy_king << 46;
    return packed;
  }
  packed[2] = BitsAt(view.own_kings, kAllHills) | counts << kNumHills;
  packed[3] = BitsAt(view.enemy_kings, kAllHills) |
              static_cast<uint64_t>(view.kings_captured) << kNumHills |
              static_cast<uint64_t>(view.kings_lost) << (kNumHills + 2);
  return packed;
}

// The margin for the side to move lies from lower to upper.
struct SolverBounds {
  static constexpr int kNoBest = 63;

  int lower;
  int upper;
  int best = kNoBest;  // number of an action that was good, in their order
  // High Kings: actions without progress before the bounds' position.
  int no_progress = 0;
};

// Memory is fixed. Not thread-safe.
template <int kWords>
class SolverTable {
 public:
  using Position = PackedPosition<kWords>;
  static constexpr int kMaxGames = 16;

  // Takes at most `bytes`, but at least a few buckets. Memory that is never
  // written to is never taken from the system. Throws std::bad_alloc.
  explicit SolverTable(int64_t bytes)
      : num_buckets_(static_cast<size_t>(
            std::max<int64_t>(kMinBuckets, bytes / int64_t{sizeof(Bucket)}))) {
    Clear();
  }

  // Forgets everything.
  void Clear() {
    memory_.reset();
    // One bucket more: memory need not begin with a line of the cache.
    memory_.reset(std::calloc(num_buckets_ + 1, sizeof(Bucket)));
    if (memory_ == nullptr) throw std::bad_alloc();
    const auto address = reinterpret_cast<uintptr_t>(memory_.get());
    buckets_ = reinterpret_cast<Bucket*>((address + sizeof(Bucket) - 1) /
                                         sizeof(Bucket) * sizeof(Bucket));
  }

  void Prefetch(const Position& position, int game) const {
    __builtin_prefetch(&BucketOf(position, game));
  }

  // Whether the position is known; `game` stands for variant and rule options.
  bool Find(const Position& position, int game, SolverBounds& bounds) const {
    for (const Position& entry : BucketOf(position, game).entries) {
      if (!IsOf(entry, position, game)) continue;
      bounds.lower = static_cast<int>(entry[0] >> 50 & 0x7f) - kMarginOffset;
      bounds.upper = static_cast<int>(entry[0] >> 57) - kMarginOffset;
      bounds.best = static_cast<int>(entry[1] >> 45 & 0x3f);
      if constexpr (kWords == 4) {
        bounds.no_progress = static_cast<int>(entry[3] >> 56);
      }
      return true;
    }
    return false;
  }

  // Stores bounds of a position; `work`, 0 to 31, grows with what they cost.
  void Store(const Position& position, int game, const SolverBounds& bounds,
             int work) {
    Bucket& bucket = BucketOf(position, game);
    Position* place = &bucket.entries[0];
    int least = kNever;
    for (Position& entry : bucket.entries) {
      if (IsOf(entry, position, game)) {
        place = &entry;
        break;
      }
      const int value = ValueOf(entry);
      if (value < least) {
        least = value;
        place = &entry;
      }
    }
    *place = position;
    (*place)[0] |= static_cast<uint64_t>(bounds.lower + kMarginOffset) << 50 |
                   static_cast<uint64_t>(bounds.upper + kMarginOffset) << 57;
    (*place)[1] |= static_cast<uint64_t>(bounds.best) << 45 |
                   static_cast<uint64_t>(game) << 51 |
                   static_cast<uint64_t>(age_) << 55 |
                   static_cast<uint64_t>(work) << 59;
    if constexpr (kWords == 4) {
      (*place)[3] |= static_cast<uint64_t>(bounds.no_progress) << 56;
    }
    // Entries age as the table fills again.
    if (++stores_ >= num_buckets_) {
      stores_ = 0;
      age_ = (age_ + 1) % kAges;
    }
  }

 private:
  static constexpr int64_t kMinBuckets = 16;
  static constexpr int kMarginOffset = 64;
  static constexpr int kAges = 16;
  static constexpr int kNever = 1 << 20;
  static constexpr size_t kEntries = kWords == 2 ? 4 : 2;

  // One line of the cache.
  struct alignas(64) Bucket {
    std::array<Position, kEntries> entries;
  };
  static_assert(sizeof(Bucket) == 64);

  static bool IsOf(const Position& entry, const Position& position, int game) {
    // An entry never written has no bounds: 0 stands for -64.
    bool is = ((entry[0] ^ position[0]) & kPositionOfWord0) == 0 &&
              ((entry[1] ^ position[1]) & kPositionOfWord1) == 0 &&
              (entry[1] >> 51 & 0xf) == static_cast<uint64_t>(game) &&
              (entry[0] >> 57) != 0;
    if constexpr (kWords == 4) {
      is = is && entry[2] == position[2] &&
           ((entry[3] ^ position[3]) & kPositionOfWord3) == 0;
    }
    return is;
  }

  // What it would cost to lose the entry.
  int ValueOf(const Position& entry) const {
    if (entry[0] >> 57 == 0) return -kNever;
    const int age = static_cast<int>(entry[1] >> 55 & 0xf);
    return static_cast<int>(entry[1] >> 59) - (age_ - age + kAges) % kAges;
  }

  static uint64_t Hash(const Position& position, int game) {
    uint64_t hash = static_cast<uint64_t>(game);
    for (int i = 0; i < kWords; i += 2) {
      // The fractional digits of square roots of primes.
      const unsigned __int128 product =
          static_cast<unsigned __int128>(position[i] ^ 0x6a09e667f3bcc909) *
          (position[i + 1] ^ 0xbb67ae8584caa73b);
      hash = std::rotl(hash, 23) ^ static_cast<uint64_t>(product) ^
             static_cast<uint64_t>(product >> 64);
    }
    return hash * 0x9e3779b97f4a7c15;
  }

  size_t IndexOf(const Position& position, int game) const {
    return static_cast<size_t>(
        static_cast<unsigned __int128>(Hash(position, game)) * num_buckets_ >>
        64);
  }
  const Bucket& BucketOf(const Position& position, int game) const {
    return buckets_[IndexOf(position, game)];
  }
  Bucket& BucketOf(const Position& position, int game) {
    return buckets_[IndexOf(position, game)];
  }

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  size_t num_buckets_;
  std::unique_ptr<void, Free> memory_;
  Bucket* buckets_ = nullptr;  // in memory_
  size_t stores_ = 0;          // since entries last grew older
  int age_ = 0;
};

}  // namespace tara::mcts

#endif  // TARA_MCTS_SOLVER_SOLVER_TABLE_H_
