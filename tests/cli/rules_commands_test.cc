// variants, perft and show.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

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
  const TaraResult result = RunTara({"variants", "--format=json"});
  EXPECT_EQ(result.status, 0);
  const Json variants = ParseJson(result.out);
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
  const TaraResult result = RunTara({"levels", "--format=json"});
  EXPECT_EQ(result.status, 0);
  const Json levels = ParseJson(result.out);
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
  const TaraResult text = RunTara({"levels"});
  EXPECT_EQ(text.status, 0);
  for (const VariantInfo& info : kVariants) {
    EXPECT_THAT(text.out, HasSubstr(absl::StrCat("\n", info.id, " ")));
  }
  EXPECT_THAT(text.out, HasSubstr("level 5 has 1000"));
}

TEST(VariantsTest, ListsThemForPeople) {
  const TaraResult result = RunTara({"variants"});
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("sacred_hill_l1 "), HasSubstr("4 seats"),
                    HasSubstr("no_progress_limit=40")));
}

TEST(PerftTest, AgreesWithTheIndependentCounts) {
  const Json perft = ParseJson(ReadFile("tests/golden/perft.json"));
  for (const auto& [variant, counts] : perft.items()) {
    const TaraResult result =
        RunTara({"perft", "--variant", variant, "--depth", "2"});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out, counts["start"][1].dump() + "\n") << variant;
    const Json& position = counts["positions"][0];
    EXPECT_EQ(
        RunTara({"perft", "--variant", variant, "--depth", "1", "--prefix",
                 absl::StrJoin(
                     position["prefix"].get<std::vector<std::string>>(), " ")})
            .last_line(),
        position["counts"][0].dump())
        << variant;
  }
}

TEST(PerftTest, DividesBeforeTheCount) {
  const TaraResult result = RunTara(
      {"perft", "--variant", "sacred_hill_l1", "--depth", "2", "--divide"});
  const std::vector<std::string> lines = Lines(result.out);
  ASSERT_EQ(lines.size(), 46u);
  EXPECT_EQ(lines[0], "B1      44");
  EXPECT_EQ(lines[45], "1980");
}

TEST(PerftTest, CountsUnderRuleOptions) {
  // Red South begins on the shared row, of 7 hills; without that rule anywhere
  // in ranks 1 to 4, of 5 + 7 + 7 + 7.
  std::vector<std::string> command = {"perft", "--variant",
                                      "sacred_hill_doubles_l1", "--depth", "1"};
  EXPECT_EQ(RunTara(command).out, "7\n");
  command.push_back("--option=shared_row_opening=false");
  EXPECT_EQ(RunTara(command).out, "26\n");
}

TEST(PerftTest, AnIllegalPrefixIsAFailureThatSaysWhatIsLegal) {
  const TaraResult result = RunTara({"perft", "--variant", "sacred_hill_l1",
                                     "--depth", "1", "--prefix", "D4 D5 E3"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("--prefix: action 3: illegal action "
                                          "E3"),
                                HasSubstr("legal: C2 E2 B3 F3")));
}

TEST(ShowTest, DrawsThePositionWithLegalActions) {
  const TaraResult result = RunTara(
      {"show", "--variant", "sacred_hill_l1", "--actions", "D4 D5", "--ascii"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("A     B     C     D     E     F     G"),
            HasSubstr("Red to move (seat 0), manoeuvres"),
            HasSubstr("Legal:    B3 B5 C2 C6 E2 E6 F3 F5\n"),
            HasSubstr("Position: sacred_hill_l1 5/7/3b3/3r3/7/7/5 0 ")));
  for (const char byte : result.out) ASSERT_GE(byte, 0) << "not ASCII";
}

