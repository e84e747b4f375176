// This file alone, with the two headers of its name, is compiled for AVX-512:
// it may include no header whose code could take the place of the same code
// elsewhere, and runs only after a check of the processor (batch_encoder.cc).

// False positives in intrinsics of g++ 12 (https://gcc.gnu.org/PR105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include <immintrin.h>

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/state.h"
#include "tara/nn/encode/encoder_bits_avx512.h"
#include "tara/nn/encode/encoder_block.h"
#include "tara/nn/encode/encoder_floats_avx512.h"
#include "tara/nn/encode/encoder_pipeline.h"
#include "tara/nn/encode/features.h"

namespace tara::nn {
namespace encoder_avx512 {
namespace {

constexpr InstructionSet kSet = InstructionSet::kAvx512;
using Word = batch::Word<kSet>;
static_assert(Word::kLanes == kBlockSize);

// --- A block -----------------------------------------------------------------

// Rows by columns become columns by rows, in place.
TARA_INLINE void Transpose(__m512i (&r)[8]) {
  __m512i a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);      // columns 0 2 4 6
    a[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);  // columns 1 3 5 7
  }
  for (int i = 0; i < 8; i += 4) {
    for (int odd = 0; odd < 2; ++odd) {
      // Columns 0 and 4, and 2 and 6 (1 and 5, 3 and 7).
      b[i + odd] = _mm512_shuffle_i64x2(a[i + odd], a[i + odd + 2], 0x88);
      b[i + odd + 2] = _mm512_shuffle_i64x2(a[i + odd], a[i + odd + 2], 0xdd);
    }
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0x88);
    r[4 + i] = _mm512_shuffle_i64x2(b[i], b[4 + i], 0xdd);
  }
}

// Stores a group of eight rows; row i then holds its boards of position i.
TARA_INLINE void StoreGroup(__m512i (&r)[8], Board (*rows)[kBlockSize]) {
  Transpose(r);
  for (int i = 0; i < 8; ++i) _mm512_store_si512(rows[i], r[i]);
}

__m512i LoadRow(const Board (&row)[kBlockSize]) {
  return _mm512_load_si512(row);
}

// --- Loading: states and legal sets as words, eight positions side by side ---

__m512i Or(__m512i a, __m512i b) { return _mm512_or_si512(a, b); }
__m512i Or(__m512i a, __m512i b, __m512i c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0xfe);
}

// Returns byte `n` of the words.
template <int n>
__m512i ByteOf(__m512i words) {
  return _mm512_and_si512(_mm512_srli_epi64(words, 8 * n),
                          _mm512_set1_epi64(0xff));
}

// Which of the variants are in the set.
__mmask8 AreIn(uint64_t set, __m512i variants) {
  return _mm512_test_epi64_mask(
      _mm512_sllv_epi64(_mm512_set1_epi64(1), variants),
      _mm512_set1_epi64(static_cast<int64_t>(set)));
}

void StoreRow(Board (&row)[kBlockSize], __m512i boards) {
  _mm512_store_si512(row, boards);
}

// As BeforeTransform of batch_encoder_portable.cc.
struct Pairs {
  __m512i east, north;
};
TARA_INLINE Pairs BeforeTransform(__m512i transforms, __m512i east,
                                  __m512i north) {
  const __mmask8 flip_files =
      _mm512_test_epi64_mask(transforms, _mm512_set1_epi64(1));
  const __mmask8 flip_ranks =
      _mm512_test_epi64_mask(transforms, _mm512_set1_epi64(2));
  const __mmask8 transpose =
      _mm512_test_epi64_mask(transforms, _mm512_set1_epi64(4));
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i rank = _mm512_set1_epi64(kRankStride);
  const __m512i files = _mm512_mask_blend_epi64(transpose, one, rank);
  const __m512i ranks = _mm512_mask_blend_epi64(transpose, rank, one);
  const __m512i first = _mm512_mask_blend_epi64(transpose, east, north);
  const __m512i second = _mm512_mask_blend_epi64(transpose, north, east);
  return {.east = _mm512_mask_sllv_epi64(first, flip_files, first, files),
          .north = _mm512_mask_sllv_epi64(second, flip_ranks, second, ranks)};
}

