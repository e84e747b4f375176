#include "tara/eval/rating/ratings.h"

#include <atomic>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

// A prior that says nothing.
constexpr double kNoPrior = 1e6;

Ratings Fit(const std::vector<std::string>& players,
            const std::vector<SeatResults>& results,
            const RatingOptions& options = {.prior_elo = kNoPrior}) {
  absl::StatusOr<Ratings> ratings = FitRatings(players, results, options);
  EXPECT_TRUE(ratings.ok()) << ratings.status();
  return *std::move(ratings);
}

// American League East 1987, wins of the home team (a row) and of the visitor
// (a column): Agresti 2002, "Categorical data analysis", table 10.10.
const std::vector<std::string>& Teams() {
  static const auto* const teams = new std::vector<std::string>{
      "Milwaukee", "Detroit",   "Toronto",  "New York",
      "Boston",    "Cleveland", "Baltimore"};
  return *teams;
}

std::vector<SeatResults> BaseballGames() {
  constexpr int kWinsAndLosses[7][7][2] = {
      {{0, 0}, {4, 3}, {4, 2}, {4, 3}, {6, 1}, {4, 2}, {6, 0}},
      {{3, 3}, {0, 0}, {4, 2}, {4, 3}, {6, 0}, {6, 1}, {4, 3}},
      {{2, 5}, {4, 3}, {0, 0}, {2, 4}, {4, 3}, {4, 2}, {6, 0}},
      {{3, 3}, {5, 1}, {2, 5}, {0, 0}, {4, 3}, {4, 2}, {6, 1}},
      {{5, 1}, {2, 5}, {3, 3}, {4, 2}, {0, 0}, {5, 2}, {6, 0}},
      {{2, 5}, {3, 3}, {3, 4}, {4, 3}, {4, 2}, {0, 0}, {2, 4}},
      {{2, 5}, {1, 5}, {1, 6}, {2, 4}, {1, 6}, {3, 4}, {0, 0}}};
  std::vector<SeatResults> results;
  for (int home = 0; home < 7; ++home) {
    for (int away = 0; away < 7; ++away) {
      if (home == away) continue;
      results.push_back({.first = home,
                         .second = away,
                         .wins = kWinsAndLosses[home][away][0],
                         .losses = kWinsAndLosses[home][away][1]});
    }
  }
  return results;
}

TEST(RatingsTest, TeamsAndTheHomeAdvantageAreAsPublished) {
  // Turner and Firth 2012, "Bradley-Terry models in R: the BradleyTerry2
  // package" (Journal of Statistical Software 48), section 4: abilities with
  // their standard errors against Baltimore, and of playing at home.
  constexpr std::pair<double, double> kPublished[] = {
      {1.6196, 0.3474}, {1.4754, 0.3446}, {1.3271, 0.3403},
      {1.2813, 0.3404}, {1.1438, 0.3378}, {0.7047, 0.3350}};
  const Ratings ratings =
      Fit(Teams(), BaseballGames(),
          {.anchors = {{.player = 6, .elo = 0}}, .prior_elo = kNoPrior});
  for (int team = 0; team < 6; ++team) {
    const auto& [ability, error] = kPublished[team];
    EXPECT_NEAR(ratings.Of(team).elo / kEloPerNat, ability, 0.001) << team;
    EXPECT_NEAR(ratings.Of(team).deviation / kEloPerNat, error, 0.001) << team;
  }
  EXPECT_EQ(ratings.Of(6).elo, 0);
  EXPECT_EQ(ratings.Of(6).deviation, 0);
  EXPECT_NEAR(ratings.first_seat.elo / kEloPerNat, 0.3023, 0.001);
  EXPECT_NEAR(ratings.first_seat.deviation / kEloPerNat, 0.1309, 0.001);
  EXPECT_EQ(ratings.draw_nu, 0);
}

