#include "tara/eval/arena/arena.h"

#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/symmetry.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/record/game_record.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

class ArenaTest : public testing::TestWithParam<VariantInfo> {
 protected:
  Variant variant() const { return GetParam().variant; }
};

INSTANTIATE_TEST_SUITE_P(AllVariants, ArenaTest, testing::ValuesIn(kVariants),
                         mcts::VariantTestName);

TEST_P(ArenaTest, OneOpeningIsPlayedFromBothSides) {
  // The same player that never draws, on both sides: the games of a pair are
  // one game, seen from either side.
  FixedPlayer a;
  FixedPlayer b;
  const ArenaResult result =
      Play({.variant = variant(), .games = 20, .opening_plies = 3}, a, b);
  ASSERT_EQ(result.played.size(), 20u);
  std::set<int> lengths_and_margins;
  for (size_t i = 0; i < result.played.size(); i += 2) {
    const ArenaGame& first = result.played[i];
    const ArenaGame& second = result.played[i + 1];
    EXPECT_EQ(first.pair, second.pair);
    EXPECT_TRUE(first.a_is_red);
    EXPECT_FALSE(second.a_is_red);
    EXPECT_EQ(first.margin, -second.margin);
    EXPECT_EQ(first.length, second.length);
    lengths_and_margins.insert(100 * first.length + first.margin);
  }
  EXPECT_EQ(result.score.mean, 0.5);
  EXPECT_EQ(result.margin.mean, 0);
  // The openings of different pairs differ.
  EXPECT_GT(lengths_and_margins.size(), 1u);
}

TEST_P(ArenaTest, ThePlayersChangePlacesWithoutChangingTheGames) {
  FixedPlayer first;
  FixedPlayer last(/*last=*/true);
  const ArenaOptions options = {.variant = variant(), .games = 20};
  const ArenaResult one = Play(options, first, last);
  const ArenaResult other = Play(options, last, first);
  EXPECT_EQ(one.wins, other.losses);
  EXPECT_EQ(one.draws, other.draws);
  EXPECT_NEAR(one.score.mean, 1 - other.score.mean, 1e-12);
  EXPECT_NEAR(one.margin.mean, -other.margin.mean, 1e-12);
  EXPECT_NEAR(one.score_as_red, 1 - other.score_as_blue, 1e-12);
}

TEST_P(ArenaTest, APlayerPlaysAllSeatsOfItsSide) {
  FixedPlayer a;
  FixedPlayer b(/*last=*/true);
  Play({.variant = variant(),
        .games = 2,
        .opening_plies = 0,
        .concurrent_games = 1},
       a, b);
  // One game after the other: A has Red first.
  std::vector<std::set<int>> seats = {{}, {}};
  bool second_game = false;
  for (const State& state : a.seen) {
    second_game = second_game || state.side() == kBlue;
    seats[second_game].insert(state.seat);
  }
  const bool doubles = GetParam().seats == 4;
  EXPECT_EQ(seats[0], (doubles ? std::set<int>{0, 2} : std::set<int>{0}));
  EXPECT_EQ(seats[1], (doubles ? std::set<int>{1, 3} : std::set<int>{1}));
}

TEST_P(ArenaTest, SeedsDecideTheGamesAndConcurrencyDoesNot) {
  ArenaOptions options = {.variant = variant(), .games = 30, .seed = 5};
  const auto margins = [&] {
    return Margins(Play(options, "random", "random"));
  };
  const std::vector<double> expected = margins();
  EXPECT_EQ(margins(), expected);
  options.concurrent_games = 3;
  EXPECT_EQ(margins(), expected);
  options.seed = 6;
  EXPECT_NE(margins(), expected);
}

TEST_P(ArenaTest, InMatchesTheTeamsAreRedInTurn) {
  const int per_match = GetParam().seats;
  const ArenaResult result =
      Play({.variant = variant(), .by_match = true, .games = 6 * per_match},
           "random", "random");
  ASSERT_EQ(result.games, 6 * per_match);
  EXPECT_EQ(result.matches.matches, 6);
  std::map<int, std::vector<ArenaGame>> matches;
  for (const ArenaGame& game : result.played) {
    matches[game.match].push_back(game);
  }
  ASSERT_EQ(matches.size(), 6u);
  int wins = 0;
  int losses = 0;
  for (const auto& [match, games] : matches) {
    ASSERT_EQ(static_cast<int>(games.size()), per_match);
    double lead = 0;
    for (int number = 0; number < per_match; ++number) {
      // A starts one match of each pair, B the other.
      EXPECT_EQ(games[number].a_is_red, match % 2 == number % 2);
      EXPECT_EQ(games[number].pair, match / 2 * per_match + number);
      lead += games[number].margin;
    }
    wins += lead > 0;
    losses += lead < 0;
  }
  EXPECT_EQ(result.matches.wins, wins);
  EXPECT_EQ(result.matches.losses, losses);
  EXPECT_EQ(result.matches.draws, 6 - wins - losses);
}

