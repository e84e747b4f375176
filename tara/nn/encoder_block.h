#ifndef TARA_NN_ENCODER_BLOCK_H_
#define TARA_NN_ENCODER_BLOCK_H_

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
// links name (TransformPairs) and the area: those come prepared.

#include <cstdint>
#include <cstring>

#include "tara/core/board.h"
#include "tara/core/kingdoms.h"
#include "tara/nn/features.h"

namespace tara {

struct LegalSet;
struct State;
struct Symmetry;

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
  kRowLinksEast,
  kRowLinksNorth,
  kRowLegalHills,
  kRowLegalOrigins,
  kRowLegalDestinations,
  kRowLegalSacrifices,
  kRowLegalLinksEast,
  kRowLegalLinksNorth,
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
  alignas(64) Board rows[kNumEncoderRows][kBlockSize];
  // Ringforts with a link; all ones where adjacency is no link (Stone of
  // Destiny); all ones in High Kings.
  alignas(64) Board linked[kBlockSize];
  alignas(64) Board by_links[kBlockSize];
  alignas(64) Board by_kings[kBlockSize];
  uint8_t transforms[kBlockSize];  // board transforms
  // What the globals tell of: the boards of both sides, the last two words of
  // the states, the numbers of legal actions, and whether passing is legal.
  alignas(64) Board sides[2][kBlockSize];  // own, enemy
  alignas(64) uint64_t state_words[2][kBlockSize];
  alignas(64) uint64_t legal_counts[kBlockSize];
  alignas(64) uint64_t legal_pass[kBlockSize];
  // Connected components by adjacency, by column; DeriveRows fills them.
  alignas(64) uint64_t own_components[kBlockSize];
  alignas(64) uint64_t enemy_components[kBlockSize];
};

// What loading looks up. Sets of variants are bits by their numbers.
struct EncoderTables {
  alignas(64) Board souths[8];  // by board transform
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
// in its order. What `neighbours` holds is each path's own affair.
struct PositionBits {
  alignas(64) uint8_t planes[192];  // kBitBytes used
  uint8_t neighbours[2][64];
};

// One way to do the work.
struct EncoderKernel {
  // Fills what the other steps need. Returns whether each symmetry brings the
  // seat to move to seat 0.
  bool (*load)(const EncoderTables& tables, const BlockInput& input,
               EncoderBlock& block);
  // Writes the globals of the positions, once the components are counted and,
  // in Stone of Destiny, replaced by the kingdoms.
  void (*globals)(const EncoderTables& tables, const BlockInput& input,
                  const EncoderBlock& block, float* out);
  // Completes a block whose given rows are filled.
  void (*derive)(EncoderBlock& block);
  // Makes the bits of position `i` of a block that `derive` has completed.
  void (*pack)(bool channels_last, const EncoderBlock& block, int i,
               PositionBits& bits);
  // Writes the planes of a position: kNumPlanes * kNumSquares floats.
  void (*expand)(bool channels_last, const PositionBits& bits, float* out);
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
    table.pairs[bits][1] =
        ((bits >> 1) & 1) + ((bits >> 3) & 1) * 0.5f + ((bits >> 6) & 1) * 0.25f;
    table.swapped[bits][0] = table.pairs[bits][1];
    table.swapped[bits][1] = table.pairs[bits][0];
  }
  return table;
}

// The board formulas on eight boards. `Isa` names the instruction set that the
// including file is compiled for: code for different ones is different code.
template <typename Isa>
struct BoardLanes {
  typedef uint64_t Vector __attribute__((vector_size(8 * kBlockSize)));
  Vector v;

  explicit BoardLanes(Board board) : v(Vector{} + board) {}
  explicit BoardLanes(Vector vector) : v(vector) {}
  explicit BoardLanes(const Board (&row)[kBlockSize]) {
    std::memcpy(&v, row, sizeof(v));
  }
  void Store(Board (&row)[kBlockSize]) const {
    std::memcpy(row, &v, sizeof(v));
  }

