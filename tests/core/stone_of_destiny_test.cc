// Stone of Destiny (docs/reference/rules.md section 8.2).

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Red holds ranks 1 to 3 and A4 to D4 (23), its king on B2; Blue the rest
// (22), its king on F6.
std::string TwoBlocks(absl::string_view rest) {
  return absl::StrCat(
      "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr ",
      rest);
}

// Links all adjacent ringforts of a side.
State Linked(State state, Side side) {
  const Board own = state.ringforts[side];
  state.links_east |= own & West(own);
  state.links_north |= own & South(own);
  return state;
}

// One and two steps from D4 in eight directions; nothing blocks (decision 15):
// after Blue's D5, Red's king on D4 is still the centre for Blue.
TEST(StoneOfDestinyTest, ManoeuvresStayNearTheEnemyKing) {
  const State blue = After(Variant::kStoneOfDestiny, "D4");
  EXPECT_THAT(LegalTexts(blue),
              ElementsAre("B2", "D2", "F2", "C3", "D3", "E3", "B4", "C4", "E4",
                          "F4", "C5", "D5", "E5", "B6", "D6", "F6"));
  // Around D5, with D4 between D5 and D3.
  EXPECT_THAT(LegalTexts(After(blue, "D5")),
              ElementsAre("B3", "D3", "F3", "C4", "E4", "B5", "C5", "E5", "F5",
                          "C6", "D6", "E6", "B7", "D7", "F7"));
}

// Near B1 are C1, D1, A2, B2, C2, B3 and D3: none is vacant, so any of the 37
// vacant hills will do.
TEST(StoneOfDestinyTest, ManoeuvresGoAnywhereWhenNothingNearIsVacant) {
  EXPECT_THAT(LegalTexts(Position("stone_of_destiny 5/7/7/7/1b1R3/rbr4/Brb2 0 "
                                  "manoeuvres - 0,0 0 - -")),
              SizeIs(37));
}

// Of Red's 23, B1 and C1 are linked and the king stands on B2.
TEST(StoneOfDestinyTest, SwapsNeitherLinkedRingfortsNorTheKings) {
  const State state = Position(TwoBlocks("1 battle B1=C1 0,0 0 - -"));
  const LegalSet legal = LegalActions(state);
  EXPECT_EQ(legal.Count(), 20);
  EXPECT_EQ(legal.hills,
            state.ringforts[kRed] & ~(Hills("B1 C1") | Hills("B2")));
}

// After the swap of D4 Blue's pairs are: ranks 5 to 7: 6 + 6 + 4 along and
// 7 + 5 between, 28; E4 to G4: 2 along, 3 up; D4=E4 and D4=D5: 35.
TEST(StoneOfDestinyTest, ASwapMovesTheKingAndIsFollowedByALinkOfOwnRingforts) {
  const State link =
      After(Position(TwoBlocks("1 battle B1=C1 0,0 7 - -")), "D4");
  EXPECT_EQ(link.seat, 1);
  EXPECT_EQ(link.phase, Phase::kLink);
  EXPECT_EQ(link.kings[kBlue], Hills("D4"));
  const LegalSet legal = LegalActions(link);
  EXPECT_EQ(legal.Count(), 35);
  EXPECT_TRUE(legal.Contains(ParseAction("D4=E4").value()));
  EXPECT_FALSE(legal.Contains(ParseAction("C4=D4").value()));
  EXPECT_FALSE(legal.Contains(ParseAction("C1=D1").value()));
  const State red = After(link, "D4=E4");
  EXPECT_EQ(red.seat, 0);
  EXPECT_EQ(red.phase, Phase::kBattle);
  EXPECT_EQ(red.no_progress, 0);
  // Blue's 23 without the linked D4 (where the king is too) and E4.
  EXPECT_THAT(LegalTexts(red), SizeIs(21));
}

