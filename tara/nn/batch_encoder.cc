#include "tara/nn/batch_encoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "tara/base/check.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/nn/encoder_block.h"
#include "tara/nn/features.h"

#if defined(__BMI2__)
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
void LoadPosition(const State& state, const Symmetry& symmetry,
                  const LegalSet& legal, int i, EncoderBlock& block) {
  const VariantInfo& info = Info(state.variant);
  const Side own = state.side();
  const Side enemy = Opponent(own);
  TARA_CHECK((state.seat + symmetry.seat_shift) % info.seats == 0,
             "the symmetry must bring the seat to seat 0");
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
  // Elsewhere there are no pairs: none but an earlier position's to clear.
  if (by_links || block.by_links[i] != 0) {
    LoadPairs(state, legal, symmetry.board, i, block);
  }
  block.by_links[i] = by_links ? ~Board{0} : 0;
  block.by_kings[i] = by_kings ? ~Board{0} : 0;
  LoadKingMoves(legal, i, block);
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

// Of positions that stand in column i of a block. The order is that of
// kGlobals; see EncodeGlobals of features.cc, the plain twin.
void EncodeGlobals(const State& state, const LegalSet& legal,
                   const EncoderBlock& block, int i, float* out) {
  constexpr int kFirstPhase = kNumVariants;
  constexpr int kDoubles = kFirstPhase + 4;
  constexpr int kFirstEnding = kDoubles + 7;
  const Side own = state.side();
  const Side enemy = Opponent(own);
  const VariantInfo& info = Info(state.variant);
  std::array<int, 2> kingdoms;
  if (info.family == Family::kStoneOfDestiny) {
    kingdoms = {CountKingdoms(state, kRed), CountKingdoms(state, kBlue)};
  } else {
    kingdoms[own] = static_cast<int>(block.own_components[i]);
    kingdoms[enemy] = static_cast<int>(block.enemy_components[i]);
  }
  const Outcome standing = Score(state, kingdoms);
  const int margin = own == kRed ? standing.margin() : -standing.margin();
  const RuleOptions& options = state.options;

  std::memset(out, 0, kNumGlobals * sizeof(float));
  out[static_cast<int>(state.variant)] = 1;
  out[kFirstPhase + static_cast<int>(state.phase)] = 1;
  float* next = out + kDoubles;
  *next++ = info.seats == 4;
  *next++ = kQuotients<40>[options.no_progress_limit];
  *next++ = kQuotients<5>[options.proximity_bound];
  *next++ = options.placement_captures_kings;
  *next++ = options.link_all_at_end;
  *next++ = options.shared_row_opening;
  *next++ = static_cast<float>(state.no_progress) / options.no_progress_limit;
  next = out + kFirstEnding;
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
  *next++ = kQuotients<10>[kingdoms[own]];
  *next++ = kQuotients<10>[kingdoms[enemy]];
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
void PackChannelsFirst(const TurnedRows& rows, uint8_t* bits) {
  uint64_t carry = 0;
  for (int plane = 0; plane < kNumPlanes; ++plane) {
    const uint64_t word = carry | Squares(rows[plane]) << (plane % 8);
    std::memcpy(bits + kNumSquares * plane / 8, &word, sizeof(word));
    carry = plane % 8 == 7 ? 0 : word >> 48;
  }
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

void ExpandBits(const uint8_t* bits, float* out) {
  for (int i = 0; i < kBitBytes; ++i) {
    std::memcpy(out + 8 * i, kByteImages[bits[i]].data(), 8 * sizeof(float));
  }
}

// Writes a plane of numbers of neighbours, over 4, from the squares of binary
// ones, twos and fours.
void WriteNeighbours(uint64_t ones, uint64_t twos, uint64_t fours, float* out) {
  for (int begin = 0; begin < kNumSquares; begin += 8) {
    const auto& one = kByteImages[(ones >> begin) & 0xff];
    const auto& two = kByteImages[(twos >> begin) & 0xff];
    const auto& four = kByteImages[(fours >> begin) & 0xff];
    const int end = std::min(8, kNumSquares - begin);
    for (int i = 0; i < end; ++i) {
      out[begin + i] = one[i] * 0.25f + two[i] * 0.5f + four[i];
    }
  }
}

void EncodeChannelsFirst(const TurnedRows& rows, float* out) {
  uint8_t bits[kBitBytes + 8];
  PackChannelsFirst(rows, bits);
  ExpandBits(bits, out);
  WriteNeighbours(Squares(rows[kRowOwnOnes]), Squares(rows[kRowOwnTwos]),
                  Squares(rows[kRowOwnFours]),
                  out + kRowOwnNeighbours * kNumSquares);
  WriteNeighbours(Squares(rows[kRowEnemyOnes]), Squares(rows[kRowEnemyTwos]),
                  Squares(rows[kRowEnemyFours]),
                  out + kRowEnemyNeighbours * kNumSquares);
}

void EncodeChannelsLast(const TurnedRows& rows, float* out) {
  uint8_t bits[kBitBytes];
  uint8_t pairs[kNumSquares];
  for (int group = 0; group < 3; ++group) {
    PackSquares(&rows[8 * group], /*stride=*/3, bits + group);
  }
  PackSquares(&rows[kRowOwnFours], /*stride=*/1, pairs);
  ExpandBits(bits, out);
  for (int square = 0; square < kNumSquares; ++square) {
    std::memcpy(out + kNumPlanes * square + kRowOwnNeighbours,
                kNeighbourPairs.pairs[pairs[square]], 2 * sizeof(float));
  }
}

void EncodeBlockPortable(bool channels_last, int count, EncoderBlock& block,
                         float* planes) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"
  using Vector = BoardLanes<Portable>::Vector;
  DeriveRows<Portable>(block, [](const Vector& boards) {
    Vector counts;
    for (int i = 0; i < kBlockSize; ++i) counts[i] = std::popcount(boards[i]);
    return counts;
  });
#pragma GCC diagnostic pop
  for (int i = 0; i < count; ++i) {
    TurnedRows rows;
    for (int row = 0; row < kNumEncoderRows; ++row) {
      rows[row] = TransformBoard(block.transforms[i], block.rows[row][i]);
    }
    (channels_last ? EncodeChannelsLast : EncodeChannelsFirst)(
        rows, planes + kPlaneFloats * i);
  }
}

// --- Dispatch ----------------------------------------------------------------

bool HasAvx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("avx512vpopcntdq") &&
         __builtin_cpu_supports("gfni");
#else
  return false;
#endif
}

constexpr EncoderPath kPaths[] = {EncoderPath::kPortable, EncoderPath::kAvx512};

}  // namespace