TEST(RatingsTest, DifferencesDoNotDependOnTheAnchor) {
  const Ratings about_mean = Fit(Teams(), BaseballGames());
  const Ratings anchored =
      Fit(Teams(), BaseballGames(),
          {.anchors = {{.player = 2, .elo = 1500}}, .prior_elo = kNoPrior});
  double sum = 0;
  for (int i = 0; i < 7; ++i) {
    sum += about_mean.Of(i).elo;
    for (int j = 0; j < 7; ++j) {
      const RatingEstimate x = about_mean.Difference(i, j);
      const RatingEstimate y = anchored.Difference(i, j);
      EXPECT_NEAR(x.elo, y.elo, 1e-3);
      EXPECT_NEAR(x.deviation, y.deviation, 1e-3);
    }
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_NEAR(anchored.Of(2).elo, 1500, 1e-9);
}

TEST(RatingsTest, PointsAreThoseThatTheModelExpects) {
  // The likelihood equations (Davidson 1970, section 3): the points of each
  // player, of all who begin, and the draws are what the model expects.
  const std::vector<SeatResults> results = {
      {0, 1, 5, 4, 3}, {1, 0, 2, 5, 4}, {0, 2, 8, 3, 1}, {2, 1, 4, 6, 4},
      {1, 2, 3, 3, 6}, {2, 3, 7, 2, 3}, {3, 0, 3, 1, 9}};
  const Ratings ratings = Fit({"a", "b", "c", "d"}, results);
  std::vector<double> points(4);
  double first = 0, draws = 0;
  for (const SeatResults& r : results) {
    const double games = r.wins + r.draws + r.losses;
    const DavidsonChances p = OutcomeProbabilities(
        (ratings.Difference(r.first, r.second).elo + ratings.first_seat.elo) /
            kEloPerNat,
        std::log(ratings.draw_nu));
    const double more = (r.wins - r.losses) - games * (p.win - p.loss);
    points[r.first] += more;
    points[r.second] -= more;
    first += more;
    draws += r.draws - games * p.draw;
  }
  for (const double each : points) EXPECT_NEAR(each, 0, 1e-3);
  EXPECT_NEAR(first, 0, 0.05);  // but for the priors of these two
  EXPECT_NEAR(draws, 0, 0.1);
}

TEST(RatingsTest, WhoWinsEveryGameHasAFiniteRating) {
  const std::vector<SeatResults> results = {
      {.first = 0, .second = 1, .wins = 50},
      {.first = 1, .second = 0, .losses = 50},
      {.first = 1, .second = 2, .wins = 3, .losses = 1},
      {.first = 2, .second = 1, .wins = 1, .losses = 3}};
  const Ratings ratings = Fit({"best", "middle", "last"}, results, {});
  const RatingEstimate lead = ratings.Difference(0, 1);
  EXPECT_GT(lead.elo, 500);
  EXPECT_LT(lead.elo, 2500);
  EXPECT_GT(lead.deviation, 150);
  // The prior is worth less than a game where there are games.
  EXPECT_NEAR(ratings.Difference(1, 2).elo, kEloPerNat * std::log(3), 15);
}

TEST(RatingsTest, PlayersThatNoGamesJoinAreNamed) {
  const std::vector<std::string> players = {"a", "b", "c", "d"};
  const std::vector<SeatResults> results = {
      {.first = 2, .second = 0, .wins = 1},
      {.first = 1, .second = 3, .draws = 2},
      {.first = 0, .second = 1}};  // no game
  EXPECT_EQ(FitRatings(players, results).status(),
            absl::FailedPreconditionError(
                "ratings: the players form 2 groups without games between "
                "them: {a, c}, {b, d}"));
  EXPECT_TRUE(FitRatings(players, results, {.allow_parts = true}).ok());
}

// Draws the results of `games` games each way of each pair of players.
std::vector<SeatResults> DrawGames(const std::vector<double>& nats,
                                   double first_seat, double nu, int games,
                                   Random& random) {
  std::vector<SeatResults> results;
  const int players = static_cast<int>(nats.size());
  for (int i = 0; i < players; ++i) {
    for (int j = 0; j < players; ++j) {
      if (i == j) continue;
      const double d = nats[i] - nats[j] + first_seat;
      const double sum = std::exp(d / 2) + nu + std::exp(-d / 2);
      SeatResults result = {.first = i, .second = j};
      for (int game = 0; game < games; ++game) {
        const double u = random.Uniform() * sum;
        (u < nu                     ? result.draws
         : u < nu + std::exp(d / 2) ? result.wins
                                    : result.losses)++;
      }
      results.push_back(result);
    }
  }
  return results;
}

TEST(RatingsTest, IntervalsCoverTheTruthAsOftenAsTheySay) {
  const std::vector<double> nats = {0.9, 0.2, -0.3, -0.8};
  const double first_seat = 0.4;
  int covered = 0;
  int seats_covered = 0;
  int intervals = 0;
  constexpr int kTimes = 400;
  for (int time = 0; time < kTimes; ++time) {
    Random random(DeriveSeed(5, time, StreamPurpose::kTest));
    const Ratings ratings =
        Fit({"a", "b", "c", "d"},
            DrawGames(nats, first_seat, /*nu=*/0.6, /*games=*/20, random), {});
    const auto covers = [](const RatingEstimate& estimate, double truth) {
      return std::abs(estimate.elo - truth * kEloPerNat) <=
             1.96 * estimate.deviation;
    };
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < i; ++j) {
        ++intervals;
        covered += covers(ratings.Difference(i, j), nats[i] - nats[j]);
      }
    }
    seats_covered += covers(ratings.first_seat, first_seat);
  }
  // 95 %, but for three deviations of what chance leaves: those of 400 fits
  // for the seats, of somewhat more for the six differences of each.
  EXPECT_NEAR(static_cast<double>(covered) / intervals, 0.95, 0.02);
  EXPECT_NEAR(static_cast<double>(seats_covered) / kTimes, 0.95, 0.033);
}

