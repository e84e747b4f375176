#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tara/core/variant.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

Json ParseJson(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << text;
  return json;
}

// Two hills are vacant, C4 and E4; Red is to move.
//
//   7     r r r b b        Red has 33 bridges, Blue 28.
//   6   r r r r b b b
//   5   r r r r b b b      Red on C4 makes 4, then Blue on E4 makes 3: 37 to
//   31, 4   r r . r . b b      6 more, so 8 points. 3   r r r r b b b 2   r r r
//   b b b b      Red on E4 makes 1 (to D4). Blue must build on C4 then, 1     r
//   r b b b        without a bridge, and Red captures there and makes 4:
//                          38 to 28, 10 more, so 12 points.
constexpr char kTwoLeft[] =
    "four_treasures rrrbb/rrrrbbb/rrrrbbb/rr1r1bb/rrrrbbb/rrrbbbb/rrbbb 0 "
    "battle - 0,0 0 - -";

TEST(SolveTest, SaysWhoWinsAndHow) {
  const TaraResult result =
      RunTara({"solve", "--position", kTwoLeft, "--all-actions"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("Result:    Red wins by 12 points "
                                          "(red_margin 12)\n"),
                                HasSubstr("\nBest:      E4\n"),
                                HasSubstr("\nActions:   C4:8 E4:12\n"),
                                HasSubstr("\nSearched:  ")));
  const TaraResult after =
      RunTara({"solve", "--position", kTwoLeft, "--actions", "C4"});
  EXPECT_THAT(after.out, HasSubstr("Red wins by 8 points (red_margin 8)\n"));
}

TEST(SolveTest, CountsTheCompensation) {
  std::string position = kTwoLeft;
  position.replace(position.size() - 1, 1, "compensation=12");
  EXPECT_THAT(RunTara({"solve", "--position", position}).out,
              HasSubstr("Result:    a draw (red_margin 12)\n"));
  position.replace(position.size() - 2, 2, "12.5");
  EXPECT_THAT(RunTara({"solve", "--position", position}).err,
              HasSubstr("expected -12 to 12 in steps of 0.5"));
  position.replace(position.size() - 4, 4, "-2.5");
  EXPECT_THAT(RunTara({"solve", "--position", position}).out,
              HasSubstr("Result:    Red wins by 14.5 points "));
}

TEST(SolveTest, WithoutAllActionsJsonHasTheBestAlone) {
  const Json json = ParseJson(
      RunTara({"solve", "--position", kTwoLeft, "--format=json"}).out);
  EXPECT_EQ(json["best_actions"], Json::array({"E4"}));
  EXPECT_EQ(json["red_margin"], 12);
  EXPECT_FALSE(json.contains("actions"));
}

// The actions of a recorded game up to where no choice is left, and the margin
// it ended with: that of the position under best play too.
struct ForcedEnd {
  std::string actions;
  std::string next;
  int red_margin;
};
ForcedEnd ForcedEndOf(const std::string& variant) {
  const Json game =
      ParseJson(Lines(ReadFile("tests/golden/" + variant + ".jsonl")).front());
  const Json& steps = game["steps"];
  size_t choices = steps.size();
  while (choices > 0 && steps[choices - 1]["legal"].size() == 1) --choices;
  std::vector<std::string> actions;
  for (size_t i = 0; i < choices; ++i) actions.push_back(steps[i]["action"]);
  const Json& points = game["result"]["points"];
  return {.actions = absl::StrJoin(actions, " "),
          .next = choices < steps.size() ? std::string(steps[choices]["action"])
                                         : "",
          .red_margin = points[0].get<int>() - points[1].get<int>()};
}