TEST_P(ArenaTest, MatchesOfAPairAreMirrorImagesToThePlayerOfBothSides) {
  FixedPlayer a;
  FixedPlayer b;
  const ArenaResult result =
      Play({.variant = variant(), .by_match = true, .games = 40}, a, b);
  EXPECT_EQ(result.matches.score.mean, 0.5);
  EXPECT_EQ(result.matches.lead.mean, 0);
  EXPECT_EQ(result.matches.wins, result.matches.losses);
}

TEST_P(ArenaTest, PlayersAreToldHowTheMatchStands) {
  FixedPlayer a;
  FixedPlayer b(/*last=*/true);
  const int per_match = GetParam().seats;
  const ArenaResult result = Play({.variant = variant(),
                                   .by_match = true,
                                   .games = 2 * per_match,
                                   .concurrent_games = 1},
                                  a, b);
  std::vector<mcts::MatchScore> expected;  // of each game, in the order of play
  for (const int match : {0, 1}) {
    double lead = 0;
    for (int number = 0; number < per_match; ++number) {
      for (const ArenaGame& played : result.played) {
        if (played.match != match || played.pair != number) continue;
        expected.push_back({.red_lead = played.a_is_red ? lead : -lead,
                            .games_left = per_match - 1 - number});
        lead += played.margin;
      }
    }
  }
  std::vector<mcts::MatchScore> told;
  for (const mcts::MatchScore& score : a.scores) {
    if (told.empty() || !(told.back() == score)) told.push_back(score);
  }
  EXPECT_EQ(told, expected);
}

TEST(ArenaBatchTest, GamesAreRoundedUpToWholePairsOfMatches) {
  const auto games = [](const ArenaOptions& options) {
    return Play(options, "random", "random").games;
  };
  EXPECT_EQ(games({.games = 3}), 4);
  EXPECT_EQ(games({.by_match = true, .games = 5}), 8);
  EXPECT_EQ(games({.variant = Variant::kFourTreasuresDoubles,
                   .by_match = true,
                   .games = 3}),
            8);
}

TEST(ArenaBatchTest, OnlyWholePairsOfMatchesCount) {
  const ArenaResult part = Play(
      {.by_match = true, .games = 40, .concurrent_games = 3}, Factory("random"),
      Factory("random"), 1,
      [](const ArenaProgress& progress) { return progress.games_done < 19; });
  EXPECT_GT(part.games, 0);
  EXPECT_LT(part.games, 20);
  EXPECT_EQ(part.games % 4, 0);
  EXPECT_EQ(part.matches.matches, part.games / 2);
}

TEST(ArenaBatchTest, GamesGoOnTogether) {
  FixedPlayer a;
  FixedPlayer b;
  Play({.games = 32, .concurrent_games = 32}, a, b);
  // After the first half batch the players have all games in turn.
  EXPECT_EQ(a.batches[0], 16u);
  EXPECT_EQ(b.batches[0], 32u);
  EXPECT_EQ(a.batches[1], 32u);
}

TEST(ArenaBatchTest, ACompensationCountsInEveryGame) {
  const ArenaOptions plain = {.variant = Variant::kFourTreasures, .games = 20};
  ArenaOptions given = plain;
  given.rule_options.compensation_halves = 23;
  const ArenaResult before = Play(plain, "random", "random");
  const ArenaResult after = Play(given, "random", "random");
  ASSERT_EQ(after.played.size(), before.played.size());
  for (size_t i = 0; i < after.played.size(); ++i) {
    EXPECT_EQ(
        after.played[i].margin,
        before.played[i].margin + (before.played[i].a_is_red ? -11.5 : 11.5));
  }
  EXPECT_EQ(after.draws, 0);
  EXPECT_LT(after.score_as_red, before.score_as_red);
}

TEST(ArenaBatchTest, AnOpeningNeverEndsTheGame) {
  FixedPlayer a;
  FixedPlayer b;
  const ArenaResult result = Play({.games = 4, .opening_plies = 1000}, a, b);
  EXPECT_EQ(result.games, 4);
  EXPECT_FALSE(a.seen.empty());
}

TEST(ArenaBatchTest, ProgressIsToldAndMayStopTheMatch) {
  int last = 0;
  const auto play = [&](int most) {
    last = 0;
    return Play({.games = 20, .concurrent_games = 4}, Factory("random"),
                Factory("random"), 1, [&](const ArenaProgress& progress) {
                  EXPECT_GE(progress.games_done, last);
                  EXPECT_EQ(progress.games, 20);
                  last = progress.games_done;
                  return last < most;
                });
  };
  const ArenaResult whole = play(21);
  EXPECT_EQ(last, 20);
  const ArenaResult part = play(10);
  EXPECT_LT(part.games, 20);
  EXPECT_EQ(part.games % 2, 0);
  // Only whole pairs count, and they are those of the whole match.
  for (const ArenaGame& game : part.played) {
    EXPECT_EQ(game.margin, whole.played[2 * game.pair + !game.a_is_red].margin);
  }
  const ArenaResult none = play(0);
  EXPECT_EQ(none.games, 0);
  EXPECT_EQ(none.score.low, 0);
  EXPECT_EQ(none.score.high, 1);
}

