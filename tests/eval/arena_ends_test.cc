#include <atomic>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/threads.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

TEST(AdjudicationTest, WhatBothHaveProvedIsWhatTheyWouldHavePlayed) {
  int adjudicated = 0;
  for (const VariantInfo& info : kVariants) {
    ArenaOptions options = {.variant = info.variant, .games = 8};
    const auto play = [&] {
      return Play(options, "mcts:sims=60,utility=points",
                  "mcts:sims=30,utility=points");
    };
    const ArenaResult with = play();
    options.adjudicate = false;
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

TEST(AdjudicationTest, DifferentProofsAreNoProof) {
  ProvingPlayer four(4);
  ProvingPlayer five(5);
  EXPECT_EQ(Play({.games = 4}, four, five).adjudicated, 0);
  const ArenaResult result = Play({.games = 4}, five, five);
  EXPECT_EQ(result.adjudicated, 4);
  for (const ArenaGame& game : result.played) {
    EXPECT_EQ(game.adjudication, "proof");
    EXPECT_EQ(game.margin, game.a_is_red ? 5 : -5);
  }
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
