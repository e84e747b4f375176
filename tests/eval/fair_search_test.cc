#include "tara/eval/balance/fair_search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/fair_study.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_store.h"

namespace tara::eval {
namespace {

// Games whose margins are normal, rounded to whole points. `adapts` is how far
// players who know of the points move the mean for each of them; `no_small`
// makes margins of 1 and 2 those of 3, as where kingdoms are scored.
struct Players {
  double mean;
  double deviation;
  double adapts = 0;
  bool no_small = false;

  int Margin(int halves, Random& random) const {
    const double normal =
        mean + adapts * halves / 2 + deviation * random.Normal();
    const int margin = static_cast<int>(std::lround(normal));
    if (no_small && margin != 0 && std::abs(margin) < 3) {
      return margin > 0 ? 3 : -3;
    }
    return margin;
  }

  int Result(int halves, Random& random) const {
    const int twice = 2 * Margin(halves, random);
    return (twice > halves) - (twice < halves);
  }

  // The first side's score, summed over all margins.
  double Score(int halves) const {
    const double centre = mean + adapts * halves / 2;
    const auto below = [&](double x) {
      return std::erfc((centre - x) / deviation / M_SQRT2) / 2;
    };
    double score = 0;
    for (int normal = -80; normal <= 80; ++normal) {
      int margin = normal;
      if (no_small && margin != 0 && std::abs(margin) < 3) {
        margin = margin > 0 ? 3 : -3;
      }
      const double share = below(normal + 0.5) - below(normal - 0.5);
      score +=
          2 * margin > halves ? share : (2 * margin == halves ? share / 2 : 0);
    }
    return score;
  }
};

FairSearch Search(const Players& players, int begin, int budget,
                  const CompensationRange& range, Random& random,
                  int* played = nullptr) {
  std::vector<int> margins;
  for (int i = 0; i < begin; ++i) margins.push_back(players.Margin(0, random));
  FairSearch search(margins, range);
  int games = 0;
  while (true) {
    const auto blocks = search.Next(budget - games);
    if (blocks.empty()) break;
    for (const CompensationBlock& block : blocks) {
      for (int i = 0; i < block.games; ++i) {
        search.Add(block.halves, players.Result(block.halves, random));
      }
      games += block.games;
    }
    search.Fit();
  }
  if (played != nullptr) *played = games;
  return search;
}

TEST(FairSearchTest, ManyGamesFindTheFairPoints) {
  Random random(1);
  int played = 0;
  const FairSearch search =
      Search({.mean = 2.6, .deviation = 6}, 2000, 20000, {}, random, &played);
  // Even at 2.6 points: 2.5 is the half point next to it.
  EXPECT_NEAR(search.estimate().halves, 5, 1);
  EXPECT_LE(search.estimate().low, 5);
  EXPECT_GE(search.estimate().high, 5);
  EXPECT_LE(search.estimate().high - search.estimate().low, 2);
  EXPECT_LE(played, 20000);
}

TEST(FairSearchTest, ASteepCurveEndsTheSearchEarly) {
  Random random(2);
  int played = 0;
  // Margins of 3 alone: with 2.5 points the first side wins all, with 3.5 none.
  const FairSearch search =
      Search({.mean = 3, .deviation = 0.01}, 50, 100000, {}, random, &played);
  EXPECT_EQ(search.estimate().halves, 6);
  EXPECT_LT(played, 2000);
}

TEST(FairSearchTest, WhatIsEvenWithoutPointsNeedsNone) {
  Random random(3);
  const FairSearch search =
      Search({.mean = 0, .deviation = 6}, 1000, 2000, {}, random);
  EXPECT_NEAR(search.estimate().halves, 0, 1);
  EXPECT_LE(search.estimate().low, 0);
  EXPECT_GE(search.estimate().high, 0);
}

TEST(FairSearchTest, AnAdvantageBeyondTheRangeLeavesItOpen) {
  Random random(4);
  const FairSearch search =
      Search({.mean = -20, .deviation = 3}, 200, 400, {}, random);
  EXPECT_LE(search.estimate().halves, -18);
  EXPECT_EQ(search.estimate().low, -25);
  EXPECT_TRUE(search.estimate().beyond);
  const FairSearch narrow = Search({.mean = 6, .deviation = 3}, 200, 400,
                                   {.low = -4, .high = 4}, random);
  EXPECT_EQ(narrow.estimate().halves, 4);
  EXPECT_EQ(narrow.estimate().high, 5);
  EXPECT_TRUE(narrow.estimate().beyond);
  for (const auto& [halves, games] : narrow.games()) {
    EXPECT_LE(std::abs(halves), 4);
  }
}

TEST(FairSearchTest, GamesThatAllEndAlikeAreASign) {
  // By six points; with them all are drawn, with half a point more or less one
  // side wins them all.
  FairSearch search(std::vector<int>(10, 6), {});
  EXPECT_EQ(search.estimate().halves, 12);
  // Nothing has been played with points: less or more may be as good.
  EXPECT_LT(search.estimate().low, 12);
  EXPECT_GT(search.estimate().high, 12);
  EXPECT_GE(search.estimate().low, 0);
  int played = 0;
  while (true) {
    const auto blocks = search.Next(1000 - played);
    if (blocks.empty()) break;
    for (const CompensationBlock& block : blocks) {
      for (int i = 0; i < block.games; ++i) {
        search.Add(block.halves, block.halves < 12 ? 1 : -(block.halves > 12));
      }
      played += block.games;
    }
    search.Fit();
  }
  EXPECT_EQ(search.estimate().halves, 12);
  EXPECT_EQ(search.estimate().low, 12);
  EXPECT_EQ(search.estimate().high, 12);
}

TEST(FairSearchTest, FewestPointsOfThoseThatAreAlike) {
  Random random(5);
  // Half a point to 2.5 are the same: 54 of 100 games won. None: 57.
  std::vector<int> margins;
  for (int i = 0; i < 100; ++i)
    margins.push_back(i < 54 ? 3 : (i < 60 ? 0 : -3));
  const FairSearch search(margins, {});
  EXPECT_EQ(search.estimate().halves, 1);
}

TEST(FairSearchTest, TheNextGamesLieAroundTheEstimate) {
  const FairSearch search({-3, -2, 1, 2, 4, 5, 6, 9}, {});
  const auto blocks = search.Next(1000);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].games + blocks[1].games, kSearchBlock);
  EXPECT_EQ(blocks[0].halves, search.estimate().halves - 6);
  EXPECT_EQ(blocks[1].halves, search.estimate().halves + 6);
  EXPECT_TRUE(search.Next(0).empty());
  const auto last = search.Next(5);
  EXPECT_EQ(last[0].games + last[1].games, 5);
}

