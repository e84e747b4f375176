#ifndef TARA_CORE_BATCH_POISONED_CHALICE_LANES_H_
#define TARA_CORE_BATCH_POISONED_CHALICE_LANES_H_

#include <cstdint>

#include "tara/core/batch/formulas.h"
#include "tara/core/batch/lanes.h"
#include "tara/core/board.h"
#include "tara/core/rule_options.h"

namespace tara::batch {

// The numbers of bits in the seven cells of each line, in binary: three words
// that hold a binary digit each, at the line's first cell. Cells of a line lie
// `kStride` bits apart: 1 for ranks, kRankStride for files. Other bits than
// those at first cells mean nothing.
template <InstructionSet kSet, int kStride>
struct LineCounts {
  using W = Word<kSet>;

  W ones, twos, fours;

  // Carry-save addition: cells 0-2 and 3-5 at once, then both and cell 6.
  explicit TARA_INLINE LineCounts(W cells) {
    const W second = cells >> kStride, third = cells >> (2 * kStride);
    const W sum = cells ^ second ^ third;
    const W carry = Majority(cells, second, third);
    const W upper_sum = sum >> (3 * kStride), last = cells >> (6 * kStride);
    const W upper_carry = carry >> (3 * kStride);
    const W last_carry = Majority(sum, upper_sum, last);
    ones = sum ^ upper_sum ^ last;
    twos = carry ^ upper_carry ^ last_carry;
    fours = Majority(carry, upper_carry, last_carry);
  }
};

// Poisoned Chalice (docs/reference/rules.md section 8.1).
template <InstructionSet kSet>
class PoisonedChaliceRules {
 public:
  using W = Word<kSet>;
  using M = Mask<kSet>;
  static constexpr int kSeats = 2;
  static constexpr bool kHasManoeuvres = true;
  static constexpr uint64_t kManoeuvresTurns = 8;

  TARA_INLINE explicit PoisonedChaliceRules(const RuleOptions&) {}

  TARA_INLINE W ManoeuvresTargets(W own, W enemy, int) const {
    const W built = own | enemy;
    constexpr Board kEdges[] = {RankBoard(0), RankBoard(6), FileBoard(0),
                                FileBoard(6)};
    constexpr int kSouthToNorth = kRankStride * (kBoardSize - 1);
    constexpr int kWestToEast = kBoardSize - 1;
    W targets(uint64_t{0});
    for (const Board edge : kEdges) {
      targets |= KeepIf(IsZero(own & W(edge)), W(edge));
    }
    const W opposite = ((built & W(RankBoard(0))) << kSouthToNorth) |
                       ((built & W(RankBoard(6))) >> kSouthToNorth) |
                       ((built & W(FileBoard(0))) << kWestToEast) |
                       ((built & W(FileBoard(6))) >> kWestToEast);
    return targets & ~built & ~opposite;
  }

  TARA_INLINE M StillManoeuvres(W, W own, W enemy) const {
    return Less(PopCount(own | enemy), W(kManoeuvresTurns));
  }

  TARA_INLINE W BattleTargets(W own, W enemy, int seat) const {
    const W vacant = W(kAllHills) & ~(own | enemy);
    const W rows =
        seat == kRed ? QualifiedFiles(own, enemy) : QualifiedRanks(own, enemy);
    const W captures = Steps<kSet>(own).BesiegedIn(enemy);
    return FirstNonEmpty(rows & vacant, FirstNonEmpty(captures, vacant));
  }

  static TARA_INLINE W Margin(W red, W blue) {
    return TwoTierMargin(KingdomLead(red, blue),
                         PopCount(red) - PopCount(blue));
  }

 private:
  // First cells of the lines with 1 <= enemies and own <= enemies.
  template <int kStride>
  static TARA_INLINE W QualifiedLines(W own, W enemy) {
    const LineCounts<kSet, kStride> mine(own), theirs(enemy);
    // Whether own > enemies, from the lowest digit on.
    W more = mine.ones & ~theirs.ones;
    more = (mine.twos & ~theirs.twos) | (more & ~(mine.twos ^ theirs.twos));
    more = (mine.fours & ~theirs.fours) | (more & ~(mine.fours ^ theirs.fours));
    return (theirs.ones | theirs.twos | theirs.fours) & ~more;
  }

#if defined(__AVX512VBMI__)
  // The ranks' cells, a byte each.
  static TARA_INLINE __m512i RankBytes(W hills) {
    const __m512i first_cells = _mm512_set1_epi64(0x00362d241b120900);
    return _mm512_maskz_multishift_epi64_epi8(0x7f7f7f7f7f7f7f7f, first_cells,
                                              (__m512i)hills.v);
  }

  // The files' cells, a byte each: the transposed matrix of bits.
  static TARA_INLINE __m512i FileBytes(W hills) {
    const __m512i unit = _mm512_set1_epi64(0x8040201008040201);
    return _mm512_gf2p8affine_epi64_epi8(unit, RankBytes(hills), 0);
  }

  // Returns bytes of `marks` for lines of 1 <= enemies and own <= enemies.
  static TARA_INLINE __m512i MarkQualified(__m512i own, __m512i enemy,
                                           uint64_t marks) {
    const __m512i mine = _mm512_popcnt_epi8(own);
    const __m512i theirs = _mm512_popcnt_epi8(enemy);
    const __mmask64 some = _mm512_test_epi8_mask(theirs, theirs);
    return _mm512_maskz_mov_epi8(
        _mm512_mask_cmple_epu8_mask(some, mine, theirs),
        _mm512_set1_epi64(static_cast<int64_t>(marks)));
  }
#endif

  // Red's rows. (Corners are always empty and count for nothing.)
  static TARA_INLINE W QualifiedFiles(W own, W enemy) {
#if defined(__AVX512VBMI__)
    if constexpr (kSet == InstructionSet::kAvx512) {
      const __m512i marks =
          MarkQualified(FileBytes(own), FileBytes(enemy), 0x0040201008040201);
      // Side by side in the first rank; then, byte for byte, in every rank.
      const W rank =
          (typename W::Native)_mm512_sad_epu8(marks, _mm512_setzero_si512());
      const W two_ranks = rank | (rank << kRankStride);
      return (typename W::Native)_mm512_maskz_multishift_epi64_epi8(
          ~uint64_t{0}, _mm512_set1_epi64(0x0203040506070800),
          (__m512i)two_ranks.v);
    } else
#endif
    {
      W lines = QualifiedLines<kRankStride>(own, enemy) & W(uint64_t{0x7f});
      lines |= lines << kRankStride;
      lines |= lines << (2 * kRankStride);
      return lines | (lines << (3 * kRankStride));
    }
  }

  // Blue's rows.
  static TARA_INLINE W QualifiedRanks(W own, W enemy) {
    constexpr Board kFirstCells = 0x0040201008040201;  // bits 0, 9, ..., 54
    W lines;
#if defined(__AVX512VBMI__)
    if constexpr (kSet == InstructionSet::kAvx512) {
      // Bit 9 r lies in byte r.
      lines = (typename W::Native)MarkQualified(RankBytes(own),
                                                RankBytes(enemy), kFirstCells);
    } else
#endif
      lines = QualifiedLines<1>(own, enemy) & W(kFirstCells);
    // From each first cell on, seven ones.
    return (lines << kBoardSize) - lines;
  }
};

}  // namespace tara::batch

#endif  // TARA_CORE_BATCH_POISONED_CHALICE_LANES_H_
