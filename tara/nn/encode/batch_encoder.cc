#include "tara/nn/encode/batch_encoder.h"

// Eight positions side by side are a block. The work on it has three parts:
//   1. Boards: all planes as bitboards, one row for each plane and one column
//      for each position (DeriveRows), before the symmetry is applied.
//   2. Bits: each position's planes turned by its symmetry and packed without
//      gaps, one bit for each float of the output, in the output's order.
//   3. Floats: bits become ones and zeros. Only the planes of neighbours have
//      other values: multiples of 1/4, from three bits each.
// Features are the same before and after a symmetry, but for the pairs that
// links name (TransformPairs) and the area: those come prepared. The kings'
// ways share their planes, but no position has both.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/traits.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/encoder_parts.h"
#include "tara/nn/encode/features.h"

#if defined(__BMI2__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tara::nn {
namespace {

#if defined(__AVX2__)
constexpr InstructionSet kSet = InstructionSet::kAvx2;
#else
constexpr InstructionSet kSet = InstructionSet::kPortable;
#endif
using Word = batch::Word<kSet>;

constexpr size_t kPlaneFloats = size_t{kNumPlanes} * kNumSquares;

// Planes of more bytes than this do not stay in the caches until they are
// read, and writing them around the caches saves reading them first.
constexpr size_t kMostCachedBytes = size_t{32} << 20;

// --- Blocks ------------------------------------------------------------------

constexpr int kBlockSize = 8;

// Bytes of a position's bits: one for each 8 floats.
constexpr int kBitBytes = kNumPlanes * kNumSquares / 8;
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
  alignas(64) Board rows[kNumEncoderRows][kBlockSize];
  // Ringforts with a link; all ones where adjacency is no link (Stone of
  // Destiny); all ones in High Kings, and in Battle.
  alignas(64) Board linked[kBlockSize];
  alignas(64) Board by_links[kBlockSize];
  alignas(64) Board by_kings[kBlockSize];
  alignas(64) Board in_battle[kBlockSize];
  uint8_t transforms[kBlockSize];                // board transforms
  alignas(64) uint64_t kingdoms[2][kBlockSize];  // own, enemy
};

// Positions of a block: `count` of each, 1 to kBlockSize.
struct BlockInput {
  const State* states;
  const Symmetry* symmetries;
  const LegalSet* legal;
  int count;
};

// The planes of a position, turned, as bits: one for each float of the output,
// in its order. What `neighbours` holds depends on the layout.
struct PositionBits {
  alignas(64) uint8_t planes[192];  // kBitBytes used
  uint8_t neighbours[2][64];
};

// [board transform]: the hills that it takes to the south of the board.
constexpr auto MakeSouths() {
  constexpr Board south =
      RankBoard(0) | RankBoard(1) | RankBoard(2) | RankBoard(3);
  std::array<Board, kNumBoardTransforms> souths{};
  for (int transform = 0; transform < kNumBoardTransforms; ++transform) {
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      if ((south & BoardOf(TransformHill(transform, hill))) != 0) {
        souths[transform] |= BoardOf(hill);
      }
    }
  }
  return souths;
}
constexpr auto kSouths = MakeSouths();

// Returns the boards that the transform, without regard to what they mean,
// takes where TransformPairs takes the pairs. See there: a pair moves to its
// other hill before the flip instead of after it.
HillPairs BeforeTransform(int transform, HillPairs pairs) {
  const bool transpose = (transform & kTranspose) != 0;
  const int files = transpose ? kRankStride : 1;
  const int ranks = transpose ? 1 : kRankStride;
  if (transpose) std::swap(pairs.east, pairs.north);
  if ((transform & 1) != 0) pairs.east <<= files;
  if ((transform & 2) != 0) pairs.north <<= ranks;
  return pairs;
}

void LoadPairs(const State& state, const LegalSet& legal, int transform, int i,
               EncoderBlock& block) {
  const HillPairs links = BeforeTransform(
      transform, {.east = state.links_east, .north = state.links_north});
  const HillPairs legal_links = BeforeTransform(
      transform, {.east = legal.links_east, .north = legal.links_north});
  block.rows[kRowLinksEastOrOwnWay][i] = links.east;
  block.rows[kRowLinksNorthOrEnemyWay][i] = links.north;
  block.rows[kRowLegalLinksEastOrOwnNearer][i] = legal_links.east;
  block.rows[kRowLegalLinksNorthOrEnemyNearer][i] = legal_links.north;
  block.linked[i] = state.links_east | East(state.links_east) |
                    state.links_north | North(state.links_north);
}

