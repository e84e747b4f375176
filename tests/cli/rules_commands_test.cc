#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

// variants, perft and show.

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

Json ParseJson(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << text;
  return json;
}

// The first recorded game of a variant, and the actions of a game.
Json GoldenGame(const std::string& variant) {
  return ParseJson(
      Lines(ReadFile("tests/golden/" + variant + ".jsonl")).front());
}

std::string ActionsOf(const Json& game) {
  std::vector<std::string> actions;
  for (const Json& step : game["steps"]) actions.push_back(step["action"]);
  return absl::StrJoin(actions, " ");
}

TEST(VariantsTest, ListsTenWithSeatsAndOptionsAsJson) {
  const Json variants = JsonOf("variants");
  ASSERT_EQ(variants.size(), 10u);
  EXPECT_EQ(variants[3]["id"], "sacred_hill_doubles_l2");
  EXPECT_EQ(variants[3]["name"], "Sacred Hill Doubles, Level 2");
  EXPECT_EQ(variants[3]["seats"], 4);
  const auto options = std::count_if(
      kRuleOptions.begin(), kRuleOptions.end(), [](const auto& option) {
        return option.applies_to(Info(Variant::kFourTreasuresDoubles));
      });
  ASSERT_EQ(variants[5]["options"].size(), static_cast<size_t>(options));
  const Json compensation = variants[5]["options"][0];
  EXPECT_EQ(compensation["type"], "half");
  EXPECT_EQ(compensation["min"], -12);
  EXPECT_EQ(compensation["default"], 0);
  const Json limit = variants[6]["options"][0];
  EXPECT_EQ(limit["name"], "no_progress_limit");
  EXPECT_EQ(limit["type"], "int");
  EXPECT_EQ(limit["default"], 40);
  EXPECT_EQ(limit["min"], 1);
  EXPECT_EQ(limit["max"], 255);
  EXPECT_THAT(limit["help"].get<std::string>(), Not(IsEmpty()));
  EXPECT_EQ(variants[6]["options"][1]["type"], "bool");
  EXPECT_EQ(variants[6]["options"][1]["default"], false);
}

TEST(LevelsTest, AreListedWithTheirEloByVariant) {
  const Json levels = JsonOf("levels");
  ASSERT_EQ(levels.size(), 10u);
  EXPECT_EQ(levels[4]["level"], 5);
  EXPECT_EQ(levels[9]["simulations"], 4096);
  EXPECT_EQ(levels[9]["value_margin"], 0);
  for (const VariantInfo& info : kVariants) {
    const Json& first = levels[0]["variants"][std::string(info.id)];
    EXPECT_LT(first["interval"][0], first["elo"]);
    EXPECT_LT(first["elo"], first["interval"][1]);
    EXPECT_EQ(levels[4]["variants"][std::string(info.id)]["elo"], 1000);
  }
  const std::string text = OutputOf("levels");
  for (const VariantInfo& info : kVariants) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("\n", info.id, " ")));
  }
  EXPECT_THAT(text, HasSubstr("level 5 has 1000"));
}

TEST(VariantsTest, ListsThemForPeople) {
  EXPECT_THAT(OutputOf("variants"),
              AllOf(HasSubstr("sacred_hill_l1 "), HasSubstr("4 seats"),
                    HasSubstr("no_progress_limit=40")));
}

TEST(PerftTest, AgreesWithTheIndependentCounts) {
  const Json perft = ParseJson(ReadFile("tests/golden/perft.json"));
  for (const auto& [variant, counts] : perft.items()) {
    EXPECT_EQ(OutputOf("perft --variant " + variant + " --depth 2"),
              counts["start"][1].dump() + "\n")
        << variant;
    const Json& position = counts["positions"][0];
    const auto prefix = position["prefix"].get<std::vector<std::string>>();
    EXPECT_EQ(OutputOf({"perft", "--variant", variant, "--depth", "1",
                        "--prefix", absl::StrJoin(prefix, " ")}),
              position["counts"][0].dump() + "\n")
        << variant;
  }
}