// The interval is to hold a compensation as near to even as any, of 95 % and
// more of all searches, whether players move the curve when they know of the
// points, and where it has steps, too.
TEST(FairSearchTest, ItsIntervalCoversTheTruth) {
  Random random(6);
  for (const Players& players : {
           Players{.mean = 2.3, .deviation = 6},
           Players{.mean = -3.2, .deviation = 8, .adapts = 0.2},
           Players{.mean = 0.2, .deviation = 5, .no_small = true},
           Players{
               .mean = 1.5, .deviation = 6, .adapts = 0.3, .no_small = true},
           Players{.mean = 6, .deviation = 6, .adapts = -0.2},
           Players{.mean = 9, .deviation = 3},
       }) {
    double nearest = 1;
    for (int c = -24; c <= 24; ++c) {
      nearest = std::min(nearest, std::abs(players.Score(c) - 0.5));
    }
    constexpr int kSearches = 250;
    int covered = 0;
    double width = 0;
    double lost = 0;
    for (int i = 0; i < kSearches; ++i) {
      const CompensationEstimate estimate =
          Search(players, 200, 400, {}, random).estimate();
      bool holds = false;
      for (int c = estimate.low; c <= estimate.high; ++c) {
        holds |= std::abs(players.Score(c) - 0.5) <= nearest + kScoreTolerance;
      }
      covered += holds;
      width += (estimate.high - estimate.low) / 2.0 / kSearches;
      lost += (std::abs(players.Score(estimate.halves) - 0.5) - nearest) /
              kSearches;
    }
    const std::string name = testing::PrintToString(players.mean) + " +- " +
                             testing::PrintToString(players.deviation);
    // The figures of docs/explanation/statistics.md.
    EXPECT_GE(covered, 0.98 * kSearches) << name;
    EXPECT_LE(width, 4.5) << name;
    EXPECT_LE(lost, 0.025) << name;
    std::printf("%s: covered %.1f %%, width %.2f points, lost %.1f %%\n",
                name.c_str(), 100.0 * covered / kSearches, width, 100 * lost);
  }
}

// --- Fair study --------------------------------------------------------------

absl::StatusOr<std::unique_ptr<Player>> Searcher() {
  return NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                         {.search = {.simulations = 4}, .reuse = true});
}

// What the positions of FirstPlayer are worth to Red: the fewer hills of Red's
// and the more of Blue's have high numbers, the better.
float RedValue(const State& state) {
  float value = 0;
  for (int hill = 0; hill < 45; ++hill) {
    const Board board = BoardOf(static_cast<Hill>(hill));
    if ((state.ringforts[kRed] & board) != 0) value -= 0.001f * hill;
    if ((state.ringforts[kBlue] & board) != 0) value += 0.001f * hill;
  }
  return value;
}

