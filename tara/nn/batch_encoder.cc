#include "tara/nn/batch_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/nn/encoder_block.h"
#include "tara/nn/features.h"

#if defined(__BMI2__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tara {
namespace {

constexpr int kPlaneFloats = kNumPlanes * kNumSquares;

// --- Loading -----------------------------------------------------------------

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

// The layout of states and legal sets that the AVX-512 path reads as words.
static_assert(offsetof(State, ringforts) == 0 && offsetof(State, kings) == 16);
static_assert(offsetof(State, links_east) == 32);
static_assert(offsetof(State, links_north) == 40);
static_assert(offsetof(State, variant) == 48 && offsetof(State, phase) == 49);
static_assert(offsetof(State, seat) == 50 && offsetof(State, ending) == 51);
static_assert(offsetof(State, turns_left) == 52);
static_assert(offsetof(State, no_progress) == 53);
static_assert(offsetof(State, kings_captured) == 54);
static_assert(offsetof(State, options) == 56);
static_assert(offsetof(RuleOptions, no_progress_limit) == 0);
static_assert(offsetof(RuleOptions, proximity_bound) == 1);
static_assert(offsetof(RuleOptions, placement_captures_kings) == 2);
static_assert(offsetof(RuleOptions, link_all_at_end) == 3);
static_assert(offsetof(RuleOptions, shared_row_opening) == 4);
static_assert(sizeof(LegalSet) == 104 && offsetof(LegalSet, hills) == 0);
static_assert(offsetof(LegalSet, kings) == 8);
static_assert(sizeof(LegalSet::KingMoves) == 24);
static_assert(offsetof(LegalSet::KingMoves, origin) == 0);
static_assert(offsetof(LegalSet::KingMoves, moves) == 8);
static_assert(offsetof(LegalSet::KingMoves, sacrifices) == 16);
static_assert(offsetof(LegalSet, links_east) == 80);
static_assert(offsetof(LegalSet, links_north) == 88);
static_assert(offsetof(LegalSet, pass) == 96);
static_assert(sizeof(Symmetry) == 2 && offsetof(Symmetry, board) == 0);
static_assert(Ending{1} == Ending::kOut && Ending{3} == Ending::kPassed &&
              Ending{4} == Ending::kBoardFull);

constexpr EncoderTables MakeTables() {
  EncoderTables tables{};
  for (int i = 0; i < kNumBoardTransforms; ++i) tables.souths[i] = kSouths[i];
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    tables.bits[hill] = static_cast<uint8_t>(std::countr_zero(BoardOf(hill)));
  }
  for (int i = 0; i < kNumVariants; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const Family family = kVariants[i].family;
    if (kVariants[i].seats == 4) tables.doubles |= bit;
    if (family == Family::kStoneOfDestiny) tables.by_links |= bit;
    if (family == Family::kHighKings) tables.by_kings |= bit;
    if (family == Family::kFourTreasures) tables.by_bridges |= bit;
  }
  return tables;
}
constexpr EncoderTables kTables = MakeTables();

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
  block.rows[kRowLinksEast][i] = links.east;
  block.rows[kRowLinksNorth][i] = links.north;
  block.rows[kRowLegalLinksEast][i] = legal_links.east;
  block.rows[kRowLegalLinksNorth][i] = legal_links.north;
  block.linked[i] = state.links_east | East(state.links_east) |
                    state.links_north | North(state.links_north);
}

void LoadKingMoves(const LegalSet& legal, int i, EncoderBlock& block) {
  Board origins = 0, destinations = 0, sacrifices = 0;
  for (const LegalSet::KingMoves& king : legal.kings) {
    if (king.moves == 0) continue;
    origins |= BoardOf(king.origin);
    destinations |= king.moves;
    sacrifices |= king.sacrifices;
  }
  block.rows[kRowLegalOrigins][i] = origins;
  block.rows[kRowLegalDestinations][i] = destinations;
  block.rows[kRowLegalSacrifices][i] = sacrifices;
}