// Blue has linked all it can, and D2 lies among Red's: no pair to link. Blue's
// F2, alone among Red's as well (Red has E4 for it), is left for Red to swap.
TEST(StoneOfDestinyTest, ATurnWithoutAPairToLinkEndsAfterTheSwap) {
  const State blue = Linked(
      Position("stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrrbb/rrrrrrr/rRrrrbr/"
               "rrrrr 1 battle B1=C1 0,0 7 - -"),
      kBlue);
  const State red = After(blue, "D2");
  EXPECT_EQ(red.seat, 0);
  EXPECT_EQ(red.phase, Phase::kBattle);
  EXPECT_EQ(red.no_progress, 8);
  EXPECT_THAT(LegalTexts(red), ElementsAre("F2"));
}

// The protected D2 alone is nothing to swap: Red, without another unlinked
// Blue ringfort, is out, and Blue has no spare ringfort.
TEST(StoneOfDestinyTest, TheKingOnTheOnlyUnlinkedRingfortLeavesTheEnemyOut) {
  const State end = After(
      Linked(Position(TwoBlocks("1 battle B1=C1 0,0 7 - -")), kBlue), "D2");
  EXPECT_TRUE(end.finished());
  EXPECT_EQ(end.ending, Ending::kOut);
}

// That turn as the 40th without a link. Everything is linked: Red is one
// kingdom, Blue its block and D2: 2 + 1 points.
TEST(StoneOfDestinyTest, FortyTurnsWithoutALinkEndTheGame) {
  const State end = After(
      Linked(Position(TwoBlocks("1 battle B1=C1 0,0 39 - -")), kBlue), "D2");
  EXPECT_TRUE(end.finished());
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kNoProgress);
  EXPECT_THAT(outcome.kingdoms, ElementsAre(1, 2));
  EXPECT_THAT(outcome.points, ElementsAre(3, 0));
}

// The same without decision 12: of Red's 22 only B1 and C1 are linked, 21
// kingdoms; Blue has 2: 2 + 19 points.
TEST(StoneOfDestinyTest, OptionLinkAllAtEndOffScoresTheLinksAsTheyAre) {
  const State end = After(
      Linked(
          Position(TwoBlocks("1 battle B1=C1 0,0 39 - link_all_at_end=false")),
          kBlue),
      "D2");
  EXPECT_EQ(end.links_east & Hills("B1 C1"), Hills("B1"));
  EXPECT_THAT(Score(end).kingdoms, ElementsAre(21, 2));
  EXPECT_THAT(Score(end).points, ElementsAre(0, 21));
}

// Red links its last unlinked ringfort, D4: Blue has nothing to swap and is
// out; Red has no spare ringfort (decision 13). One kingdom each, 23 to 22.
TEST(StoneOfDestinyTest, OutEndsTheGameByTheSpareRingfort) {
  State red = Linked(Position(TwoBlocks("0 link B1=C1 0,0 0 - -")), kRed);
  red.links_east &= ~Hills("C4");   // C4=D4
  red.links_north &= ~Hills("D3");  // D3=D4
  ASSERT_EQ(ValidatePosition(red), absl::OkStatus());
  EXPECT_THAT(LegalTexts(red), ElementsAre("D3=D4", "C4=D4"));
  const State end = After(red, "C4=D4");
  EXPECT_TRUE(end.finished());
  const Outcome outcome = Score(end);
  EXPECT_EQ(outcome.ended_by, Ending::kOut);
  EXPECT_THAT(outcome.territory, ElementsAre(23, 22));
  EXPECT_THAT(outcome.points, ElementsAre(3, 0));
}

// The rulebook's figure 9-3: the Red king protects Red's only unlinked
// ringfort, B2.
TEST(StoneOfDestinyTest, TheKingProtectsTheLastUnlinkedRingfort) {
  State red = Linked(Position(TwoBlocks("0 link B1=C1 0,0 0 - -")), kRed);
  red.links_east &= ~Hills("A2 B2") & ~Hills("D4");
  red.links_north &= ~Hills("B1 B2");
  red.links_east &= ~Hills("E1");  // E1=F1 is still to be linked
  ASSERT_EQ(ValidatePosition(red), absl::OkStatus());
  const State end = After(red, "E1=F1");
  EXPECT_TRUE(end.finished());
  EXPECT_EQ(end.ending, Ending::kOut);
}

}  // namespace
}  // namespace tara
