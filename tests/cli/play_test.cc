#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tara/core/variant.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Plays a variant, with more arguments, and returns the output.
std::string Play(const std::string& variant, const std::string& input) {
  return OutputOf("play --opponent random --seed 1 --variant " + variant,
                  input);
}

TEST(PlayTest, GamesOfEveryVariantComeToTheirEnd) {
  // More than the actions of one side in any game but one without progress,
  // which ends earlier.
  std::string input;
  for (int i = 0; i < 500; ++i) absl::StrAppend(&input, "go\n");
  for (const VariantInfo& info : kVariants) {
    const std::string result =
        Play(absl::StrCat(info.id, " --seat blue --hint-sims 8"), input);
    EXPECT_THAT(result, HasSubstr("Finished"));
    EXPECT_THAT(Lines(result).back(),
                AnyOf("You win.", "You lose.", "A draw."));
  }
}

TEST(PlayTest, ActionsAreTakenInNotation) {
  EXPECT_THAT(Play("four_treasures", "d4\nmoves\nposition\n"),
              AllOf(HasSubstr("Blue plays "), HasSubstr("\nD4 "),
                    HasSubstr("four_treasures ")));
}

TEST(PlayTest, TheFirstActionMayBeTakenOver) {
  EXPECT_THAT(Play("four_treasures --seat blue --option pie_rule=true --option "
                   "compensation=2.5",
                   "pass\nswap\nmoves\n"),
              AllOf(HasSubstr("Blue is given 2.5 points. May swap."),
                    HasSubstr("a hill such as D4, or swap (the pie rule)"),
                    HasSubstr(" swap ")));
}

TEST(PlayTest, UndoTakesBackTheLastActionAndTheAnswer) {
  EXPECT_THAT(Play("four_treasures", "D4\nundo\nmoves\nundo\n"),
              AllOf(HasSubstr("Undone: D4 "), HasSubstr("None yet."),
                    HasSubstr("You have no action to undo.")));
}

TEST(PlayTest, NonsenseAndIllegalActionsAreExplained) {
  EXPECT_THAT(Play("sacred_hill_l1", "D4\nxyzzy\nD4\nA1\n"),
              AllOf(HasSubstr("Unknown action or command 'xyzzy'. Type a hill "
                              "such as D4, or help.\n"),
                    HasSubstr("A Red ringfort stands on D4 already.\nLegal: "),
                    HasSubstr("Unknown action or command 'A1'.")));
}

TEST(PlayTest, IllegalActionsAreRefusedWithTheRuleThatForbidsThem) {
  EXPECT_THAT(
      Play("sacred_hill_l1 --seat both", "D4 A2 D5\n"),
      HasSubstr("\nD5 is too near to D4: nearer than a knight's move.\n"));
  // Without a reason of its own: the rule of the turn.
  EXPECT_THAT(Play("high_kings_l1 --seat both", "pass\n"),
              HasSubstr("\npass is not legal here. Placement: place a king "
                        "with a ringfort,"));
}

TEST(PlayTest, HelpOnAnActionSaysWhetherItIsLegal) {
  EXPECT_THAT(Play("sacred_hill_l1", "help D4\nD4\nhelp D4\nhelp xyzzy\n"),
              AllOf(HasSubstr("\nD4 is legal.\n"),
                    HasSubstr("\nA Red ringfort stands on D4 already.\n"),
                    HasSubstr("\nUnknown action or command 'xyzzy'.")));
}

TEST(PlayTest, HelpHasTheRuleTheAimAndTheSignsOfEveryVariant) {
  for (const VariantInfo& info : kVariants) {
    const std::string out = Play(absl::StrCat(info.id, " --ascii"), "help\n");
    EXPECT_THAT(out, HasSubstr(absl::StrCat(info.name, ". "))) << info.id;
    EXPECT_THAT(out, HasSubstr("Signs: o a ringfort of Red, x of Blue"));
    EXPECT_THAT(out, AnyOf(HasSubstr("Placement: "), HasSubstr("Manoeuvres: "),
                           HasSubstr("Battle: ")))
        << info.id;
    EXPECT_THAT(
        out, AnyOf(HasSubstr(" win: 2 points plus"), HasSubstr("win at once")))
        << info.id;
  }
}

TEST(PlayTest, ANewcomerNeedsNoOption) {
  EXPECT_THAT(OutputOf("play", "help\n"), HasSubstr("Sacred Hill, Level 1. "));
}

TEST(PlayTest, KeysThatTypeNoTextAreShownAsText) {
  // F6, as terminals send it.
  EXPECT_THAT(Play("sacred_hill_l1", "\x1b[17~\n"),
              HasSubstr("command '\\x1b[17~'."));
}

TEST(PlayTest, HelpNamesTheCommands) {
  EXPECT_THAT(Play("high_kings_l1", "help\nlegal\nboard\nquit\nhelp\n"),
              AllOf(HasSubstr("undo"), HasSubstr("hint"), HasSubstr("resign"),
                    HasSubstr("Legal: A2 A3")));
}

TEST(PlayTest, AHintNamesALegalAction) {
  EXPECT_THAT(Play("sacred_hill_l1", "D4\nhint\n"),
              AllOf(HasSubstr("Hint: "), HasSubstr("chances of winning"),
                    HasSubstr(" %\n")));
}

TEST(PlayTest, ThePersonTakesBothSeatsOfASideInDoubles) {
  EXPECT_THAT(
      Play("four_treasures_doubles --seat red", "go\ngo\n"),
      AllOf(HasSubstr("Red South plays"), HasSubstr("Blue West plays"),
            HasSubstr("Red North plays"), HasSubstr("Blue East plays")));
}

TEST(PlayTest, TwoPeopleMayPlay) {
  EXPECT_THAT(Play("four_treasures --seat both", "D4 D5\nmoves\n"),
              AllOf(HasSubstr("\nD4 D5\n"), Not(HasSubstr("plays"))));
}

TEST(PlayTest, ResigningAndQuittingAndTheEndOfInputEndCleanly) {
  EXPECT_EQ(Lines(Play("four_treasures", "resign\n")).back(),
            "Red resigns; Blue wins.");
  Play("four_treasures", "quit\n");
  Play("four_treasures", "");
}

TEST(PlayTest, APromptNamesTheSeatOnATerminal) {
  TerminalTara tara("play --variant sacred_hill_doubles_l2 --opponent random");
  ASSERT_TRUE(tara.Expect("Red South> "));
  EXPECT_THAT(tara.shown(), HasSubstr("\x1b["));  // colours
  tara.Type("D4\n");
  ASSERT_TRUE(tara.Expect("Blue West plays "));
  ASSERT_TRUE(tara.Expect("Red North> "));
  tara.Type("\x04");  // Ctrl-D
  EXPECT_EQ(tara.Wait(), 0);
}

}  // namespace
}  // namespace tara::cli