TEST(PerftTest, DividesBeforeTheCount) {
  const std::vector<std::string> lines =
      Lines(OutputOf("perft --variant sacred_hill_l1 --depth 2 --divide"));
  ASSERT_EQ(lines.size(), 46u);
  EXPECT_EQ(lines[0], "B1      44");
  EXPECT_EQ(lines[45], "1980");
}

TEST(PerftTest, CountsUnderRuleOptions) {
  // Red South begins on the shared row, of 7 hills; without that rule anywhere
  // in ranks 1 to 4, of 5 + 7 + 7 + 7.
  const Words command = "perft --variant sacred_hill_doubles_l1 --depth 1";
  EXPECT_EQ(OutputOf(command), "7\n");
  EXPECT_EQ(OutputOf(command + "--option=shared_row_opening=false"), "26\n");
}

TEST(PerftTest, AnIllegalPrefixIsAFailureThatSaysWhatIsLegal) {
  EXPECT_THAT(ErrorOf(1, {"perft", "--variant", "sacred_hill_l1", "--depth",
                          "1", "--prefix", "D4 D5 E3"}),
              AllOf(HasSubstr("--prefix: action 3: illegal action "
                              "E3"),
                    HasSubstr("legal: C2 E2 B3 F3")));
}

TEST(ShowTest, DrawsThePositionWithLegalActions) {
  const std::string result = OutputOf(
      {"show", "--variant", "sacred_hill_l1", "--actions", "D4 D5", "--ascii"});
  EXPECT_THAT(
      result,
      AllOf(HasSubstr("A     B     C     D     E     F     G"),
            HasSubstr("Red to move (seat 0), manoeuvres"),
            HasSubstr("Legal:    B3 B5 C2 C6 E2 E6 F3 F5\n"),
            HasSubstr("Position: sacred_hill_l1 5/7/3b3/3r3/7/7/5 0 ")));
  for (const char byte : result) ASSERT_GE(byte, 0) << "not ASCII";
}

TEST(ShowTest, GivesThePositionAsJson) {
  const Json json =
      JsonOf({"show", "--variant", "sacred_hill_l1", "--actions", "D4 D5"});
  EXPECT_EQ(json["variant"], "sacred_hill_l1");
  EXPECT_EQ(json["position"],
            "sacred_hill_l1 5/7/3b3/3r3/7/7/5 0 manoeuvres - 0,0 0 - -");
  EXPECT_EQ(json["seat"], 0);
  EXPECT_EQ(json["phase"], "manoeuvres");
  EXPECT_EQ(json["legal"],
            Json({"B3", "B5", "C2", "C6", "E2", "E6", "F3", "F5"}));
  EXPECT_TRUE(json["result"].is_null());
}

TEST(ShowTest, GivesThePositionAsAPicture) {
  EXPECT_THAT(OutputOf({"show", "--variant", "sacred_hill_l1", "--actions",
                        "D4 D5", "--format=svg"}),
              AllOf(StartsWith("<svg "), EndsWith("</svg>\n"),
                    HasSubstr("Last action: D5."), HasSubstr("tara-legal")));
  EXPECT_THAT(OutputOf("show --variant sacred_hill_l1 --format=svg"),
              Not(HasSubstr("tara-last")));
}

TEST(ShowTest, AgreesWithTheResultsOfIndependentGames) {
  for (const std::string variant :
       {"sacred_hill_doubles_l1", "high_kings_l2", "stone_of_destiny"}) {
    const Json game = GoldenGame(variant);
    const Json json =
        JsonOf({"show", "--variant", variant, "--actions", ActionsOf(game)});
    EXPECT_EQ(json["result"], game["result"]) << variant;
    EXPECT_TRUE(json["seat"].is_null());
    EXPECT_EQ(json["legal"], Json::array());
  }
}