TEST(SolveTest, PrintsTheExactValueAsJsonInEveryVariant) {
  for (const VariantInfo& info : kVariants) {
    const std::string id(info.id);
    const ForcedEnd end = ForcedEndOf(id);
    const TaraResult result =
        RunTara({"solve", "--variant", id, "--actions", end.actions,
                 "--table-mb=1", "--format=json", "--all-actions"});
    EXPECT_EQ(result.status, 0) << id << result.err;
    const Json json = ParseJson(result.out);
    EXPECT_EQ(json["variant"], id);
    EXPECT_EQ(json["red_margin"], end.red_margin) << id;
    EXPECT_EQ(json["low"], end.red_margin);
    EXPECT_EQ(json["high"], end.red_margin);
    Json best = Json::array();
    Json actions = Json::array();
    if (!end.next.empty()) {
      best.push_back(end.next);
      actions.push_back({{"action", end.next}, {"red_margin", end.red_margin}});
    }
    EXPECT_EQ(json["best_actions"], best) << id;
    EXPECT_EQ(json["actions"], actions) << id;
    EXPECT_GE(json["nodes"], end.next.empty() ? 0 : 1);
    EXPECT_GE(json["seconds"], 0.0);
  }
}

TEST(SolveTest, GivesUpAtTheNodeLimitWithTheBoundsItKnows) {
  const std::vector<std::string> command = {"solve", "--variant",
                                            "four_treasures", "--node-limit=1k",
                                            "--table-mb=1"};
  const TaraResult text = RunTara(command);
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("not solved; between Blue by 47 and Red by "
                                  "47 (red_margin -47 to 47)"));
  EXPECT_THAT(text.err, HasSubstr("gave up at the node limit"));
  std::vector<std::string> as_json = command;
  as_json.push_back("--format=json");
  const TaraResult result = RunTara(as_json);
  EXPECT_EQ(result.status, 1);
  const Json json = ParseJson(result.out);
  EXPECT_TRUE(json["red_margin"].is_null());
  EXPECT_TRUE(json["best_actions"].is_null());
  EXPECT_LT(json["low"], json["high"]);
  EXPECT_EQ(json["nodes"], 1000);
}

TEST(SolveTest, AnInterruptPrintsTheBoundsToo) {
  // Nobody will solve an empty board before the signal comes.
  TerminalTara tara({"solve", "--variant", "four_treasures", "--format=json",
                     "--table-mb=1"});
  ASSERT_TRUE(tara.Expect("search 1: "));
  tara.Signal(2);
  EXPECT_EQ(tara.Wait(), 130);
  const std::string& shown = tara.shown();
  EXPECT_THAT(shown, HasSubstr("interrupted"));
  const size_t begin = shown.find('{');
  ASSERT_NE(begin, std::string::npos);
  EXPECT_TRUE(
      ParseJson(shown.substr(begin, shown.rfind('}') + 1 - begin))["red_margin"]
          .is_null());
}

TEST(SolveTest, ShowsItsProgressToAPerson) {
  TerminalTara tara({"solve", "--variant", "four_treasures", "--table-mb=1"});
  EXPECT_TRUE(tara.Expect("search 1: Red's margin is -47 to 47; "));
  tara.Signal(2);
  EXPECT_TRUE(tara.Expect("not solved"));
  EXPECT_EQ(tara.Wait(), 130);
}

TEST(SolveTest, AFinishedGameHasItsResultAndNoActions) {
  const TaraResult result = RunTara(
      {"solve", "--position",
       "four_treasures rrrbb/rrrrbbb/rrrrbbb/rrrrbbb/rrrrbbb/rrrbbbb/rrbbb - "
       "finished - 0,0 0 out:0 -"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("none: the game has ended"));
}

TEST(SolveTest, BadInputIsAnErrorThatSaysWhere) {
  const TaraResult position = RunTara({"solve", "--position", "chess"});
  EXPECT_EQ(position.status, 1);
  EXPECT_THAT(position.err, HasSubstr("--position: unknown variant 'chess'"));
  EXPECT_THAT(position.out, IsEmpty());
  const TaraResult actions =
      RunTara({"solve", "--variant", "four_treasures", "--actions", "D4 D4"});
  EXPECT_EQ(actions.status, 1);
  EXPECT_THAT(actions.err, HasSubstr("--actions: action 2: illegal action D4"));
}

}  // namespace
}  // namespace tara::cli
