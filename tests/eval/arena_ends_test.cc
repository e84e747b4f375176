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
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;

TEST(AdjudicationTest, WhatBothHaveProvedIsWhatTheyWouldHavePlayed) {
  int adjudicated = 0;
  for (const VariantInfo& info : kVariants) {
    ArenaOptions options = {.variant = info.variant, .games = 8};
    const auto play = [&] {
      return Play(options, "mcts:sims=60,utility=points",
                  "mcts:sims=30,utility=points");
    };
    const ArenaResult with = play();
    options.adjudication.proof = false;
    const ArenaResult without = play();
    EXPECT_EQ(without.adjudicated, 0);
    EXPECT_EQ(Margins(with), Margins(without)) << info.id;
    for (size_t i = 0; i < with.played.size(); ++i) {
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
  const OpeningJudge judge =
      NewOpeningJudge(Factory("mcts:sims=100")().value());
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
  EXPECT_THAT(judge(InitialState(Variant::kFourTreasures, {}), random),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("estimates no value")));
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

// Plays such an arena, which is stopped before a game is over.
void ExpectStopped(ArenaOptions options, const std::string& spec,
                   int threads = 1) {
  SCOPED_TRACE(spec);
  SomeAsks stop;
  options.stop = stop.check();
  options.on_game = [](const proto::GameRecord&) {
    return absl::InternalError("a game was played");
  };
  const TeamSpec team = ParseTeamSpec(spec).value();
  SetTeams(team, team, options);
  EXPECT_EQ(Play(options, spec, spec, threads).games, 0);
  EXPECT_TRUE(stop.asked());
}

TEST(StopTest, EndsArenasWhoeverThinks) {
  const Variant variant = Variant::kFourTreasures;
  for (const std::string& spec : Specs()) {
    for (const int threads : {1, 3}) {
      ExpectStopped({.variant = variant, .games = 12, .concurrent_games = 2},
                    spec, threads);
    }
    ExpectStopped(
        {.variant = variant,
         .games = 2,
         .clocks = GameClocks{.control = {.per_game = absl::Hours(1000)}}},
        spec);
    ExpectStopped({.variant = variant,
                   .games = 16,
                   .opening_plies = 0,
                   .drawn_plies = 8,
                   .self_play = true,
                   .concurrent_games = 4},
                  spec, 2);
  }
  ExpectStopped({.variant = Variant::kSacredHillDoublesL1, .games = 8},
                "random+mcts:sims=16000000");
}

TEST(StopTest, EndsTheJudgeOfOpenings) {
  SomeAsks stop;
  EXPECT_EQ(Play({.variant = Variant::kFourTreasures,
                  .games = 4,
                  .opening_judge = NewOpeningJudge(
                      Factory("mcts:sims=16000000")().value(), stop.check()),
                  .stop = stop.check()},
                 "random", "random")
                .games,
            0);
}

// What a thread thinks about is broken off when another one ends the games.
TEST(StopTest, OneThreadsEndEndsTheOthersChoices) {
  std::atomic<int> made = 0;
  const PlayerFactory one_thinks = [&]() {
    return made++ == 0 ? Factory("mcts:sims=16000000")() : Factory("random")();
  };
  std::atomic<int> games = 0;
  Play({.variant = Variant::kFourTreasures,
        .games = 1000,
        .concurrent_games = 1},
       one_thinks, Factory("random"), 2, [&](const ArenaProgress& progress) {
         games = progress.games_done;
         return games < 10;
       });
  EXPECT_GE(games, 10);
}

}  // namespace
}  // namespace tara::eval
