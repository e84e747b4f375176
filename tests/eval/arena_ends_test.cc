#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/regret/regret.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Player> Make(const std::string& spec) {
  absl::StatusOr<std::unique_ptr<Player>> player = MakePlayer(spec);
  EXPECT_TRUE(player.ok()) << player.status();
  return *std::move(player);
}

TEST(AdjudicationTest, WhatBothHaveProvedIsWhatTheyWouldHavePlayed) {
  int adjudicated = 0;
  for (const VariantInfo& info : kVariants) {
    ArenaOptions options = {.variant = info.variant, .games = 8};
    const auto a = Make("mcts:sims=60,utility=points");
    const auto b = Make("mcts:sims=30,utility=points");
    const ArenaResult with = Play(options, *a, *b);
    options.adjudication.proof = false;
    const ArenaResult without = Play(options, *a, *b);
    EXPECT_EQ(without.adjudicated, 0);
    ASSERT_EQ(with.played.size(), without.played.size());
    for (size_t i = 0; i < with.played.size(); ++i) {
      EXPECT_EQ(with.played[i].margin, without.played[i].margin) << info.id;
      EXPECT_LE(with.played[i].length, without.played[i].length);
    }
    adjudicated += with.adjudicated;
  }
  // Of 80; fewer where a win is enough, and no more is proved.
  EXPECT_GT(adjudicated, 30);
}

// Plays the first legal action, and is of one report of Red.
class OpinionatedPlayer : public Player {
 public:
  explicit OpinionatedPlayer(std::optional<float> value_of_red,
                             std::optional<int> red_margin = std::nullopt)
      : value_of_red_(value_of_red), red_margin_(red_margin) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      actions[i] = LegalActions(turns[i].state).Nth(0);
      const int sign = turns[i].state.side() == kRed ? 1 : -1;
      if (value_of_red_.has_value()) {
        turns[i].report->value = sign * *value_of_red_;
      }
      if (red_margin_.has_value()) {
        turns[i].report->proved_margin = sign * *red_margin_;
      }
    }
    return absl::OkStatus();
  }

 private:
  const std::optional<float> value_of_red_;
  const std::optional<int> red_margin_;
};

TEST(AdjudicationTest, AGameThatBothThinkDecidedEndsAfterSoManyTurns) {
  OpinionatedPlayer sure(0.97f);
  OpinionatedPlayer surer(0.99f);
  const ArenaOptions options = {.games = 4,
                                .adjudication = {.agreed_turns = 3}};
  const ArenaResult result = Play(options, sure, surer);
  EXPECT_EQ(result.adjudicated, 4);
  for (const ArenaGame& game : result.played) {
    EXPECT_EQ(game.adjudication, "agreement");
    EXPECT_EQ(game.margin, game.a_is_red ? kForfeitMargin : -kForfeitMargin);
    EXPECT_EQ(game.length, 2 + 2 * 3);  // the opening, three choices of each
  }
}

TEST(AdjudicationTest, WithoutAgreementGamesAreDecidedOnTheBoard) {
  OpinionatedPlayer sure(0.97f);
  OpinionatedPlayer unsure(0.9f);
  OpinionatedPlayer contrary(-0.97f);
  OpinionatedPlayer silent(std::nullopt);
  const ArenaOptions options = {.games = 4,
                                .adjudication = {.agreed_turns = 1}};
  for (OpinionatedPlayer* other : {&unsure, &contrary, &silent}) {
    EXPECT_EQ(Play(options, sure, *other).adjudicated, 0);
  }
  // By default nobody is asked.
  EXPECT_EQ(Play({.games = 4}, sure, sure).adjudicated, 0);
}

TEST(AdjudicationTest, DifferentProofsAreNoProof) {
  OpinionatedPlayer four(std::nullopt, 4);
  OpinionatedPlayer five(std::nullopt, 5);
  EXPECT_EQ(Play({.games = 4}, four, five).adjudicated, 0);
  const ArenaResult result = Play({.games = 4}, five, five);
  EXPECT_EQ(result.adjudicated, 4);
  for (const ArenaGame& game : result.played) {
    EXPECT_EQ(game.adjudication, "proof");
    EXPECT_EQ(game.margin, game.a_is_red ? 5 : -5);
  }
}

TEST(OpeningJudgeTest, SaysWhatItsPlayerThinksForTheSideToMove) {
  const OpeningJudge judge =
      NewOpeningJudge(std::make_unique<OpinionatedPlayer>(0.25f));
  Random random(1);
  State state = InitialState(Variant::kSacredHillL1, {});
  EXPECT_EQ(*judge(state, random), 0.25);
  ASSERT_TRUE(PlayAction(LegalActions(state).Nth(0), state).ok());
  EXPECT_EQ(*judge(state, random), -0.25);
}

TEST(OpeningJudgeTest, BalancedOpeningsAreBalancedToTheirJudge) {
  const OpeningJudge judge = NewOpeningJudge(Make("mcts:sims=100"));
  Openings openings({.variant = Variant::kSacredHillL1,
                     .plies = 6,
                     .judge = judge,
                     .max_value = 0.15});
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    const absl::StatusOr<Opening> opening = openings.Next();
    ASSERT_TRUE(opening.ok()) << opening.status();
    Random random(i);
    sum += std::abs(*judge(opening->state, random));
  }
  // Judged again with other chances it differs, but not by much.
  EXPECT_LT(sum / 10, 0.3);
}