// Adds what one king may do.
struct KingMoveBoards {
  __m512i origins, destinations, sacrifices;
};
TARA_INLINE void AddKing(__m512i bits, __m512i origin, __m512i moves,
                         __m512i sacrifices, KingMoveBoards& boards) {
  const __mmask8 any = _mm512_test_epi64_mask(moves, moves);
  // Of the origins, numbers of 32 bits, only the low bytes matter.
  const __m512i bit =
      _mm512_maskz_permutexvar_epi8(0x0101010101010101, origin, bits);
  const __m512i board = _mm512_sllv_epi64(_mm512_set1_epi64(1), bit);
  boards.origins =
      _mm512_mask_or_epi64(boards.origins, any, boards.origins, board);
  boards.destinations = Or(boards.destinations, moves);
  boards.sacrifices = Or(boards.sacrifices, sacrifices);
}

// The transforms are needed where links are loaded: with the legal ones.
bool LoadStates(const EncoderTables& tables, const BlockInput& input,
                EncoderBlock& block) {
  constexpr int kStateBytes = 64;
  const auto* const states = reinterpret_cast<const uint8_t*>(input.states);
  __m512i s[8];
  for (int i = 0; i < kBlockSize; ++i) {
    const int from = i < input.count ? i : input.count - 1;
    s[i] = _mm512_loadu_si512(states + kStateBytes * from);
  }
  Transpose(s);
  // Two bytes each; the last one is repeated.
  const __m128i symmetries = _mm_permutexvar_epi16(
      _mm_min_epi16(_mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0),
                    _mm_set1_epi16(static_cast<int16_t>(input.count - 1))),
      _mm_maskz_loadu_epi16(static_cast<__mmask8>((1 << input.count) - 1),
                            input.symmetries));
  const __m512i symmetry = _mm512_cvtepu16_epi64(symmetries);
  const __m512i variants = ByteOf<0>(s[6]);
  const __m512i seats = ByteOf<2>(s[6]);
  const __mmask8 doubles = AreIn(tables.doubles, variants);
  const __mmask8 blue = _mm512_test_epi64_mask(seats, _mm512_set1_epi64(1));
  const __m512i own = _mm512_mask_blend_epi64(blue, s[0], s[1]);
  const __m512i enemy = _mm512_mask_blend_epi64(blue, s[1], s[0]);
  const __m512i own_kings = _mm512_mask_blend_epi64(blue, s[2], s[3]);
  const __m512i enemy_kings = _mm512_mask_blend_epi64(blue, s[3], s[2]);

  _mm_storel_epi64(reinterpret_cast<__m128i*>(block.transforms),
                   _mm512_cvtepi64_epi8(symmetry));
  StoreRow(block.sides[0], own);
  StoreRow(block.sides[1], enemy);
  StoreRow(block.own_kings, own_kings);
  StoreRow(block.enemy_kings, enemy_kings);
  StoreRow(block.links[0], s[4]);
  StoreRow(block.links[1], s[5]);
  StoreRow(block.state_words[0], s[6]);
  StoreRow(block.state_words[1], s[7]);
  const __m512i hills = _mm512_set1_epi64(static_cast<int64_t>(kAllHills));
  __m512i group[8] = {hills,
                      _mm512_andnot_si512(_mm512_or_si512(own, enemy), hills),
                      own,
                      enemy,
                      own_kings,
                      enemy_kings,
                      _mm512_and_si512(own_kings, enemy),
                      _mm512_and_si512(enemy_kings, own)};
  StoreGroup(group, block.rows);
  const __m512i last_seat = _mm512_mask_blend_epi64(
      doubles, _mm512_set1_epi64(1), _mm512_set1_epi64(3));
  return _mm512_test_epi64_mask(_mm512_add_epi64(seats, ByteOf<1>(symmetry)),
                                last_seat) == 0;
}