// Fills column i of what DeriveRows and the paths do not compute.
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
  const bool by_links = info.family == Family::kStoneOfDestiny;
  const bool by_kings = info.family == Family::kHighKings;
  LoadPairs(state, legal, symmetry.board, i, block);
  block.by_links[i] = by_links ? ~Board{0} : 0;
  block.by_kings[i] = by_kings ? ~Board{0} : 0;
  LoadKingMoves(legal, i, block);
  return ((state.seat + symmetry.seat_shift) & (info.seats - 1)) == 0;
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

// [variant]: what the globals say of the variant, but for the phase, and one
// more that is overwritten.
constexpr int kFirstPhase = kNumVariants;
constexpr int kDoubles = kFirstPhase + 4;
constexpr auto MakeVariantGlobals() {
  std::array<std::array<float, kDoubles + 2>, kNumVariants> globals{};
  for (int i = 0; i < kNumVariants; ++i) {
    globals[i][i] = 1;
    globals[i][kDoubles] = kVariants[i].seats == 4;
  }
  return globals;
}
alignas(64) constexpr auto kVariantGlobals = MakeVariantGlobals();

// The order is that of kGlobals; see EncodeGlobals of features.cc, the plain
// twin.
void EncodeGlobals(const State& state, const LegalSet& legal,
                   int own_kingdoms, int enemy_kingdoms, float* out) {
  const Side own = state.side();
  const Side enemy = Opponent(own);
  const Outcome standing =
      Score(state, own == kRed ? own_kingdoms : enemy_kingdoms,
            own == kRed ? enemy_kingdoms : own_kingdoms);
  const int margin = standing.points[own] - standing.points[enemy];
  const RuleOptions& options = state.options;

  const auto& variant = kVariantGlobals[static_cast<int>(state.variant)];
  std::memcpy(out, variant.data(), sizeof(variant));
  out[kFirstPhase + static_cast<int>(state.phase)] = 1;
  float* next = out + kDoubles + 1;
  *next++ = kQuotients<40>[options.no_progress_limit];
  *next++ = kQuotients<5>[options.proximity_bound];
  *next++ = options.placement_captures_kings;
  *next++ = options.link_all_at_end;
  *next++ = options.shared_row_opening;
  *next++ = static_cast<float>(state.no_progress) / options.no_progress_limit;
  *next++ = state.ending == Ending::kOut;
  *next++ = state.ending == Ending::kPassed;
  *next++ = state.ending == Ending::kBoardFull;
  *next++ = kQuotients<3>[state.turns_left];
  *next++ = kQuotients<3>[state.kings_captured[own]];
  *next++ = kQuotients<3>[state.kings_captured[enemy]];
  *next++ = kQuotients<45>[kNumHills - standing.territory[kRed] -
                           standing.territory[kBlue]];
  *next++ = kQuotients<23>[standing.territory[own]];
  *next++ = kQuotients<23>[standing.territory[enemy]];
  *next++ = kQuotients<10>[own_kingdoms];
  *next++ = kQuotients<10>[enemy_kingdoms];
  *next++ = kQuotients<40>[standing.bridges[own]];
  *next++ = kQuotients<40>[standing.bridges[enemy]];
  *next++ = static_cast<float>(margin) / 10.0f;
  *next++ = static_cast<float>((margin > 0) - (margin < 0));
  *next++ = kQuotients<45>[legal.Count()];
  *next++ = legal.pass;
  TARA_DCHECK(next == out + kNumGlobals, "one value for each global");
  static_cast<void>(next);  // for builds without the check
}

// --- The portable path -------------------------------------------------------

struct Portable;  // names the instruction set

constexpr NeighbourPairs kNeighbourPairs = MakeNeighbourPairs();

#if !defined(__AVX2__)

// The floats of the eight bits of a byte.
constexpr auto MakeByteImages() {
  std::array<std::array<float, 8>, 256> images{};
  for (int bits = 0; bits < 256; ++bits) {
    for (int i = 0; i < 8; ++i) images[bits][i] = (bits >> i) & 1 ? 1.0f : 0.0f;
  }
  return images;
}
alignas(64) constexpr auto kByteImages = MakeByteImages();

#endif

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

#if defined(__AVX2__)

