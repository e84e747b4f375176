#include "tara/eval/regret/regret.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/base/files.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/players/player.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SolvedPositionsTest, EveryVariantHasSomeAndSomethingIsAtStake) {
  for (const VariantInfo& info : kVariants) {
    const auto positions = MakeSolvedPositions(
        {.variant = info.variant, .positions = 3, .node_limit = 20000});
    EXPECT_EQ(positions.size(), 3u) << info.id;
    for (const SolvedPosition& position : positions) {
      EXPECT_EQ(static_cast<int>(position.margins.size()),
                LegalActions(position.state).Count());
      EXPECT_LT(
          *std::min_element(position.margins.begin(), position.margins.end()),
          *std::max_element(position.margins.begin(), position.margins.end()));
    }
  }
}

TEST(SolvedPositionsTest, MarginsAreThoseOfMinimaxForTheSideToMove) {
  bool red = false, blue = false;
  for (const SolvedPosition& position :
       MakeSolvedPositions({.variant = Variant::kFourTreasures,
                            .positions = 20,
                            .node_limit = 300})) {
    (position.state.side() == kRed ? red : blue) = true;
    size_t place = 0;
    LegalActions(position.state).ForEach([&](Action action) {
      State next = position.state;
      ApplyAction(action, next);
      const int margin = Minimax(next);
      EXPECT_EQ(position.margins[place++],
                position.state.side() == kRed ? margin : -margin);
    });
  }
  EXPECT_TRUE(red && blue);
}

TEST(RegretTest, WhoSearchesToTheEndGivesNothingAway) {
  const auto positions = MakeSolvedPositions(
      {.variant = Variant::kSacredHillL2, .positions = 20, .node_limit = 1000});
  const auto player = NewAlphaBetaPlayer({.depth = 60}, {});
  const Regret none = MeasureRegret(positions, 1, *player).value();
  EXPECT_EQ(none.positions, 20);
  EXPECT_EQ(none.points.mean, 0);
  EXPECT_EQ(none.results.mean, 0);
  EXPECT_EQ(none.best.mean, 1);
  ASSERT_TRUE(none.value_error.has_value());
  EXPECT_NEAR(none.value_error->mean, 0, 1e-6);
  EXPECT_FALSE(none.policy.has_value());
}

TEST(RegretTest, IsWhatTheBestActionWouldHaveBroughtMore) {
  const auto positions = MakeSolvedPositions(
      {.variant = Variant::kFourTreasures, .positions = 10});
  FixedPlayer first;
  double expected = 0;
  for (const SolvedPosition& position : positions) {
    expected +=
        (*std::max_element(position.margins.begin(), position.margins.end()) -
         position.margins[0]) /
        10.0;
  }
  const Regret regret = MeasureRegret(positions, 1, first).value();
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(regret.points.mean, expected, 1e-12);
  EXPECT_GE(regret.points.low, 0);  // nobody can win what was not there
}

TEST(RegretTest, NoPositionsAreNoRegretAndErrorsAreReturned) {
  FixedPlayer player;
  EXPECT_EQ(MeasureRegret({}, 1, player)->positions, 0);
  player.fail = true;
  EXPECT_FALSE(
      MeasureRegret(MakeSolvedPositions({.positions = 1}), 1, player).ok());
}

// --- Solved set --------------------------------------------------------------

