#include "tara/base/text.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tara {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(PlainTextTest, MarksEndsOfLinesAndNoBreakSpacesCountForNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"a b", "a b"},
      {"\xEF\xBB\xBF"
       "a",
       "a"},
      {"a\r\nb\r", "a\nb"},
      {"a\rb", "a\rb"},  // not the end of a line
      {"a\xC2\xA0"
       "b\xE2\x80\xAF"
       "c",
       "a b c"},
      // Texts of JSON and configs keep what is in them.
      {"{\"a\xC2\xA0\": \"\\\"\xC2\xA0\"}\xC2\xA0",
       "{\"a\xC2\xA0\": \"\\\"\xC2\xA0\"} "},
      {"x: 'a\xC2\xA0'\xC2\xA0y", "x: 'a\xC2\xA0' y"},
      // A quote that does not end, as in a comment.
      {"# don't\nx:\xC2\xA0"
       "1",
       "# don't\nx: 1"},
  };
  for (const auto& [text, plain] : cases) {
    EXPECT_EQ(PlainText(text), plain);
    EXPECT_EQ(PlainText(plain), plain);
  }
}

TEST(ParseDecimalTest, ReadsDecimalNumbersAndNothingElse) {
  for (const auto& [text, number] : std::vector<std::pair<std::string, double>>{
           {"0", 0}, {"-2.5", -2.5}, {"+3", 3}, {"1e3", 1000}, {" 7 ", 7}}) {
    double wide = -1;
    float narrow = -1;
    EXPECT_TRUE(ParseDecimal(text, &wide) && wide == number) << text;
    EXPECT_TRUE(ParseDecimal(text, &narrow) && narrow == number) << text;
  }
  for (const char* const text : {"", " ", "0x10", "0X1p3", "1x", "inf",
                                 "-infinity", "nan", "1 2", "e", "one"}) {
    double number = 5;
    EXPECT_FALSE(ParseDecimal(text, &number)) << text;
    EXPECT_EQ(number, 5);
  }
}

TEST(ParseOptionListTest, BlanksAroundNamesAndValuesCountForNothing) {
  const auto list = ParseOptionList(" sims=5 , fpu = absolute:-1,graph,a=b=c");
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_THAT(*list, SizeIs(4));
  EXPECT_EQ((*list)[0].name, "sims");
  EXPECT_EQ((*list)[0].value, "5");
  EXPECT_EQ((*list)[1].name, "fpu");
  EXPECT_EQ((*list)[1].value, "absolute:-1");
  EXPECT_FALSE((*list)[2].has_value);
  EXPECT_EQ((*list)[2].name, "graph");
  EXPECT_EQ((*list)[3].value, "b=c");
}

TEST(ParseOptionListTest, ANameThatIsGivenTwiceIsRefused) {
  for (const char* const text : {"a=1,a=1", "a=1,b=2, a =3", "a,a"}) {
    EXPECT_THAT(std::string(ParseOptionList(text).status().message()),
                HasSubstr("a is given twice; expected it once"));
  }
}

TEST(PrintableTest, ControlCharactersAndBrokenUtf8AreWrittenOut) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"plain, lä ♚ 🂡", "plain, lä ♚ 🂡"},
      {"\x1b]0;x\x07", "\\x1b]0;x\\x07"},
      {"a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f"},
      {"\xC2\x9B"
       "2J",
       "\\xc2\\x9b2J"},  // the control sequence of Latin-1
      {"\xff\xfe", "\\xff\\xfe"},
      {"\xE2\x99", "\\xe2\\x99"},                    // cut
      {"\xC0\xAF", "\\xc0\\xaf"},                    // longer than needed
      {"\xED\xA0\x80", "\\xed\\xa0\\x80"},           // a surrogate
      {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},  // beyond U+10FFFF
      {std::string("a\0b", 3), "a\\x00b"},
  };
  for (const auto& [text, printable] : cases) {
    EXPECT_EQ(Printable(text), printable);
  }
  EXPECT_EQ(PrintableAscii("lä\x1b"), "l\\xc3\\xa4\\x1b");
}

TEST(ShownTest, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(Shown(std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(Shown(std::string(101, 'x')), std::string(100, 'x') + "...");
  EXPECT_EQ(Shown("♚♚♚", 4), "♚...");
  EXPECT_EQ(Shown("♚♚♚", 6), "♚♚...");
  EXPECT_EQ(Shown("\x80\x80\x80\x80\x80\x80", 4), "\\x80...");
  EXPECT_EQ(Shown("\x1b[2J"), "\\x1b[2J");
}

TEST(ValidUtf8Test, EachByteThatIsNotUtf8IsReplaced) {
  EXPECT_EQ(ValidUtf8("lä ♚"), "lä ♚");
  EXPECT_EQ(ValidUtf8("run\xff\xfe"), "run\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(ValidUtf8("\xE2\x99"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace tara