// Calls visit(square, bits), bit i the square's bit of row i.
template <typename Visitor>
void ForEachSquare(const TurnedRows& rows, Visitor visit) {
  static_assert(kNumEncoderRows == 32);
  // Rank r of a board in its byte r: seven bits that move by r.
  alignas(64) uint64_t ranks[kNumEncoderRows];
  for (int row = 0; row < kNumEncoderRows; ++row) {
    uint64_t x = 0;
    for (int rank = 0; rank < kBoardSize; ++rank) {
      x |= (rows[row] >> rank) & (uint64_t{0x7f} << (8 * rank));
    }
    ranks[row] = x;
  }
  // Then byte i of vector r comes from row i.
  const __m256i pairs = _mm256_broadcastsi128_si256(
      _mm_set_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0));
  __m256i a[8], b[8];
  for (int i = 0; i < 8; ++i) {
    const auto* const low = reinterpret_cast<const __m128i*>(ranks + 2 * i);
    const auto* const high = reinterpret_cast<const __m128i*>(ranks + 16 + 2 * i);
    a[i] = _mm256_shuffle_epi8(
        _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_load_si128(low)), _mm_load_si128(high), 1),
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
  for (int rank = 0; rank < kBoardSize; ++rank) {
    for (int file = 0; file < kBoardSize; ++file) {
      visit(kBoardSize * rank + file,
            static_cast<uint32_t>(
                _mm256_movemask_epi8(_mm256_slli_epi64(b[rank], 7 - file))));
    }
  }
}

// PositionBits::neighbours holds, by square, indices into kNeighbourPairs.
void PackPosition(bool channels_last, const TurnedRows& rows,
                  PositionBits& bits) {
  if (channels_last) {
    ForEachSquare(rows, [&](int square, uint32_t planes) {
      std::memcpy(bits.planes + 3 * square, &planes, sizeof(planes));
      bits.neighbours[0][square] = static_cast<uint8_t>(planes >> 24);
    });
  } else {
    PackPlanes(rows, bits.planes);
    ForEachSquare(rows, [&](int square, uint32_t planes) {
      bits.neighbours[0][square] = static_cast<uint8_t>(planes >> 24);
    });
  }
}

#else

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

// PositionBits::neighbours holds, by square, indices into kNeighbourPairs.
void PackPosition(bool channels_last, const TurnedRows& rows,
                  PositionBits& bits) {
  if (channels_last) {
    for (int group = 0; group < 3; ++group) {
      PackSquares(&rows[8 * group], /*stride=*/3, bits.planes + group);
    }
  } else {
    PackPlanes(rows, bits.planes);
  }
  PackSquares(&rows[kRowOwnFours], /*stride=*/1, bits.neighbours[0]);
}

#endif

bool LoadPortable(const EncoderTables& /*tables*/, const BlockInput& input,
                  EncoderBlock& block) {
  bool ok = true;
  for (int i = 0; i < kBlockSize; ++i) {
    const int from = std::min(i, input.count - 1);
    ok &= LoadPosition(input.states[from], input.symmetries[from],
                       input.legal[from], i, block);
  }
  return ok;
}

void GlobalsPortable(const EncoderTables& /*tables*/, const BlockInput& input,
                     const EncoderBlock& block, float* out) {
  for (int i = 0; i < input.count; ++i) {
    EncodeGlobals(input.states[i], input.legal[i],
                  static_cast<int>(block.own_components[i]),
                  static_cast<int>(block.enemy_components[i]),
                  out + i * kNumGlobals);
  }
}

#if defined(__AVX2__)
// Returns the numbers of bits of four boards, by half bytes.
__m256i CountBits(__m256i boards) {
  const __m256i half = _mm256_set1_epi8(15);
  const __m256i counts = _mm256_broadcastsi128_si256(
      _mm_set_epi8(4, 3, 3, 2, 3, 2, 2, 1, 3, 2, 2, 1, 2, 1, 1, 0));
  const __m256i low =
      _mm256_shuffle_epi8(counts, _mm256_and_si256(boards, half));
  const __m256i high = _mm256_shuffle_epi8(
      counts, _mm256_and_si256(_mm256_srli_epi64(boards, 4), half));
  return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}
#endif

