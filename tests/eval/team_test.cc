// Teams of two players: their specs, who has which seat, and the arena.

#include "tara/eval/players/team.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/contest.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/mcts/time/time_manager.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Members(absl::string_view text) {
  const absl::StatusOr<TeamSpec> team = ParseTeamSpec(text);
  EXPECT_TRUE(team.ok()) << team.status();
  std::vector<std::string> members;
  if (!team.ok()) return members;
  for (const PlayerSpec& player : team->players) {
    members.push_back(player.text);
  }
  return members;
}

TEST(SetTeamsTest, ADeviceGetsMoreConcurrentGames) {
  const auto games_of = [](const std::string& a, const std::string& b) {
    ArenaOptions options = {.concurrent_games = 10};
    SetTeams(ParseTeamSpec(a).value(), ParseTeamSpec(b).value(), options);
    return options.concurrent_games;
  };
  EXPECT_EQ(games_of("net:x", "greedy"), 10);
  EXPECT_EQ(games_of("net:x,device=cuda", "greedy"), 80);
  EXPECT_EQ(games_of("greedy", "greedy+net:x,device=cuda"), 80);
  EXPECT_EQ(games_of("net:x,device=cuda", "engine:y"), 1);
}

TEST(TeamSpecTest, APlusSignBeforeAPlayerJoinsTwo) {
  EXPECT_THAT(Members("greedy"), ElementsAre("greedy"));
  EXPECT_THAT(Members("greedy+random"), ElementsAre("greedy", "random"));
  EXPECT_THAT(Members("mcts:sims=10,c_puct=2+net:runs/a,sims=5"),
              ElementsAre("mcts:sims=10,c_puct=2", "net:runs/a,sims=5"));
  EXPECT_THAT(Members("best:sims=9+best"), ElementsAre("best:sims=9", "best"));
  // Part of a path, of a number, of a quoted command.
  EXPECT_THAT(Members("net:runs/a+b"), ElementsAre("net:runs/a+b"));
  EXPECT_THAT(Members("net:runs/a+network"), ElementsAre("net:runs/a+network"));
  EXPECT_THAT(Members("mcts:c_puct=1e+1"), ElementsAre("mcts:c_puct=1e+1"));
  EXPECT_THAT(Members("engine:'a+greedy'+greedy"),
              ElementsAre("engine:'a+greedy'", "greedy"));
  EXPECT_THAT(Members("net:it's/a+random"),
              ElementsAre("net:it's/a", "random"));
  // The same player twice is that player.
  EXPECT_THAT(Members("greedy+greedy"), ElementsAre("greedy"));
}

TEST(TeamSpecTest, AQuotedPathIsOnePlayers) {
  const absl::StatusOr<TeamSpec> team =
      ParseTeamSpec("net:'a+greedy,b=c.tara',sims=2+random");
  ASSERT_TRUE(team.ok()) << team.status();
  ASSERT_EQ(team->players.size(), 2u);
  EXPECT_EQ(team->players[0].path, "a+greedy,b=c.tara");
  EXPECT_EQ(team->players[1].text, "random");
}

TEST(TeamSpecTest, WhatCannotBeIsRefused) {
  EXPECT_THAT(
      std::string(ParseTeamSpec("greedy+random+mcts").status().message()),
      HasSubstr("bad team 'greedy+random+mcts': 3 players"));
  EXPECT_THAT(std::string(ParseTeamSpec("greedy+mcts:x=1").status().message()),
              HasSubstr("bad player spec 'mcts:x=1'"));
  EXPECT_FALSE(ParseTeamSpec("").ok());
}

TEST(TeamSpecTest, TwoPlayersNeedAVariantInPairs) {
  const TeamSpec two = *ParseTeamSpec("greedy+random");
  const TeamSpec one = *ParseTeamSpec("greedy");
  for (const VariantInfo& info : kVariants) {
    EXPECT_TRUE(CheckTeam(one, info.variant).ok());
    EXPECT_EQ(CheckTeam(two, info.variant).ok(), info.seats == 4) << info.id;
  }
  EXPECT_EQ(CheckTeam(two, Variant::kPoisonedChalice).message(),
            "a team of two players, 'greedy+random', cannot play "
            "poisoned_chalice, where a side has one seat; expected one of "
            "sacred_hill_doubles_l1, sacred_hill_doubles_l2, "
            "four_treasures_doubles");
}