// Plays the first legal action; every other has this share of its policy.
class FirstPlayer : public Player {
 public:
  explicit FirstPlayer(float others) : others_(others) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      const LegalSet legal = LegalActions(turns[i].state);
      actions[i] = legal.Nth(0);
      if (turns[i].report == nullptr) continue;
      const int count = legal.Count();
      const float others = std::min(others_, 1.0f / count);
      turns[i].report->policy.assign(count, others);
      turns[i].report->policy[0] = 1 - others * (count - 1);
      const float red = RedValue(turns[i].state);
      turns[i].report->value = turns[i].state.side() == kRed ? red : -red;
    }
    return absl::OkStatus();
  }

 private:
  const float others_;
};

PlayerFactory First(float others) {
  return [others]() -> absl::StatusOr<std::unique_ptr<Player>> {
    return std::make_unique<FirstPlayer>(others);
  };
}

std::unique_ptr<record::GameStore> Open(const std::string& path) {
  return record::OpenGameStore(path, record::StoreMode::kExclusive).value();
}

const BalanceStudyKey kKey = {.options = {.variant = Variant::kPoisonedChalice},
                              .player = "mcts:sims=4",
                              .identity = "mcts:sims=4"};
constexpr FairPlan kPlan = {
    .games = 40, .pie = true, .pie_with_compensation = true};

// Plays a study and what makes it fair; stops after so many games of the
// latter, if it is not negative.
std::vector<FairResult> RunFair(record::GameStore& store, int threads,
                                int stop_after = -1, int* played = nullptr) {
  const auto driver = BalanceDriver::Create(Searcher, threads, 4).value();
  const BalanceStudy study =
      RunBalanceStudy({.games = 20, .first_games = 0}, kKey, *driver, store, {})
          .value();
  const auto count = [&] { return static_cast<int>(*store.Count({})); };
  const int before = count();
  auto results =
      RunFairStudy(kPlan, kKey, study, *driver, store,
                   [&](const BalanceProgress& progress) {
                     EXPECT_LE(progress.games_done, progress.games);
                     return stop_after < 0 || count() - before < stop_after;
                   })
          .value();
  if (played != nullptr) *played = count() - before;
  return results;
}

TEST(FairStudyTest, TriesCompensationPieRuleAndBoth) {
  const auto store = Open(":memory:");
  const std::vector<FairResult> results = RunFair(*store, 2);
  ASSERT_EQ(results.size(), 3u);
  for (const FairResult& result : results) {
    EXPECT_EQ(result.games.size(), 40u);
    EXPECT_EQ(result.from.rule_options, RuleOptions());
    EXPECT_EQ(result.options.rule_options.compensation_halves,
              result.estimate.halves);
    int tried = 0;
    for (const auto& [halves, games] : result.tried) tried += games.games();
    // Those without compensation are among them: the study's, or the fresh
    // ones with the pie rule.
    if (result.searched) {
      EXPECT_EQ(tried, result.search_games +
                           (result.options.rule_options.pie_rule ? 40 : 20));
    }
  }
  EXPECT_TRUE(results[0].searched);
  EXPECT_FALSE(results[0].options.rule_options.pie_rule);
  EXPECT_FALSE(results[1].searched);
  EXPECT_TRUE(results[1].options.rule_options.pie_rule);
  EXPECT_TRUE(results[2].searched);
  EXPECT_TRUE(results[2].options.rule_options.pie_rule);
}

TEST(FairStudyTest, FreshGamesHadNoPartInTheSearch) {
  const auto store = Open(":memory:");
  const std::vector<FairResult> results = RunFair(*store, 2);
  for (const FairResult& result : results) {
    for (const GameFacts& game : result.games) {
      EXPECT_GE(game.id.index, kFreshIndex);
      // With both, the search began with the pie rule's fresh games.
      EXPECT_EQ(game.id.index >= kFreshCompensationIndex, result.searched);
    }
  }
}