TEST(ArenaBatchTest, WithoutOpeningsGamesOfPlayersThatNeverDrawAreTwo) {
  FixedPlayer a;
  FixedPlayer b(/*last=*/true);
  const ArenaResult result = Play({.games = 40, .opening_plies = 0}, a, b);
  EXPECT_EQ(result.games, 40);
  EXPECT_EQ(result.distinct_games, 2);
  const ArenaResult pair = Play({.games = 2, .opening_plies = 0}, a, b);
  EXPECT_EQ(result.score.low, pair.score.low);
  EXPECT_EQ(result.score.high, pair.score.high);
}

TEST(ArenaBatchTest, OptionsOutOfRangeAreRefused) {
  FixedPlayer a;
  const auto error = [&](const ArenaOptions& options) {
    const absl::Status status = PlayArena(options, a, a).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(error({.games = 0}), "arena: games is 0; expected at least 1");
  EXPECT_EQ(error({.opening_plies = -1}),
            "arena: opening_plies is -1; expected at least 0");
  EXPECT_EQ(error({.opening_plies = 0, .sprt = SprtOptions()}),
            "arena: a sequential test assumes independent pairs, but without "
            "random actions (opening_plies 0) all pairs begin alike; expected "
            "at least 1, or no test");
  EXPECT_EQ(error({.concurrent_games = 0}),
            "arena: concurrent_games is 0; expected at least 1");
  EXPECT_EQ(error({.rule_options = {.no_progress_limit = 10}}),
            "arena: the rule option no_progress_limit does not apply to "
            "sacred_hill_l1");
  EXPECT_THAT(error({.sprt = SprtOptions{.elo0 = 5, .elo1 = 0}}),
              testing::HasSubstr("expected elo1 greater than elo0"));
}

TEST(ArenaBatchTest, APlayersErrorEndsTheMatch) {
  FixedPlayer a;
  FixedPlayer b;
  b.fail = true;
  EXPECT_EQ(PlayArena({}, a, b).status().message(), "told to fail");
}

// Plays the first legal action, each in the same time, or in what the budget
// says; notes the budgets.
class SlowPlayer : public Player {
 public:
  SlowPlayer(absl::Time* now, absl::Duration time) : now_(now), time_(time) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    EXPECT_EQ(turns.size(), 1u);
    EXPECT_TRUE(turns[0].may_ponder);
    EXPECT_TRUE(turns[0].budget.has_value());
    budgets.push_back(*turns[0].budget);
    *now_ += time_ == absl::ZeroDuration() ? budgets.back().limit : time_;
    actions[0] = LegalActions(turns[0].state).Nth(0);
    return absl::OkStatus();
  }

  std::vector<mcts::MoveBudget> budgets;

 private:
  absl::Time* const now_;
  const absl::Duration time_;
};

ArenaOptions WithClocks(const absl::Time& now,
                        const mcts::TimeControl& control) {
  return {.games = 4,
          .clocks = {{.control = control, .now = [&now] { return now; }}}};
}

TEST(ArenaClockTest, TheTimeOfMovesIsMeasuredForEitherPlayer) {
  absl::Time now;
  SlowPlayer a(&now, absl::Seconds(2));
  SlowPlayer b(&now, absl::Seconds(3));
  const ArenaResult result =
      Play(WithClocks(now, {.per_move = absl::Seconds(3)}), a, b);
  EXPECT_EQ(result.games, 4);
  EXPECT_EQ(result.clock_a.forfeits, 0);
  EXPECT_EQ(result.clock_b.forfeits, 0);  // 3 s is within 3 s
  EXPECT_EQ(result.clock_a.MeanMove(), absl::Seconds(2));
  EXPECT_EQ(result.clock_b.MeanMove(), absl::Seconds(3));
  EXPECT_EQ(result.clock_a.use.moves, a.budgets.size());
  int moves = 0;
  for (const ArenaGame& game : result.played) {
    EXPECT_EQ(game.time_a.moves + game.time_b.moves + 2, game.length);
    EXPECT_EQ(game.time_b.time, game.time_b.moves * absl::Seconds(3));
    moves += game.time_a.moves;
  }
  EXPECT_EQ(moves, a.budgets.size());
}

TEST(ArenaClockTest, WhoOverstepsTheTimeOfAMoveLosesByTwoPoints) {
  absl::Time now;
  SlowPlayer a(&now, absl::Milliseconds(2001));
  SlowPlayer b(&now, absl::Seconds(2));
  const ArenaResult result =
      Play(WithClocks(now, {.per_move = absl::Seconds(2)}), a, b);
  EXPECT_EQ(result.losses, 4);
  EXPECT_EQ(result.margin.mean, -2);
  EXPECT_EQ(result.clock_a.forfeits, 4);
  EXPECT_EQ(result.clock_b.forfeits, 0);
  for (const ArenaGame& game : result.played) {
    EXPECT_EQ(game.forfeit, Forfeit::kByA);
    EXPECT_EQ(game.margin, -kForfeitMargin);
    // The late action is not played: the opening's two, and one of B as Red.
    EXPECT_EQ(game.length, game.a_is_red ? 2 : 3);
  }
}