TEST(ShowTest, GoesOnFromItsOwnPositionText) {
  const std::string first = "D4 E6 B3";
  const Json before =
      JsonOf({"show", "--variant", "high_kings_l2", "--actions", first});
  const Json after = JsonOf({"show", "--position", before["position"],
                             "--actions", before["legal"][0]});
  const Json direct =
      JsonOf({"show", "--variant", "high_kings_l2", "--actions",
              first + " " + before["legal"][0].get<std::string>()});
  EXPECT_EQ(after, direct);
}

TEST(ShowTest, TakesWhatPeopleWrite) {
  const auto shown = [](const std::string& text) {
    return JsonOf({"show", "--position", text})["position"];
  };
  EXPECT_EQ(shown("four_treasures 5/7/7/2rb3/7/7/5 0"),
            "four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - -");
  EXPECT_EQ(shown("four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - - D5 E4"),
            "four_treasures 5/7/3r3/2rbb2/7/7/5 0 battle - 0,0 0 - -");
  EXPECT_EQ(shown("sacred_hill_l1 D4 D5"),
            "sacred_hill_l1 5/7/3b3/3r3/7/7/5 0 manoeuvres - 0,0 0 - -");
  EXPECT_THAT(
      OutputOf({"show", "--position", "sacred_hill_l1 D4 D5", "--format=svg"}),
      HasSubstr("Last action: D5."));
  // A swap has no place on the board.
  EXPECT_THAT(
      OutputOf({"show", "--position", "four_treasures pie_rule=true D4 swap",
                "--format=svg"}),
      AllOf(StartsWith("<svg "), Not(HasSubstr("Last action"))));
}

TEST(ShowTest, ColoursOnlyWhenAskedOrOnATerminal) {
  const Words command = "show --variant sacred_hill_l1 --actions D4";
  EXPECT_THAT(OutputOf(command), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(OutputOf(command + "--colour=always"), HasSubstr("\x1b["));
  TerminalTara terminal(command);
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("\x1b["));
}

TEST(ShowTest, IllegalActionsAndBadPositionsAreFailures) {
  EXPECT_THAT(
      ErrorOf(1, {"show", "--variant", "four_treasures", "--actions", "D4 D4"}),
      HasSubstr("--actions: action 2: illegal action D4"));
  EXPECT_THAT(ErrorOf(1, "show --variant four_treasures --actions A1"),
              HasSubstr("bad action 'A1'"));
  EXPECT_THAT(ErrorOf(1, "show --position chess"),
              HasSubstr("--position: unknown variant 'chess'"));
  EXPECT_THAT(
      ErrorOf(1, {"show", "--position", "high_kings_l1 5/7/7/3r3/7/7/5 1"}),
      HasSubstr("Red has 0 kings on the board; expected 1"));
}

std::string GoldenFile(const std::string& variant) {
  return absl::StrCat("tests/golden/", variant, ".jsonl");
}

TEST(VerifyTest, PassesEveryIndependentGame) {
  Words command = "verify";
  for (const VariantInfo& info : kVariants) {
    command.push_back(GoldenFile(std::string(info.id)));
  }
  // Ten files of forty games.
  EXPECT_EQ(OutputOf(command), "400 passed, 0 failed\n");
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
  const TaraResult result = RunTara("verify " + path);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(Lines(result.out),
              ElementsAre(AllOf(StartsWith(path + ":2: "), HasSubstr("step 1"),
                                HasSubstr("seat")),
                          "2 passed, 1 failed"));
}

TEST(VerifyTest, ReadsStandardInput) {
  const std::string games = ReadFile(GoldenFile("sacred_hill_l2"));
  EXPECT_EQ(OutputOf("verify -", games), "40 passed, 0 failed\n");
  EXPECT_EQ(
      OutputOf("verify -", absl::StrCat("\n", Lines(games).front(), "\r\n\n")),
      "1 passed, 0 failed\n");
  const TaraResult damaged = RunTara("verify -", games.substr(0, 100));
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out,
              AllOf(StartsWith("-:1: "), EndsWith("\n0 passed, 1 failed\n")));
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