TEST(PlayerIdentityTest, IsWhatGamesDependOn) {
  const auto identity = [](absl::string_view team) {
    return PlayerIdentity(ParseTeamSpec(team).value());
  };
  EXPECT_EQ(identity("greedy").value_or(""), "greedy");
  EXPECT_EQ(identity("greedy+greedy").value_or(""), "greedy");
  EXPECT_EQ(identity("greedy+mcts:sims=5").value_or(""), "greedy+mcts:sims=5");
  // Engines say who they are; where they log has no part in it.
  EXPECT_EQ(identity("engine:tests/eval/fake_engine,start=300,log=/dev/null,"
                     "move=2")
                .value_or(""),
            "engine:tests/eval/fake_engine,move=2s (Fake 1.0)");
  EXPECT_FALSE(identity("engine:/no/such/engine").ok());
}

// Notes in which seats of which games it is asked.
class NotingPlayer : public Player {
 public:
  explicit NotingPlayer(std::map<std::pair<uint64_t, int>, std::string>* seats,
                        std::string name)
      : seats_(*seats), name_(std::move(name)) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (const Turn& turn : turns) {
      std::string& name = seats_[{turn.game, turn.state.seat}];
      EXPECT_TRUE(name.empty() || name == name_);
      name = name_;
    }
    return fixed_.ChooseActions(turns, actions);
  }

 private:
  std::map<std::pair<uint64_t, int>, std::string>& seats_;
  const std::string name_;
  FixedPlayer fixed_;
};

// Returns the players by seat, "ACBC", of the games of an arena of A with B
// against C with D, in the order in which they were begun.
std::vector<std::string> Seatings(ArenaOptions options, bool d_is_c) {
  std::map<std::pair<uint64_t, int>, std::string> seats;
  const auto note = [&](const std::string& name) {
    return std::make_unique<NotingPlayer>(&seats, name);
  };
  options.variant = Variant::kFourTreasuresDoubles;
  options.seatings_a = 2;
  options.seatings_b = d_is_c ? 1 : 2;
  const auto ab = NewTeamPlayer(note("A"), note("B"));
  const auto cd = d_is_c ? std::unique_ptr<Player>(note("C"))
                         : NewTeamPlayer(note("C"), note("D"));
  const absl::StatusOr<ArenaResult> result = PlayArena(options, *ab, *cd);
  EXPECT_TRUE(result.ok()) << result.status();
  std::map<uint64_t, std::string> games;
  for (const auto& [key, name] : seats) games[key.first] += name;
  std::vector<std::string> all;
  for (const auto& [game, names] : games) all.push_back(names);
  return all;
}

TEST(TeamArenaTest, EachOpeningIsPlayedWithPartnersSeatedEitherWay) {
  EXPECT_THAT(Seatings({.games = 1}, /*d_is_c=*/true),
              ElementsAre("ACBC", "CACB", "BCAC", "CBCA"));
  EXPECT_THAT(Seatings({.games = 1}, /*d_is_c=*/false),
              ElementsAre("ACBD", "CADB", "BCAD", "CBDA",  //
                          "ADBC", "DACB", "BDAC", "DBCA"));
}

TEST(TeamArenaTest, InMatchesEverybodyMovesOnByASeat) {
  EXPECT_THAT(Seatings({.by_match = true, .games = 1}, /*d_is_c=*/false),
              ElementsAre("ACBD", "CBDA", "BDAC", "DACB",  // A starts
                          "CADB", "ADBC", "DBCA", "BCAD",  // C starts
                          "BCAD", "CADB", "ADBC", "DBCA",  // B starts
                          "CBDA", "BDAC", "DACB", "ACBD",  // C starts
                          "ADBC", "DBCA", "BCAD", "CADB",  //
                          "DACB", "ACBD", "CBDA", "BDAC",  //
                          "BDAC", "DACB", "ACBD", "CBDA",  //
                          "DBCA", "BCAD", "CADB", "ADBC"));
}

TEST(TeamArenaTest, TheGamesOfAnOpeningCountAsOne) {
  const auto random = NewRandomPlayer();
  const ArenaOptions options = {
      .variant = Variant::kSacredHillDoublesL1, .games = 101, .seatings_a = 2};
  const auto team = NewTeamPlayer(NewRandomPlayer(), NewGreedyPlayer());
  const absl::StatusOr<ArenaResult> result = PlayArena(options, *team, *random);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->games, 104);  // whole openings, of four games
  EXPECT_EQ(result->pairs_per_opening, 2);
  // Both pairs of an opening as one, by hand.
  std::vector<ArenaGame> games = result->played;
  for (size_t i = 0; i < games.size(); ++i) EXPECT_EQ(games[i].pair, i / 2);
  // The interval of means of four games from that of pairs of equal score.
  const double width = result->score_high - result->score_low;
  const ArenaResult as_pairs = SummarizeGames(games);
  EXPECT_DOUBLE_EQ(as_pairs.score, result->score);
  EXPECT_NE(as_pairs.score_high - as_pairs.score_low, width);
}