TEST(ArenaClockTest, EachGameHasItsOwnTime) {
  absl::Time now;
  // Some 24 moves a game of 10 s each: enough for a game, not for two. B has
  // used 300 s with its 31st move, which no game has.
  SlowPlayer a(&now, absl::Seconds(1));
  SlowPlayer b(&now, absl::Seconds(10));
  const ArenaResult enough =
      Play(WithClocks(now, {.per_game = absl::Seconds(300)}), a, b);
  EXPECT_EQ(enough.clock_b.forfeits, 0);
  EXPECT_GT(enough.clock_b.use.time, absl::Seconds(300));
  // The eleventh move is too late; an increment of 10 s saves it.
  const ArenaResult little =
      Play(WithClocks(now, {.per_game = absl::Seconds(100)}), a, b);
  EXPECT_EQ(little.clock_b.forfeits, 4);
  EXPECT_EQ(little.clock_b.use.moves, 44);
  EXPECT_EQ(little.wins, 4);
  const ArenaResult saved =
      Play(WithClocks(now, {.per_game = absl::Seconds(100),
                            .increment = absl::Seconds(10)}),
           a, b);
  EXPECT_EQ(saved.clock_b.forfeits, 0);
}

TEST_P(ArenaTest, WhoKeepsToTheLimitsNeverLosesOnTime) {
  for (const mcts::TimeControl& control :
       {mcts::TimeControl{.per_move = absl::Milliseconds(50)},
        mcts::TimeControl{.per_game = absl::Seconds(5)},
        mcts::TimeControl{.per_game = absl::Seconds(1),
                          .increment = absl::Milliseconds(100)}}) {
    absl::Time now;
    SlowPlayer a(&now, absl::ZeroDuration());
    SlowPlayer b(&now, absl::ZeroDuration());
    ArenaOptions options = WithClocks(now, control);
    options.variant = variant();
    const ArenaResult result = Play(options, a, b);
    EXPECT_EQ(result.clock_a.forfeits + result.clock_b.forfeits, 0);
    for (const mcts::MoveBudget& budget : a.budgets) {
      EXPECT_LE(budget.target, budget.limit);
      EXPECT_GE(budget.target, absl::ZeroDuration());
    }
  }
}

TEST(ArenaClockTest, ClocksChangeNothingForPlayersWithoutANotionOfTime) {
  absl::Time now;
  ArenaOptions options = {.games = 20, .seed = 9};
  const ArenaResult without = Play(options, "random", "greedy");
  options.clocks = WithClocks(now, {.per_game = absl::Seconds(1)}).clocks;
  const ArenaResult with = Play(options, "random", "greedy");
  EXPECT_EQ(Margins(with), Margins(without));
  EXPECT_EQ(without.clock_a.use.moves, 0);
  EXPECT_GT(with.clock_a.use.moves, 0);
}

TEST(ArenaClockTest, InMatchesAForfeitCountsAsItsPoints) {
  absl::Time now;
  SlowPlayer a(&now, absl::Seconds(1));
  SlowPlayer b(&now, absl::Seconds(9));
  ArenaOptions options = WithClocks(now, {.per_move = absl::Seconds(5)});
  options.by_match = true;
  const ArenaResult result = Play(options, a, b);
  EXPECT_EQ(result.matches.wins, 2);
  EXPECT_EQ(result.matches.lead.mean, 2 * kForfeitMargin);
}

TEST(SummarizeGamesTest, NumbersAreThoseOfTheGames) {
  // Pairs score 3/4, 1 and 1/4: mean 2/3. With a 0 and a 1 more they have mean
  // 3/5 and variance 0.165: 3 * 0.24 / 0.165 = 4.3636 trials, of which 2/3 has
  // the ends 0.16108 and 0.97651 by quantiles of the beta distribution.
  const ArenaResult result = SummarizeGames(
      {{.pair = 0, .a_is_red = true, .margin = 3, .length = 40},
       {.pair = 0, .a_is_red = false, .margin = 0, .length = 44},
       {.pair = 1, .a_is_red = true, .margin = 5, .length = 42},
       {.pair = 1, .a_is_red = false, .margin = 4, .length = 42},
       {.pair = 2, .a_is_red = true, .margin = 0, .length = 45},
       {.pair = 2, .a_is_red = false, .margin = -6, .length = 45}});
  EXPECT_EQ(result.games, 6);
  EXPECT_EQ(result.wins, 3);
  EXPECT_EQ(result.draws, 2);
  EXPECT_EQ(result.losses, 1);
  EXPECT_EQ(result.games_as_red, 3);
  EXPECT_EQ(result.wins_as_red, 2);
  EXPECT_EQ(result.draws_as_red, 1);
  EXPECT_NEAR(result.score.mean, 2.0 / 3, 1e-9);
  EXPECT_NEAR(result.score_as_red, 2.5 / 3, 1e-9);
  EXPECT_NEAR(result.score_as_blue, 1.5 / 3, 1e-9);
  EXPECT_NEAR(result.score.low, 0.16108, 1e-5);
  EXPECT_NEAR(result.score.high, 0.97651, 1e-5);
  EXPECT_NEAR(result.margin.mean, 1, 1e-9);
  // Margins of pairs 1.5, 4.5, -3: s^2 = (0.25 + 12.25 + 16) / 2 = 14.25, and
  // Student's t of 2 degrees of freedom.
  EXPECT_NEAR(result.margin.high - 1, 4.302653 * std::sqrt(14.25 / 3), 1e-5);
  EXPECT_NEAR(result.mean_length, 43, 1e-9);
}

