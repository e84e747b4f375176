#ifndef TARA_CORE_OUTCOME_H_
#define TARA_CORE_OUTCOME_H_

// How games are scored (docs/reference/rules.md sections 2, 6 and 7): kingdoms,
// bridges, territory, and the points of both sides.

#include <array>
#include <string>

#include "absl/strings/string_view.h"
#include "tara/core/board.h"
#include "tara/core/state.h"

namespace tara {

// --- Kingdoms ----------------------------------------------------------------
//
// Counting connected components without a loop that depends on the board. All
// shrink at once towards A1, one step at a time, without parting or meeting,
// until each is one cell, and then nothing. A cell of the next board is set
// where
//
//     (cell and (east or north)) or (east and north and north-east)
//
// of this one. Such a step keeps 4-connected components apart and whole, but
// for cells without neighbours, which vanish: those are counted. It empties
// the diagonal file + rank = max, so that after kShrinkSteps all is empty.
// Cells are the 7 x 7 squares, corners included. Padding bits stay zero.
// Source: Levialdi 1972, "On shrinking binary picture patterns" (there for
// 8-connected components; this is its twin for 4-connected ones).

// file + rank is at most 11 on hills (G6, F7), then one less at each step.
inline constexpr int kShrinkSteps = 12;

template <typename Word>
constexpr Word Shrunk(Word cells) {
  const Word east = cells >> 1;
  const Word north = cells >> kRankStride;
  const Word northeast = cells >> (kRankStride + 1);
  return (cells & (east | north)) | (east & north & northeast);
}

// Returns the cells that have no neighbour in `cells`.
template <typename Word>
constexpr Word Isolated(Word cells) {
  return cells & ~((cells >> 1) | (cells << 1) | (cells >> kRankStride) |
                   (cells << kRankStride));
}

// Returns the number of connected components: some 200 instructions.
template <BoardWord Word>
constexpr NumberOf<Word> CountComponents(Word hills) {
  NumberOf<Word> components = {};
#pragma GCC unroll 12
  for (int step = 0; step < kShrinkSteps; ++step) {
    components += Count(Isolated(hills));
    hills = Shrunk(hills);
  }
  return components;
}

// The numbers of connected components of two boards.
template <BoardWord Word>
struct ComponentsOfBoth {
  NumberOf<Word> first;
  NumberOf<Word> second;
};

// Returns the same as CountComponents of each board, three times as fast.
//
// By Euler's formula they are vertices minus edges plus bounded faces: the
// full 2 x 2 squares, and the holes. A hole is a set of other hills, connected
// by edges or corners, without such a path off the board. Most
// boards have none, and then a flood from outside reaches every other hill.
template <BoardWord Word>
constexpr ComponentsOfBoth<Word> CountComponentsOfBoth(Word first,
                                                       Word second) {
  // Hills that touch the outside, at least with a corner (as B2 does).
  constexpr Board kRim = RankBoard(0) | RankBoard(6) | FileBoard(0) |
                         FileBoard(6) | BoardOf(HillAt(1, 1)) |
                         BoardOf(HillAt(1, 5)) | BoardOf(HillAt(5, 1)) |
                         BoardOf(HillAt(5, 5));
  constexpr int kFloodSteps = 4;
  const auto without_holes = [](Word own) {
    const Word squares =
        own & (own >> 1) & (own >> kRankStride) & (own >> (kRankStride + 1));
    return Count(own) - CountAdjacentPairs(own) + Count(squares);
  };
  const Word first_others = Word(kAllHills) & ~first;
  const Word second_others = Word(kAllHills) & ~second;
  Word first_outside = first_others & Word(kRim);
  Word second_outside = second_others & Word(kRim);
#pragma GCC unroll 4
  for (int step = 0; step < kFloodSteps; ++step) {
    first_outside = Dilated(first_outside) & first_others;
    second_outside = Dilated(second_outside) & second_others;
  }
  ComponentsOfBoth<Word> components = {without_holes(first),
                                       without_holes(second)};
  if (Any(NonZero(first_others ^ first_outside))) [[unlikely]] {
    components.first = CountComponents(first);
  }
  if (Any(NonZero(second_others ^ second_outside))) [[unlikely]] {
    components.second = CountComponents(second);
  }
  return components;
}

static_assert(CountComponents(Board{0}) == 0);
static_assert(CountComponents(kAllHills) == 1);
static_assert(CountComponents(RankBoard(0) | RankBoard(2)) == 2);

// Returns the number of sets of ringforts that links, as in State, connect.
template <BoardWord Word>
constexpr NumberOf<Word> CountLinkedSets(Word own, Word links_east,
                                         Word links_north) {
  NumberOf<Word> sets = {};
  // One of each board at a time.
  for (Word rest = own; Any(NonZero(rest));) {
    sets += KeepIf(NonZero(rest), NumberOf<Word>(1));
    Word set = FirstBit(rest);
    for (Word before = {}; Any(NonZero(set ^ before));) {
      before = set;
      set = before | ((before & links_east) << 1) |
            ((before >> 1) & links_east) |
            ((before & links_north) << kRankStride) |
            ((before >> kRankStride) & links_north);
    }
    rest = rest & ~set;
  }
  return sets;
}

// Returns the kingdoms of both sides where links connect them: components, if
// all that is adjacent is linked.
template <BoardWord Word>
constexpr ComponentsOfBoth<Word> CountLinkedKingdoms(Word first, Word second,
                                                     Word links_east,
                                                     Word links_north) {
  const auto pairs = [&](int shift) {
    return (first & (first >> shift)) | (second & (second >> shift));
  };
  const Word unlinked =
      (pairs(1) & ~links_east) | (pairs(kRankStride) & ~links_north);
  if (!Any(NonZero(unlinked))) return CountComponentsOfBoth(first, second);
  return {CountLinkedSets(first, links_east, links_north),
          CountLinkedSets(second, links_east, links_north)};
}

// --- Points ------------------------------------------------------------------

// A supply of bridges: more adjacent pairs than this count as this many.
inline constexpr int kMaxBridges = 40;

template <BoardWord Word>
constexpr NumberOf<Word> CountBridges(Word hills) {
  const NumberOf<Word> pairs = CountAdjacentPairs(hills);
  const NumberOf<Word> most(kMaxBridges);
  return Select(Less(pairs, most), pairs, most);
}

// The quantities that decide a game, own side minus enemy.
template <typename Number>
struct Leads {
  Number first;      // kingdoms, where fewer are better; or bridges
  Number territory;  // ringforts
};

// Points of both sides; numbers as ints or as lanes.
template <typename Number>
struct Points {
  Number own;
  Number enemy;