void LoadKingMoves(const LegalSet& legal, int i, EncoderBlock& block) {
  const KingMoveBoards moves = BoardsOfKingMoves(legal);
  block.rows[kRowLegalOrigins][i] = moves.origins;
  block.rows[kRowLegalDestinations][i] = moves.destinations;
  block.rows[kRowLegalSacrifices][i] = moves.sacrifices;
}

// Fills column i of what is not derived from other rows. Returns whether the
// symmetry brings the seat to move to seat 0.
bool LoadPosition(const State& state, const Symmetry& symmetry,
                  const LegalSet& legal, int i, EncoderBlock& block) {
  const VariantInfo& info = Info(state.variant);
  const Side own = state.side();
  const Side enemy = Opponent(own);
  block.transforms[i] = symmetry.board;
  block.rows[kRowOwn][i] = state.ringforts[own];
  block.rows[kRowEnemy][i] = state.ringforts[enemy];
  block.rows[kRowOwnKings][i] = state.kings[own];
  block.rows[kRowEnemyKings][i] = state.kings[enemy];
  block.rows[kRowLegalHills][i] = legal.hills;
  block.rows[kRowArea][i] =
      info.seats == 4 ? kSouths[symmetry.board] : kAllHills;
  const FamilyTraits& traits = TraitsOf(state.variant);
  LoadPairs(state, legal, symmetry.board, i, block);
  block.by_links[i] = traits.has_links ? ~Board{0} : 0;
  block.by_kings[i] = traits.kings_move ? ~Board{0} : 0;
  block.in_battle[i] = state.phase == Phase::kBattle ? ~Board{0} : 0;
  LoadKingMoves(legal, i, block);
  return ((state.seat + symmetry.seat_shift) & (info.seats - 1)) == 0;
}

// Returns whether every LoadPosition does.
bool LoadBlock(const BlockInput& input, EncoderBlock& block) {
  bool ok = true;
  for (int i = 0; i < kBlockSize; ++i) {
    const int from = std::min(i, input.count - 1);
    ok &= LoadPosition(input.states[from], input.symmetries[from],
                       input.legal[from], i, block);
  }
  return ok;
}

// --- Boards ------------------------------------------------------------------

// Neighbours of a side: the hills adjacent to any, and their number in binary.
struct Neighbours {
  explicit Neighbours(const Word& board)
      : Neighbours(North(board), South(board), East(board), West(board)) {}
  Neighbours(const Word& n, const Word& s, const Word& e, const Word& w)
      : any(n | s | e | w),
        ones(n ^ s ^ e ^ w),
        twos((n & s) ^ (e & w) ^ ((n ^ s) & (e ^ w))),
        fours(n & s & e & w) {}

  Word any, ones, twos, fours;
};

// The planes of ringforts, derived from the boards of both sides, the
// kings of the other one and what a block holds beside its rows.
struct DerivedBoards {
  Neighbours near_own, near_enemy;
  Word besieged_by_own, besieged_by_enemy;
  Word own_singles, enemy_singles;
  Word enemy_reach;

  DerivedBoards(const Word& own, const Word& enemy, const Word& enemy_kings,
                const Word& linked, const Word& by_links, const Word& by_kings)
      : near_own(own),
        near_enemy(enemy),
        besieged_by_own(Besieged(own)),
        besieged_by_enemy(Besieged(enemy)),
        own_singles(own & ~(linked | (near_own.any & ~by_links))),
        enemy_singles(enemy & ~(linked | (near_enemy.any & ~by_links))),
        enemy_reach(
            Word(kAllHills) & ~(own | enemy) &
            KnightMoves((enemy_kings & by_kings) | (enemy & ~by_kings)) &
            ~(near_enemy.any |
              ((Diagonal(enemy) | TwoStepsStraight(enemy)) & ~by_kings))) {}
};

