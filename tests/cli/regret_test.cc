#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/tara_process.h"

namespace tara {
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

TEST(RegretTest, WrongPlayersAreTold) {
  const TaraResult unknown = RunTara(
      {"regret", "--variant", "four_treasures", "--player", "stockfish"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown player 'stockfish'"));
  const TaraResult missing = RunTara(
      {"regret", "--variant", "four_treasures", "--player", "net:/no/such"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("/no/such: no such file or folder"));
}

}  // namespace
}  // namespace tara