  friend BoardLanes operator&(BoardLanes a, BoardLanes b) {
    return BoardLanes(a.v & b.v);
  }
  friend BoardLanes operator|(BoardLanes a, BoardLanes b) {
    return BoardLanes(a.v | b.v);
  }
  friend BoardLanes operator^(BoardLanes a, BoardLanes b) {
    return BoardLanes(a.v ^ b.v);
  }
  friend BoardLanes operator~(BoardLanes a) { return BoardLanes(~a.v); }
  friend BoardLanes operator<<(BoardLanes a, int n) {
    return BoardLanes(a.v << n);
  }
  friend BoardLanes operator>>(BoardLanes a, int n) {
    return BoardLanes(a.v >> n);
  }
};

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

// Fills the derived rows from: own and enemy ringforts and kings, and what the
// block holds beside its rows. `count` returns the numbers of bits by column.
template <typename Isa, typename CountBits>
void DeriveRows(EncoderBlock& block, CountBits count) {
  using Lanes = BoardLanes<Isa>;
  auto& rows = block.rows;
  const Lanes hills(kAllHills);
  const Lanes own(rows[kRowOwn]), enemy(rows[kRowEnemy]);
  const Lanes own_kings(rows[kRowOwnKings]), enemy_kings(rows[kRowEnemyKings]);
  const Lanes linked(block.linked), by_links(block.by_links);
  const Lanes by_kings(block.by_kings);
  const Neighbours<Lanes> near_own(own), near_enemy(enemy);
  const Lanes vacant = hills & ~(own | enemy);

  hills.Store(rows[kRowOnBoard]);
  vacant.Store(rows[kRowVacant]);
  (own_kings & enemy).Store(rows[kRowOwnStranded]);
  (enemy_kings & own).Store(rows[kRowEnemyStranded]);
  Besieged(own).Store(rows[kRowBesiegedByOwn]);
  Besieged(enemy).Store(rows[kRowBesiegedByEnemy]);
  (own & ~(linked | (near_own.any & ~by_links))).Store(rows[kRowOwnSingles]);
  (enemy & ~(linked | (near_enemy.any & ~by_links)))
      .Store(rows[kRowEnemySingles]);
  near_own.fours.Store(rows[kRowOwnNeighbours]);
  near_enemy.fours.Store(rows[kRowEnemyNeighbours]);
  near_own.fours.Store(rows[kRowOwnFours]);
  near_enemy.fours.Store(rows[kRowEnemyFours]);
  near_own.twos.Store(rows[kRowOwnTwos]);
  near_enemy.twos.Store(rows[kRowEnemyTwos]);
  near_own.ones.Store(rows[kRowOwnOnes]);
  near_enemy.ones.Store(rows[kRowEnemyOnes]);
  Lanes(Board{0}).Store(rows[kRowUnused4]);
  Lanes(Board{0}).Store(rows[kRowUnused7]);
  const Lanes movers = (enemy_kings & by_kings) | (enemy & ~by_kings);
  const Lanes too_near =
      near_enemy.any | ((Diagonal(enemy) | TwoStepsStraight(enemy)) & ~by_kings);
  (vacant & KnightMoves(movers) & ~too_near).Store(rows[kRowEnemyReach]);

  Lanes own_cells = own, enemy_cells = enemy;
  auto own_components = count(Isolated(own_cells).v);
  auto enemy_components = count(Isolated(enemy_cells).v);
  for (int step = 1; step < kShrinkSteps; ++step) {
    own_cells = Shrunk(own_cells);
    enemy_cells = Shrunk(enemy_cells);
    own_components += count(Isolated(own_cells).v);
    enemy_components += count(Isolated(enemy_cells).v);
  }
  Lanes(own_components).Store(block.own_components);
  Lanes(enemy_components).Store(block.enemy_components);
}

// REQUIRES: the processor has AVX-512 F, BW, DQ, VL, VBMI, VPOPCNTDQ and GFNI.
EncoderKernel Avx512EncoderKernel();

}  // namespace tara

#endif  // TARA_NN_ENCODER_BLOCK_H_