TEST(RatingsTest, TheMeanOverVariantsHasTheVarianceOfAMean) {
  const std::vector<std::string> players = {"a", "b"};
  const Ratings one =
      Fit(players, {{.first = 0, .second = 1, .wins = 30, .losses = 10},
                    {.first = 1, .second = 0, .wins = 10, .losses = 30}});
  const Ratings other =
      Fit(players, {{.first = 0, .second = 1, .wins = 8, .losses = 12},
                    {.first = 1, .second = 0, .wins = 12, .losses = 8}});
  const RatingEstimate mean = MeanRatings({one, other}).Difference(0, 1);
  const RatingEstimate x = one.Difference(0, 1);
  const RatingEstimate y = other.Difference(0, 1);
  EXPECT_NEAR(mean.elo, (x.elo + y.elo) / 2, 1e-9);
  EXPECT_NEAR(mean.deviation, std::hypot(x.deviation, y.deviation) / 2, 1e-9);
}

// Mean variance of the differences of two players.
double MeanVariance(const Ratings& ratings) {
  double sum = 0;
  int pairs = 0;
  for (int i = 0; i < ratings.size(); ++i) {
    for (int j = 0; j < i; ++j, ++pairs) {
      sum += std::pow(ratings.Difference(i, j).deviation, 2);
    }
  }
  return sum / pairs;
}

// Adds a pair of games of i and j with the results expected, in 1/1000 games.
void AddExpected(int i, int j, const Ratings& ratings, double thousandths,
                 std::vector<SeatResults>& results) {
  for (const auto& [first, second] : {std::pair(i, j), std::pair(j, i)}) {
    const double d =
        (ratings.Difference(first, second).elo + ratings.first_seat.elo) /
        kEloPerNat;
    const double sum = std::exp(d / 2) + ratings.draw_nu + std::exp(-d / 2);
    results.push_back(
        {.first = first,
         .second = second,
         .wins = std::lround(thousandths * std::exp(d / 2) / sum),
         .draws = std::lround(thousandths * ratings.draw_nu / sum),
         .losses = std::lround(thousandths * std::exp(-d / 2) / sum)});
  }
}

