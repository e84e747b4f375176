#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/engine/line_io.h"
#include "tara/engine/line_session.h"

namespace tara::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParseLineCommandTest, TakesIdNameAndArgumentsApart) {
  const LineCommand command = ParseLineCommand("  12 play \t D4  # a comment");
  EXPECT_EQ(command.id, "12");
  EXPECT_EQ(command.name, "play");
  EXPECT_THAT(command.arguments, ElementsAre("D4"));
}

TEST(ParseLineCommandTest, CommentsAndEmptyLinesWantNoAnswer) {
  for (const char* line : {"", "   ", "# only 1 comment", "\t#", "\x01\x02"}) {
    EXPECT_TRUE(ParseLineCommand(line).is_nothing()) << line;
  }
}

TEST(ParseLineCommandTest, AnIdAloneIsACommandWithoutAName) {
  const LineCommand command = ParseLineCommand("7");
  EXPECT_FALSE(command.is_nothing());
  EXPECT_EQ(command.id, "7");
  EXPECT_EQ(command.name, "");
}

TEST(ParseLineCommandTest, ControlCharactersAreLeftOut) {
  EXPECT_EQ(ParseLineCommand("na\x07me\r").name, "name");
}

TEST(LineAnswerTest, ABlankLineEndsAnAnswerAndNoneIsWithin) {
  EXPECT_EQ(LineAnswer("3", "one"), "=3 one\n\n");
  EXPECT_EQ(LineAnswer("", ""), "=\n\n");
  EXPECT_EQ(LineAnswer("", "a\n\n\nb\n"), "= a\n \n \nb\n\n");
}

TEST(LineErrorTest, AnErrorIsOneLine) {
  EXPECT_EQ(LineError("4", absl::InvalidArgumentError("no\ngood")),
            "?4 no good\n\n");
}

TEST(ReadLineTest, KeepsNoMoreOfALineThanItMay) {
  std::istringstream in("12345678\nab\r\n\nlast");
  InputLine line;
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "1234");
  EXPECT_TRUE(line.too_long);
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "ab");
  EXPECT_FALSE(line.too_long);
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_THAT(line.text, IsEmpty());
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "last");
  EXPECT_FALSE(ReadLine(in, 4, line));
}

}  // namespace
}  // namespace tara::engine