__m512i TransformsOf(const EncoderBlock& block) {
  uint64_t transforms;
  __builtin_memcpy(&transforms, block.transforms, sizeof(transforms));
  return _mm512_cvtepu8_epi64(
      _mm_cvtsi64_si128(static_cast<int64_t>(transforms)));
}

Word LoadWord(const Board (&row)[kBlockSize]) { return Word::Load(row); }
Word WordOf(__m512i boards) { return Word((Word::Native)boards); }
__m512i Vector(Word boards) { return (__m512i)boards.v; }

// Returns no ways, without a search, where no lane is of High Kings.
TARA_INLINE KingWays<Word> WaysOf(const EncoderTables& tables,
                                  const EncoderBlock& block) {
  const __m512i word = LoadRow(block.state_words[0]);
  const Word by_kings =
      WordOf(_mm512_movm_epi64(AreIn(tables.by_kings, ByteOf<0>(word))));
  const __mmask8 battle = _mm512_cmpeq_epi64_mask(
      ByteOf<1>(word), _mm512_set1_epi64(static_cast<int>(Phase::kBattle)));
  return KingWays<Word>(LoadWord(block.sides[0]), LoadWord(block.sides[1]),
                        LoadWord(block.own_kings) & by_kings,
                        LoadWord(block.enemy_kings) & by_kings,
                        WordOf(_mm512_movm_epi64(battle)));
}

void LoadLegal(const EncoderTables& tables, const BlockInput& input,
               EncoderBlock& block) {
  constexpr int kLegalBytes = 104;
  const auto* const legal = reinterpret_cast<const uint8_t*>(input.legal);
  __m512i l[8], m[8];
  for (int i = 0; i < kBlockSize; ++i) {
    const int from = i < input.count ? i : input.count - 1;
    l[i] = _mm512_loadu_si512(legal + kLegalBytes * from);
    m[i] = _mm512_maskz_loadu_epi64(0x1f, legal + kLegalBytes * from + 64);
  }
  Transpose(l);
  Transpose(m);
  const __m512i pass = ByteOf<0>(m[4]);
  __m512i count = pass;
  for (const __m512i& board :
       {l[0], l[2], l[3], l[5], l[6], m[0], m[1], m[2], m[3]}) {
    count = _mm512_add_epi64(count, _mm512_popcnt_epi64(board));
  }
  StoreRow(block.legal_counts, count);
  StoreRow(block.legal_pass, pass);

  const __m512i bits = _mm512_load_si512(tables.bits);
  KingMoveBoards kings = {};
  AddKing(bits, l[1], l[2], l[3], kings);
  AddKing(bits, l[4], l[5], l[6], kings);
  AddKing(bits, l[7], m[0], m[1], kings);
  const __m512i transforms = TransformsOf(block);
  const Pairs links = BeforeTransform(transforms, LoadRow(block.links[0]),
                                      LoadRow(block.links[1]));
  const Pairs legal_links = BeforeTransform(transforms, m[2], m[3]);
  const KingWays<Word> ways = WaysOf(tables, block);
  static_assert(kRowLinksEastOrOwnWay == 8);
  static_assert(kRowLegalLinksNorthOrEnemyNearer == 15);
  __m512i group[8] = {Or(links.east, Vector(ways.own)),
                      Or(links.north, Vector(ways.enemy)),
                      l[0],
                      kings.origins,
                      kings.destinations,
                      kings.sacrifices,
                      Or(legal_links.east, Vector(ways.own_nearer)),
                      Or(legal_links.north, Vector(ways.enemy_nearer))};
  StoreGroup(group, block.rows + 8);
}

// --- Deriving ----------------------------------------------------------------