TEST(RatingsTest, ThePairThatTellsMostIsChosen) {
  // a, b and c have played a lot, d a little and only c.
  Random random(3);
  std::vector<SeatResults> results =
      DrawGames({0.5, 0, -0.5}, 0.2, 0.5, 10000, random);
  results.push_back(
      {.first = 3, .second = 2, .wins = 3000, .draws = 1000, .losses = 2000});
  results.push_back(
      {.first = 2, .second = 3, .wins = 2000, .draws = 1000, .losses = 3000});
  const std::vector<std::string> players = {"a", "b", "c", "d"};
  const Ratings ratings = Fit(players, results);
  const double before = MeanVariance(ratings);
  const PairChoice choice = ChoosePairs(ratings, 1)[0];
  EXPECT_EQ(choice.other, 3);
  // The gain is what the mean variance of a fit with such a pair is lower by:
  // of a fit with 100 pairs, next to nothing beside the games there are, a
  // hundredth.
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      std::vector<SeatResults> more = results;
      AddExpected(i, j, ratings, 100, more);
      const double gain = (before - MeanVariance(Fit(players, more))) / 100;
      if (i == choice.player && j == choice.other) {
        EXPECT_NEAR(choice.gain, gain, 0.05 * gain);
      } else {
        EXPECT_LT(gain, 1.05 * choice.gain) << i << j;
      }
    }
  }
}

TEST(RatingsTest, PairsChosenTogetherDoNotAllAskTheSame) {
  // Three newcomers: one pair of games of each tells more than three of one.
  const Ratings ratings =
      Fit({"a", "b", "x", "y", "z"},
          {{.first = 0, .second = 1, .wins = 40, .losses = 40},
           {.first = 1, .second = 0, .wins = 40, .losses = 40}},
          {.allow_parts = true});
  const std::vector<PairChoice> chosen = ChoosePairs(ratings, 6);
  ASSERT_EQ(chosen.size(), 6u);
  std::vector<int> games(5);
  for (const PairChoice& choice : chosen) {
    ++games[choice.player];
    ++games[choice.other];
  }
  for (int newcomer = 2; newcomer < 5; ++newcomer) {
    EXPECT_GE(games[newcomer], 2) << newcomer;
  }
  for (int i = 1; i < 6; ++i) EXPECT_LE(chosen[i].gain, chosen[i - 1].gain);
}

TEST(RateByResultsTest, IsWhatFitRatingsFindsWithTheOthersGiven) {
  // A player with games against four that are anchored; so many games of those
  // with each other that they settle what beginning is worth: 52 % at equal
  // strength, 400 log10(52 / 48) = 13.9 Elo.
  const std::vector<double> elo = {300, 700, 1100, 1500};
  const double first_seat = 400 * std::log10(52.0 / 48);
  std::vector<SeatResults> games;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      const double d = (elo[i] - elo[j] + first_seat) / kEloPerNat;
      const auto wins =
          static_cast<int64_t>(std::llround(1e8 / (1 + std::exp(-d))));
      games.push_back({.first = i,
                       .second = j,
                       .wins = wins,
                       .losses = int64_t{100000000} - wins});
    }
  }
  games.push_back({.first = 4, .second = 0, .wins = 3});
  games.push_back({.first = 1, .second = 4, .wins = 1, .losses = 3});
  games.push_back({.first = 4, .second = 2, .wins = 1, .losses = 2});
  games.push_back({.first = 3, .second = 4, .wins = 2});
  std::vector<RatedResult> results;
  for (const SeatResults& game : games) {
    if (game.first != 4 && game.second != 4) continue;
    const bool began = game.first == 4;
    const int other = began ? game.second : game.first;
    const auto add = [&](int64_t count, double score) {
      for (int64_t i = 0; i < count; ++i) {
        results.push_back(
            {.opponent = {.elo = elo[other]}, .began = began, .score = score});
      }
    };
    add(game.wins, began ? 1 : 0);
    add(game.losses, began ? 0 : 1);
  }
  ASSERT_EQ(results.size(), 12u);
  const Ratings fitted =
      Fit({"a", "b", "c", "d", "person"}, games,
          {.anchors = {{0, 300}, {1, 700}, {2, 1100}, {3, 1500}}});
  const RatingEstimate rating = RateByResults(results, elo, first_seat);
  EXPECT_NEAR(rating.elo, fitted.Of(4).elo, 0.1);
  EXPECT_NEAR(rating.deviation, fitted.Of(4).deviation, 0.1);
}