void DerivePortable(EncoderBlock& block) {
  using Vector = BoardLanes<Portable>::Vector;
  DeriveRows<Portable>(block, [](const Vector& boards) {
    Vector counts;
#if defined(__AVX2__)
    for (int half = 0; half < 2; ++half) {
      __m256i bits;
      std::memcpy(&bits, reinterpret_cast<const char*>(&boards) + 32 * half, 32);
      bits = CountBits(bits);
      std::memcpy(reinterpret_cast<char*>(&counts) + 32 * half, &bits, 32);
    }
#else
    for (int i = 0; i < kBlockSize; ++i) counts[i] = std::popcount(boards[i]);
#endif
    return counts;
  });
}

void PackPortable(bool channels_last, const EncoderBlock& block, int i,
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
  PackPosition(channels_last, rows, bits);
}

#if defined(__AVX2__)

// The floats of eight bits of a word, from the lowest on; `shifts` brings each
// of them to the top of its lane.
__m256 Ones(__m256i word, __m256i shifts) {
  alignas(32) static constexpr float kOnes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  return _mm256_maskload_ps(kOnes, _mm256_sllv_epi32(word, shifts));
}

__m256i BroadcastWord(const uint8_t* bytes) {
  int32_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return _mm256_set1_epi32(word);
}

void ExpandPortable(bool channels_last, const PositionBits& bits, float* out) {
  const __m256i first = _mm256_set_epi32(24, 25, 26, 27, 28, 29, 30, 31);
  const __m256i eight = _mm256_set1_epi32(8);
  const __m256i second = _mm256_sub_epi32(first, eight);
  const __m256i third = _mm256_sub_epi32(second, eight);
  const __m256i fourth = _mm256_sub_epi32(third, eight);
  const uint8_t* const pairs = bits.neighbours[0];
  if (channels_last) {
    static_assert(kRowOwnNeighbours == 16 + 5 && kNumPlanes == 24);
    for (int square = 0; square < kNumSquares; ++square) {
      const __m256i word = BroadcastWord(bits.planes + 3 * square);
      // Enemy neighbours are in the even places, own ones in the odd.
      double pair;
      std::memcpy(&pair, &kNeighbourPairs.swapped[pairs[square]], sizeof(pair));
      _mm256_storeu_ps(out, Ones(word, first));
      _mm256_storeu_ps(out + 8, Ones(word, second));
      _mm256_storeu_ps(out + 16,
                       _mm256_blend_ps(Ones(word, third),
                                       _mm256_castpd_ps(_mm256_set1_pd(pair)),
                                       3 << 5));
      out += kNumPlanes;
    }
    return;
  }
  for (int i = 0; i + 4 <= kBitBytes; i += 4) {
    const __m256i word = BroadcastWord(bits.planes + i);
    _mm256_storeu_ps(out + 8 * i, Ones(word, first));
    _mm256_storeu_ps(out + 8 * i + 8, Ones(word, second));
    _mm256_storeu_ps(out + 8 * i + 16, Ones(word, third));
    _mm256_storeu_ps(out + 8 * i + 24, Ones(word, fourth));
  }
  static_assert(kBitBytes % 4 == 3);
  constexpr int kRest = kBitBytes - 3;
  const __m256i word = BroadcastWord(bits.planes + kRest);
  _mm256_storeu_ps(out + 8 * kRest, Ones(word, first));
  _mm256_storeu_ps(out + 8 * kRest + 8, Ones(word, second));
  _mm256_storeu_ps(out + 8 * kRest + 16, Ones(word, third));
  for (int square = 0; square < kNumSquares; ++square) {
    const float* const pair = kNeighbourPairs.pairs[pairs[square]];
    out[kRowOwnNeighbours * kNumSquares + square] = pair[0];
    out[kRowEnemyNeighbours * kNumSquares + square] = pair[1];
  }
}

#else