// Two hills are vacant, C4 and E4; Red is to move.
//
//   7     r r r b b     Red has 33 bridges, Blue 28.
//   6   r r r r b b b
//   5   r r r r b b b   Red on C4 makes 4, then Blue on E4 makes 3: 37 to 31,
//   4   r r . r . b b   6 more, so 8 points.
//   3   r r r r b b b
//   2   r r r b b b b   Red on E4 makes 1 (to D4). Blue must build on C4 then,
//   1     r r b b b     without a bridge, and Red captures there and makes 4:
//                       38 to 28, 10 more, so 12 points.
constexpr char kTwoLeft[] =
    "four_treasures rrrbb/rrrrbbb/rrrrbbb/rr1r1bb/rrrrbbb/rrrbbbb/rrbbb 0 "
    "battle - 0,0 0 - -";

TEST(SolveTest, SaysWhoWinsAndHow) {
  EXPECT_THAT(OutputOf({"solve", "--position", kTwoLeft, "--all-actions"}),
              AllOf(HasSubstr("Result:    Red wins by 12 points "
                              "(red_margin 12)\n"),
                    HasSubstr("\nBest:      E4\n"),
                    HasSubstr("\nActions:   C4:8 E4:12\n"),
                    HasSubstr("\nSearched:  ")));
  EXPECT_THAT(OutputOf({"solve", "--position", kTwoLeft, "--actions=C4"}),
              HasSubstr("Red wins by 8 points (red_margin 8)\n"));
}

TEST(SolveTest, CountsTheCompensation) {
  std::string position = kTwoLeft;
  position.replace(position.size() - 1, 1, "compensation=12");
  EXPECT_THAT(OutputOf({"solve", "--position", position}),
              HasSubstr("Result:    a draw (red_margin 12)\n"));
  position.replace(position.size() - 2, 2, "12.5");
  EXPECT_THAT(RunTara({"solve", "--position", position}).err,
              HasSubstr("expected -12 to 12 in steps of 0.5"));
  position.replace(position.size() - 4, 4, "-2.5");
  EXPECT_THAT(OutputOf({"solve", "--position", position}),
              HasSubstr("Result:    Red wins by 14.5 points "));
}

TEST(SolveTest, JsonHasTheValueAndTheActionsThatWereAskedFor) {
  const Words solve = {"solve", "--position", kTwoLeft};
  const Json best = JsonOf(solve);
  EXPECT_EQ(best["best_actions"], Json::array({"E4"}));
  EXPECT_EQ(best["red_margin"], 12);
  EXPECT_FALSE(best.contains("actions"));
  const Json all = JsonOf(solve + "--all-actions --table-mb=1");
  EXPECT_EQ(all["variant"], "four_treasures");
  EXPECT_EQ(all["low"], 12);
  EXPECT_EQ(all["high"], 12);
  EXPECT_EQ(all["actions"], Json::parse(R"([{"action": "C4", "red_margin": 8},
                            {"action": "E4", "red_margin": 12}])"));
  EXPECT_GE(all["nodes"], 1);
  EXPECT_GE(all["seconds"], 0.0);
}

TEST(SolveTest, GivesUpAtTheNodeLimitWithTheBoundsItKnows) {
  const Words command =
      "solve --variant four_treasures --node-limit=1k --table-mb=1";
  const TaraResult text = RunTara(command);
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("not solved; between Blue by 47 and Red by "
                                  "47 (red_margin -47 to 47)"));
  EXPECT_THAT(text.err, HasSubstr("gave up at the node limit"));
  const TaraResult result = RunTara(command + "--format=json");
  EXPECT_EQ(result.status, 1);
  const Json json = ParseJson(result.out);
  EXPECT_TRUE(json["red_margin"].is_null());
  EXPECT_TRUE(json["best_actions"].is_null());
  EXPECT_LT(json["low"], json["high"]);
  EXPECT_EQ(json["nodes"], 1000);
}

