#include "tara/nn/encode/batch_encoder.h"

// The planes of a position are found as boards, which become bits, one for each
// float of the output and in its order, and the bits become ones and zeros.
// Only the planes of neighbours have other values: multiples of 1/4, from three
// bits each. Features are the same before and after a symmetry, except for the
// pairs that links name (TransformPairs) and the area: those come prepared.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tara/base/check.h"
#include "tara/core/action.h"
#include "tara/core/bits.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/encode/features.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tara::nn {
namespace {

constexpr size_t kPlaneFloats = size_t{kNumPlanes} * kNumSquares;

// Planes of more bytes than this do not stay in the caches until they are
// read, and writing them around the caches saves reading them first.
constexpr size_t kMaxCachedBytes = size_t{32} << 20;

// --- Boards ------------------------------------------------------------------

// [board transform]: the hills that it takes to the south of the board.
constexpr auto kSouths = [] {
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
}();

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

// The hills adjacent to any of a side, and the number of those in binary.
struct Neighbours {
  explicit Neighbours(Board board)
      : Neighbours(North(board), South(board), East(board), West(board)) {}
  Neighbours(Board n, Board s, Board e, Board w)
      : any(n | s | e | w),
        ones(n ^ s ^ e ^ w),
        twos((n & s) ^ (e & w) ^ ((n ^ s) & (e ^ w))),
        fours(n & s & e & w) {}

  Board any, ones, twos, fours;
};

// Hills to which the kings of each side have a way, and of them those to which
// it is the shorter one.
struct KingWays {
  Board own = 0, enemy = 0;
  Board own_nearer = 0, enemy_nearer = 0;
};

// Both sides advance move by move: the one that reaches a hill first is nearer,
// the own side where both do.
KingWays FindKingWays(const State& state) {
  KingWays ways;
  const Side own = state.side(), enemy = Opponent(own);
  Board own_open = state.vacant(), enemy_open = own_open;
  if (state.phase != Phase::kBattle) {
    own_open &= ~Adjacent(state.ringforts[own]);
    enemy_open &= ~Adjacent(state.ringforts[enemy]);
  }
  Board own_move = state.kings[own], enemy_move = state.kings[enemy];
  while ((own_move | enemy_move) != 0) {
    own_move = KnightMoves(own_move) & own_open;
    enemy_move = KnightMoves(enemy_move) & enemy_open;
    own_open &= ~own_move;
    enemy_open &= ~enemy_move;
    ways.own_nearer |= own_move & ~ways.enemy;
    ways.own |= own_move;
    ways.enemy_nearer |= enemy_move & ~ways.own;
    ways.enemy |= enemy_move;
  }
  return ways;
}

}  // namespace

PlaneBoards BoardsOfPlanes(const State& state, int board_transform,
                           const LegalSet& legal) {
  const FamilyTraits& traits = TraitsOf(state.variant);
  const Side own_side = state.side();
  const Board own = state.ringforts[own_side];
  const Board enemy = state.ringforts[Opponent(own_side)];
  const Board own_kings = state.kings[own_side];
  const Board enemy_kings = state.kings[Opponent(own_side)];
  const Neighbours near_own(own), near_enemy(enemy);
  const Board vacant = kAllHills & ~(own | enemy);
  Board own_joined = near_own.any, enemy_joined = near_enemy.any;
  KingWays ways;
  if (traits.kings_move) ways = FindKingWays(state);
  if (traits.has_links) {
    own_joined = enemy_joined = state.links_east | East(state.links_east) |
                                state.links_north | North(state.links_north);
    const HillPairs links =
        BeforeTransform(board_transform,
                        {.east = state.links_east, .north = state.links_north});
    const HillPairs legal_links =
        BeforeTransform(board_transform,
                        {.east = legal.links_east, .north = legal.links_north});
    ways = {.own = links.east,
            .enemy = links.north,
            .own_nearer = legal_links.east,
            .enemy_nearer = legal_links.north};
  }
  Board origins = 0, destinations = 0, sacrifices = 0;
  for (const LegalSet::KingMoves& king : legal.kings) {
    if (king.moves == 0) continue;
    origins |= BoardOf(king.origin);
    destinations |= king.moves;
    sacrifices |= king.sacrifices;
  }
  // Where the enemy may go in Manoeuvres, or nearly so: the rules themselves
  // decide when it is its turn.
  const Board reach = traits.kings_move
                          ? KnightMoves(enemy_kings) & ~near_enemy.any
                          : KnightMoves(enemy) & ~near_enemy.any &
                                ~Diagonal(enemy) & ~TwoStepsStraight(enemy);
  return {kAllHills,
          vacant,
          own,
          enemy,
          own_kings,
          enemy_kings,
          own_kings & enemy,
          enemy_kings & own,
          ways.own,
          ways.enemy,
          legal.hills,
          origins,
          destinations,
          sacrifices,
          ways.own_nearer,
          ways.enemy_nearer,
          Info(state.variant).seats == 4 ? kSouths[board_transform] : kAllHills,
          Besieged(own),
          Besieged(enemy),
          own & ~own_joined,
          enemy & ~enemy_joined,
          near_own.fours,
          near_enemy.fours,
          vacant & reach,
          near_own.twos,
          near_enemy.twos,
          near_own.ones,
          near_enemy.ones};
}

