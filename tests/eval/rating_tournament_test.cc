#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/rating/ratings.h"
#include "tara/eval/report/report.h"
#include "tara/record/game_store.h"
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<record::GameStore> StoreInMemory() {
  return *record::OpenGameStore(":memory:", record::StoreMode::kReadWrite);
}

RatedPlayer PlayerOf(const std::string& spec) {
  const TeamSpec team = ParseTeamSpec(spec).value();
  return {.name = spec,
          .team = team,
          .identity = spec,
          .make = NewPlayerFactory(team)};
}

// Of players with their own names and identities.
RatedPlayer Named(const std::string& name, const PlayerFactory& make) {
  RatedPlayer player = PlayerOf("random");
  player.name = player.identity = name;
  player.make = make;
  return player;
}

// In a new store, if none is given.
RatingTable Rated(const std::vector<RatedPlayer>& players,
                  const RatingTournamentOptions& options,
                  record::GameStore* store = nullptr,
                  const RatingProgressCallback& on_progress = {}) {
  const auto own = StoreInMemory();
  return PlayRatingTournament(players, options, store ? *store : *own,
                              on_progress)
      .value();
}

RatingTournamentOptions TwoVariants(int games_per_player) {
  return {.games_per_player = games_per_player,
          .threads = 2,
          .arenas = {{.variant = Variant::kFourTreasures},
                     {.variant = Variant::kHighKingsL1}},
          .anchors = {{.player = 0, .elo = 0}}};
}

TEST(RatingTournamentTest, TeamsAreRatedAmongPlayers) {
  RatingTournamentOptions options = TwoVariants(40);
  options.arenas = {{.variant = Variant::kFourTreasuresDoubles}};
  const RatingTable table =
      Rated({PlayerOf("random"), PlayerOf("random+mcts:sims=60"),
             PlayerOf("mcts:sims=60")},
            options);
  const VariantRatings& variant = table.variants[0];
  EXPECT_GE(variant.games, 60);
  EXPECT_LT(variant.ratings.Of(0).elo, variant.ratings.Of(1).elo);
  EXPECT_LT(variant.ratings.Of(1).elo, variant.ratings.Of(2).elo);
  EXPECT_EQ(variant.faults, (std::vector<int64_t>{0, 0, 0}));
}

TEST(RatingTournamentTest, GamesThatWereGivenUpAreCounted) {
  const std::unique_ptr<record::GameStore> store = StoreInMemory();
  const RatedPlayer quitter = Named("quitter", FactoryOf<QuittingPlayer>(1));
  RatingTournamentOptions options = TwoVariants(8);
  options.arenas.resize(1);
  // What is in the store counts, too.
  for (int run = 0; run < 2; ++run) {
    const RatingTable table =
        Rated({PlayerOf("random"), quitter}, options, store.get());
    const VariantRatings& variant = table.variants[0];
    EXPECT_EQ(variant.faults, (std::vector<int64_t>{0, variant.games}));
  }
}

TEST(RatingTournamentTest, GamesOverAgainCountOnce) {
  RatingTournamentOptions options = TwoVariants(20);
  options.arenas = {{.variant = Variant::kFourTreasures, .opening_plies = 0}};
  const RatingTable table =
      Rated({Named("first", FactoryOf<FixedPlayer>(false)),
             Named("last", FactoryOf<FixedPlayer>(true))},
            options);
  EXPECT_EQ(table.variants[0].games, 20);
  EXPECT_EQ(table.variants[0].repeated_games, 18);
  EXPECT_THAT(ReportRatings(table).text, HasSubstr("20 (2 different)"));
}

