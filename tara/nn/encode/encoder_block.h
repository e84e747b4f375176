#ifndef TARA_NN_ENCODE_ENCODER_BLOCK_H_
#define TARA_NN_ENCODE_ENCODER_BLOCK_H_

// What the paths of the batch encoder share: eight positions side by side, and
// the planes that derive from their boards, computed for all eight at once.
//
// The work on a block has three parts:
//   1. Boards: all planes as bitboards, one row for each plane and one column
//      for each position (DeriveRows), before the symmetry is applied.
//   2. Bits: each position's planes turned by its symmetry and packed without
//      gaps, one bit for each float of the output, in the output's order.
//   3. Floats: bits become ones and zeros. Only the planes of neighbours have
//      other values: multiples of 1/4, from three bits each.
// Features are the same before and after a symmetry, but for the pairs that
// links name (TransformPairs) and the area: those come prepared. The kings'
// ways share their planes, but no position has both.

#include <cstdint>

#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/nn/encode/features.h"

namespace tara {

struct LegalSet;
struct State;
struct Symmetry;

}  // namespace tara

namespace tara::nn {

inline constexpr int kBlockSize = 8;

// Bytes of a position's bits: one for each 8 floats.
inline constexpr int kBitBytes = kNumPlanes * kNumSquares / 8;
static_assert(kBitBytes * 8 == kNumPlanes * kNumSquares);

// Rows of a block. The first are the planes, numbered as kPlanes; of the
// neighbours' planes these rows hold the bits of value 4.
enum EncoderRow {
  kRowOnBoard,
  kRowVacant,
  kRowOwn,
  kRowEnemy,
  kRowOwnKings,
  kRowEnemyKings,
  kRowOwnStranded,
  kRowEnemyStranded,
  kRowLinksEastOrOwnWay,
  kRowLinksNorthOrEnemyWay,
  kRowLegalHills,
  kRowLegalOrigins,
  kRowLegalDestinations,
  kRowLegalSacrifices,
  kRowLegalLinksEastOrOwnNearer,
  kRowLegalLinksNorthOrEnemyNearer,
  kRowArea,
  kRowBesiegedByOwn,
  kRowBesiegedByEnemy,
  kRowOwnSingles,
  kRowEnemySingles,
  kRowOwnNeighbours,
  kRowEnemyNeighbours,
  kRowEnemyReach,
  // The numbers of neighbours in binary: bits of value 4, 2 and 1. Those of
  // value 1 sit where the planes do in their group of eight.
  kRowOwnFours = kNumPlanes,
  kRowEnemyFours,
  kRowOwnTwos,
  kRowEnemyTwos,
  kRowUnused4,
  kRowOwnOnes,
  kRowEnemyOnes,
  kRowUnused7,
  kNumEncoderRows,
};
static_assert(kRowEnemyReach + 1 == kNumPlanes);
static_assert(kNumEncoderRows == 32);
static_assert(kRowOwnOnes - kNumPlanes == kRowOwnNeighbours - 16);

// Eight positions, or fewer, the last one repeated.
struct EncoderBlock {
  // By row and column; the AVX-512 path turns groups of eight rows into rows by
  // position: what rows[8 * group + i] holds is then position i's.
  alignas(64) Board rows[kNumEncoderRows][kBlockSize];
  // Ringforts with a link; all ones where adjacency is no link (Stone of
  // Destiny); all ones in High Kings, and in Battle.
  alignas(64) Board linked[kBlockSize];
  alignas(64) Board by_links[kBlockSize];
  alignas(64) Board by_kings[kBlockSize];
  alignas(64) Board in_battle[kBlockSize];
  alignas(64) Board own_kings[kBlockSize];
  alignas(64) Board enemy_kings[kBlockSize];
  uint8_t transforms[kBlockSize];  // board transforms
  // What the globals tell of: the boards of both sides, the last two words of
  // the states, the numbers of legal actions, and whether passing is legal.
  alignas(64) Board sides[2][kBlockSize];  // own, enemy
  alignas(64) Board links[2][kBlockSize];  // to the east, to the north
  alignas(64) uint64_t state_words[2][kBlockSize];
  alignas(64) uint64_t legal_counts[kBlockSize];
  alignas(64) uint64_t legal_pass[kBlockSize];
  alignas(64) uint64_t kingdoms[2][kBlockSize];  // own, enemy
  // Globals as small numbers, by position: the layout is private to the path.
  alignas(64) uint8_t global_bytes[kBlockSize][64];
};

// What loading looks up. Sets of variants are bits by their numbers.
struct EncoderTables {
  alignas(64) Board souths[8];   // by board transform
  alignas(64) uint8_t bits[64];  // BitOf, by hill
  uint64_t doubles, by_links, by_kings, by_bridges;
};

// Positions of a block: `count` of each, 1 to kBlockSize.
struct BlockInput {
  const State* states;
  const Symmetry* symmetries;
  const LegalSet* legal;
  int count;
};

// The planes of a position, turned, as bits: one for each float of the output,
// in its order. The layout of `neighbours` is private to the path.
struct PositionBits {
  alignas(64) uint8_t planes[192];  // kBitBytes used
  uint8_t neighbours[2][64];
};

// The floats of both neighbours' planes on one square, by the bits of the
// rows from kRowOwnFours on.
struct NeighbourPairs {
  float pairs[128][2];
  float swapped[128][2];  // enemy, own
};
constexpr NeighbourPairs MakeNeighbourPairs() {
  NeighbourPairs table{};
  for (int bits = 0; bits < 128; ++bits) {
    table.pairs[bits][0] =
        (bits & 1) + ((bits >> 2) & 1) * 0.5f + ((bits >> 5) & 1) * 0.25f;
    table.pairs[bits][1] = ((bits >> 1) & 1) + ((bits >> 3) & 1) * 0.5f +
                           ((bits >> 6) & 1) * 0.25f;
    table.swapped[bits][0] = table.pairs[bits][1];
    table.swapped[bits][1] = table.pairs[bits][0];
  }
  return table;
}

// Neighbours of a side: the hills adjacent to any, and their number in binary.
template <typename Lanes>
struct Neighbours {
  explicit Neighbours(const Lanes& board)
      : Neighbours(North(board), South(board), East(board), West(board)) {}
  Neighbours(const Lanes& n, const Lanes& s, const Lanes& e, const Lanes& w)
      : any(n | s | e | w),
        ones(n ^ s ^ e ^ w),
        twos((n & s) ^ (e & w) ^ ((n ^ s) & (e ^ w))),
        fours(n & s & e & w) {}

