#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/mcts/time/time_manager.h"

namespace tara::mcts {
namespace {

TEST(TimeControlTest, ReadsTimePerMove) {
  const absl::StatusOr<TimeControl> control = ParseTimeControl("5s/move");
  ASSERT_TRUE(control.ok()) << control.status();
  EXPECT_TRUE(control->is_per_move());
  EXPECT_EQ(*control, (TimeControl{.per_move = absl::Seconds(5)}));
}

TEST(TimeControlTest, ReadsTimePerGameAndIncrement) {
  const absl::StatusOr<TimeControl> control = ParseTimeControl("300s+2s");
  ASSERT_TRUE(control.ok()) << control.status();
  EXPECT_FALSE(control->is_per_move());
  EXPECT_EQ(*control, (TimeControl{.per_game = absl::Seconds(300),
                                   .increment = absl::Seconds(2)}));
  EXPECT_EQ(*ParseTimeControl("300s"),
            (TimeControl{.per_game = absl::Seconds(300)}));
  EXPECT_EQ(*ParseTimeControl("300s+0s"), *ParseTimeControl("300s"));
}

TEST(TimeControlTest, ReadsUnitsAndFractions) {
  EXPECT_EQ(ParseTimeControl("1m30s+250ms")->per_game, absl::Seconds(90));
  EXPECT_EQ(ParseTimeControl("1m30s+250ms")->increment,
            absl::Milliseconds(250));
  EXPECT_EQ(ParseTimeControl("0.5s/move")->per_move, absl::Milliseconds(500));
  EXPECT_EQ(ParseTimeControl("1h")->per_game, absl::Hours(1));
}

TEST(TimeControlTest, ErrorsNameTheTextThePartAndWhatIsExpected) {
  const absl::Status status = ParseTimeControl("300s+2").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "bad time control '300s+2': increment is '2', not a time such as "
            "500ms, 5s or 1m30s; expected TIME/move, TIME or TIME+INCREMENT, "
            "such as 5s/move or 300s+2s");
  const auto message = [](const std::string& text) {
    const absl::Status bad = ParseTimeControl(text).status();
    const std::string start = "bad time control '" + text + "': ";
    EXPECT_EQ(bad.message().substr(0, start.size()), start);
    const std::string rest(bad.message().substr(start.size()));
    return rest.substr(0, rest.find(';'));
  };
  EXPECT_EQ(message(""), "no time for the game");
  EXPECT_EQ(message("/move"), "no time for a move");
  EXPECT_EQ(message("5s+"), "no increment");
  EXPECT_EQ(message("0s/move"), "time for a move is '0s', not more than 0");
  EXPECT_EQ(message("0s+2s"), "time for the game is '0s', not more than 0");
  EXPECT_EQ(message("200h"), "time for the game is '200h', above 100h");
}

TEST(TimeControlTest, WhatIsNoTimeIsRefused) {
  for (const std::string text :
       {"5",        "0",       "-5s",        "+5s",         "inf",
        "inf/move", "5s/game", "5s/move+2s", "5s+2s+1s",    "5s +2s",
        " 5s",      "5s ",     "5x",         ".5s",         "5ns",
        "5us",      "5s/",     "s",          "5 s",         "1e3s",
        "5S",       "5s+-1s",  "5s+inf",     "5s/move/move"}) {
    EXPECT_FALSE(ParseTimeControl(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tara::mcts