TEST(RatingTournamentTest, StrongerPlayersHaveHigherRatings) {
  const RatingTable table =
      Rated({PlayerOf("random"), PlayerOf("greedy"), PlayerOf("mcts:sims=60")},
            TwoVariants(60));
  EXPECT_EQ(table.players,
            (std::vector<std::string>{"random", "greedy", "mcts:sims=60"}));
  ASSERT_EQ(table.variants.size(), 2u);
  for (const VariantRatings& variant : table.variants) {
    EXPECT_EQ(variant.ratings.Of(0).elo, 0);
    EXPECT_GE(variant.games, 90);  // 60 of each of three, two to a game
    EXPECT_LE(variant.games, 94);
    EXPECT_GT(variant.ratings.Of(2).elo, variant.ratings.Of(0).elo);
    int64_t games = 0;
    for (const SeatResults& result : variant.results) {
      games += result.wins + result.draws + result.losses;
    }
    EXPECT_EQ(games, variant.games);
  }
  EXPECT_NEAR(
      table.overall.Of(2).elo,
      MeanRatings({table.variants[0].ratings, table.variants[1].ratings})
          .Of(2)
          .elo,
      1e-9);
}

TEST(RatingTournamentTest, AFurtherPlayerPlaysOnlyWhatIsMissing) {
  const std::unique_ptr<record::GameStore> store = StoreInMemory();
  const RatingTournamentOptions options = TwoVariants(24);
  std::vector<RatedPlayer> players = {PlayerOf("random"), PlayerOf("greedy")};
  std::atomic<int64_t> wanted = 0;
  std::atomic<int> told = 0;
  const auto count = [&](const RatingProgress& progress) {
    wanted = progress.games_wanted;
    ++told;
    return true;
  };
  const RatingTable two = Rated(players, options, store.get(), count);
  EXPECT_EQ(wanted, 48);
  EXPECT_GT(told, 0);
  // Again: nothing is played, whatever the order, and the ratings are the same.
  told = 0;
  std::swap(players[0], players[1]);
  const RatingTable again = Rated(players, options, store.get(), count);
  EXPECT_EQ(told, 0);
  EXPECT_NEAR(again.overall.Difference(0, 1).elo,
              two.overall.Difference(1, 0).elo, 1e-3);
  players.push_back(PlayerOf("mcts:sims=5"));
  const RatingTable three = Rated(players, options, store.get(), count);
  for (const VariantRatings& variant : three.variants) {
    EXPECT_GE(variant.games, 36);
    // Most of the games are the newcomer's: the others have had theirs.
    int64_t of_newcomer = 0;
    for (const SeatResults& result : variant.results) {
      if (result.first != 2 && result.second != 2) continue;
      of_newcomer += result.wins + result.draws + result.losses;
    }
    EXPECT_GE(of_newcomer, (variant.games - 24) / 2);
  }
}

TEST(RatingTournamentTest, StoppedEarlyItRatesByWhatThereIs) {
  const std::unique_ptr<record::GameStore> store = StoreInMemory();
  const std::vector<RatedPlayer> players = {PlayerOf("random"),
                                            PlayerOf("greedy")};
  EXPECT_THAT(PlayRatingTournament(players, TwoVariants(10000), *store,
                                   [](const RatingProgress&) { return false; }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("{random}, {greedy}")));
  const RatingTable some = Rated(
      players, TwoVariants(10000), store.get(),
      [](const RatingProgress& progress) { return progress.games < 2500; });
  for (const VariantRatings& variant : some.variants) {
    EXPECT_GT(variant.games, 0);
    EXPECT_LT(variant.games, 5000);
  }
}

TEST(RatingTournamentTest, PlayersThatCannotBeToldApartAreRefused) {
  const std::unique_ptr<record::GameStore> store = StoreInMemory();
  const auto error = [&](const std::vector<RatedPlayer>& players) {
    return PlayRatingTournament(players, TwoVariants(2), *store).status();
  };
  EXPECT_EQ(
      error({PlayerOf("random")}),
      absl::InvalidArgumentError("ratings: 1 players; expected at least two"));
  EXPECT_EQ(
      error({PlayerOf("random"), PlayerOf("random")}),
      absl::InvalidArgumentError("ratings: two players of the name random"));
  RatedPlayer other = PlayerOf("random");
  other.name = "another";
  EXPECT_EQ(error({PlayerOf("random"), other}),
            absl::InvalidArgumentError(
                "ratings: random and another are the same player"));
  // A player's error ends it.
  const absl::Status missing = absl::NotFoundError("no such network");
  EXPECT_EQ(
      error({PlayerOf("random"), Named("missing", FailingFactory(missing))}),
      missing);
}

