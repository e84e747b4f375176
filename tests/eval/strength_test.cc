// Players are as strong as they should be, with fixed seeds.

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/player.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

class StrengthTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, StrengthTest,
                         testing::ValuesIn(kVariants), mcts::VariantTestName);

TEST_P(StrengthTest, ASearchBeatsRandomPlay) {
  const std::unique_ptr<Player> search = NewMctsPlayer(60);
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const ArenaResult result =
      Play({.variant = GetParam().variant, .games = 20}, *search, *random);
  EXPECT_GT(result.score, 0.7);
  EXPECT_GT(result.mean_margin, 0);
}

TEST_P(StrengthTest, AnAlphaBetaSearchBeatsGreedyAndRandomPlay) {
  // Expected are scores near 1: with 8000 nodes it beats mcts:sims=1000.
  const std::unique_ptr<Player> search = NewAlphaBetaPlayer({.nodes = 500});
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  EXPECT_GT(Play({.variant = GetParam().variant, .games = 20}, *search, *random)
                .score,
            0.7);
  EXPECT_GT(Play({.variant = GetParam().variant, .games = 20}, *search, *greedy)
                .score,
            0.7);
}

TEST(GreedyStrengthTest, GreedyBeatsRandomOverAllVariants) {
  // Over all, not in each: the score of an unfinished board misleads in some.
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const std::unique_ptr<Player> random = NewRandomPlayer();
  std::vector<ArenaGame> games;
  for (const VariantInfo& info : kVariants) {
    const ArenaResult result =
        Play({.variant = info.variant, .games = 40}, *greedy, *random);
    games.insert(games.end(), result.played.begin(), result.played.end());
  }
  EXPECT_GT(SummarizeGames(games).score_low, 0.52);
}

TEST(SacredHillStrengthTest, GreedyBeatsRandomAndASearchBeatsGreedy) {
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const std::unique_ptr<Player> search = NewMctsPlayer(100);
  EXPECT_GT(
      Play({.variant = Variant::kSacredHillL1, .games = 200}, *greedy, *random)
          .score_low,
      0.5);
  EXPECT_GT(
      Play({.variant = Variant::kSacredHillL1, .games = 40}, *search, *greedy)
          .score_low,
      0.5);
}

TEST(SacredHillStrengthTest, MoreSimulationsBeatFewer) {
  const std::unique_ptr<Player> many = NewMctsPlayer(200);
  const std::unique_ptr<Player> few = NewMctsPlayer(20);
  EXPECT_GT(Play({.variant = Variant::kSacredHillL1, .games = 60}, *many, *few)
                .score_low,
            0.5);
}

}  // namespace
}  // namespace tara::eval