TEST(RateByResultsTest, FewGamesTellLittle) {
  const std::vector<double> levels = {400, 800, 1200};
  // The prior: about the mean of the levels, 1000 wide about the mean of all
  // four, which is 1000 * sqrt(4 / 3) about the mean of the levels.
  const RatingEstimate none = RateByResults({}, levels, 0);
  EXPECT_NEAR(none.elo, 800, 1e-6);
  EXPECT_NEAR(none.deviation, 1154.7, 0.1);
  // Symmetric: a win and a loss against the middle one, or a draw.
  const RatedResult won = {.opponent = {.elo = 800}, .score = 1};
  RatedResult lost = won;
  lost.score = 0;
  RatedResult drawn = won;
  drawn.score = 0.5;
  EXPECT_NEAR(RateByResults({won, lost}, levels, 0).elo, 800, 1e-6);
  EXPECT_NEAR(RateByResults({drawn}, levels, 0).elo, 800, 1e-6);
  // Who only wins has a rating all the same, the higher the more games.
  const RatingEstimate one = RateByResults({won}, levels, 0);
  const RatingEstimate three = RateByResults({won, won, won}, levels, 0);
  EXPECT_GT(one.elo, 800);
  EXPECT_GT(three.elo, one.elo);
  EXPECT_LT(three.elo, 3000);
  EXPECT_GT(one.deviation, 500);
  // To begin is worth something: who lost from there is the weaker for it.
  lost.began = true;
  EXPECT_LT(RateByResults({lost}, levels, 100).elo,
            RateByResults({lost}, levels, 0).elo);
}

TEST(RateByResultsTest, OpponentsOfUncertainStrengthWidenTheInterval) {
  // 1,000 even games tell no more than how strong the opponent is.
  const std::vector<double> levels = {0};
  const std::vector<RatedResult> results(
      1000, {.opponent = {.elo = 0, .deviation = 50}, .score = 0.5});
  const RatingEstimate rating = RateByResults(results, levels, 0);
  EXPECT_NEAR(rating.deviation, std::hypot(50, kEloPerNat / std::sqrt(250)),
              0.1);
}

// --- Tournaments -------------------------------------------------------------

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

RatedPlayer PlayerOf(const std::string& spec) {
  RatedPlayer player = {
      MakeContestant(ParseTeamSpec(spec).value(), true).value()};
  player.name = spec;
  return player;
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
  const Ratings one = {.elo = Eigen::Vector2d(0, 80),
                       .covariance = Eigen::Vector2d(0, 100).asDiagonal()};
  Ratings other = {.elo = Eigen::Vector2d(0, 120),
                   .covariance = Eigen::Vector2d(0, 300).asDiagonal()};
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
  EXPECT_THAT(text, EndsWith("Not enough different games for a verdict, fewer "
                             "than 20: b over a (15).\n"));
  RatingTable table = TableByHand();
  table.variants[0].results[0].draws = 5;
  EXPECT_THAT(ReportRatings(table).text,
              EndsWith("The strongest, in Elo: b over a (100 [80, 120]).\n"));
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