TEST(FairStudyTest, GoesOnWhereItWasBrokenOffWithTheSameResult) {
  const auto memory = Open(":memory:");
  const std::vector<FairResult> whole = RunFair(*memory, 1);
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/fair.db");
  std::remove(path.c_str());
  int before = 0;
  // In the first search, in its fresh games, and in the last search.
  for (const int stop_after : {10, 60, 80}) {
    const auto store = Open(path);
    int played = 0;
    RunFair(*store, 2, stop_after, &played);
    EXPECT_GE(played, stop_after);
    before += played;
  }
  const auto store = Open(path);
  int played = 0;
  const std::vector<FairResult> resumed = RunFair(*store, 2, -1, &played);
  ASSERT_EQ(resumed.size(), whole.size());
  int all = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(resumed[i].estimate.halves, whole[i].estimate.halves);
    EXPECT_EQ(resumed[i].estimate.low, whole[i].estimate.low);
    EXPECT_EQ(resumed[i].estimate.high, whole[i].estimate.high);
    EXPECT_EQ(resumed[i].search_games, whole[i].search_games);
    ASSERT_EQ(resumed[i].games.size(), whole[i].games.size());
    for (size_t game = 0; game < whole[i].games.size(); ++game) {
      EXPECT_EQ(resumed[i].games[game].actions, whole[i].games[game].actions);
    }
    all += whole[i].search_games + 40;
  }
  EXPECT_EQ(before + played, all);
  RunFair(*store, 2, -1, &played);
  EXPECT_EQ(played, 0);
}

TEST(OpeningChoiceTest, IsTheLowestTemperatureThatKeepsGamesDifferent) {
  const auto store = Open(":memory:");
  const auto choose = [&](const PlayerFactory& make,
                          const std::string& identity, int games) {
    const auto driver = BalanceDriver::Create(make, 1, 16).value();
    BalanceStudyKey key = kKey;
    key.identity = identity;
    key.options.variant = Variant::kSacredHillL1;
    return **ChooseOpenings(games, key, *driver, *store, {});
  };
  // The same at any temperature: each action as likely as another.
  const OpeningChoice open = choose(First(1), "open", 400);
  EXPECT_EQ(open.temperature, 0.1);
  EXPECT_EQ(open.drawn_plies, 8);
  EXPECT_LE(open.repeated, kMostRepeated);
  // At T = 1 (1 - 44 / 1000)^8 = 70 % of the games are the same one.
  const OpeningChoice sure = choose(First(0.001f), "sure", 400);
  EXPECT_GT(sure.temperature, 1);
  EXPECT_LE(sure.repeated, kMostRepeated);
  // At T = 4 others have 1e-12^(1/4) = 0.001 each, as before at 1: with twice
  // as many drawn actions 50 % of the games are the same, with four times 25 %.
  const OpeningChoice too_sure = choose(First(1e-12f), "too sure", 400);
  EXPECT_EQ(too_sure.drawn_plies, 32);
  EXPECT_EQ(too_sure.temperature, 4);
  EXPECT_GT(too_sure.repeated, kMostRepeated);
  const OpeningChoice longer = choose(First(1e-6f), "longer", 400);
  EXPECT_GE(longer.drawn_plies, 8);
  EXPECT_LE(longer.repeated, kMostRepeated);
}

TEST(OpeningCostTest, IsWhatThePlayerHoldsDrawnActionsToGiveAway) {
  const auto driver = BalanceDriver::Create(First(1), 1, 4).value();
  const auto store = Open(":memory:");
  BalanceStudyKey key = kKey;
  key.options.variant = Variant::kFourTreasures;
  const BalanceStudy study =
      RunBalanceStudy({.games = 20, .first_games = 0}, key, *driver, *store, {})
          .value();
  const auto cost = OpeningCost(study, driver->player(), {}).value();
  ASSERT_TRUE(cost.has_value());
  // The same by replaying each game.
  double red = 0;
  double blue = 0;
  for (const GameFacts& game : study.games) {
    State state = InitialState(Variant::kFourTreasures);
    for (int ply = 0; ply < 8; ++ply) {
      State chosen = state;
      ApplyAction(LegalActions(state).Nth(0), chosen);
      State played = state;
      ApplyAction(game.actions[ply], played);
      const double loss = (RedValue(chosen) - RedValue(played)) / 2;
      (state.side() == kRed ? red : blue) +=
          (state.side() == kRed ? loss : -loss) / 20;
      state = played;
    }
  }
  EXPECT_GT(red, 0);
  EXPECT_NEAR((*cost)[0].mean, red, 1e-5);
  EXPECT_NEAR((*cost)[1].mean, blue, 1e-5);
}

TEST(OpeningCostTest, IsUnknownWithoutDrawnActionsOrValues) {
  const auto store = Open(":memory:");
  const auto driver = BalanceDriver::Create(
                          []() -> absl::StatusOr<std::unique_ptr<Player>> {
                            return NewGreedyPlayer();
                          },
                          1, 4)
                          .value();
  BalanceStudyKey key = kKey;
  key.options.opening_plies = 2;
  const BalanceStudy study =
      RunBalanceStudy({.games = 3, .first_games = 0}, key, *driver, *store, {})
          .value();
  EXPECT_FALSE(OpeningCost(study, driver->player(), {}).value().has_value());
}

}  // namespace
}  // namespace tara::eval
