#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/record/game_record.h"
#include "tests/core/core_testing.h"
#include "tests/status_matchers.h"

namespace tara::record {
namespace {

using ::testing::HasSubstr;

std::string FirstGoldenLine(absl::string_view variant) {
  std::ifstream file(absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                                  std::getenv("TEST_WORKSPACE"),
                                  "/tests/golden/", variant, ".jsonl"));
  std::string line;
  std::getline(file, line);
  return line;
}

class GameLinesTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(GameLinesTest, WritesWhatTheIndependentImplementationWrote) {
  const std::string line = FirstGoldenLine(GetParam().id);
  const GameLine game = ParseGameLine(line).value();
  const std::string written = GameToLine(game.initial, game.actions).value();
  EXPECT_EQ(nlohmann::json::parse(written), nlohmann::json::parse(line));
}

TEST_P(GameLinesTest, RoundTripsWithEveryOptionChanged) {
  const State start =
      InitialState(GetParam().variant, ChangedOptions(GetParam()));
  const std::vector<Action> actions =
      PlayRandomGame(start, 5, [](const State&, const LegalSet&) {});
  const std::string line = GameToLine(start, actions).value();
  const GameLine game = ParseGameLine(line).value();
  EXPECT_EQ(game.initial, start);
  EXPECT_EQ(game.actions, actions);
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, GameLinesTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

class BadGameLineTest : public ::testing::Test {
 protected:
  // Changes the first game of four_treasures and expects a refusal.
  template <typename Change>
  void ExpectRefused(Change&& change, const std::string& message) {
    nlohmann::json game =
        nlohmann::json::parse(FirstGoldenLine("four_treasures"));
    change(game);
    EXPECT_THAT(
        ParseGameLine(game.dump()),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
};

TEST_F(BadGameLineTest, NamesTheByteOfWhatIsNoJson) {
  EXPECT_EQ(ParseGameLine("{\"variant\": ").status().message(),
            "malformed JSON at byte 13");
  EXPECT_EQ(ParseGameLine("{\"variant\": ]}").status().message(),
            "malformed JSON at byte 13");
}

TEST_F(BadGameLineTest, NamesFieldsThatAreMissingUnknownOrIllTyped) {
  EXPECT_EQ(ParseGameLine("[]").status().message(),
            "game: expected an object, got a list");
  ExpectRefused([](auto& game) { game.erase("result"); },
                "game: missing field 'result'");
  ExpectRefused([](auto& game) { game["site"] = "Tara"; },
                "game: unknown field 'site'");
  ExpectRefused([](auto& game) { game["variant"] = 3; },
                "game, field 'variant': expected text, got 3");
  ExpectRefused([](auto& game) { game["variant"] = "chess"; },
                "unknown variant 'chess'");
  ExpectRefused([](auto& game) { game["steps"] = "D4"; },
                "field 'steps': expected an array, got string");
  ExpectRefused([](auto& game) { game["steps"][2] = 7; },
                "step 3: expected an object, got 7");
  ExpectRefused([](auto& game) { game["steps"][2].erase("legal"); },
                "step 3: missing field 'legal'");
  ExpectRefused([](auto& game) { game["steps"][2]["clock"] = 1; },
                "step 3: unknown field 'clock'");
  ExpectRefused([](auto& game) { game["steps"][2]["action"] = 4; },
                "step 3, field 'action': expected text, got 4");
  ExpectRefused([](auto& game) { game["steps"][2]["note"] = 5; },
                "step 3, field 'note': expected text, got 5");
  ExpectRefused([](auto& game) { game["result"].erase("winner"); },
                "result: missing field 'winner'");
  ExpectRefused([](auto& game) { game["result"]["points"] = "many"; },
                "result, field 'points': expected [");
}

TEST_F(BadGameLineTest, NamesTheFirstDifference) {
  ExpectRefused([](auto& game) { game["steps"][3]["seat"] = 0; },
                "step 4, field 'seat': expected 1, got 0");
  ExpectRefused([](auto& game) { game["steps"][3]["seat"] = 1.0; },
                "step 4, field 'seat': expected 1, got 1.0");
  ExpectRefused([](auto& game) { game["steps"][0]["legal"].erase(0); },
                "step 1, field 'legal': expected [\"A2\",\"A3\"");
  ExpectRefused(
      [](auto& game) {
        game["steps"][1]["action"] = game["steps"][0]["action"];
      },
      "step 2: illegal action");
  ExpectRefused([](auto& game) { game["steps"][0]["action"] = "d4"; },
                "step 1, field 'action': expected D4, got d4");
  ExpectRefused([](auto& game) { game["steps"][0]["action"] = "Z9"; },
                "step 1: bad action 'Z9'");
  ExpectRefused([](auto& game) { game["steps"].erase(5); }, "step 6, field");
  ExpectRefused([](auto& game) { game["result"]["ended_by"] = "passed"; },
                "result, field 'ended_by': expected \"out\", got \"passed\"");
  ExpectRefused([](auto& game) { game["result"]["territory"][0] = 46; },
                "result, field 'territory': expected [");
}

TEST_F(BadGameLineTest, RefusesGamesThatGoOnOrStopTooEarly) {
  ExpectRefused(
      [](auto& game) { game["steps"].erase(game["steps"].size() - 1); },
      "the game is not finished after");
  ExpectRefused(
      [](auto& game) { game["steps"].push_back(game["steps"].back()); },
      "expected no step, the game has ended (out)");
}

TEST_F(BadGameLineTest, RefusesBadOptions) {
  ExpectRefused([](auto& game) { game["options"] = 3; },
                "options: expected an object, got 3");
  ExpectRefused([](auto& game) { game["options"] = {{"speed", 3}}; },
                "variant four_treasures has no rule option 'speed'");
  using Json = nlohmann::json;
  const std::pair<Json, std::string> kWrong[] = {
      {Json{{"no_progress_limit", true}},
       "options, field 'no_progress_limit': expected a number, got true"},
      {Json{{"placement_captures_kings", 1}}, "expected true or false, got 1"},
      {Json{{"no_progress_limit", 0}}, "expected 1 to 255"}};
  for (const auto& [options, message] : kWrong) {
    ExpectRefused(
        [&](auto& game) {
          game["variant"] = "high_kings_l1";
          game["options"] = options;
        },
        message);
  }
}

TEST(GameToLineTest, RefusesWhatTheFormCannotHold) {
  const State start = InitialState(Variant::kFourTreasures);
  EXPECT_THAT(std::string(GameToLine(start, {}).status().message()),
              HasSubstr("the game is not finished after 0 actions; Red is"));
  const Action d4 = ParseAction("D4").value();
  EXPECT_THAT(std::string(GameToLine(start, {d4, d4}).status().message()),
              HasSubstr("action 2: illegal action D4"));
  EXPECT_THAT(
      std::string(GameToLine(After(start, "D4"), {}).status().message()),
      HasSubstr("expected a game from a start position"));
}

TEST_P(GameLinesTest, NotesComeBackAndCountForNothing) {
  const std::string line = FirstGoldenLine(GetParam().id);
  GameLine game = ParseGameLine(line).value();
  EXPECT_TRUE(game.notes.empty());
  game.notes.resize(2);
  game.notes[1] = "mistake: \"better\" is D4";
  const std::string noted = GameToText(game).value();
  const GameLine back = ParseGameLine(noted).value();
  EXPECT_EQ(back.actions, game.actions);
  ASSERT_EQ(back.notes.size(), game.actions.size());
  EXPECT_EQ(back.notes[0], "");
  EXPECT_EQ(back.notes[1], game.notes[1]);
  EXPECT_EQ(ParseGameText(noted)->notes, back.notes);
}

TEST_P(GameLinesTest, ReadsUnfinishedGamesAndTheirShortForms) {
  const State start =
      InitialState(GetParam().variant, ChangedOptions(GetParam()));
  std::vector<Action> actions =
      PlayRandomGame(start, 6, [](const State&, const LegalSet&) {});
  actions.resize(5);
  const std::string text = GameToText({start, actions}).value();
  EXPECT_FALSE(ParseGameLine(text).ok());
  std::string words =
      absl::StrCat(GetParam().id, " ", FormatRuleOptions(start.options));
  nlohmann::json bare = nlohmann::json::parse(text);
  for (auto& step : bare["steps"]) {
    absl::StrAppend(&words, " ", step["action"].get<std::string>());
    step = {{"action", step["action"]}};
  }
  for (const std::string& form : {text, bare.dump(), words}) {
    const GameLine game = ParseGameText(form).value();
    EXPECT_EQ(game.initial, start);
    EXPECT_EQ(game.actions, actions);
  }
}

// From a position in the midst of a game the rest of the game is played.
TEST_P(GameLinesTest, ReadsGamesFromPositions) {
  const State start =
      InitialState(GetParam().variant, ChangedOptions(GetParam()));
  std::vector<State> states;
  const std::vector<Action> actions = PlayRandomGame(
      start, 7,
      [&](const State& state, const LegalSet&) { states.push_back(state); });
  const size_t middle = actions.size() / 2;
  std::string text = PositionToText(states[middle]);
  EXPECT_EQ(ParseGameText(text)->initial, states[middle]);
  for (size_t i = middle; i < actions.size(); ++i) {
    absl::StrAppend(&text, " ", ActionToText(actions[i], states[i]));
  }
  const GameLine game = ParseGameText(text).value();
  EXPECT_EQ(game.initial, states[middle]);
  EXPECT_THAT(game.actions, ::testing::ElementsAreArray(
                                actions.begin() + middle, actions.end()));
}

TEST(GameTextTest, NamesWhatIsWrong) {
  const auto expect_refused = [](absl::string_view text,
                                 const std::string& message) {
    EXPECT_THAT(
        ParseGameText(text),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  expect_refused(" \n", "the text is empty");
  expect_refused("chess e4", "unknown variant 'chess'");
  expect_refused("four_treasures D4 D4", "action 2: illegal action D4");
  expect_refused("four_treasures D4 Z9", "action 2: bad action 'Z9'");
  expect_refused("four_treasures speed=3 D4", "no rule option 'speed'");
  expect_refused("four_treasures 5/7/7/7/7/7 0",
                 "position field 2 (board) is '5/7/7/7/7/7'; 6 ranks");
  expect_refused("four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 0 - - D4 D4",
                 "action 2: illegal action D4");
  expect_refused("four_treasures 5/7/7/7/7/7/5 0 D4",
                 "position field 4 (phase) is 'D4'");
  expect_refused("{\"variant\": \"four_treasures\"}", "missing field 'steps'");
  expect_refused(
      R"({"variant": "four_treasures", "steps": [{"action": "D4", "seat": 1}]})",
      "step 1, field 'seat': expected 0, got 1");
  expect_refused(
      R"({"variant": "four_treasures", "steps": [], "result": null})",
      "the game is not finished after 0 steps; Red is to move; expected no "
      "field 'result'");
}

TEST(OutcomeToJsonTest, IsTheResultField) {
  const Outcome outcome = {.points = {1, 1},
                           .kingdoms = {2, 2},
                           .territory = {20, 20},
                           .bridges = {18, 18},
                           .kings_captured = {0, 1},
                           .ended_by = Ending::kPassed,
                           .compensation_halves = 0};
  EXPECT_EQ(OutcomeToJson(outcome),
            "{\"points\":[1,1],\"kingdoms\":[2,2],\"territory\":[20,20],"
            "\"bridges\":[18,18],\"kings_captured\":[0,1],\"winner\":null,"
            "\"ended_by\":\"passed\"}");
}

}  // namespace
}  // namespace tara::record