void ExpandPortable(bool channels_last, const PositionBits& bits, float* out) {
  for (int i = 0; i < kBitBytes; ++i) {
    std::memcpy(out + 8 * i, kByteImages[bits.planes[i]].data(),
                8 * sizeof(float));
  }
  const uint8_t* const pairs = bits.neighbours[0];
  for (int square = 0; square < kNumSquares; ++square) {
    const float* const pair = kNeighbourPairs.pairs[pairs[square]];
    if (channels_last) {
      std::memcpy(out + kNumPlanes * square + kRowOwnNeighbours, pair,
                  2 * sizeof(float));
    } else {
      out[kRowOwnNeighbours * kNumSquares + square] = pair[0];
      out[kRowEnemyNeighbours * kNumSquares + square] = pair[1];
    }
  }
}

#endif

// In Stone of Destiny the kingdoms are not the components.
void CountKingdomsByLinks(const BlockInput& input, EncoderBlock& block) {
  for (int i = 0; i < input.count; ++i) {
    if (block.by_links[i] == 0) continue;
    const State& state = input.states[i];
    block.own_components[i] =
        static_cast<uint64_t>(CountKingdoms(state, state.side()));
    block.enemy_components[i] =
        static_cast<uint64_t>(CountKingdoms(state, Opponent(state.side())));
  }
}

}  // namespace

void EncodeBatch(const EncoderInput& input, const EncoderOutput& output) {
  static const InstructionSet best = SupportedInstructionSets().back();
  EncodeBatchOn(best, input, output);
}

void EncodeBatchOn(InstructionSet instruction_set, const EncoderInput& input,
                   const EncoderOutput& output) {
  const size_t size = input.states.size();
  TARA_CHECK(input.symmetries.size() == size, "symmetries: size");
  TARA_CHECK(input.legal.size() == size, "legal: size");
  TARA_CHECK(output.planes.size() == size * kPlaneFloats, "planes: size");
  TARA_CHECK(output.globals.size() == size * kNumGlobals, "globals: size");
  const bool channels_last = output.layout == PlaneLayout::kChannelsLast;
  const EncoderKernel kernel =
      instruction_set == InstructionSet::kAvx512
          ? Avx512EncoderKernel()
          : EncoderKernel{.load = LoadPortable,
                          .globals = GlobalsPortable,
                          .derive = DerivePortable,
                          .pack = PackPortable,
                          .expand = ExpandPortable};
  // A pipeline: while the positions of one block are packed one by one, and
  // written some steps after, the next block is loaded and derived. So
  // writing, which waits for memory, overlaps with all else; and what reads
  // back narrower or wider than it was stored finds the stores completed,
  // instead of waiting for those of the planes that are before them in line.
  constexpr size_t kWriteLag = 3;
  EncoderBlock blocks[2];
  PositionBits bits[kWriteLag + 1];
  const size_t loads = (size + kBlockSize - 1) / kBlockSize * kBlockSize;
  const size_t steps = size == 0 ? 0 : size + kBlockSize + kWriteLag;
  for (size_t step = 0; step < steps; ++step) {
    if (step < loads) {
      const size_t begin = step / kBlockSize * kBlockSize;
      const BlockInput positions = {
          .states = &input.states[begin],
          .symmetries = &input.symmetries[begin],
          .legal = &input.legal[begin],
          .count = static_cast<int>(
              std::min(size - begin, size_t{kBlockSize}))};
      EncoderBlock& block = blocks[begin / kBlockSize % 2];
      if (step % kBlockSize == 0) {
        TARA_CHECK(kernel.load(kTables, positions, block),
                   "the symmetry must bring the seat to seat 0");
      } else if (step % kBlockSize == 3) {
        kernel.derive(block);
        CountKingdomsByLinks(positions, block);
      } else if (step % kBlockSize == 6) {
        kernel.globals(kTables, positions, block,
                       output.globals.data() + begin * kNumGlobals);
      }
    }
    if (const size_t i = step - kBlockSize; step >= kBlockSize && i < size) {
      kernel.pack(channels_last, blocks[i / kBlockSize % 2],
                  static_cast<int>(i % kBlockSize), bits[i % (kWriteLag + 1)]);
    }
    if (step >= kBlockSize + kWriteLag) {
      const size_t i = step - kBlockSize - kWriteLag;
      kernel.expand(channels_last, bits[i % (kWriteLag + 1)],
                    output.planes.data() + i * kPlaneFloats);
    }
  }
}

}  // namespace tara
