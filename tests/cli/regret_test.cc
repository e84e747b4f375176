#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(RegretTest, ComparesPlayersOnTheSamePositions) {
  const std::vector<std::string> arguments = {
      "regret",      "--variant", "four_treasures",
      "--positions", "8",         "--nodes",
      "2k",          "--player",  "alphabeta:depth=40",
      "--player",    "random",    "--format=json"};
  const TaraResult result = RunTara(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  const Json rows = Json::parse(result.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("positions"), 8);
  EXPECT_EQ(rows[0].at("points"), 0);
  EXPECT_EQ(rows[0].at("best"), 1);
  EXPECT_GT(rows[1].at("points"), 0);
  EXPECT_FALSE(rows[1].contains("value_error"));
  EXPECT_EQ(RunTara(arguments).out, result.out);
}

TEST(RegretTest, PrintsATableOfEveryVariant) {
  const TaraResult result =
      RunTara({"regret", "--variant", "all", "--positions", "1", "--nodes",
               "1k", "--player", "mcts:sims=5"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("points lost"), HasSubstr("stone_of_destiny")));
}

TEST(RegretTest, ATestSetIsMadeOnceAndUsedInParts) {
  const std::string set = TemporaryPath("set.jsonl");
  const auto positions = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "regret", "--player",      "greedy",     "--nodes",
        "1k",     "--format=json", "--test-set", set};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const TaraResult result = RunTara(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out).at(0).at("positions");
  };
  EXPECT_EQ(positions({"--variant", "all", "--positions", "4"}), 4);
  EXPECT_EQ(positions({"--variant", "poisoned_chalice"}), 4);
  EXPECT_EQ(positions({"--variant", "poisoned_chalice", "--positions", "3"}),
            3);
  const TaraResult other =
      RunTara({"regret", "--player", "greedy", "--test-set", set, "--variant",
               "stone_of_destiny", "--option", "link_all_at_end=false"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err,
              AllOf(HasSubstr(set + ": no endgames of stone_of_destiny"),
                    HasSubstr("it has 4 of four_treasures, ")));
  const TaraResult more =
      RunTara({"regret", "--player", "greedy", "--test-set", set, "--variant",
               "stone_of_destiny", "--positions", "5"});
  EXPECT_EQ(more.status, 1);
  EXPECT_THAT(more.err, HasSubstr(set + ": 4 endgames of stone_of_destiny"));
}

TEST(RegretTest, AFileThatIsNoTestSetIsLeftAlone) {
  const std::string notes = TemporaryPath("notes.txt");
  WriteFile(notes, "these are notes\n");
  const TaraResult result =
      RunTara({"regret", "--player", "greedy", "--test-set", notes, "--variant",
               "stone_of_destiny"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr(notes + ":1: no file of solved endgames"));
  EXPECT_EQ(ReadFile(notes), "these are notes\n");
}

TEST(RegretTest, WrongPlayersAreTold) {
  const std::string both = TemporaryPath("both");
  const TaraResult same =
      RunTara({"regret", "--variant", "four_treasures", "--player", "greedy",
               "--test-set", both, "--html", both});
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("is also the file of --test-set"));
  const TaraResult unknown = RunTara(
      {"regret", "--variant", "four_treasures", "--player", "stockfish"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown player 'stockfish'"));
  const TaraResult team =
      RunTara({"regret", "--variant", "four_treasures_doubles", "--player",
               "random+greedy"});
  EXPECT_EQ(team.status, 2);
  EXPECT_THAT(team.err, HasSubstr("unknown player 'random+greedy'"));
  const TaraResult missing = RunTara(
      {"regret", "--variant", "four_treasures", "--player", "net:/no/such"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("/no/such: no such file or folder"));
}

TEST(PuzzlesTest, AreGamesThatOtherCommandsRead) {
  const std::vector<std::string> arguments = {
      "puzzles", "--variant", "four_treasures", "--player", "greedy",
      "--games", "100",       "--puzzles",      "3",        "--nodes=2k"};
  const TaraResult result = RunTara(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("four_treasures: 3 puzzles, "));
  EXPECT_EQ(RunTara(arguments).out, result.out);
  const std::vector<std::string> lines =
      absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 3u);
  for (const std::string& line : lines) {
    const TaraResult shown = RunTara({"show", "--position", line});
    EXPECT_EQ(shown.status, 0) << shown.err;
  }
}

}  // namespace
}  // namespace tara::cli
