// The text of positions, and every refusal of text and of positions.

#include "tara/core/position_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tests/core/core_testing.h"
#include "tests/status_matchers.h"

namespace tara {
namespace {

using ::testing::HasSubstr;

struct BadText {
  const char* text;
  const char* message;
};

using Parse = absl::StatusOr<State> (*)(absl::string_view);

void ExpectRefused(const std::vector<BadText>& cases,
                   Parse parse = ParsePosition) {
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(parse(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr(message)))
        << text;
  }
}

TEST(PositionTextTest, StartPositionsAreWrittenAsDocumented) {
  EXPECT_EQ(PositionToText(InitialState(Variant::kSacredHillL1)),
            "sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -");
  RuleOptions options;
  options.no_progress_limit = 7;
  EXPECT_EQ(PositionToText(InitialState(Variant::kHighKingsL2, options)),
            "high_kings_l2 5/7/7/7/7/7/5 0 placement - 0,0 0 - "
            "no_progress_limit=7");
}

// C1 is east of B1; rank 7 comes first.
TEST(PositionTextTest, HillsAreReadFromTheNorthWest) {
  const State state =
      Position("four_treasures r3b/7/7/7/7/r5b/1b3 0 battle - 0,0 0 - -");
  EXPECT_EQ(state.ringforts[kRed], Hills("B7 A2"));
  EXPECT_EQ(state.ringforts[kBlue], Hills("F7 G2 C1"));
}

// Section 11: colours and seat to move exchanged, Blue is as good as Red.
TEST(PositionTextTest, AcceptsPositionsWithColoursExchanged) {
  for (const char* text : {
           "sacred_hill_l1 5/7/7/7/7/7/5 1 manoeuvres - 0,0 0 - -",
           "sacred_hill_l1 5/7/7/3b3/7/7/5 0 manoeuvres - 0,0 0 - -",
           "sacred_hill_doubles_l1 5/7/7/7/7/7/5 3 manoeuvres - 0,0 0 - -",
           "high_kings_l1 5/7/7/3B3/7/7/5 0 placement - 0,0 0 - -",
           "stone_of_destiny 5/7/7/3B3/7/7/5 0 manoeuvres - 0,0 0 - -",
       }) {
    EXPECT_EQ(PositionToText(Position(text)), text);
  }
}

// Positions need not be reachable: Sacred Hill's Manoeuvres go on from any
// numbers of ringforts.
TEST(PositionTextTest, AcceptsPositionsThatPlayCannotReach) {
  const State state =
      Position("sacred_hill_l1 5/7/7/3b3/7/7/5 1 manoeuvres - 0,0 0 - -");
  EXPECT_EQ(LegalActions(state).Count(), 8);
}

TEST(PositionTextTest, RefusesTextThatIsNotOfTheForm) {
  ExpectRefused({
      {"", "has 1 fields; expected 9"},
      {"sacred_hill_l1  5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       "has 10 fields; expected 9, separated by single spaces"},
      {"chess 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       "position field 1 (variant) is 'chess'; unknown variant"},
      {"sacred_hill_l1 5/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       "field 2 (board) is '5/7/7/7/7/5'; 6 ranks; expected 7"},
      {"sacred_hill_l1 6/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       "rank 7 of the position's board, '6', has too many hills; expected "
       "5 "
       "hills"},
      {"sacred_hill_l1 5/7/7/7/7/r5/5 0 manoeuvres - 0,0 0 - -",
       "rank 2 of the position's board, 'r5', has too few hills; expected "
       "7 "
       "hills"},
      {"sacred_hill_l1 5/7/7/7/7/x6/5 0 manoeuvres - 0,0 0 - -",
       "rank 2 of the position's board, 'x6', has 'x'; expected 7 hills "
       "as "
       "r, b, R, B, S, T or runs"},
      {"sacred_hill_l1 5/7/7/7/7/8/5 0 manoeuvres - 0,0 0 - -",
       "'8', has '8'; expected 7 hills"},
      {"sacred_hill_l1 23/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       "expected it written as '5/7/7/7/7/7/5'"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 2 manoeuvres - 0,0 0 - -",
       "field 3 (seat) is '2'; expected 0 to 1, or - in a finished game"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 - manoeuvres - 0,0 0 - -",
       "field 3 (seat) is '-'; expected it written as '0'"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 peace - 0,0 0 - -",
       "field 4 (phase) is 'peace'; expected placement, manoeuvres"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres D4 0,0 0 - -",
       "field 5 (links) is 'D4'; 'D4' is not a link; expected D4=E4"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres D4=E5 0,0 0 - -",
       "the hills of a link are adjacent"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0 0 - -",
       "field 6 (kings captured) is '0'; expected Red's and Blue's"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,x 0 - -",
       "'x' is not a number from 0 to 255"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 256 - -",
       "field 7 (no progress) is '256'; '256' is not a number from 0 to "
       "255"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 00 - -",
       "field 7 (no progress) is '00'; expected it written as '0'"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 over:1 -",
       "field 8 (ending) is 'over:1'; expected - or out"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 out -",
       "field 8 (ending) is 'out'; expected - or out"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - fast=1",
       "field 9 (options) is 'fast=1'; variant sacred_hill_l1 has no "
       "rule option 'fast'"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - "
       "proximity_bound=5",
       "expected it written as '-'"},
  });
}

TEST(ValidatePositionTest, RefusesPhasesEndingsAndCountersThatCannotBe) {
  ExpectRefused({
      {"four_treasures 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -",
       "impossible four_treasures position: this variant has no "
       "phase manoeuvres"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 placement - 0,0 0 - -",
       "no phase placement"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 - finished - 0,0 0 - -",
       "finished without ending"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 - finished - 0,0 0 out:1 -",
       "1 turns left; expected 0 once finished"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 - finished - 0,0 0 passed:0 -",
       "this variant does not end by passed"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 0 battle - 0,0 0 out:2 -",
       "2 turns left after out; expected 1 to 1"},
      {"sacred_hill_doubles_l1 5/7/7/3r3/7/7/5 0 battle - 0,0 0 out:0 -",
       "0 turns left after out; expected 1 to 3"},
      {"sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 out:1 -",
       "no turns are left to play after out in phase manoeuvres"},
      {"four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 3 - -",
       "no-progress counter 3 in phase battle; expected 0 to 0"},
      {"high_kings_l1 5/7/7/3R3/7/7/5 1 placement - 0,0 1 - -",
       "no-progress counter 1 in phase placement; expected 0 to 0"},
      {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr "
       "0 battle - 0,0 40 - -",
       "no-progress counter 40 in phase battle; expected 0 to 39"},
      {"high_kings_l1 5/7/7/3r3/7/7/5 - finished - 0,0 3 no_progress:0 -",
       "expected 40 to 40"},
      {"stone_of_destiny 5/7/7/3B3/7/7/5 1 manoeuvres - 0,0 0 - -",
       "the seat to move has 1 ringforts, the enemy 0; expected an equal "
       "number or one more"},
  });
}

TEST(ValidatePositionTest, RefusesKingsThatCannotBe) {
  ExpectRefused({
      {"sacred_hill_l1 5/7/7/3R3/7/7/5 1 manoeuvres - 0,0 0 - -",
       "Red has 1 kings on the board; expected 0"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres - 1,0 0 - -",
       "Red has captured 1 kings; expected at most 0"},
      {"high_kings_l1 5/7/7/3r3/7/7/5 1 placement - 0,0 0 - -",
       "Red has 0 kings on the board; expected 1"},
      {"high_kings_l1 bbbbb/bBbBbbb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr "
       "0 battle - 0,0 0 - -",
       "Blue has 2 kings on the board; expected 3"},
      {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr "
       "0 battle - 2,0 0 - -",
       "Red has captured 2 kings; expected at most 1"},
      {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr "
       "0 battle - 0,0 0 passed:1 -",
       "Blue has 3 kings on the board; expected 0"},
      {"high_kings_l1 bbbbb/bBBbbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrRr/rrrrr "
       "0 battle - 0,0 0 - -",
       "a king of Blue on B6 is adjacent to a friendly king"},
      {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/S1r1b1b/rrrrrrr/rRrRrrr/rrrrr "
       "1 battle - 0,0 0 - -",
       "a king of Red on A4 is stranded; expected at most one of a side, "
       "in Battle of high_kings_l2"},
      {"high_kings_l2 bbbbb/bBbBbBb/bbbbbbb/S1r1b1b/rrrrrrr/rRrRrrr/rrrrr "
       "1 battle - 0,0 0 - -",
       "a king of Red on A4 is stranded, and 0 kings are lost; expected "
       "1"},
      {"high_kings_l1 5/7/7/3r3/7/7/5 - finished - 1,0 0 "
       "double_capture:0 -",
       "double_capture without two captured kings"},
      {"high_kings_l1 5/7/7/3R3/3B3/7/5 - finished - 0,0 0 passed:0 -",
       "passed with kings of both sides on the board"},
      {"stone_of_destiny 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 - -",
       "Red has 0 kings on the board; expected 1"},
  });
}

TEST(ValidatePositionTest, RefusesBoardsThatTheFamilyCannotHave) {
  ExpectRefused({
      {"high_kings_l1 5/7/7/3r3/7/7/5 - finished - 0,0 0 "
       "board_full:0 -",
       "board_full with B1 vacant"},
      {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrRrRr/rrrrr "
       "0 battle - 0,0 0 - -",
       "a full board; expected the ending board_full:1"},
      {"high_kings_l1 5/1B1B1B1/7/7/3r3/1R1R1R1/1b3 0 manoeuvres - 0,0 0 "
       "- -",
       "adjacent ringforts of Red at D2 before Battle"},
      {"high_kings_l1 5/7/1B1B3/7/7/1R1R3/5 0 manoeuvres - 1,1 0 - -",
       "manoeuvres with 4 ringforts; expected at least the 6"},
      {"poisoned_chalice 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 - -",
       "a ringfort on D4; expected only edge hills in manoeuvres"},
      {"poisoned_chalice 2r2/7/7/7/7/7/2b2 0 manoeuvres - 0,0 0 - -",
       "the ringfort on D7 is opposite another"},
      {"poisoned_chalice 5/7/b6/7/7/7/r3r 1 manoeuvres - 0,0 0 - -",
       "two ringforts of a side on the edge of B1"},
      {"poisoned_chalice 5/7/7/3r3/7/7/5 1 battle - 0,0 0 - -",
       "phase battle with 1 ringforts; expected at least the 8"},
      {"stone_of_destiny 5/7/7/3RB2/7/7/5 0 manoeuvres D4=E4 0,0 0 - -",
       "a link at D4; expected links only in stone_of_destiny, between "
       "adjacent ringforts of one side"},
      {"four_treasures 5/7/7/3rr2/7/7/5 0 battle D4=E4 0,0 0 - -",
       "a link at D4; expected links only in stone_of_destiny"},
      {"stone_of_destiny 5/7/7/3rR2/3bB2/7/5 0 manoeuvres D4=E4 0,0 0 - -",
       "links in manoeuvres"},
      {"stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/"
       "rrrrr 0 battle - 0,0 0 - -",
       "Red has 23 and Blue 22 ringforts in phase battle"},
      {"stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/"
       "rrrrr - finished - 0,0 0 out:0 -",
       "no link at B1; expected all adjacent ringforts of one side linked "
       "at the end"},
      {"stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/"
       "rrrrr 1 battle - 0,0 0 out:1 -",
       "no turns are left to play after out"},
  });
}

// A seat to move can act: what is no choice must have been resolved.
TEST(ValidatePositionTest, RefusesPositionsThatAreNotSettled) {
  ExpectRefused({
      // No knight's move from D7 leads into South, ranks 1 to 4.
      {"sacred_hill_doubles_l1 2r2/7/7/7/7/7/2b2 0 manoeuvres - "
       "0,0 0 - -",
       "seat 0 cannot act in phase manoeuvres; expected phase "
       "battle, seat 0"},
      {"stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/"
       "rrrrr 1 manoeuvres - 0,0 0 - -",
       "seat 1 cannot act in phase manoeuvres; expected phase battle, "
       "seat 1"},
      {"four_treasures "
       "rrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrr "
       "0 battle - 0,0 0 - -",
       "expected a finished game (out)"},
      {"high_kings_l1 5/1B1B1B1/7/7/7/1R1R1R1/5 0 placement - 0,0 0 - -",
       "seat 0 cannot act in phase placement; expected phase manoeuvres"},
  });
}

class CompletePositionTest : public ::testing::TestWithParam<VariantInfo> {};

// Set up again by its ringforts, kings, seat and options, a position is what it
// was, but for what no board shows: links, counters, and how it will end.
TEST_P(CompletePositionTest, SetsUpThePositionsOfGames) {
  const Variant variant = GetParam().variant;
  for (const RuleOptions& options :
       {RuleOptions(), ChangedOptions(GetParam())}) {
    for (int game = 0; game < 60; ++game) {
      const auto visit = [](const State& state, const LegalSet&) {
        const std::string text = PositionToText(state);
        const absl::StatusOr<State> same = CompletePosition(text);
        ASSERT_TRUE(same.ok()) << text << ": " << same.status().message();
        EXPECT_EQ(*same, state) << text;
        if (state.finished() || state.ending == Ending::kPassed) return;
        const std::vector<std::string> fields = absl::StrSplit(text, ' ');
        const auto set_up = [&](absl::string_view phase) {
          return CompletePosition(absl::StrCat(fields[0], " ", fields[1], " ",
                                               fields[2], " ", phase,
                                               " ? ? ? ? ", fields[8]));
        };
        State bare = state;
        bare.links_east = bare.links_north = 0;
        bare.no_progress = 0;
        if (bare.ending == Ending::kOut) {
          bare.ending = Ending::kNone;
          bare.turns_left = 0;
        }
        // Who has linked all cannot act in a board without links, nor can who
        // is out with one turn left elsewhere: then there is a reason.
        const absl::StatusOr<State> in_phase = set_up(fields[3]);
        ASSERT_EQ(in_phase.ok(), ValidatePosition(bare).ok())
            << text << ": " << in_phase.status().message();
        const absl::StatusOr<State> open = set_up("?");
        if (!in_phase.ok()) return;
        EXPECT_EQ(*in_phase, bare) << text;
        ASSERT_TRUE(open.ok()) << text << ": " << open.status().message();
        EXPECT_LE(open->phase, state.phase) << text;
        bare.phase = open->phase;
        EXPECT_EQ(*open, bare) << text;
      };
      PlayRandomGame(InitialState(variant, options), game, visit);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, CompletePositionTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

TEST(CompletePositionReasonsTest, FieldsThatAreOpenFollowFromTheBoard) {
  struct {
    const char* text;
    const char* whole;
  } const kCases[] = {
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 1",
       "sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 - -"},
      // Adjacent ringforts are built in Battle alone.
      {"sacred_hill_l1 5/7/7/3rr2/7/7/5 1",
       "sacred_hill_l1 5/7/7/3rr2/7/7/5 1 battle - 0,0 0 - -"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 1 battle",
       "sacred_hill_l1 5/7/7/3r3/7/7/5 1 battle - 0,0 0 - -"},
      {"sacred_hill_l1 5/7/7/3r3/7/7/5 1 ? ? ? ? out:1 compensation=2.5",
       "sacred_hill_l1 5/7/7/3r3/7/7/5 1 battle - 0,0 0 out:1 "
       "compensation=2.5"},
      {"high_kings_l2 5/1B1B1B1/7/7/7/1R3R1/5 0",
       "high_kings_l2 5/1B1B1B1/7/7/7/1R3R1/5 0 placement - 0,0 0 - -"},
      {"high_kings_l2 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrrr/rrrrr 0",
       "high_kings_l2 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rRrRrrr/rrrrr 0 "
       "battle - 0,1 0 - -"},
      {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrRrRr/rrrrr 0",
       "high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrRrRr/rrrrr 0 "
       "battle - 0,0 0 board_full:1 -"},
      {"stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr "
       "1 ? B7=C7",
       "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr "
       "1 battle B7=C7 0,0 0 - -"},
      {"stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr 0",
       "stone_of_destiny bbbbb/bbbbbBb/bbbbbbb/rrrrbbb/rrrrrrr/rRrrrrr/rrrrr "
       "0 link - 0,0 0 - -"},
      // Other spellings are read, and written as they should be.
      {"four_treasures 23/7/7/7/7/7/5 1 battle - 0,0 0 - compensation=0",
       "four_treasures 5/7/7/7/7/7/5 1 battle - 0,0 0 - -"},
  };
  for (const auto& [text, whole] : kCases) {
    const absl::StatusOr<State> state = CompletePosition(text);
    ASSERT_TRUE(state.ok()) << text << ": " << state.status().message();
    EXPECT_EQ(PositionToText(*state), whole);
  }
}

TEST(CompletePositionReasonsTest, SaysWhyABoardCannotBe) {
  ExpectRefused(
      {
          {"sacred_hill_l1 5/7/7/7/7/7/5", "has 2 fields; expected 3 to 9"},
          {"sacred_hill_l1 5/7/7/7/7/7/5 ?", "field 3 (seat) is '?'"},
          {"sacred_hill_l1 5/7/7/7/7/7/6 0 ?", "too many hills"},
          {"four_treasures "
           "rrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrrrr/rrrrr 0",
           "expected a finished game (out)"},
          {"high_kings_l1 5/1B1B3/7/7/7/7/5 1",
           "the seat to move has 2 ringforts, the enemy 0"},
          {"high_kings_l1 5/1B1B1B1/7/3B3/7/1R1R1R1/5 0",
           "Blue has 4 kings on the board; expected 3"},
          {"high_kings_l1 bbbbb/bBbBbBb/bbbbbbb/r1r1b1b/rrrrrrr/rrrRrrr/rrrrr "
           "0",
           "Red has 1 kings on the board; expected 3"},
          {"poisoned_chalice 5/7/7/3r3/7/7/5 1",
           "a ringfort on D4; expected only edge hills in manoeuvres"},
          {"stone_of_destiny 5/7/7/3Rr2/7/7/5 1",
           "the seat to move has 0 ringforts, the enemy 2"},
          {"stone_of_destiny "
           "rrrrr/rrrrrBb/rrrrrrr/rrrrrrr/rrrrrrr/rRrrrrr/rrrrr 1",
           "Red has 43 and Blue 2 ringforts in phase battle"},
          {"four_treasures 5/7/7/3rr2/7/7/5 1 ? ? ? ? ? pie_rule=true",
           "pie_rule is true with 2 ringforts on the board"},
      },
      CompletePosition);
}

// What no text can say, but a record or a caller can.
TEST(ValidatePositionTest, RefusesStatesOutOfRange) {
  const State good = InitialState(Variant::kSacredHillL1);
  const auto expect = [](const State& state, const char* message) {
    EXPECT_THAT(std::string(ValidatePosition(state).message()),
                HasSubstr(message));
  };
  State bad = good;
  bad.variant = static_cast<Variant>(10);
  expect(bad, "variant 10; expected 0 to 9");
  bad = good;
  bad.phase = static_cast<Phase>(5);
  expect(bad, "unknown phase or ending");
  bad = good;
  bad.seat = 2;
  expect(bad, "seat to move 2; expected at most 1");
  bad = good;
  bad.padding = 1;
  expect(bad, "the padding byte is not zero");
  bad = good;
  bad.options.proximity_bound = 9;
  expect(bad, "rule option proximity_bound is 9; expected 1 to 5");
  bad = good;
  bad.options.no_progress_limit = 9;
  expect(bad, "this variant has no rule option no_progress_limit");
  bad = good;
  bad.ringforts[kRed] = 1;  // A1 is no hill
  expect(bad, "bits off the board");
  bad = good;
  bad.ringforts = {Hills("D4"), Hills("D4")};
  expect(bad, "ringforts of both sides on D4");
  bad = good;
  bad.turns_left = 1;
  expect(bad, "1 turns left; expected 0 without ending");
  bad = Position("stone_of_destiny 5/7/7/3RB2/7/7/5 0 manoeuvres - 0,0 0 - -");
  bad.kings[kRed] = Hills("D5");
  expect(bad, "a king of Red on D5, where no ringfort is");
  bad.kings[kRed] = Hills("E4");
  expect(bad, "two kings on E4");
}

}  // namespace
}  // namespace tara
