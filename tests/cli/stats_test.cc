#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tara/core/variant.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

Json StatsJson(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"stats", "--format=json"});
  const TaraResult result = RunTara(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, NoErrors());
  return Json::parse(result.out);
}

TEST(StatsTest, PrintsTablesOfEveryVariant) {
  const TaraResult result =
      RunTara({"stats", "--variant", "all", "--games", "100"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, NoErrors());
  for (const VariantInfo& info : kVariants) {
    EXPECT_THAT(result.out, HasSubstr(std::string(info.id)));
  }
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("branching"), HasSubstr("draws %"),
                    HasSubstr("margin"), HasSubstr("double_capture %")));
}

TEST(StatsTest, PrintsJsonByVariant) {
  const Json report = StatsJson({"--variant", "all", "--games", "100"});
  ASSERT_EQ(report.size(), kVariants.size());
  for (const VariantInfo& info : kVariants) {
    const Json& row = report.at(std::string(info.id));
    EXPECT_EQ(row.at("games"), 100);
    for (const std::string name : {"mean_length", "mean_branching",
                                   "first_side_win_rate", "draw_rate"}) {
      EXPECT_LE(row.at(name + "_low"), row.at(name)) << name;
      EXPECT_GE(row.at(name + "_high"), row.at(name)) << name;
    }
    EXPECT_TRUE(row.at("ended_by").contains("out"));
  }
}

TEST(StatsTest, ReadsThousandsAndMillions) {
  const auto games = [](const std::string& text) {
    return StatsJson({"--variant", "four_treasures", "--games", text})
        .at("four_treasures")
        .at("games")
        .get<int>();
  };
  EXPECT_EQ(games("25"), 25);
  EXPECT_EQ(games("2k"), 2000);
  EXPECT_EQ(games("1.5k"), 1500);
  EXPECT_EQ(games("0.02M"), 20000);
}

TEST(StatsTest, TheNumberOfThreadsMakesNoDifference) {
  const auto play = [](const std::string& threads, const std::string& seed) {
    return StatsJson({"--variant", "high_kings_l2", "--games", "50k",
                      "--threads", threads, "--seed", seed});
  };
  EXPECT_EQ(play("1", "5"), play("3", "5"));
  EXPECT_NE(play("3", "5"), play("3", "6"));
}

TEST(StatsTest, HeedsRuleOptionsWhereTheyApply) {
  const Json changed = StatsJson(
      {"--variant", "all", "--games", "2k", "--option", "no_progress_limit=3"});
  EXPECT_EQ(changed["high_kings_l1"]["rule_options"]["no_progress_limit"], 3);
  EXPECT_GT(changed["high_kings_l1"]["ended_by"]["no_progress"], 0);
  EXPECT_EQ(changed["four_treasures"]["ended_by"]["out"], 2000);
}

TEST(StatsTest, WritesAPageForABrowser) {
  const std::string path = TemporaryPath("stats.html");
  const TaraResult result = RunTara({"stats", "--variant", "poisoned_chalice",
                                     "--games", "50", "--html", path});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("poisoned_chalice"));
  EXPECT_THAT(ReadFile(path),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Poisoned Chalice"),
                    HasSubstr("<figure")));
}

TEST(StatsTest, APageThatHasNoPlaceIsAFailureAtOnce) {
  const std::string path = TemporaryPath("missing") + "/stats.html";
  const TaraResult result = RunTara({"stats", "--variant", "poisoned_chalice",
                                     "--games", "1000G", "--html", path});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr(path), HasSubstr("cannot write")));
}

TEST(StatsTest, AnInterruptReportsTheGamesSoFar) {
  const std::string path = TemporaryPath("interrupted.html");
  TerminalTara tara(
      {"stats", "--variant", "all", "--games", "1000G", "--html", path});
  ASSERT_TRUE(tara.Expect("sacred_hill_l1 [>"));
  ASSERT_TRUE(tara.Expect("M games/s"));
  ASSERT_TRUE(tara.Expect("left"));
  tara.Signal(SIGINT);
  EXPECT_EQ(tara.Wait(), 130);
  EXPECT_THAT(tara.shown(),
              AllOf(HasSubstr("branching"), HasSubstr("tara: interrupted")));
  EXPECT_THAT(ReadFile(path), HasSubstr("Sacred Hill, Level 1"));
}

TEST(StatsTest, WrongArgumentsAreUsageErrors) {
  struct Wrong {
    std::vector<std::string> arguments;
    std::string message;
  };
  for (const Wrong& wrong : {
           Wrong{{}, "--variant is required"},
           Wrong{{"--variant", "chess"}, "unknown variant 'chess'"},
           Wrong{{"--variant", "all", "--games", "0"},
                 "--games: bad value '0'; expected a whole number from 1 to "
                 "1000G"},
           Wrong{{"--variant", "all", "--games", "5x"}, "bad value '5x'"},
           Wrong{{"--variant", "all", "--games", "0.5"}, "bad value '0.5'"},
           Wrong{{"--variant", "all", "--games", "-5k"}, "bad value '-5k'"},
           Wrong{{"--variant", "all", "--games", "k"}, "bad value 'k'"},
           Wrong{{"--variant", "all", "--games", "nan"}, "bad value 'nan'"},
           Wrong{{"--variant", "all", "--games", "2000G"}, "bad value '2000G'"},
           Wrong{{"--variant", "all", "--threads", "0"},
                 "--threads: bad value"},
           Wrong{{"--variant", "all", "--option", "no_such=1"}, "no_such"},
           Wrong{{"--variant", "four_treasures", "--option",
                  "no_progress_limit=3"},
                 "no rule option 'no_progress_limit'"},
           Wrong{{"--variant", "all", "--format=xml"}, "bad value 'xml'"},
       }) {
    std::vector<std::string> arguments = wrong.arguments;
    arguments.insert(arguments.begin(), "stats");
    const TaraResult result = RunTara(arguments);
    EXPECT_EQ(result.status, 2) << wrong.message;
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err, AllOf(HasSubstr(wrong.message),
                                  HasSubstr("(see tara stats --help)")));
  }
}

}  // namespace
}  // namespace tara::cli