namespace {

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

// [variant]: the first globals, which encode the variant, except the phase; and
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

// Bytes of a position's bits: one for each 8 floats.
constexpr int kBitBytes = kPlaneFloats / 8;
static_assert(kBitBytes * 8 == kPlaneFloats);

constexpr int kOwnNeighbours = PlaneIndex("own_neighbours");
static_assert(PlaneIndex("enemy_neighbours") == kOwnNeighbours + 1);
// The bytes that hold the planes of neighbours, where planes come first.
constexpr int kFirstByte = kOwnNeighbours * kNumSquares / 8;
constexpr int kEndByte = ((kOwnNeighbours + 2) * kNumSquares + 7) / 8;

// The planes of a position as bits. Planes first: kBitBytes without gaps, and
// of neighbours' bytes the bits of value 2 and 1. Planes last: by groups of
// eight boards a byte for each bit of a board, before the board transform.
struct PositionBits {
  alignas(64) uint8_t planes[256];
  uint8_t twos[24], ones[24];
  uint8_t transform;
};
static_assert(kEndByte - kFirstByte + 8 <= 24);

// Packs the squares of boards without gaps, from `bit` on. Writes up to 7 bytes
// beyond.
void PackSquares(const Board* boards, int count, int bit, uint8_t* bits) {
  constexpr Board kSquares = [] {
    Board squares = 0;
    for (int rank = 0; rank < kBoardSize; ++rank) {
      squares |= Board{0x7f} << (kRankStride * rank);
    }
    return squares;
  }();
  uint64_t carry = 0;
  for (int i = 0; i < count; ++i, bit += kNumSquares) {
    const uint64_t word = carry | BitsAt(boards[i], kSquares) << (bit % 8);
    std::memcpy(bits + bit / 8, &word, sizeof(word));
    carry = word >> (8 * ((bit + kNumSquares) / 8 - bit / 8));
  }
}

void PackChannelsFirst(PlaneBoards& boards, PositionBits& bits) {
  // One step after the other, so that the compiler makes vectors of each.
  if ((bits.transform & kTranspose) != 0) {
    for (Board& board : boards) board = Transpose(board);
  }
  if ((bits.transform & 1) != 0) {
    for (Board& board : boards) board = FlipFiles(board);
  }
  if ((bits.transform & 2) != 0) {
    for (Board& board : boards) board = FlipRanks(board);
  }
  constexpr int kFirstBit = kOwnNeighbours * kNumSquares % 8;
  PackSquares(boards.data(), kNumPlanes, 0, bits.planes);
  PackSquares(&boards[kOwnTwos], 2, kFirstBit, bits.twos);
  PackSquares(&boards[kOwnOnes], 2, kFirstBit, bits.ones);
}

void PackChannelsLast(const PlaneBoards& boards, PositionBits& bits) {
  for (size_t group = 0; group < boards.size() / 8; ++group) {
    TransposeBoards(&boards[8 * group], bits.planes + 64 * group);
  }
}

// --- Floats ------------------------------------------------------------------

// A table of eight floats each.
template <size_t kSize>
using Images = std::array<std::array<float, 8>, kSize>;
typedef float EightFloats __attribute__((vector_size(32)));

// The floats of the eight bits of a byte.
alignas(64) constexpr auto kByteImages = [] {
  Images<256> images{};
  for (int bits = 0; bits < 256; ++bits) {
    for (int i = 0; i < 8; ++i) images[bits][i] = (bits >> i) & 1 ? 1.0f : 0.0f;
  }
  return images;
}();

// What neighbours add to the third group of planes, by the bits of the fourth
// group of boards.
alignas(64) constexpr auto kNeighbourImages = [] {
  static_assert(kOwnTwos == 24 && kEnemyOnes == 27);
  Images<16> images{};
  for (int bits = 0; bits < 16; ++bits) {
    for (int side = 0; side < 2; ++side) {
      images[bits][kOwnNeighbours - 16 + side] =
          ((bits >> side) & 1) * 0.5f + ((bits >> (2 + side)) & 1) * 0.25f;
    }
  }
  return images;
}();

template <size_t kSize>
TARA_INLINE EightFloats ImageOf(const Images<kSize>& images, uint8_t bits) {
  EightFloats floats;
  std::memcpy(&floats, images[bits].data(), sizeof(floats));
  return floats;
}

// One vector with AVX2; around the caches, an aligned one.
template <bool kAround>
TARA_INLINE void StoreEight(const EightFloats& floats, float* out) {
#if defined(__AVX2__)
  if constexpr (kAround) {
    _mm256_stream_ps(out, floats);
    return;
  }
#endif
  std::memcpy(out, &floats, sizeof(floats));
}

template <bool kAround>
void ExpandChannelsFirst(const PositionBits& bits, float* out) {
  const auto expand = [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      StoreEight<kAround>(ImageOf(kByteImages, bits.planes[i]), out + 8 * i);
    }
  };
  expand(0, kFirstByte);
  for (int i = kFirstByte; i < kEndByte; ++i) {
    StoreEight<kAround>(
        ImageOf(kByteImages, bits.planes[i]) +
            0.5f * ImageOf(kByteImages, bits.twos[i - kFirstByte]) +
            0.25f * ImageOf(kByteImages, bits.ones[i - kFirstByte]),
        out + 8 * i);
  }
  expand(kEndByte, kBitBytes);
}