TEST(SolveTest, AnInterruptPrintsTheBoundsToo) {
  // Nobody will solve an empty board before the signal comes.
  const std::string shown = ShownUntilInterrupted(
      "solve --variant four_treasures --format=json --table-mb=1",
      {"search 1: Red's margin is -47 to 47; "});
  EXPECT_THAT(shown, HasSubstr("interrupted"));
  const size_t begin = shown.find('{');
  ASSERT_NE(begin, std::string::npos);
  EXPECT_TRUE(
      ParseJson(shown.substr(begin, shown.rfind('}') + 1 - begin))["red_margin"]
          .is_null());
}

TEST(SolveTest, AFinishedGameHasItsResultAndNoActions) {
  EXPECT_THAT(
      OutputOf(
          {"solve", "--position",
           "four_treasures rrrbb/rrrrbbb/rrrrbbb/rrrrbbb/rrrrbbb/rrrbbbb/rrbbb "
           "- finished - 0,0 0 out:0 -"}),
      HasSubstr("none: the game has ended"));
}

TEST(StatsTest, ReadsThousandsAndMillions) {
  const auto games = [](const std::string& text) {
    return JsonOf("stats --variant four_treasures --games " + text)
        .at("four_treasures")
        .at("games")
        .get<int>();
  };
  EXPECT_EQ(games("25"), 25);
  EXPECT_EQ(games("2k"), 2000);
  EXPECT_EQ(games("1.5k"), 1500);
  EXPECT_EQ(games("0.02M"), 20000);
}

TEST(StatsTest, HeedsRuleOptionsWhereTheyApply) {
  const Json changed =
      JsonOf("stats --variant all --games 2k --option no_progress_limit=3");
  EXPECT_EQ(changed["high_kings_l1"]["rule_options"]["no_progress_limit"], 3);
  EXPECT_GT(changed["high_kings_l1"]["ended_by"]["no_progress"], 0);
  EXPECT_EQ(changed["four_treasures"]["ended_by"]["out"], 2000);
}

TEST(StatsTest, WritesAPageForABrowser) {
  const std::string path = TemporaryPath("stats.html");
  EXPECT_THAT(
      OutputOf("stats --variant poisoned_chalice --games 50 --html " + path),
      HasSubstr("poisoned_chalice"));
  EXPECT_THAT(ReadFile(path),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Poisoned Chalice"),
                    HasSubstr("<figure")));
}

TEST(StatsTest, AnInterruptReportsTheGamesSoFar) {
  const std::string path = TemporaryPath("interrupted.html");
  EXPECT_THAT(
      ShownUntilInterrupted("stats --variant all --games 1000G --html " + path,
                            {"sacred_hill_l1: 0 %, ", "M games/s"}),
      AllOf(HasSubstr("branching"), HasSubstr("tara: interrupted")));
  EXPECT_THAT(ReadFile(path), HasSubstr("Sacred Hill, Level 1"));
}

TEST(StatsTest, WrongArgumentsAreUsageErrors) {
  ExpectRefused("stats",
                {{"", "--variant is required"},
                 {"--variant chess", "unknown variant 'chess'"},
                 {"--variant all --games 0",
                  "--games: bad value '0'; expected a whole number from 1 to "
                  "1000G"},
                 {"--variant all --games 0.5", "bad value '0.5'"},
                 {"--variant all --games 2000G", "bad value '2000G'"},
                 {"--variant all --threads 0", "--threads: bad value"},
                 {"--variant all --option no_such=1", "no_such"},
                 {"--variant four_treasures --option no_progress_limit=3",
                  "no rule option 'no_progress_limit'"},
                 {"--variant all --format=xml", "bad value 'xml'"}});
}

}  // namespace
}  // namespace tara::cli