// Games of the pair of matches number `match / 2`, of two games each; margins
// in the order of SummarizeGames: A as Red first, opening by opening.
std::vector<ArenaGame> PairOfMatches(int pair, std::vector<double> margins) {
  std::vector<ArenaGame> games;
  for (int i = 0; i < 4; ++i) {
    const bool a_is_red = i % 2 == 0;
    const int number = i / 2;
    games.push_back({.pair = 2 * pair + number,
                     .match = 2 * pair + (a_is_red != (number == 0)),
                     .a_is_red = a_is_red,
                     .margin = margins[i],
                     .length = 40});
  }
  return games;
}

TEST(SummarizeGamesTest, PointsOfAMatchAddUp) {
  // A starts: 3 as Red, then -5 as Blue: -2, lost though a game was won. B
  // starts: 4 as Blue, then -4 as Red: drawn. The pair scores 1/4.
  const std::vector<ArenaGame> first = PairOfMatches(0, {3, 4, -4, -5});
  const MatchResult one = SummarizeGames(first).matches;
  EXPECT_EQ(one.matches, 2);
  EXPECT_EQ(one.wins, 0);
  EXPECT_EQ(one.draws, 1);
  EXPECT_EQ(one.losses, 1);
  EXPECT_NEAR(one.score.mean, 0.25, 1e-9);
  EXPECT_NEAR(one.lead.mean, -1, 1e-9);
  // Another pair, of which A wins both by 1; and the first once more, as the
  // result of another variant. Pairs score 1/4, 1, 1/4: mean 1/2. With a 0 and
  // a 1 more their variance is 0.175: 3 * 0.25 / 0.175 = 4.2857 trials.
  std::vector<ArenaGame> all = first;
  for (const std::vector<ArenaGame>& games :
       {PairOfMatches(1, {3, 5, -4, -2}), first}) {
    all.insert(all.end(), games.begin(), games.end());
  }
  const MatchResult three = SummarizeGames(all).matches;
  EXPECT_EQ(three.matches, 6);
  EXPECT_EQ(three.wins, 2);
  EXPECT_NEAR(three.score.mean, 0.5, 1e-9);
  EXPECT_NEAR(three.score.high, 0.92447, 1e-5);
  EXPECT_NEAR(three.lead.mean, -1.0 / 3, 1e-9);
}

TEST(SummarizeGamesTest, IntervalsOfTheGamesOfMatchesAreOverPairsOfMatches) {
  // Who has lost the first game of a match wins the second: pairs of matches
  // are all alike, though games are not. Once by each player and by teams, of
  // which two pairs of matches share their openings.
  std::vector<ArenaGame> games;
  std::vector<ArenaGame> alike;
  for (int pair = 0; pair < 40; ++pair) {
    for (const ArenaGame& game : PairOfMatches(
             pair, pair % 2 == 0 ? std::vector<double>{3, 3, -3, -3}
                                 : std::vector<double>{-3, -3, 3, 3})) {
      games.push_back(game);
    }
    alike.push_back({.pair = pair, .a_is_red = true, .margin = 3});
    alike.push_back({.pair = pair, .a_is_red = false, .margin = -3});
  }
  const ArenaResult each = SummarizeGames(games);
  const ArenaResult expected = SummarizeGames(alike);
  EXPECT_EQ(each.score.low, expected.score.low);
  EXPECT_EQ(each.score.high, expected.score.high);
  EXPECT_EQ(each.margin.low, 0);
  EXPECT_EQ(each.margin.high, 0);
  const ArenaResult teams = SummarizeGames(games, 2);
  EXPECT_EQ(teams.margin.high, 0);
  EXPECT_LT(teams.score.low, each.score.low);
}

TEST(SummarizeGamesTest, TotalsKeepTheMatchesOfEachResultApart) {
  // Twice the same single pair: not one pair of matches of eight games.
  const std::vector<ArenaGame> once = PairOfMatches(0, {3, 3, 4, -3});
  std::vector<ArenaGame> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(SummarizeGames(twice).matches.matches, 4);
}

// --- Parallel arena ----------------------------------------------------------

TEST(ParallelArenaTest, TheNumberOfThreadsDoesNotChangeTheResult) {
  for (const ArenaOptions& options :
       {ArenaOptions{.variant = Variant::kHighKingsL2, .games = 22, .seed = 3},
        {.variant = Variant::kSacredHillDoublesL1,
         .by_match = true,
         .games = 50,
         .seed = 3}}) {
    const ArenaResult alone = Play(options, "random", "greedy");
    EXPECT_EQ(alone.matches.matches, options.by_match ? 14 : 0);
    // More threads than pairs, too.
    for (const int threads : {2, 3, 7, 50}) {
      const ArenaResult result = Play(options, "random", "greedy", threads);
      EXPECT_EQ(Margins(result), Margins(alone)) << threads;
      EXPECT_EQ(result.score.low, alone.score.low);
      EXPECT_EQ(result.matches.score.low, alone.matches.score.low);
      EXPECT_EQ(result.matches.lead.mean, alone.matches.lead.mean);
    }
  }
}

