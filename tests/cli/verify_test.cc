#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tara/core/variant.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string GoldenFile(const std::string& variant) {
  return absl::StrCat("tests/golden/", variant, ".jsonl");
}

TEST(VerifyTest, PassesEveryIndependentGame) {
  std::vector<std::string> command = {"verify"};
  for (const VariantInfo& info : kVariants) {
    command.push_back(GoldenFile(std::string(info.id)));
  }
  const TaraResult result = RunTara(command);
  EXPECT_EQ(result.status, 0);
  // Ten files of forty games.
  EXPECT_EQ(result.out, "400 passed, 0 failed\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(VerifyTest, NamesFileLineAndStepOfTheFirstDifference) {
  std::vector<std::string> games =
      Lines(ReadFile(GoldenFile("four_treasures")));
  games.resize(3);
  // The opening action of the second game is told of the wrong seat.
  ASSERT_TRUE(games[1].find("{\"seat\":0") != std::string::npos ||
              games[1].find("{\"seat\": 0") != std::string::npos);
  const size_t seat = games[1].find("0", games[1].find("\"seat\""));
  games[1][seat] = '1';
  const std::string path = TemporaryPath("games.jsonl");
  WriteFile(path, absl::StrCat(games[0], "\n", games[1], "\n", games[2], "\n"));
  const TaraResult result = RunTara({"verify", path});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(Lines(result.out),
              ElementsAre(AllOf(StartsWith(absl::StrCat(path, ":2: ")),
                                HasSubstr("step 1"), HasSubstr("seat")),
                          "2 passed, 1 failed"));
}

TEST(VerifyTest, ReadsStandardInput) {
  const std::string games = ReadFile(GoldenFile("sacred_hill_l2"));
  const TaraResult result = RunTara({"verify", "-"}, games);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "40 passed, 0 failed\n");
  const TaraResult damaged = RunTara({"verify", "-"}, games.substr(0, 100));
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, StartsWith("-:1: "));
  EXPECT_EQ(damaged.last_line(), "0 passed, 1 failed");
}

TEST(VerifyTest, AcceptsBlankLinesAndWindowsLines) {
  const std::string game = Lines(ReadFile(GoldenFile("high_kings_l1"))).front();
  EXPECT_EQ(RunTara({"verify", "-"}, absl::StrCat("\n", game, "\r\n\n")).out,
            "1 passed, 0 failed\n");
}

// As of a file that was cut off at its beginning.
TEST(VerifyTest, AFileWithoutGamesIsAFailure) {
  const std::string path = TemporaryPath("blank.jsonl");
  WriteFile(path, "\n \n");
  for (const std::string& name : {std::string("-"), path}) {
    const TaraResult nothing =
        RunTara({"verify", GoldenFile("sacred_hill_l1"), name}, "");
    EXPECT_EQ(nothing.status, 1);
    EXPECT_EQ(nothing.out, "40 passed, 1 failed\n");
    EXPECT_EQ(nothing.err,
              absl::StrCat("tara: ", name, ": it contains no game\n"));
  }
}

TEST(VerifyTest, CountsFilesThatCannotBeReadAsFailures) {
  const std::string missing = TemporaryPath("missing");
  const TaraResult result = RunTara(
      {"verify", missing, testing::TempDir(), GoldenFile("sacred_hill_l1")});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "40 passed, 2 failed\n");
  EXPECT_THAT(Lines(result.err),
              ElementsAre(absl::StrCat("tara: ", missing,
                                       ": No such file or directory"),
                          absl::StrCat("tara: ", testing::TempDir(),
                                       ": is a folder; expected a file")));
}

}  // namespace
}  // namespace tara::cli