absl::Span<const EncoderPath> SupportedEncoderPaths() {
  static const bool has_avx512 = HasAvx512();
  return absl::MakeConstSpan(kPaths).first(has_avx512 ? 2 : 1);
}

absl::string_view EncoderPathName(EncoderPath path) {
  return path == EncoderPath::kAvx512 ? "avx512" : "portable";
}

void EncodeBatch(const EncoderInput& input, const EncoderOutput& output) {
  EncodeBatchOn(SupportedEncoderPaths().back(), input, output);
}

void EncodeBatchOn(EncoderPath path, const EncoderInput& input,
                   const EncoderOutput& output) {
  const size_t size = input.states.size();
  TARA_CHECK(input.symmetries.size() == size, "symmetries: size");
  TARA_CHECK(input.legal.size() == size, "legal: size");
  TARA_CHECK(output.planes.size() == size * kPlaneFloats, "planes: size");
  TARA_CHECK(output.globals.size() == size * kNumGlobals, "globals: size");
  const bool channels_last = output.layout == PlaneLayout::kChannelsLast;
  const auto encode_block =
      path == EncoderPath::kAvx512 ? EncodeBlockAvx512 : EncodeBlockPortable;
  EncoderBlock block;
  for (size_t begin = 0; begin < size; begin += kBlockSize) {
    const int count =
        static_cast<int>(std::min<size_t>(kBlockSize, size - begin));
    for (int i = 0; i < count; ++i) {
      LoadPosition(input.states[begin + i], input.symmetries[begin + i],
                   input.legal[begin + i], i, block);
    }
    encode_block(channels_last, count, block,
                 output.planes.data() + begin * kPlaneFloats);
    for (int i = 0; i < count; ++i) {
      EncodeGlobals(input.states[begin + i], input.legal[begin + i], block, i,
                    output.globals.data() + (begin + i) * kNumGlobals);
    }
  }
}

}  // namespace tara