std::string PathOf(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

TEST(SolvedSetTest, WhatIsWrittenIsReadAgain) {
  std::vector<SolvedPosition> all;
  const auto add = [&](Variant variant, const RuleOptions& options) {
    for (SolvedPosition& position :
         MakeSolvedPositions({.variant = variant,
                              .rule_options = options,
                              .positions = 2,
                              .node_limit = 2000})) {
      all.push_back(std::move(position));
    }
  };
  for (const VariantInfo& info : kVariants) add(info.variant, {});
  add(Variant::kStoneOfDestiny, {.link_all_at_end = false});
  ASSERT_GE(all.size(), 22u);
  const std::string path = PathOf("set.jsonl");
  ASSERT_THAT(WriteSolvedSet(path, all), IsOk());
  const auto read = ReadSolvedSet(path).value();
  ASSERT_EQ(read.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(read[i].state, all[i].state);
    EXPECT_EQ(read[i].margins, all[i].margins);
  }
}

TEST(SolvedSetTest, WhatIsNoSetOrDamagedIsRefused) {
  const std::string path = PathOf("wrong.jsonl");
  const auto positions = MakeSolvedPositions(
      {.variant = Variant::kFourTreasures, .positions = 2, .node_limit = 2000});
  ASSERT_TRUE(WriteSolvedSet(path, positions).ok());
  const std::string good = ReadWholeFile(path).value();
  const std::string head = good.substr(0, good.find('\n') + 1);
  const size_t last_line = good.rfind('\n', good.size() - 2) + 1;
  const auto margins = [&](const std::string& first) {
    return absl::StrReplaceAll(
        good, {{"\"margins\":[", absl::StrCat("\"margins\":[", first, ",")}});
  };
  struct Wrong {
    std::string text;
    absl::StatusCode code;
    std::string message;
  };
  const auto lost = absl::StatusCode::kDataLoss;
  const auto foreign = absl::StatusCode::kFailedPrecondition;
  for (const Wrong& wrong : std::vector<Wrong>{
           {"", foreign, ":1: no file of solved endgames"},
           {"these are notes\n", foreign, ":1: no file of solved endgames"},
           {"{\"tara_solved_endgames\": 9, \"positions\": 0}\n", foreign,
            "version 9; this program reads 1"},
           {"{\"tara_solved_endgames\": 1}\n", lost, "no number"},
           {good.substr(0, good.size() - 9), lost, ":3: malformed JSON"},
           {good.substr(0, last_line), lost, "1 positions; expected 2"},
           {absl::StrCat(head, "[]\n", good.substr(last_line)), lost,
            ":2: expected {\"position\""},
           {absl::StrReplaceAll(good, {{"four_treasures ", "chess "}}), lost,
            "'chess'"},
           {margins("0"), lost, " legal actions"},
           {margins("99"), lost, "margin 99; expected -47 to 47"},
           {margins("\"a\""), lost, "margin \"a\""},
       }) {
    ASSERT_TRUE(WriteFileAtomically(path, wrong.text).ok());
    EXPECT_THAT(
        ReadSolvedSet(path),
        StatusIs(wrong.code, AllOf(StartsWith(path), HasSubstr(wrong.message))))
        << wrong.text;
  }
  EXPECT_THAT(ReadSolvedSet(PathOf("none")),
              StatusIs(absl::StatusCode::kNotFound));
}

using ::testing::Not;

// A checkpoint, which says what it thinks, and a player that does not.
std::vector<RegretRow> RowsByHand() {
  return {{.variant = Variant::kFourTreasures,
           .player = "ckpt-000007",
           .point = TrainingPoint{.run = "runs/a", .generation = 7},
           .regret = {.positions = 50,
                      .points = {0.5, 0.25, 0.75},
                      .results = {0.1, 0.05, 0.15},
                      .best = {0.8, 0.7, 0.9},
                      .policy = Interval{0.6, 0.5, 0.7},
                      .value_error = Interval{0.2, 0.1, 0.3}}},
          {.variant = Variant::kFourTreasures,
           .player = "<greedy>",
           .regret = {.positions = 50, .points = {2, 1, 3}}}};
}

TEST(RegretReportTest, TheTableHasARowAPlayerAndDashesWhereNothingIsSaid) {
  EXPECT_THAT(ReportRegret(RowsByHand()).text,
              AllOf(HasSubstr("four_treasures  ckpt-000007         50"),
                    HasSubstr("[50.0, 70.0]"), HasSubstr("<greedy>"),
                    HasSubstr(" - ")));
  EXPECT_EQ(ReportRegret({}).text, "no positions\n");
}

TEST(RegretReportTest, JsonTellsWhereCheckpointsStand) {
  const auto json = nlohmann::json::parse(ReportRegret(RowsByHand()).json);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["run"], "runs/a");
  EXPECT_EQ(json[0]["generation"], 7);
  EXPECT_EQ(json[0]["value_error_high"], 0.3);
  EXPECT_FALSE(json[1].contains("run"));
  EXPECT_FALSE(json[1].contains("policy"));
}

TEST(RegretReportTest, ThePageHoldsTheReportAndWhatDrawsIt) {
  const std::string page = ReportRegret(RowsByHand()).page();
  EXPECT_THAT(page, AllOf(HasSubstr("Four Treasures"), HasSubstr("<figure"),
                          HasSubstr("&lt;greedy>"), Not(HasSubstr("{{"))));
}

}  // namespace
}  // namespace tara::eval