  constexpr Number margin() const { return own - enemy; }
};

// The rule of two tiers: the side that leads in the first count, or else in
// territory, gets one point, one for the lead, and one per unit of the lead; a
// full tie is one point for each side. Captured kings are a point each, but do
// not count in a full tie (decision 9), and two or three of one side are
// all that counts (decision 8).
template <typename Number>
constexpr Points<Number> PointsOf(const Leads<Number>& leads,
                                  Number kings_captured, Number kings_lost) {
  const Number zero(0);
  const Number two(2);
  const Number lead =
      Select(NonZero(leads.first), leads.first, leads.territory);
  const Number own = KeepIf(Less(zero, lead), two + lead) + kings_captured;
  const Number enemy = KeepIf(Less(lead, zero), two - lead) + kings_lost;
  const auto tie = IsZero(lead);
  const auto kings_alone = NonZero((kings_captured | kings_lost) & two);
  return {Select(kings_alone, kings_captured, Select(tie, Number(1), own)),
          Select(kings_alone, kings_lost, Select(tie, Number(1), enemy))};
}

// The largest margin: 2 points for the lead plus 45 for a lead of 45 ringforts
// (docs/reference/rules.md sections 2, 6 and 7).
inline constexpr int kMaxMargin = 47;

// Margins there are, from -kMaxMargin to kMaxMargin: margin m has index
// m + kMaxMargin in tables over them.
inline constexpr int kNumMargins = 2 * kMaxMargin + 1;

// Who wins by a margin (Red's points minus Blue's) when Blue's side is given
// `compensation_halves` half points: 1 Red, 0 nobody, -1 Blue.
constexpr int ResultOfMargin(int red_margin, int compensation_halves) {
  const int halves = 2 * red_margin - compensation_halves;
  return (halves > 0) - (halves < 0);
}

// The same by a margin of the side to move, for it, with the compensation of
// the position: 1 won, 0 drawn, -1 lost.
inline int ResultForMover(const State& state, int own_margin) {
  const int sign = state.side() == kRed ? 1 : -1;
  return sign *
         ResultOfMargin(sign * own_margin, state.options.compensation_halves);
}

// Returns the smallest margin for Red that puts `side` `points` ahead.
constexpr int MarginOfLead(Side side, int points, int compensation_halves) {
  const int given = side == kRed ? compensation_halves : -compensation_halves;
  const int own_margin = (2 * points + given + 1) >> 1;  // rounded up
  return side == kRed ? own_margin : -own_margin;
}

// How a game stands when it ends. Arrays are by side, Red first.
struct Outcome {
  std::array<int, 2> points;
  std::array<int, 2> kingdoms;
  std::array<int, 2> territory;
  std::array<int, 2> bridges;
  std::array<int, 2> kings_captured;  // enemy kings, by the capturing side
  Ending ended_by;
  int compensation_halves;  // given to Blue's side, in half points

  // Points of Red minus points of Blue, as scored: without compensation.
  int margin() const { return points[kRed] - points[kBlue]; }
  // 1 if Red wins, -1 if Blue does, 0 for a draw; with compensation.
  int result() const { return ResultOfMargin(margin(), compensation_halves); }
  // Returns the side that wins, or -1 for a draw.
  int winner() const {
    return result() == 0 ? -1 : (result() > 0 ? kRed : kBlue);
  }

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Scores the position as if the game ended as it stands
// (docs/reference/rules.md sections 2, 6, 7), as a finished game does.
Outcome Score(const State& state);

// The same where the kingdoms of the sides are counted already.
Outcome Score(const State& state, int red_kingdoms, int blue_kingdoms);

// Counts the kingdoms of a side, by adjacency or in Stone of Destiny by links.
int CountKingdoms(const State& state, Side side);

// Returns what stands after Blue's points: " and 2.5 of compensation"; or "".
std::string CompensationText(int compensation_halves);

// Returns "out", "double_capture", "passed", "board_full", "no_progress", or
// "-" for Ending::kNone.
absl::string_view EndingName(Ending ending);

// Returns "placement", "manoeuvres", "battle", "link" or "finished".
absl::string_view PhaseName(Phase phase);

}  // namespace tara

#endif  // TARA_CORE_OUTCOME_H_