  Lanes any, ones, twos, fours;
};

// What the planes tell of the ringforts, from the boards of both sides, the
// kings of the other one and what a block holds beside its rows.
template <typename Lanes>
struct DerivedBoards {
  Neighbours<Lanes> near_own, near_enemy;
  Lanes besieged_by_own, besieged_by_enemy;
  Lanes own_singles, enemy_singles;
  Lanes enemy_reach;

  DerivedBoards(const Lanes& own, const Lanes& enemy, const Lanes& enemy_kings,
                const Lanes& linked, const Lanes& by_links,
                const Lanes& by_kings)
      : near_own(own),
        near_enemy(enemy),
        besieged_by_own(Besieged(own)),
        besieged_by_enemy(Besieged(enemy)),
        own_singles(own & ~(linked | (near_own.any & ~by_links))),
        enemy_singles(enemy & ~(linked | (near_enemy.any & ~by_links))),
        enemy_reach(
            Lanes(kAllHills) & ~(own | enemy) &
            KnightMoves((enemy_kings & by_kings) | (enemy & ~by_kings)) &
            ~(near_enemy.any |
              ((Diagonal(enemy) | TwoStepsStraight(enemy)) & ~by_kings))) {}
};

// The kings' ways: as FindKingWays of features.cc, but both sides go on move by
// move, and whoever comes to a hill first, or with the other one if it is the
// own side, is the nearer one.
template <typename Lanes>
struct KingWays {
  Lanes own = Lanes(Board{0}), enemy = Lanes(Board{0});
  Lanes own_nearer = Lanes(Board{0}), enemy_nearer = Lanes(Board{0});

  // Kings of no lanes but those of High Kings; `battle`: all ones where that is
  // the phase, else 0.
  TARA_INLINE KingWays(const Lanes& own_ringforts, const Lanes& enemy_ringforts,
                       const Lanes& own_kings, const Lanes& enemy_kings,
                       const Lanes& battle) {
    const Lanes vacant = Lanes(kAllHills) & ~(own_ringforts | enemy_ringforts);
    Lanes own_open = vacant & (battle | ~Adjacent(own_ringforts));
    Lanes enemy_open = vacant & (battle | ~Adjacent(enemy_ringforts));
    Lanes own_move = own_kings, enemy_move = enemy_kings;
    while (Any(NonZero(own_move | enemy_move))) {
      own_move = KnightMoves(own_move) & own_open;
      enemy_move = KnightMoves(enemy_move) & enemy_open;
      own_open &= ~own_move;
      enemy_open &= ~enemy_move;
      own_nearer |= own_move & ~enemy;
      own |= own_move;
      enemy_nearer |= enemy_move & ~own;
      enemy |= enemy_move;
    }
  }
};

}  // namespace tara::nn

#endif  // TARA_NN_ENCODE_ENCODER_BLOCK_H_
