// Players are as strong as they should be, with fixed seeds.

#include "gtest/gtest.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

class StrengthTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, StrengthTest,
                         testing::ValuesIn(kVariants), mcts::VariantTestName);

TEST_P(StrengthTest, SearchesBeatRandomPlay) {
  // The alpha-beta search with 8000 nodes beats mcts:sims=1000.
  const ArenaOptions options = {.variant = GetParam().variant, .games = 20};
  EXPECT_GT(Play(options, "mcts:sims=60", "random").score.mean, 0.7);
  EXPECT_GT(Play(options, "alphabeta:nodes=500", "random").score.mean, 0.7);
  EXPECT_GT(Play(options, "alphabeta:nodes=500", "greedy").score.mean, 0.7);
}

TEST(GreedyStrengthTest, GreedyBeatsRandomOverAllVariants) {
  // Over all, not in each: the score of an unfinished board misleads in some.
  std::vector<ArenaGame> games;
  for (const VariantInfo& info : kVariants) {
    const ArenaResult result =
        Play({.variant = info.variant, .games = 40}, "greedy", "random");
    games.insert(games.end(), result.played.begin(), result.played.end());
  }
  EXPECT_GT(SummarizeGames(games).score.low, 0.52);
}

TEST(SacredHillStrengthTest, MoreThoughtBeatsLess) {
  const Variant variant = Variant::kSacredHillL1;
  const auto low = [](int games, const std::string& a, const std::string& b) {
    return Play({.variant = variant, .games = games}, a, b).score.low;
  };
  EXPECT_GT(low(200, "greedy", "random"), 0.5);
  EXPECT_GT(low(40, "mcts:sims=100", "greedy"), 0.5);
  EXPECT_GT(low(60, "mcts:sims=200", "mcts:sims=20"), 0.5);
}

}  // namespace
}  // namespace tara::eval