TEST(ParallelArenaTest, ASequentialTestEndsTheArenaTheSameOnAnyThreads) {
  // Greedy beats random by far more than 50 Elo.
  const ArenaOptions options = {.games = 10000,
                                .sprt = SprtOptions{.elo0 = 0, .elo1 = 50}};
  const ArenaResult alone = Play(options, "greedy", "random");
  ASSERT_TRUE(alone.sprt.has_value());
  EXPECT_EQ(alone.sprt->decision(), SprtDecision::kAcceptH1);
  EXPECT_LT(alone.games, 1000);
  EXPECT_EQ(alone.games, 2 * alone.sprt->pairs());
  for (const int threads : {2, 5}) {
    const ArenaResult result = Play(options, "greedy", "random", threads);
    EXPECT_EQ(Margins(result), Margins(alone)) << threads;
    EXPECT_EQ(result.sprt->llr(), alone.sprt->llr());
  }
  EXPECT_EQ(Play(options, "random", "greedy", 2).sprt->decision(),
            SprtDecision::kAcceptH0);
}

TEST(ParallelArenaTest, ATestOfMatchesCountsPairsOfMatches) {
  const ArenaResult result = Play({.by_match = true,
                                   .games = 40,
                                   .sprt = SprtOptions{.elo0 = 0, .elo1 = 1}},
                                  "greedy", "random", 2);
  EXPECT_EQ(result.sprt->decision(), SprtDecision::kUndecided);
  EXPECT_EQ(result.sprt->pairs(), 10);
  int half_points = 0;
  for (int i = 0; i < 5; ++i) half_points += i * result.sprt->counts()[i];
  EXPECT_EQ(half_points, 2 * result.matches.wins + result.matches.draws);
}

TEST(ParallelArenaTest, AnArenaGoesOnWhereItWasBrokenOff) {
  for (const bool by_match : {false, true}) {
    ArenaOptions options = {.by_match = by_match, .games = 40, .seed = 6};
    const ArenaResult whole = Play(options, "random", "greedy", 2);
    std::vector<ArenaGame> stored;
    options.on_game = [&](const proto::GameRecord& game) {
      stored.push_back(ArenaGameOf(game));
      return absl::OkStatus();
    };
    options.concurrent_games = 3;
    Play(options, Factory("random"), Factory("greedy"), 1,
         [&](const ArenaProgress& progress) {
           return progress.games_done < 17;
         });
    const size_t before = stored.size();
    ASSERT_GE(before, 17u);
    ASSERT_LT(before, 25u);
    options.earlier = stored;
    const ArenaResult resumed = Play(options, "random", "greedy", 2);
    EXPECT_EQ(Margins(resumed), Margins(whole)) << by_match;
    EXPECT_EQ(resumed.score.low, whole.score.low);
    // Nothing is played again but matches that were under way.
    EXPECT_GE(stored.size(), 40u);
    EXPECT_LE(stored.size(), 40u + 3 * by_match);
  }
}

TEST(ParallelArenaTest, TheFirstErrorEndsTheMatch) {
  ArenaOptions options = {.games = 1000000};
  const absl::Status missing = absl::NotFoundError("no such player");
  EXPECT_EQ(PlayArena(options, Factory("random"), FailingFactory(missing), 3)
                .status(),
            missing);
  // One thread's player fails, the others' would go on for long.
  std::atomic<int> made = 0;
  const auto one_fails = [&] {
    auto player = std::make_unique<FixedPlayer>();
    player->fail = made++ == 0;
    return player;
  };
  EXPECT_EQ(PlayArena(options, Factory("random"), one_fails, 3).status(),
            absl::InternalError("told to fail"));
  const absl::Status full = absl::ResourceExhaustedError("disk full");
  options.on_game = [&](const proto::GameRecord&) { return full; };
  EXPECT_EQ(
      PlayArena(options, Factory("random"), Factory("random"), 2).status(),
      full);
}

// --- Openings ----------------------------------------------------------------

Opening Next(Openings& openings) {
  absl::StatusOr<Opening> opening = openings.Next();
  EXPECT_TRUE(opening.ok()) << opening.status();
  return *std::move(opening);
}

TEST(ArenaOpeningsTest, NoPositionBeginsTwoPairs) {
  for (const VariantInfo& info : kVariants) {
    Openings openings({.variant = info.variant, .opening_plies = 2});
    std::set<uint64_t> seen;  // with all that symmetries make of them
    for (int i = 0; i < 300; ++i) {
      const Opening opening = Next(openings);
      EXPECT_FALSE(opening.state.finished());
      EXPECT_FALSE(seen.contains(mcts::HashState(opening.state))) << info.id;
      for (const Symmetry& symmetry : PositionSymmetries(info.variant)) {
        seen.insert(mcts::HashState(TransformState(symmetry, opening.state)));
      }
      State state = InitialState(info.variant, {});
      for (const Action action : opening.actions) {
        ASSERT_TRUE(PlayAction(action, state).ok());
      }
      EXPECT_EQ(state, opening.state);
    }
  }
}