// The kings' ways: as FindKingWays of features.cc, but both sides go on move by
// move, and the side that reaches a hill first is the nearer one, the own side
// where both do.
struct KingWays {
  Word own = Word(Board{0}), enemy = Word(Board{0});
  Word own_nearer = Word(Board{0}), enemy_nearer = Word(Board{0});

  // Kings of no lanes but those of High Kings; `battle`: all ones where that is
  // the phase, else 0.
  TARA_INLINE KingWays(const Word& own_ringforts, const Word& enemy_ringforts,
                       const Word& own_kings, const Word& enemy_kings,
                       const Word& battle) {
    const Word vacant = Word(kAllHills) & ~(own_ringforts | enemy_ringforts);
    Word own_open = vacant & (battle | ~Adjacent(own_ringforts));
    Word enemy_open = vacant & (battle | ~Adjacent(enemy_ringforts));
    Word own_move = own_kings, enemy_move = enemy_kings;
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

// Fills the derived rows of the columns from `begin` on.
void DeriveRows(EncoderBlock& block, int begin) {
  const auto load = [&](const Board(&row)[kBlockSize]) {
    return Word::Load(row + begin);
  };
  const auto store = [&](Word boards, EncoderRow row) {
    boards.Store(block.rows[row] + begin);
  };
  const Word own = load(block.rows[kRowOwn]);
  const Word enemy = load(block.rows[kRowEnemy]);
  const Word enemy_kings = load(block.rows[kRowEnemyKings]);
  const DerivedBoards derived(own, enemy, enemy_kings, load(block.linked),
                              load(block.by_links), load(block.by_kings));
  const auto& near_own = derived.near_own;
  const auto& near_enemy = derived.near_enemy;
  store(Word(kAllHills), kRowOnBoard);
  store(Word(kAllHills) & ~(own | enemy), kRowVacant);
  store(load(block.rows[kRowOwnKings]) & enemy, kRowOwnStranded);
  store(enemy_kings & own, kRowEnemyStranded);
  store(derived.besieged_by_own, kRowBesiegedByOwn);
  store(derived.besieged_by_enemy, kRowBesiegedByEnemy);
  store(derived.own_singles, kRowOwnSingles);
  store(derived.enemy_singles, kRowEnemySingles);
  store(near_own.fours, kRowOwnNeighbours);
  store(near_enemy.fours, kRowEnemyNeighbours);
  store(derived.enemy_reach, kRowEnemyReach);
  store(near_own.fours, kRowOwnFours);
  store(near_enemy.fours, kRowEnemyFours);
  store(near_own.twos, kRowOwnTwos);
  store(near_enemy.twos, kRowEnemyTwos);
  store(Word(uint64_t{0}), kRowUnused4);
  store(near_own.ones, kRowOwnOnes);
  store(near_enemy.ones, kRowEnemyOnes);
  store(Word(uint64_t{0}), kRowUnused7);
}

// Adds the kings' ways to the rows of links, which they have for themselves.
void AddKingWays(EncoderBlock& block, int begin) {
  const auto load = [&](const Board(&row)[kBlockSize]) {
    return Word::Load(row + begin);
  };
  const Word by_kings = load(block.by_kings);
  if (!Any(NonZero(by_kings))) return;
  const KingWays ways(load(block.rows[kRowOwn]), load(block.rows[kRowEnemy]),
                      load(block.rows[kRowOwnKings]) & by_kings,
                      load(block.rows[kRowEnemyKings]) & by_kings,
                      load(block.in_battle));
  const auto add = [&](Word boards, EncoderRow row) {
    (load(block.rows[row]) | boards).Store(block.rows[row] + begin);
  };
  add(ways.own, kRowLinksEastOrOwnWay);
  add(ways.enemy, kRowLinksNorthOrEnemyWay);
  add(ways.own_nearer, kRowLegalLinksEastOrOwnNearer);
  add(ways.enemy_nearer, kRowLegalLinksNorthOrEnemyNearer);
}

void CountKingdoms(EncoderBlock& block, int begin) {
  const auto [own, enemy] =
      CountComponentsOfBoth(Word::Load(block.rows[kRowOwn] + begin),
                            Word::Load(block.rows[kRowEnemy] + begin));
  own.Store(block.kingdoms[0] + begin);
  enemy.Store(block.kingdoms[1] + begin);
}

// In Stone of Destiny the kingdoms are not the components.
void CountKingdomsByLinks(const BlockInput& input, EncoderBlock& block) {
  for (int i = 0; i < input.count; ++i) {
    const State& state = input.states[i];
    if (!TraitsOf(state.variant).has_links) continue;
    block.kingdoms[0][i] =
        static_cast<uint64_t>(CountKingdoms(state, state.side()));
    block.kingdoms[1][i] =
        static_cast<uint64_t>(CountKingdoms(state, Opponent(state.side())));
  }
}

// --- Globals -----------------------------------------------------------------

// n / divisor for every byte n: the rounding of a division without its cost.
template <int kDivisor>
constexpr auto MakeQuotients() {
  std::array<float, 256> quotients{};
  for (int n = 0; n < 256; ++n) {
    quotients[n] = static_cast<float>(n) / static_cast<float>(kDivisor);
  }
  return quotients;
}
template <int kDivisor>
constexpr std::array<float, 256> kQuotients = MakeQuotients<kDivisor>();

// [variant]: the first globals, which tell the variant, but for the phase; and
// one more, so that they are whole vectors: it is overwritten.
constexpr int kFirstPhase = GlobalIndex("placement");
constexpr int kDoubles = GlobalIndex("doubles");
constexpr auto MakeVariantRows() {
  std::array<std::array<float, kDoubles + 2>, kNumVariants> rows{};
  for (int i = 0; i < kNumVariants; ++i) {
    if (kVariantGlobals[i] < kDoubles) rows[i][kVariantGlobals[i]] = 1;
    rows[i][kDoubles] = kVariants[i].seats == 4;
  }
  return rows;
}
alignas(64) constexpr auto kVariantRows = MakeVariantRows();

}  // namespace

// See EncodeGlobals of features.cc, the plain twin.
void EncodeGlobalsOf(const State& state, const LegalSet& legal,
                     int own_kingdoms, int enemy_kingdoms, float* out) {
  const Side own = state.side();
  const Side enemy = Opponent(own);
  const Outcome standing =
      Score(state, own == kRed ? own_kingdoms : enemy_kingdoms,
            own == kRed ? enemy_kingdoms : own_kingdoms);
  const int margin = standing.points[own] - standing.points[enemy];

  const auto& variant = kVariantRows[static_cast<int>(state.variant)];
  std::memcpy(out, variant.data(), sizeof(variant));
  out[kFirstPhase + static_cast<int>(state.phase)] = 1;
  Unrolled<kNumVariants>([&](auto i) {
    if constexpr (kVariantGlobals[i] > kDoubles) {
      out[kVariantGlobals[i]] = static_cast<int>(state.variant) == i;
    }
  });
  const RuleOptions options =
      own == kRed ? state.options : WithColoursExchanged(state.options);
  Unrolled<static_cast<int>(kRuleOptions.size())>([&](auto i) {
    constexpr const RuleOptionInfo& kOption = kRuleOptions[i];
    static_assert(kOption.max_value < 256 && kOption.min_value > -256);
    constexpr const auto& kQuotient = kQuotients<OptionDivisor(kOption)>;
    const int value = kOption.get(options);
    float& global = out[kOptionGlobals[i]];
    if constexpr (kOption.min_value < 0) {
      global = value < 0 ? -kQuotient[-value] : kQuotient[value];
    } else {
      global = kQuotient[value];
    }
  });
  constexpr int kRest = GlobalIndex("no_progress");
  constexpr size_t kNumRest = GlobalIndex("legal_pass") + 1 - kRest;
  const std::array<float, kNumRest> rest = std::to_array<float>({
      static_cast<float>(state.no_progress) /
          static_cast<float>(state.options.no_progress_limit),
      static_cast<float>(state.ending == Ending::kOut),
      static_cast<float>(state.ending == Ending::kPassed),
      static_cast<float>(state.ending == Ending::kBoardFull),
      kQuotients<3>[state.turns_left],
      kQuotients<3>[state.kings_captured[own]],
      kQuotients<3>[state.kings_captured[enemy]],
      kQuotients<45>[kNumHills - standing.territory[kRed] -
                     standing.territory[kBlue]],
      kQuotients<23>[standing.territory[own]],
      kQuotients<23>[standing.territory[enemy]],
      kQuotients<10>[own_kingdoms],
      kQuotients<10>[enemy_kingdoms],
      kQuotients<40>[standing.bridges[own]],
      kQuotients<40>[standing.bridges[enemy]],
      static_cast<float>(margin) / 10.0f,
      static_cast<float>(ResultForMover(state, margin)),
      kQuotients<45>[legal.Count()],
      static_cast<float>(legal.pass),
  });
  std::memcpy(out + kRest, rest.data(), sizeof(rest));
}

namespace {

// --- Bits --------------------------------------------------------------------

// The floats of the eight bits of a byte.
constexpr auto MakeByteImages() {
  std::array<std::array<float, 8>, 256> images{};
  for (int bits = 0; bits < 256; ++bits) {
    for (int i = 0; i < 8; ++i) images[bits][i] = (bits >> i) & 1 ? 1.0f : 0.0f;
  }
  return images;
}
alignas(64) constexpr auto kByteImages = MakeByteImages();

// Returns the 49 squares of a board without gaps.
uint64_t Squares(Board board) {
#if defined(__BMI2__)
  constexpr uint64_t kRank = 0x7f;
  return _pext_u64(board, kRank | kRank << 9 | kRank << 18 | kRank << 27 |
                              kRank << 36 | kRank << 45 | kRank << 54);
#else
  uint64_t squares = 0;
  for (int rank = 0; rank < kBoardSize; ++rank) {
    squares |= ((board >> (kRankStride * rank)) & 0x7f) << (kBoardSize * rank);
  }
  return squares;
#endif
}

using TurnedRows = std::array<Board, kNumEncoderRows>;

// Bits [kNumPlanes, 49] without gaps.
void PackPlanes(const TurnedRows& rows, uint8_t* bits) {
  uint64_t carry = 0;
  for (int plane = 0; plane < kNumPlanes; ++plane) {
    const uint64_t word = carry | Squares(rows[plane]) << (plane % 8);
    std::memcpy(bits + kNumSquares * plane / 8, &word, sizeof(word));
    carry = plane % 8 == 7 ? 0 : word >> 48;
  }
}

// Bits [2, 49] of the neighbours' planes, where they are within those bytes of
// all planes that hold them.
void PackNeighbours(Board own, Board enemy, uint8_t* bits) {
  constexpr int kOwn = kRowOwnNeighbours * kNumSquares % 8;
  constexpr int kEnemy = kOwn + kNumSquares;
  static_assert(kEnemy < 64);
  const uint64_t enemy_squares = Squares(enemy);
  const uint64_t words[2] = {Squares(own) << kOwn | enemy_squares << kEnemy,
                             enemy_squares >> (64 - kEnemy)};
  std::memcpy(bits, words, sizeof(words));
}

// PositionBits::neighbours holds the bits of value 1 and of value 2.
void PackChannelsFirst(const TurnedRows& rows, PositionBits& bits) {
  PackPlanes(rows, bits.planes);
  PackNeighbours(rows[kRowOwnOnes], rows[kRowEnemyOnes], bits.neighbours[0]);
  PackNeighbours(rows[kRowOwnTwos], rows[kRowEnemyTwos], bits.neighbours[1]);
}

#if defined(__AVX2__)

// Calls visit(square, bits), bit i the square's bit of row i.
template <typename Visitor>
void ForEachSquare(const TurnedRows& rows, Visitor visit) {
  static_assert(kNumEncoderRows == 32);
  // 1. Rank r of a board in its byte r: seven bits that move by r.
  alignas(64) uint64_t ranks[kNumEncoderRows];
  for (int row = 0; row < kNumEncoderRows; ++row) {
    uint64_t x = 0;
    for (int rank = 0; rank < kBoardSize; ++rank) {
      x |= (rows[row] >> rank) & (uint64_t{0x7f} << (8 * rank));
    }
    ranks[row] = x;
  }
  // 2. Bytes transposed, in three steps of pairs: then byte i of vector r is
  //    rank r of row i.
  const __m256i pairs = _mm256_broadcastsi128_si256(
      _mm_set_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0));
  __m256i a[8], b[8];
  for (int i = 0; i < 8; ++i) {
    const auto* const low = reinterpret_cast<const __m128i*>(ranks + 2 * i);
    const auto* const high =
        reinterpret_cast<const __m128i*>(ranks + 16 + 2 * i);
    a[i] = _mm256_shuffle_epi8(
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(low)),
                                _mm_load_si128(high), 1),
        pairs);
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm256_unpacklo_epi16(a[2 * i], a[2 * i + 1]);      // ranks 0 to 3
    b[4 + i] = _mm256_unpackhi_epi16(a[2 * i], a[2 * i + 1]);  // 4 to 7
  }
  for (int half = 0; half < 8; half += 4) {
    for (int i = 0; i < 2; ++i) {
      const __m256i even = b[half + 2 * i], odd = b[half + 2 * i + 1];
      a[half + i] = _mm256_unpacklo_epi32(even, odd);      // ranks 0 and 1
      a[half + 2 + i] = _mm256_unpackhi_epi32(even, odd);  // 2 and 3
    }
  }
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_epi64(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 1]);
  }
  // 3. Of each rank, the bit of a file in all 32 bytes.
  for (int rank = 0; rank < kBoardSize; ++rank) {
    for (int file = 0; file < kBoardSize; ++file) {
      visit(kBoardSize * rank + file,
            static_cast<uint32_t>(
                _mm256_movemask_epi8(_mm256_slli_epi64(b[rank], 7 - file))));
    }
  }
}