template <bool kAround>
void ExpandChannelsLast(const PositionBits& bits, float* out) {
  static_assert(kNumPlanes == 24);
  for (const uint8_t bit : kSourceBits[bits.transform]) {
    const uint8_t* const planes = bits.planes + bit;
    StoreEight<kAround>(ImageOf(kByteImages, planes[0]), out);
    StoreEight<kAround>(ImageOf(kByteImages, planes[64]), out + 8);
    StoreEight<kAround>(ImageOf(kByteImages, planes[128]) +
                            ImageOf(kNeighbourImages, planes[192]),
                        out + 16);
    out += kNumPlanes;
  }
}

// --- Batches -----------------------------------------------------------------

// Makes the bits of a position, and writes its globals.
void Pack(const State& state, const Symmetry& symmetry, const LegalSet& legal,
          PlaneLayout layout, PositionBits& bits, float* globals) {
  TARA_CHECK(((state.seat + symmetry.seat_shift) &
              (Info(state.variant).seats - 1)) == 0,
             "the symmetry must bring the seat to seat 0");
  bits.transform = symmetry.board;
  PlaneBoards boards = BoardsOfPlanes(state, symmetry.board, legal);
  layout == PlaneLayout::kChannelsLast ? PackChannelsLast(boards, bits)
                                       : PackChannelsFirst(boards, bits);
  const Side own = state.side(), enemy = Opponent(own);
  if (TraitsOf(state.variant).has_links) {
    EncodeGlobalsOf(state, legal, CountKingdoms(state, own),
                    CountKingdoms(state, enemy), globals);
  } else {
    const auto kingdoms =
        CountComponentsOfBoth(state.ringforts[own], state.ringforts[enemy]);
    EncodeGlobalsOf(state, legal, kingdoms.first, kingdoms.second, globals);
  }
}

// Bits of some positions are made before the floats of any: what reads narrower
// than it was stored waits until the store has left the core.
template <bool kAround>
void Encode(const EncoderInput& input, const EncoderOutput& output) {
  constexpr size_t kAtATime = 8;
  const auto expand = output.layout == PlaneLayout::kChannelsLast
                          ? ExpandChannelsLast<kAround>
                          : ExpandChannelsFirst<kAround>;
  std::array<PositionBits, kAtATime> bits;
  for (size_t first = 0; first < input.states.size(); first += kAtATime) {
    const size_t end = std::min(first + kAtATime, input.states.size());
    for (size_t i = first; i < end; ++i) {
      Pack(input.states[i], input.symmetries[i], input.legal[i], output.layout,
           bits[i - first], output.globals.data() + i * kNumGlobals);
    }
    for (size_t i = first; i < end; ++i) {
      expand(bits[i - first], output.planes.data() + i * kPlaneFloats);
    }
  }
#if defined(__AVX2__)
  if constexpr (kAround) _mm_sfence();
#endif
}

}  // namespace

void EncodeBatch(const EncoderInput& input, const EncoderOutput& output) {
  const size_t size = input.states.size();
  TARA_CHECK(input.symmetries.size() == size, "symmetries: size");
  TARA_CHECK(input.legal.size() == size, "legal: size");
  TARA_CHECK(output.planes.size() == size * kPlaneFloats, "planes: size");
  TARA_CHECK(output.globals.size() == size * kNumGlobals, "globals: size");
  const bool around =
      output.planes.size() * sizeof(float) > kMaxCachedBytes &&
      reinterpret_cast<uintptr_t>(output.planes.data()) % 32 == 0;
  around ? Encode<true>(input, output) : Encode<false>(input, output);
}

}  // namespace tara::nn