void Derive(const EncoderTables& tables, EncoderBlock& block) {
  const __m512i variants = ByteOf<0>(LoadRow(block.state_words[0]));
  const __m512i east = LoadRow(block.links[0]);
  const __m512i north = LoadRow(block.links[1]);
  const __m512i linked =
      Or(east, north,
         Or(_mm512_slli_epi64(east, 1), _mm512_slli_epi64(north, kRankStride)));
  const __m512i area = _mm512_mask_permutexvar_epi64(
      _mm512_set1_epi64(static_cast<int64_t>(kAllHills)),
      AreIn(tables.doubles, variants), TransformsOf(block),
      _mm512_load_si512(tables.souths));
  const DerivedBoards<Word> derived(
      LoadWord(block.sides[0]), LoadWord(block.sides[1]),
      LoadWord(block.enemy_kings), WordOf(linked),
      WordOf(_mm512_movm_epi64(AreIn(tables.by_links, variants))),
      WordOf(_mm512_movm_epi64(AreIn(tables.by_kings, variants))));
  const auto& near_own = derived.near_own;
  const auto& near_enemy = derived.near_enemy;
  static_assert(kRowArea == 16 && kRowOwnFours == 24);
  __m512i planes[8] = {area,
                       Vector(derived.besieged_by_own),
                       Vector(derived.besieged_by_enemy),
                       Vector(derived.own_singles),
                       Vector(derived.enemy_singles),
                       Vector(near_own.fours),
                       Vector(near_enemy.fours),
                       Vector(derived.enemy_reach)};
  StoreGroup(planes, block.rows + 16);
  const __m512i none = _mm512_setzero_si512();
  __m512i counts[8] = {Vector(near_own.fours),
                       Vector(near_enemy.fours),
                       Vector(near_own.twos),
                       Vector(near_enemy.twos),
                       none,
                       Vector(near_own.ones),
                       Vector(near_enemy.ones),
                       none};
  StoreGroup(counts, block.rows + 24);
}

void CountKingdoms(const EncoderTables& tables, const EncoderJob& job,
                   const BlockInput& input, EncoderBlock& block) {
  const Word sides[2] = {LoadWord(block.sides[0]), LoadWord(block.sides[1])};
  Word kingdoms[2];
  batch::CountKingdoms<kSet>(sides, kingdoms);
  kingdoms[0].Store(block.kingdoms[0]);
  kingdoms[1].Store(block.kingdoms[1]);
  const __m512i variants = ByteOf<0>(LoadRow(block.state_words[0]));
  if (AreIn(tables.by_links, variants) != 0) {
    job.count_kingdoms_by_links(input, block);
  }
}

// --- Globals -----------------------------------------------------------------

// The number of adjacent pairs, at most 40 (kMaxBridges).
TARA_INLINE __m512i CountBridges(__m512i board) {
  const __m512i east = _mm512_and_si512(board, _mm512_slli_epi64(board, 1));
  const __m512i north =
      _mm512_and_si512(board, _mm512_slli_epi64(board, kRankStride));
  return _mm512_min_epu64(
      _mm512_add_epi64(_mm512_popcnt_epi64(east), _mm512_popcnt_epi64(north)),
      _mm512_set1_epi64(40));
}

// Own minus enemy points as the positions stand; as Score of outcome.cc.
TARA_INLINE __m512i Margin(__m512i first_lead, __m512i territory_lead,
                           __m512i own_captured, __m512i enemy_captured) {
  const __m512i zero = _mm512_setzero_si512(), two = _mm512_set1_epi64(2);
  const __m512i captured = _mm512_sub_epi64(own_captured, enemy_captured);
  const __m512i lead =
      _mm512_mask_blend_epi64(_mm512_test_epi64_mask(first_lead, first_lead),
                              territory_lead, first_lead);
  __m512i margin = _mm512_add_epi64(lead, captured);
  margin = _mm512_mask_add_epi64(margin, _mm512_cmpgt_epi64_mask(lead, zero),
                                 margin, two);
  margin = _mm512_mask_sub_epi64(margin, _mm512_cmplt_epi64_mask(lead, zero),
                                 margin, two);
  margin = _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(lead, lead), margin);
  const __mmask8 decided = _mm512_cmpge_epu64_mask(
      _mm512_max_epu64(own_captured, enemy_captured), two);
  return _mm512_mask_mov_epi64(margin, decided, captured);
}