// PositionBits::neighbours holds, by square, indices into kNeighbourPairs.
void PackChannelsLast(const TurnedRows& rows, PositionBits& bits) {
  ForEachSquare(rows, [&](int square, uint32_t planes) {
    std::memcpy(bits.planes + 3 * square, &planes, sizeof(planes));
    bits.neighbours[0][square] = static_cast<uint8_t>(planes >> 24);
  });
}

#else

// Turns bytes of eight bits into the bytes of their first, second ... bits.
// Source: Warren, "Hacker's Delight", 2nd edition, section 7-3.
constexpr uint64_t TransposeBits(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
  return x ^ t ^ (t << 28);
}

// Bits [49, 8] of eight planes, to every `stride`-th byte.
void PackSquares(const Board* rows, int stride, uint8_t* bits) {
  for (int rank = 0; rank < kBoardSize; ++rank) {
    uint64_t by_plane = 0;
    for (int i = 0; i < 8; ++i) {
      by_plane |= ((rows[i] >> (kRankStride * rank)) & 0x7f) << (8 * i);
    }
    uint64_t by_file = TransposeBits(by_plane);
    for (int file = 0; file < kBoardSize; ++file, by_file >>= 8) {
      *bits = static_cast<uint8_t>(by_file);
      bits += stride;
    }
  }
}

