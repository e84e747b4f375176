#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Words(absl::string_view text) {
  return SplitCommand(text).value_or(std::vector<std::string>{"error"});
}

std::string ErrorOf(absl::string_view text) {
  const absl::Status status = ParseEngineSpec(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(status.message());
}

TEST(SplitCommandTest, SplitsWordsAsAShellWould) {
  EXPECT_THAT(Words(""), IsEmpty());
  EXPECT_THAT(Words("  a  b\tc "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Words("'a b' \"c d\" e\\ f"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(Words("a'b c'\"d\"e"), ElementsAre("ab cde"));
  EXPECT_THAT(Words("'' \"\""), ElementsAre("", ""));
  EXPECT_THAT(Words("'a\\b' \"a\\b\\\"\\\\\""),
              ElementsAre("a\\b", "a\\b\"\\"));
  EXPECT_THAT(Words("$HOME *"), ElementsAre("$HOME", "*"));
}

TEST(SplitCommandTest, AQuoteMustEnd) {
  EXPECT_THAT(std::string(SplitCommand("a 'b c").status().message()),
              HasSubstr("a quote does not end in 'a 'b c'"));
  EXPECT_FALSE(SplitCommand("a \"b").ok());
}

TEST(FindUnquotedTest, PassesOverQuotes) {
  EXPECT_EQ(FindUnquoted("a,b", ','), 1u);
  EXPECT_EQ(FindUnquoted("'a,b',c", ','), 5u);
  EXPECT_EQ(FindUnquoted("a\\,b", ','), absl::string_view::npos);
  EXPECT_EQ(FindUnquoted("a,b,c", ',', 2), 3u);
}

TEST(EngineSpecTest, ACommandAloneHasLimits) {
  const absl::StatusOr<EngineSpec> spec = ParseEngineSpec("./engine --level 3");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->command, ElementsAre("./engine", "--level", "3"));
  EXPECT_EQ(spec->start_limit, absl::Seconds(30));
  EXPECT_EQ(spec->move_limit, absl::Seconds(60));
  EXPECT_EQ(spec->grace, absl::Seconds(2));
  EXPECT_EQ(spec->processes, 1);
  EXPECT_EQ(spec->log, "");
}

TEST(EngineSpecTest, OptionsFollowTheFirstCommaOutsideOfQuotes) {
  const absl::StatusOr<EngineSpec> spec = ParseEngineSpec(
      "tara engine --player 'mcts:sims=10,graph=on',start=5,move=0.5,grace=0,"
      "processes=4,log=/tmp/x.log");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_THAT(spec->command, ElementsAre("tara", "engine", "--player",
                                         "mcts:sims=10,graph=on"));
  EXPECT_EQ(spec->start_limit, absl::Seconds(5));
  EXPECT_EQ(spec->move_limit, absl::Milliseconds(500));
  EXPECT_EQ(spec->grace, absl::ZeroDuration());
  EXPECT_EQ(spec->processes, 4);
  EXPECT_EQ(spec->log, "/tmp/x.log");
}

TEST(EngineSpecTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("no command; expected engine:CMD"));
  EXPECT_THAT(ErrorOf(" ,move=5"), HasSubstr("no command"));
  EXPECT_THAT(ErrorOf("'' x"), HasSubstr("no command"));
  EXPECT_THAT(ErrorOf("a 'b"), HasSubstr("a quote does not end"));
  EXPECT_THAT(ErrorOf("a --player mcts:sims=10,graph=on"),
              HasSubstr("unknown option 'graph=on'; expected start=S"));
  EXPECT_THAT(ErrorOf("a,sims=5"), HasSubstr("quote commas"));
  EXPECT_THAT(ErrorOf("a,move=0"), HasSubstr("move is '0'; expected seconds"));
  EXPECT_THAT(ErrorOf("a,move=nan"), HasSubstr("move is 'nan'"));
  EXPECT_THAT(ErrorOf("a,start="), HasSubstr("start is ''"));
  EXPECT_THAT(ErrorOf("a,grace=-1"), HasSubstr("grace is '-1'"));
  EXPECT_THAT(ErrorOf("a,processes=0"), HasSubstr("processes is '0'"));
  EXPECT_THAT(ErrorOf("a,log="), HasSubstr("log is ''; expected a text"));
  EXPECT_THAT(ErrorOf("a,move=1,move=2"), HasSubstr("move is given twice"));
}

}  // namespace
}  // namespace tara::eval