TEST(ArenaOpeningsTest, AreLongerByDefaultWhereFewDiffer) {
  // Up to symmetry there are 263 openings of two actions in most variants, but
  // 72 (of three: 713) in Stone of Destiny, 90 (560) in Poisoned Chalice and 48
  // (146; of four 432) in the doubles of Sacred Hill.
  const std::map<Variant, int> longer = {{Variant::kStoneOfDestiny, 3},
                                         {Variant::kPoisonedChalice, 3},
                                         {Variant::kSacredHillDoublesL1, 4},
                                         {Variant::kSacredHillDoublesL2, 4}};
  for (const VariantInfo& info : kVariants) {
    const auto found = longer.find(info.variant);
    EXPECT_EQ(DefaultOpeningPlies(info.variant, {}),
              found == longer.end() ? 2 : found->second)
        << info.id;
  }
}

TEST(ArenaOpeningsTest, OpeningsGetLongerWhereNoneIsLeft) {
  Openings openings({.variant = Variant::kSacredHillL1, .opening_plies = 1});
  size_t longest = 1;
  for (int i = 0; i < 150; ++i) {
    const size_t plies = Next(openings).actions.size();
    EXPECT_GE(plies, longest);
    longest = plies;
  }
  EXPECT_EQ(longest, 2u);  // no variant has 150 first actions
}

TEST(ArenaOpeningsTest, WithoutPliesItIsAlwaysTheStart) {
  Openings openings({.opening_plies = 0});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Next(openings).state, InitialState(Variant::kSacredHillL1, {}));
  }
}

TEST(ArenaOpeningsTest, TheSeedSaysWhichOpenings) {
  const auto first = [](uint64_t seed) {
    Openings openings({.opening_plies = 4, .seed = seed});
    return Next(openings).state;
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_FALSE(first(1) == first(2));
}

// --- Stores ------------------------------------------------------------------

// Plays an arena of a random player and one that gives games up, in a store.
ArenaResult PlayInStore(ArenaOptions options, record::GameStore& store,
                        const proto::Contest& contest) {
  EXPECT_TRUE(ResumeFromStore(store, contest, options).ok());
  return Play(options, Factory("random"), FactoryOf<QuittingPlayer>(30));
}

std::vector<ArenaGame> EarlierIn(record::GameStore& store,
                                 const proto::Contest& contest) {
  ArenaOptions options;
  EXPECT_TRUE(ResumeFromStore(store, contest, options).ok());
  return options.earlier;
}

TEST(ArenaStoreTest, GamesComeBackAsTheyWere) {
  for (const bool by_match : {false, true}) {
    const auto store = StoreInMemory();
    const proto::Contest contest = NewContest("seed=1", "random", "quitter");
    const ArenaResult result =
        PlayInStore({.by_match = by_match, .games = 8}, *store, contest);
    ASSERT_EQ(result.games, 8);
    EXPECT_GT(result.faults_b, 0);
    const std::vector<ArenaGame> games = EarlierIn(*store, contest);
    ASSERT_EQ(games.size(), 8u);
    const auto all = [](const ArenaGame& game) {
      return std::tie(game.pair, game.match, game.a_is_red, game.margin,
                      game.length, game.forfeit, game.fault);
    };
    for (size_t i = 0; i < games.size(); ++i) {
      EXPECT_EQ(all(games[i]), all(result.played[i]));
      EXPECT_EQ(games[i].match >= 0, by_match);
    }
  }
}

TEST(ArenaStoreTest, RecordsFollowTheRulesAndNameTheirPlayers) {
  const auto store = StoreInMemory();
  const proto::Contest contest = NewContest("seed=1", "random", "quitter");
  PlayInStore({.games = 4}, *store, contest);
  std::set<std::string> models;
  const auto games = store->GamesOf("sacred_hill_l1", contest);
  ASSERT_EQ(games->size(), 4u);
  for (const proto::GameRecord& game : *games) {
    EXPECT_EQ(record::ValidateRecord(game), absl::OkStatus());
    EXPECT_EQ(game.opening_plies(), 2u);
    models.insert(game.model_id());
  }
  EXPECT_EQ(models,
            (std::set<std::string>{"random vs quitter", "quitter vs random"}));
}

TEST(ArenaStoreTest, TimesAreThoseOfTheSides) {
  proto::GameRecord game;
  game.mutable_result()->add_points(5);
  game.mutable_result()->add_points(0);
  game.mutable_result()->set_forfeited_by(1);
  game.add_moves(20);
  game.add_moves(21);
  game.add_time_us(1500);
  game.add_time_us(7);
  game.set_unrecorded_length(41);
  game.set_place(6);  // A is Red, in the fourth pair
  EXPECT_EQ(ArenaGameOf(game).pair, 3);
  EXPECT_EQ(ArenaGameOf(game).margin, 5);
  EXPECT_EQ(ArenaGameOf(game).forfeit, Forfeit::kByB);
  EXPECT_EQ(ArenaGameOf(game).time_a.moves, 20);
  EXPECT_EQ(ArenaGameOf(game).length, 41);
  game.set_place(7);
  EXPECT_EQ(ArenaGameOf(game).pair, 3);
  EXPECT_EQ(ArenaGameOf(game).margin, -5);
  EXPECT_EQ(ArenaGameOf(game).forfeit, Forfeit::kByA);
  EXPECT_EQ(ArenaGameOf(game).time_a.time, absl::Microseconds(7));
}

TEST(ArenaStoreTest, ContestsThatDifferInAnythingAreKeptApart) {
  const auto store = StoreInMemory();
  const proto::Contest contest = NewContest("seed=1", "random", "quitter");
  PlayInStore({.variant = Variant::kFourTreasures, .games = 2}, *store,
              contest);
  for (const proto::Contest& other :
       {contest, NewContest("seed=2", "random", "quitter"),
        NewContest("seed=1", "greedy", "quitter"),
        NewContest("seed=1", "random", "greedy")}) {
    // The first in another variant.
    EXPECT_TRUE(EarlierIn(*store, other).empty());
    PlayInStore({.games = 2}, *store, other);
    EXPECT_EQ(EarlierIn(*store, other).size(), 2u);
  }
  EXPECT_EQ(*store->Count({}), 10);
}

// --- Gates -------------------------------------------------------------------

std::vector<State> AllStarts() {
  std::vector<State> starts;
  for (const VariantInfo& info : kVariants) {
    starts.push_back(InitialState(info.variant));
  }
  return starts;
}

TEST(GateTest, HasAMatchFromEachStart) {
  State short_game = InitialState(Variant::kHighKingsL1);
  short_game.options.no_progress_limit = 5;
  const std::vector<ArenaOptions> matches = GateMatches(
      {.starts = {InitialState(Variant::kStoneOfDestiny), short_game},
       .games = 80,
       .max_drop_elo = 30});
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].variant, Variant::kStoneOfDestiny);
  EXPECT_EQ(matches[1].variant, Variant::kHighKingsL1);
  EXPECT_EQ(matches[1].rule_options.no_progress_limit, 5);
  for (const ArenaOptions& match : matches) {
    EXPECT_EQ(match.games, 80);
    EXPECT_EQ(match.sprt->elo0, -30);
    EXPECT_EQ(match.sprt->elo1, 0);
    EXPECT_TRUE(CheckSprtOptions(*match.sprt).ok());
  }
}