void PackChannelsLast(const TurnedRows& rows, PositionBits& bits) {
  for (int group = 0; group < 3; ++group) {
    PackSquares(&rows[8 * group], /*stride=*/3, bits.planes + group);
  }
  PackSquares(&rows[kRowOwnFours], /*stride=*/1, bits.neighbours[0]);
}

#endif

void PackBits(bool channels_last, const EncoderBlock& block, int i,
              PositionBits& bits) {
  const int transform = block.transforms[i];
  TurnedRows rows;
  for (int row = 0; row < kNumEncoderRows; ++row) {
    rows[row] = block.rows[row][i];
  }
  // One step after the other, so that the compiler makes vectors of each.
  for (const int step : {int{kTranspose}, 1, 2}) {
    if ((transform & step) == 0) continue;
    if (step == kTranspose) {
      for (Board& board : rows) board = Transpose(board);
    } else if (step == 1) {
      for (Board& board : rows) board = FlipFiles(board);
    } else {
      for (Board& board : rows) board = FlipRanks(board);
    }
  }
  (channels_last ? PackChannelsLast : PackChannelsFirst)(rows, bits);
}

// --- Floats ------------------------------------------------------------------

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
constexpr NeighbourPairs kNeighbourPairs = MakeNeighbourPairs();

// Eight floats, one vector with AVX2. `around_caches`: see EncoderJob.
void StoreEight(bool around_caches, const float* floats, float* out) {
#if defined(__AVX2__)
  if (around_caches) {
    _mm256_stream_ps(out, _mm256_loadu_ps(floats));
    return;
  }
#endif
  static_cast<void>(around_caches);
  std::memcpy(out, floats, 8 * sizeof(float));
}