TEST(OpeningJudgeTest, APlayerWithoutOpinionsCannotJudge) {
  const OpeningJudge judge = NewOpeningJudge(NewRandomPlayer());
  Random random(1);
  const absl::Status status =
      judge(InitialState(Variant::kFourTreasures, {}), random).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("estimates no value"));
}

// Searches that would take days end when games are stopped, whoever thinks.

// True when it has been asked so often: in the midst of a search.
class SomeAsks {
 public:
  StopCheck check() {
    return [this] { return asks_.fetch_add(1) >= 50; };
  }
  bool asked() const { return asks_ >= 50; }

 private:
  std::atomic<int> asks_ = 0;
};

PlayerFactory Factory(const std::string& spec) {
  return NewPlayerFactory(ParseTeamSpec(spec).value());
}

// Each of them is given days for an action.
const std::vector<std::string>& Specs() {
  static const auto* const specs = new std::vector<std::string>{
      "mcts:sims=16000000",
      "mcts:sims=16000000,leaves=8",
      "mcts:sims=16000000,gumbel=on",
      "mcts:sims=16000000,threads=2",
      "mcts:ms=3600000",
      "mcts:ms=3600000,threads=2",
      "alphabeta:depth=100",
      "alphabeta:ms=3600000",
      "engine:tests/eval/fake_engine --fault hang,start=3000,move=3000"};
  return *specs;
}

TEST(StopTest, EndsAnArenaWhoeverThinks) {
  for (const std::string& spec : Specs()) {
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(spec);
      SomeAsks stop;
      const absl::StatusOr<ArenaResult> result =
          PlayArena({.variant = Variant::kFourTreasures,
                     .games = 12,
                     .concurrent_games = 2,
                     .stop = stop.check()},
                    Factory(spec), Factory(spec), threads);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_TRUE(stop.asked());
      EXPECT_EQ(result->games, 0);
    }
  }
}

TEST(StopTest, EndsGamesWithClocks) {
  for (const std::string& spec : Specs()) {
    SCOPED_TRACE(spec);
    SomeAsks stop;
    const absl::StatusOr<ArenaResult> result = PlayArena(
        {.variant = Variant::kFourTreasures,
         .games = 2,
         .clocks = GameClocks{.control = {.per_game = absl::Hours(1000)}},
         .stop = stop.check()},
        Factory(spec), Factory(spec), 1);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->games, 0);
  }
}

TEST(StopTest, EndsTeams) {
  SomeAsks stop;
  const std::string spec = "random+mcts:sims=16000000";
  ArenaOptions options = {.variant = Variant::kSacredHillDoublesL1,
                          .games = 8,
                          .stop = stop.check()};
  const TeamSpec team = ParseTeamSpec(spec).value();
  SetTeams(team, team, options);
  const absl::StatusOr<ArenaResult> result =
      PlayArena(options, NewPlayerFactory(team), NewPlayerFactory(team), 1);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->games, 0);
}

TEST(StopTest, EndsTheJudgeOfOpenings) {
  SomeAsks stop;
  const absl::StatusOr<ArenaResult> result =
      PlayArena({.variant = Variant::kFourTreasures,
                 .games = 4,
                 .opening_judge = NewOpeningJudge(
                     Factory("mcts:sims=16000000")().value(), stop.check()),
                 .stop = stop.check()},
                Factory("random"), Factory("random"), 1);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->games, 0);
}

// What a thread thinks about is broken off when another one ends the games.
TEST(StopTest, OneThreadsEndEndsTheOthersChoices) {
  std::atomic<int> made = 0;
  const PlayerFactory one_thinks = [&]() {
    return made++ == 0 ? Factory("mcts:sims=16000000")() : Factory("random")();
  };
  std::atomic<int> games = 0;
  const absl::StatusOr<ArenaResult> result = PlayArena(
      {.variant = Variant::kFourTreasures,
       .games = 1000,
       .concurrent_games = 1},
      one_thinks, Factory("random"), 2, [&](const ArenaProgress& progress) {
        games = progress.games_done;
        return games < 10;
      });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(games, 10);
}

TEST(StopTest, EndsGamesOfAPlayerWithItself) {
  for (const std::string& spec : Specs()) {
    SCOPED_TRACE(spec);
    SomeAsks stop;
    int games = 0;
    ArenaOptions options = {.variant = Variant::kFourTreasures,
                            .games = 16,
                            .opening_plies = 0,
                            .drawn_plies = 8,
                            .self_play = true,
                            .concurrent_games = 4,
                            .stop = stop.check()};
    options.on_game = [&](const proto::GameRecord&) {
      ++games;
      return absl::OkStatus();
    };
    const absl::StatusOr<ArenaResult> result =
        PlayArena(options, Factory(spec), Factory(spec), 2);
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(games, 0);
  }
}

TEST(StopTest, EndsTheMeasurementOfRegret) {
  const std::vector<SolvedPosition> positions =
      MakeSolvedPositions({.positions = 2});
  const std::unique_ptr<Player> player =
      Factory("mcts:sims=16000000")().value();
  EXPECT_TRUE(absl::IsCancelled(
      MeasureRegret(positions, 1, *player, [] { return true; }).status()));
}

}  // namespace
}  // namespace tara::eval
