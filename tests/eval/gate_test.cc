#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

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