template <bool kAround>
void ExpandChannelsFirst(const PositionBits& bits, float* out) {
  // Bytes that hold neighbours.
  constexpr int kFirst = kRowOwnNeighbours * kNumSquares / 8;
  constexpr int kEnd = ((kRowEnemyNeighbours + 1) * kNumSquares + 7) / 8;
  for (int i = 0; i < kFirst; ++i) {
    StoreEight(kAround, kByteImages[bits.planes[i]].data(), out + 8 * i);
  }
  for (int i = kFirst; i < kEnd; ++i) {
    const auto& fours = kByteImages[bits.planes[i]];
    const auto& ones = kByteImages[bits.neighbours[0][i - kFirst]];
    const auto& twos = kByteImages[bits.neighbours[1][i - kFirst]];
    alignas(32) float floats[8];
    for (int j = 0; j < 8; ++j) {
      floats[j] = fours[j] + 0.25f * ones[j] + 0.5f * twos[j];
    }
    StoreEight(kAround, floats, out + 8 * i);
  }
  for (int i = kEnd; i < kBitBytes; ++i) {
    StoreEight(kAround, kByteImages[bits.planes[i]].data(), out + 8 * i);
  }
}

template <bool kAround>
void ExpandChannelsLast(const PositionBits& bits, float* out) {
  static_assert(kNumPlanes == 24 && kRowOwnNeighbours == 16 + 5);
  for (int square = 0; square < kNumSquares; ++square) {
    const uint8_t* const planes = bits.planes + 3 * square;
    const int pair = bits.neighbours[0][square];
    StoreEight(kAround, kByteImages[planes[0]].data(), out);
    StoreEight(kAround, kByteImages[planes[1]].data(), out + 8);
#if defined(__AVX2__)
    // Enemy neighbours are in the even places, own ones in the odd.
    double both;
    std::memcpy(&both, &kNeighbourPairs.swapped[pair], sizeof(both));
    const __m256 third =
        _mm256_blend_ps(_mm256_load_ps(kByteImages[planes[2]].data()),
                        _mm256_castpd_ps(_mm256_set1_pd(both)), 3 << 5);
    kAround ? _mm256_stream_ps(out + 16, third)
            : _mm256_storeu_ps(out + 16, third);
#else
    StoreEight(kAround, kByteImages[planes[2]].data(), out + 16);
    std::memcpy(out + kRowOwnNeighbours, kNeighbourPairs.pairs[pair],
                2 * sizeof(float));
#endif
    out += kNumPlanes;
  }
}