// Byte n of the words, counted up to 8, becomes the numbers.
template <int n>
__m512i At(__m512i numbers) {
  return _mm512_slli_epi64(numbers, 8 * n);
}
// One in the byte of the words that the numbers tell, `n` bytes further down.
__m512i OneAt(__m512i numbers, int n) {
  const __m512i bit =
      _mm512_sub_epi64(_mm512_slli_epi64(numbers, 3), _mm512_set1_epi64(8 * n));
  return _mm512_sllv_epi64(_mm512_set1_epi64(1), bit);  // 0 beyond 64 bits
}

// Each position's globals, before their division, are its bytes 0 to 37. What
// may be negative comes with something added. Byte kLimitByte divides the
// counter of no progress.
constexpr int kNoProgressByte = 20;
constexpr int kLimitByte = 40;
constexpr int kMarginByte = 34, kMarginBias = 64, kSignBias = 1;

// The order is that of kGlobals.
void GatherGlobals(const EncoderTables& tables, EncoderBlock& block) {
  const __m512i word = LoadRow(block.state_words[0]);
  const __m512i options = LoadRow(block.state_words[1]);
  const __m512i own = LoadRow(block.sides[0]), enemy = LoadRow(block.sides[1]);
  const __m512i own_kingdoms = LoadRow(block.kingdoms[0]);
  const __m512i enemy_kingdoms = LoadRow(block.kingdoms[1]);
  const __m512i variants = ByteOf<0>(word);
  const __mmask8 doubles = AreIn(tables.doubles, variants);
  const __mmask8 blue =
      _mm512_test_epi64_mask(word, _mm512_set1_epi64(1 << 16));
  const __m512i red_captured = ByteOf<6>(word), blue_captured = ByteOf<7>(word);
  const __m512i own_captured =
      _mm512_mask_blend_epi64(blue, red_captured, blue_captured);
  const __m512i enemy_captured =
      _mm512_mask_blend_epi64(blue, blue_captured, red_captured);
  const __m512i own_territory = _mm512_popcnt_epi64(own);
  const __m512i enemy_territory = _mm512_popcnt_epi64(enemy);
  const __m512i own_bridges = CountBridges(own);
  const __m512i enemy_bridges = CountBridges(enemy);
  const __m512i vacant =
      _mm512_sub_epi64(_mm512_set1_epi64(kNumHills),
                       _mm512_add_epi64(own_territory, enemy_territory));
  const __m512i first_lead = _mm512_mask_sub_epi64(
      _mm512_sub_epi64(enemy_kingdoms, own_kingdoms),
      AreIn(tables.by_bridges, variants), own_bridges, enemy_bridges);
  const __m512i margin =
      Margin(first_lead, _mm512_sub_epi64(own_territory, enemy_territory),
             own_captured, enemy_captured);
  const __m512i sign = _mm512_max_epi64(
      _mm512_min_epi64(margin, _mm512_set1_epi64(1)), _mm512_set1_epi64(-1));

  static_assert(kNumGlobals == 38);
  const __m512i limit = ByteOf<0>(options);
  // Ends announced: out (1), passed (3), board full (4).
  const __m512i endings = _mm512_permutexvar_epi64(
      ByteOf<3>(word),
      _mm512_set_epi64(0, 0, 0, int64_t{1} << 56, int64_t{1} << 48, 0,
                       int64_t{1} << 40, 0));
  __m512i r[8] = {
      OneAt(variants, 0),
      Or(Or(OneAt(variants, 8), At<2>(OneAt(ByteOf<1>(word), 0)), At<7>(limit)),
         _mm512_maskz_set1_epi64(doubles, int64_t{1} << 48)),
      Or(_mm512_and_si512(_mm512_srli_epi64(options, 8),
                          _mm512_set1_epi64(0xffffffff)),
         At<4>(ByteOf<5>(word)), endings),
      Or(Or(ByteOf<4>(word), At<1>(own_captured), At<2>(enemy_captured)),
         Or(At<3>(vacant), At<4>(own_territory), At<5>(enemy_territory)),
         Or(At<6>(own_kingdoms), At<7>(enemy_kingdoms))),
      Or(Or(own_bridges, At<1>(enemy_bridges),
            At<4>(LoadRow(block.legal_counts))),
         Or(At<2>(_mm512_add_epi64(margin, _mm512_set1_epi64(kMarginBias))),
            At<3>(_mm512_add_epi64(sign, _mm512_set1_epi64(kSignBias))),
            At<5>(LoadRow(block.legal_pass)))),
      limit,
      _mm512_setzero_si512(),
      _mm512_setzero_si512()};
  Transpose(r);
  for (int i = 0; i < kBlockSize; ++i) {
    _mm512_store_si512(block.global_bytes[i], r[i]);
  }
}