TEST(ShowTest, GivesThePositionAsJson) {
  const TaraResult result = RunTara({"show", "--variant", "sacred_hill_l1",
                                     "--actions", "D4 D5", "--format=json"});
  const Json json = ParseJson(result.out);
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
  const TaraResult result = RunTara({"show", "--variant", "sacred_hill_l1",
                                     "--actions", "D4 D5", "--format=svg"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out,
              AllOf(StartsWith("<svg "), EndsWith("</svg>\n"),
                    HasSubstr("Last action: D5."), HasSubstr("tara-legal")));
  EXPECT_THAT(
      RunTara({"show", "--variant", "sacred_hill_l1", "--format=svg"}).out,
      Not(HasSubstr("tara-last")));
}

TEST(ShowTest, AgreesWithTheResultsOfIndependentGames) {
  for (const std::string variant :
       {"sacred_hill_doubles_l1", "high_kings_l2", "stone_of_destiny"}) {
    const Json game = GoldenGame(variant);
    const TaraResult result =
        RunTara({"show", "--variant", variant, "--actions", ActionsOf(game),
                 "--format=json"});
    const Json json = ParseJson(result.out);
    EXPECT_EQ(json["result"], game["result"]) << variant;
    EXPECT_TRUE(json["seat"].is_null());
    EXPECT_EQ(json["legal"], Json::array());
  }
}

TEST(ShowTest, GoesOnFromItsOwnPositionText) {
  const Json game = GoldenGame("high_kings_l2");
  const std::string first = "D4 E6 B3";
  const Json before = ParseJson(RunTara({"show", "--variant", "high_kings_l2",
                                         "--actions", first, "--format=json"})
                                    .out);
  const Json after =
      ParseJson(RunTara({"show", "--position", before["position"], "--actions",
                         before["legal"][0], "--format=json"})
                    .out);
  const Json direct =
      ParseJson(RunTara({"show", "--variant", "high_kings_l2", "--actions",
                         first + " " + before["legal"][0].get<std::string>(),
                         "--format=json"})
                    .out);
  EXPECT_EQ(after, direct);
}

TEST(ShowTest, TakesWhatPeopleWrite) {
  const auto shown = [](const std::string& text) {
    return ParseJson(
        RunTara({"show", "--position", text, "--format=json"}).out)["position"];
  };
  EXPECT_EQ(shown("four_treasures 5/7/7/2rb3/7/7/5 0"),
            "four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - -");
  EXPECT_EQ(shown("four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 - - D5 E4"),
            "four_treasures 5/7/3r3/2rbb2/7/7/5 0 battle - 0,0 0 - -");
  EXPECT_EQ(shown("sacred_hill_l1 D4 D5"),
            "sacred_hill_l1 5/7/3b3/3r3/7/7/5 0 manoeuvres - 0,0 0 - -");
  EXPECT_THAT(
      RunTara({"show", "--position", "sacred_hill_l1 D4 D5", "--format=svg"})
          .out,
      HasSubstr("Last action: D5."));
  // A swap has no place on the board.
  EXPECT_THAT(RunTara({"show", "--position",
                       "four_treasures pie_rule=true D4 swap", "--format=svg"})
                  .out,
              AllOf(StartsWith("<svg "), Not(HasSubstr("Last action"))));
}

TEST(ShowTest, ColoursOnlyWhenAskedOrOnATerminal) {
  const std::vector<std::string> command = {
      "show", "--variant", "sacred_hill_l1", "--actions", "D4"};
  EXPECT_THAT(RunTara(command).out, Not(HasSubstr("\x1b[")));
  std::vector<std::string> always = command;
  always.push_back("--colour=always");
  EXPECT_THAT(RunTara(always).out, HasSubstr("\x1b["));
  TerminalTara terminal(command);
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("\x1b["));
}

TEST(ShowTest, IllegalActionsAndBadPositionsAreFailures) {
  const TaraResult illegal =
      RunTara({"show", "--variant", "four_treasures", "--actions", "D4 D4"});
  EXPECT_EQ(illegal.status, 1);
  EXPECT_THAT(illegal.err, HasSubstr("--actions: action 2: illegal action D4"));
  const TaraResult no_action =
      RunTara({"show", "--variant", "four_treasures", "--actions", "A1"});
  EXPECT_EQ(no_action.status, 1);
  EXPECT_THAT(no_action.err, HasSubstr("bad action 'A1'"));
  const TaraResult position = RunTara({"show", "--position", "chess"});
  EXPECT_EQ(position.status, 1);
  EXPECT_THAT(position.err, HasSubstr("--position: unknown variant 'chess'"));
  const TaraResult board =
      RunTara({"show", "--position", "high_kings_l1 5/7/7/3r3/7/7/5 1"});
  EXPECT_EQ(board.status, 1);
  EXPECT_THAT(board.err, HasSubstr("Red has 0 kings on the board; expected 1"));
}

}  // namespace
}  // namespace tara::cli