// --- Order of the work -------------------------------------------------------

// A batch to encode; see EncoderInput and EncoderOutput.
struct EncoderJob {
  const EncoderInput& input;
  const EncoderOutput& output;
  bool channels_last;
  // Writes the planes around the caches. REQUIRES: aligned to 32 bytes.
  bool around_caches;
};

BlockInput BlockFrom(const EncoderInput& input, size_t first) {
  return {.states = input.states.data() + first,
          .symmetries = input.symmetries.data() + first,
          .legal = input.legal.data() + first,
          .count = static_cast<int>(
              std::min(input.states.size() - first, size_t{kBlockSize}))};
}

// Does one of kPrepareSteps steps that fill a block. Returns false where a
// symmetry does not bring the seat to move to seat 0.
constexpr int kPrepareSteps = 4;
template <int kStep>
bool Prepare(const BlockInput& input, EncoderBlock& block) {
  if constexpr (kStep == 0) return LoadBlock(input, block);
  if constexpr (kStep == 1) {
    for (int i = 0; i < kBlockSize; i += Word::kLanes) {
      DeriveRows(block, i);
      AddKingWays(block, i);
    }
  }
  if constexpr (kStep == 2) {
    for (int i = 0; i < kBlockSize; i += Word::kLanes) {
      CountKingdoms(block, i);
    }
  }
  if constexpr (kStep == 3) CountKingdomsByLinks(input, block);
  return true;
}