// Sixteen bytes as numbers.
__m512i Numbers(const uint8_t* bytes) {
  return _mm512_cvtepu8_epi32(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}

TARA_INLINE void WriteGlobals(const uint8_t* bytes, float* out) {
  alignas(64) static constexpr float kDivisors[48] = {
      1,  1,  1,  1, 1,  1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  40,
      5,  1,  1,  1, 0,  1, 1, 1, 3, 3, 3, 45, 23, 23, 10, 10,
      40, 40, 10, 1, 45, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1};
  const __m512 limit = _mm512_mask_cvtepi32_ps(
      _mm512_load_ps(kDivisors + 16), 1 << (kNoProgressByte - 16),
      Numbers(bytes + 16 + kLimitByte - kNoProgressByte));
  const __m512i bias = _mm512_maskz_mov_epi32(
      3 << (kMarginByte - 32),
      _mm512_mask_mov_epi32(_mm512_set1_epi32(kSignBias),
                            1 << (kMarginByte - 32),
                            _mm512_set1_epi32(kMarginBias)));
  _mm512_storeu_ps(out, _mm512_div_ps(_mm512_cvtepi32_ps(Numbers(bytes)),
                                      _mm512_load_ps(kDivisors)));
  _mm512_storeu_ps(
      out + 16, _mm512_div_ps(_mm512_cvtepi32_ps(Numbers(bytes + 16)), limit));
  _mm512_mask_storeu_ps(out + 32, 0x3f,
                        _mm512_div_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(
                                          Numbers(bytes + 32), bias)),
                                      _mm512_load_ps(kDivisors + 32)));
}

// --- The path ----------------------------------------------------------------

struct Avx512Path {
  template <int kStep>
  static bool Prepare(const EncoderTables& tables, const EncoderJob& job,
                      const BlockInput& input, EncoderBlock& block) {
    if constexpr (kStep == 0) return LoadStates(tables, input, block);
    if constexpr (kStep == 1) LoadLegal(tables, input, block);
    if constexpr (kStep == 2) Derive(tables, block);
    if constexpr (kStep == 3) {
      CountKingdoms(tables, job, input, block);
      GatherGlobals(tables, block);
    }
    return true;
  }

  __attribute__((noinline)) static void Pack(const EncoderJob& job,
                                             const BlockInput& /*input*/,
                                             const EncoderBlock& block, int i,
                                             PositionBits& bits,
                                             float* globals) {
    __m512i ranks[4];
    for (int group = 0; group < 4; ++group) {
      ranks[group] = TurnedRanks(block.transforms[i],
                                 _mm512_load_si512(block.rows[8 * group + i]));
    }
    if (job.channels_last) {
      PackChannelsLast(ranks, bits);
    } else {
      PackChannelsFirst(ranks, bits);
    }
    WriteGlobals(block.global_bytes[i], globals);
  }

  static void Expand(const EncoderJob& job, const PositionBits& bits,
                     float* planes) {
    (job.around_caches
         ? ExpandPosition<true>
         : ExpandPosition<false>)(job.channels_last, bits, planes);
  }

  static void Finish(const EncoderJob& job) {
    if (job.around_caches) _mm_sfence();
  }
};

}  // namespace
}  // namespace encoder_avx512

bool EncodeOnAvx512(const EncoderTables& tables, const EncoderJob& job) {
  return EncodeOn<encoder_avx512::Avx512Path>(tables, job);
}

}  // namespace tara::nn