TEST(GateTest, TheErrorRateIsSharedByAllMatches) {
  const std::vector<State> starts = AllStarts();
  for (const size_t count : {size_t{1}, size_t{4}, starts.size()}) {
    double sum = 0;
    for (const ArenaOptions& match :
         GateMatches({.starts = {starts.begin(), starts.begin() + count},
                      .games = 10,
                      .max_drop_elo = 30})) {
      EXPECT_EQ(match.sprt->alpha, 0.05);
      sum += match.sprt->beta;
    }
    EXPECT_NEAR(sum, 0.05, 1e-12);
  }
}

TEST(GateTest, SeedsAreThoseOfNoOtherCandidateOrEvaluation) {
  std::set<uint64_t> seeds;
  for (uint64_t i = 0; i < 1000; ++i) {
    seeds.insert(GateMatches({.starts = {InitialState(Variant::kSacredHillL1)},
                              .games = 10,
                              .max_drop_elo = 30,
                              .run_seed = 7,
                              .candidate = i})[0]
                     .seed);
    seeds.insert(DeriveSeed(7, i, StreamPurpose::kArena));
  }
  EXPECT_EQ(seeds.size(), 2000u);
}

TEST(GateTest, AnEqualCandidateIsSeldomHeldBackInAnyOfTenVariants) {
  // Both games of a pair are won or lost by chance: a pair has 0, 1 or 2
  // points with chances 1/4, 1/2, 1/4.
  constexpr int kGates = 400;
  const std::vector<ArenaOptions> matches =
      GateMatches({.starts = AllStarts(), .games = 200, .max_drop_elo = 50});
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  int held_back = 0;
  for (int gate = 0; gate < kGates; ++gate) {
    bool weaker = false;
    for (const ArenaOptions& match : matches) {
      ArenaResult result;
      result.sprt.emplace(*match.sprt);
      for (int pair = 0; pair < match.games / 2; ++pair) {
        if (result.sprt->decision() != SprtDecision::kUndecided) break;
        result.sprt->Add(2 * static_cast<int>(random.Below(2)) +
                         2 * static_cast<int>(random.Below(2)));
      }
      weaker |= IsWeaker(result);
    }
    held_back += weaker;
  }
  // 5 % are promised; three standard deviations of a share of 400.
  EXPECT_LE(held_back, kGates * (0.05 + 3 * std::sqrt(0.05 * 0.95 / kGates)));
}

TEST(GateTest, OnlyAMatchThatAcceptsWeaknessShowsIt) {
  ArenaResult result;
  EXPECT_FALSE(IsWeaker(result));  // no test
  result.sprt.emplace(SprtOptions{.elo0 = -50, .elo1 = 0});
  EXPECT_FALSE(IsWeaker(result));  // undecided
  Sprt stronger = *result.sprt;
  for (int pair = 0; pair < 100; ++pair) {
    result.sprt->Add(0);
    stronger.Add(4);
  }
  EXPECT_TRUE(IsWeaker(result));
  result.sprt = stronger;
  EXPECT_FALSE(IsWeaker(result));
}

}  // namespace
}  // namespace tara::eval