// Makes the bits of position i of a filled block, and writes its globals.
void Pack(const EncoderJob& job, const BlockInput& input,
          const EncoderBlock& block, int i, PositionBits& bits,
          float* globals) {
  PackBits(job.channels_last, block, i, bits);
  EncodeGlobalsOf(input.states[i], input.legal[i],
                  static_cast<int>(block.kingdoms[0][i]),
                  static_cast<int>(block.kingdoms[1][i]), globals);
}

// Writes the planes of a position.
void Expand(const EncoderJob& job, const PositionBits& bits, float* planes) {
  if (job.channels_last) {
    (job.around_caches ? ExpandChannelsLast<true>
                       : ExpandChannelsLast<false>)(bits, planes);
  } else {
    (job.around_caches ? ExpandChannelsFirst<true>
                       : ExpandChannelsFirst<false>)(bits, planes);
  }
}

// Writing the planes waits for memory, and all other work fits into that wait
// if it comes in small portions: a core can look ahead for some hundred
// instructions only. So, while the positions of one block are packed and
// written one by one, the next block is prepared in four steps between them.
// The floats of a position are written some steps after its bits, for what
// reads narrower than it was stored must wait until the store has left the
// core, behind all stores before it.
//
// Returns false, and stops, where Prepare does.
bool Encode(const EncoderJob& job) {
  constexpr size_t kWriteLag = 2;
  const size_t size = job.input.states.size();
  EncoderBlock block;
  PositionBits bits[kBlockSize];
  BlockInput input;
  // Step s of a round packs positions 2s and 2s + 1 of the block, or, when all
  // are packed, prepares the next block; and it expands position s - kWriteLag.
  const size_t end = size == 0 ? 0 : size + kBlockSize + kWriteLag;
  for (size_t next = 0; next < end; next += kBlockSize) {
    const size_t first = next - kBlockSize;  // of the block that is filled
    bool ok = true;
    Unrolled<kBlockSize>([&](auto number) {
      constexpr int kStep = number;
      if constexpr (kStep < kBlockSize - kPrepareSteps) {
        for (int i = 2 * kStep; i < 2 * kStep + 2; ++i) {
          const size_t position = first + static_cast<size_t>(i);
          if (next > 0 && position < size) {
            Pack(job, input, block, i, bits[i],
                 job.output.globals.data() + position * kNumGlobals);
          }
        }
      } else if (next < size) {
        constexpr int kPart = kStep - (kBlockSize - kPrepareSteps);
        if (kPart == 0) input = BlockFrom(job.input, next);
        ok &= Prepare<kPart>(input, block);
      }
      const size_t position = first + kStep - kWriteLag;
      if (next + kStep >= kBlockSize + kWriteLag && position < size) {
        Expand(job, bits[(kStep + kBlockSize - kWriteLag) % kBlockSize],
               job.output.planes.data() + position * kPlaneFloats);
      }
    });
    if (!ok) return false;
  }
#if defined(__AVX2__)
  if (job.around_caches) _mm_sfence();
#endif
  return true;
}

}  // namespace

void EncodeBatch(const EncoderInput& input, const EncoderOutput& output) {
  const size_t size = input.states.size();
  TARA_CHECK(input.symmetries.size() == size, "symmetries: size");
  TARA_CHECK(input.legal.size() == size, "legal: size");
  TARA_CHECK(output.planes.size() == size * kPlaneFloats, "planes: size");
  TARA_CHECK(output.globals.size() == size * kNumGlobals, "globals: size");
  const bool ok =
      Encode({.input = input,
              .output = output,
              .channels_last = output.layout == PlaneLayout::kChannelsLast,
              .around_caches =
                  output.planes.size() * sizeof(float) > kMostCachedBytes &&
                  reinterpret_cast<uintptr_t>(output.planes.data()) % 32 == 0});
  TARA_CHECK(ok, "the symmetry must bring the seat to seat 0");
}

}  // namespace tara::nn
