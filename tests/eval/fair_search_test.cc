#include "tara/eval/balance/fair_search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"

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

}  // namespace
}  // namespace tara::eval