TEST(TeamArenaTest, OneSidedGamesOfOpeningsAreNotTakenForMany) {
  // Two openings: all games of the first are won, all of the second lost. With
  // four games of an opening as one there are two values, 1 and 0: one of two
  // trials, which happens or is exceeded with 2.5 % at 1 - sqrt(0.975).
  std::vector<ArenaGame> games;
  for (int pair = 0; pair < 4; ++pair) {
    for (const bool a_is_red : {true, false}) {
      games.push_back({.pair = pair,
                       .a_is_red = a_is_red,
                       .margin = pair < 2 ? 3.0 : -3.0});
    }
  }
  const ArenaResult result = SummarizeGames(games, 2);
  EXPECT_EQ(result.score, 0.5);
  EXPECT_NEAR(result.score_low, 1 - std::sqrt(0.975), 1e-9);
  EXPECT_NEAR(result.score_high, std::sqrt(0.975), 1e-9);
  // Margins +3 and -3: s^2 = 18, t of one degree of freedom is 12.7062.
  EXPECT_NEAR(result.mean_margin_high, 12.7062 * 3, 0.001);
}

TEST(TeamArenaTest, WhatATeamCannotPlayIsRefused) {
  const auto random = NewRandomPlayer();
  const absl::Status two_seats =
      PlayArena({.variant = Variant::kSacredHillL1, .seatings_b = 2}, *random,
                *random)
          .status();
  EXPECT_EQ(two_seats.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(two_seats.message()),
              HasSubstr("cannot play sacred_hill_l1"));
  const absl::Status test = PlayArena({.variant = Variant::kSacredHillDoublesL1,
                                       .seatings_a = 2,
                                       .sprt = SprtOptions()},
                                      *random, *random)
                                .status();
  EXPECT_THAT(std::string(test.message()), HasSubstr("a sequential test"));
}

// Says of every position that its margin is proved.
class SurePlayer : public Player {
 public:
  explicit SurePlayer(std::optional<int> margin) : margin_(margin) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (const Turn& turn : turns) turn.report->proved_margin = margin_;
    return fixed_.ChooseActions(turns, actions);
  }

 private:
  const std::optional<int> margin_;
  FixedPlayer fixed_;
};

TEST(TeamArenaTest, ATeamHasProvedWhatBothPartnersHave) {
  const auto adjudicated = [](std::optional<int> first,
                              std::optional<int> second) {
    const auto team = NewTeamPlayer(std::make_unique<SurePlayer>(first),
                                    std::make_unique<SurePlayer>(second));
    SurePlayer other(0);
    return PlayArena({.variant = Variant::kSacredHillDoublesL2,
                      .games = 4,
                      .seatings_a = 2},
                     *team, other)
        ->adjudicated;
  };
  EXPECT_EQ(adjudicated(0, 0), 4);
  EXPECT_EQ(adjudicated(0, std::nullopt), 0);
  EXPECT_EQ(adjudicated(0, 1), 0);
}

TEST(TeamArenaTest, TeamsArePlayedByPlayersOfAnyKind) {
  absl::StatusOr<std::unique_ptr<Player>> team = NewPlayerFactory(
      ParseTeamSpec("mcts:sims=8+alphabeta:nodes=20").value())();
  ASSERT_TRUE(team.ok()) << team.status();
  const auto greedy = NewGreedyPlayer();
  for (const VariantInfo& info : kVariants) {
    if (info.seats != 4) continue;
    EXPECT_EQ(PlayArena({.variant = info.variant,
                         .games = 4,
                         .seatings_a = 2,
                         .clocks = GameClocks{*mcts::ParseTimeControl("50ms")}},
                        **team, *greedy)
                  ->games,
              4);
    EXPECT_EQ(PlayArena({.variant = info.variant, .games = 8, .seatings_a = 2},
                        **team, *greedy)
                  ->games,
              8);
  }
}

}  // namespace
}  // namespace tara::eval