// Two players, b 100 above a; deviation 10 of b; in two variants.
RatingTable TableByHand() {
  const Ratings one({0, 80}, {0, 0, 0, 100});
  Ratings other({0, 120}, {0, 0, 0, 300});
  other.first_seat = {.elo = 30, .deviation = 10};
  other.draw_nu = 0.5;
  return {.players = {"a", "b"},
          .variants = {{.variant = Variant::kFourTreasures,
                        .ratings = one,
                        .results = {{0, 1, 3, 0, 5}},
                        .games = 8},
                       {.variant = Variant::kHighKingsL1,
                        .ratings = other,
                        .results = {{1, 0, 4, 2, 1}},
                        .games = 7}},
          .overall = MeanRatings({one, other}),
          .anchors = {{.player = 0, .elo = 0}}};
}

TEST(RatingReportTest, TheTableHasARowAPlayerAndAColumnAVariant) {
  // 1.96 * 10 = 20; over all sqrt(100 + 300) / 2 = 10. 0.5 / 2.5 = 20 %.
  const std::string text = ReportRatings(TableByHand()).text;
  EXPECT_THAT(text, HasSubstr("Elo with 95 % intervals; a 0\n"));
  EXPECT_THAT(text,
              HasSubstr("player        all  four_treasures  high_kings_l1\n"
                        "b       +100 +-20        +80 +-20      +120 +-34\n"
                        "a              +0              +0             +0\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("high_kings_l1"), HasSubstr("+30 +-20"),
                          HasSubstr("20.0")));
  EXPECT_THAT(text, EndsWith("There are not enough different games for a "
                             "verdict: 15 of the 20 that each of the two best "
                             "players needs.\n"));
  RatingTable table = TableByHand();
  table.variants[0].results[0].draws = 5;
  EXPECT_THAT(ReportRatings(table).text,
              EndsWith("b is the strongest: 100 Elo [80, 120] ahead of a, on "
                       "average over the variants.\n"));
}

TEST(RatingReportTest, ThePageHoldsTheReportAndWhatDrawsIt) {
  RatingTable table = TableByHand();
  table.players[1] = "</script>";
  const std::string page = ReportRatings(table).page();
  // b won 5 of 8 and 4 1/2 + 1 of 7 games against a.
  EXPECT_THAT(page, AllOf(HasSubstr("15 games. Elo"), HasSubstr("<figure"),
                          HasSubstr("&lt;/script>"), HasSubstr(">66.7<small>"),
                          HasSubstr(", 15 games"), Not(HasSubstr("{{"))));
}

TEST(RatingReportTest, JsonHasAllNumbers) {
  const auto json = nlohmann::json::parse(ReportRatings(TableByHand()).json);
  EXPECT_EQ(json["players"][1]["name"], "b");
  EXPECT_EQ(json["players"][1]["overall"]["elo"], 100);
  EXPECT_NEAR(json["players"][1]["overall"]["high"].get<double>(), 119.6, 0.01);
  EXPECT_EQ(json["players"][1]["variants"]["high_kings_l1"]["elo"], 120);
  EXPECT_EQ(json["covariance"][1][1], 100);
  EXPECT_EQ(json["anchors"][0]["player"], "a");
  EXPECT_EQ(json["variants"][1]["games"], 7);
  EXPECT_EQ(json["variants"][1]["draw_nu"], 0.5);
  EXPECT_EQ(json["variants"][0]["results"][0]["losses"], 5);
  EXPECT_EQ(json["variants"][1]["covariance"][1][1], 300);
  EXPECT_FALSE(json["players"][1].contains("run"));
}

}  // namespace
}  // namespace tara::eval
