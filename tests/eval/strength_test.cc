// Players are as strong as they should be, with fixed seeds.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/tree/tree.h"

namespace tara::eval {
namespace {

ArenaResult Play(Variant variant, int games, Player& a, Player& b) {
  absl::StatusOr<ArenaResult> result =
      PlayArena({.variant = variant, .games = games}, a, b);
  EXPECT_TRUE(result.ok()) << result.status();
  return *std::move(result);
}

std::unique_ptr<Player> NewMctsPlayer(int simulations) {
  return NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 1),
                         {.search = {.simulations = simulations}});
}

class StrengthTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, StrengthTest,
                         testing::ValuesIn(kVariants),
                         [](const testing::TestParamInfo<VariantInfo>& info) {
                           return std::string(info.param.id);
                         });

TEST_P(StrengthTest, ASearchBeatsRandomPlay) {
  const std::unique_ptr<Player> search = NewMctsPlayer(60);
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const ArenaResult result = Play(GetParam().variant, 20, *search, *random);
  EXPECT_GT(result.score, 0.7);
  EXPECT_GT(result.mean_margin, 0);
}

TEST_P(StrengthTest, AnAlphaBetaSearchBeatsGreedyAndRandomPlay) {
  // Expected are scores near 1: with 8000 nodes it beats mcts:sims=1000.
  const std::unique_ptr<Player> search = NewAlphaBetaPlayer({.nodes = 500});
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  EXPECT_GT(Play(GetParam().variant, 20, *search, *random).score, 0.7);
  EXPECT_GT(Play(GetParam().variant, 20, *search, *greedy).score, 0.7);
}

TEST(GreedyStrengthTest, GreedyBeatsRandomOverAllVariants) {
  // Over all, not in each: the score of an unfinished board misleads in some.
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const std::unique_ptr<Player> random = NewRandomPlayer();
  std::vector<ArenaGame> games;
  for (const VariantInfo& info : kVariants) {
    const ArenaResult result = Play(info.variant, 40, *greedy, *random);
    games.insert(games.end(), result.played.begin(), result.played.end());
  }
  EXPECT_GT(SummarizeGames(games).score_low, 0.52);
}

TEST(SacredHillStrengthTest, GreedyBeatsRandomAndASearchBeatsGreedy) {
  const std::unique_ptr<Player> random = NewRandomPlayer();
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const std::unique_ptr<Player> search = NewMctsPlayer(100);
  EXPECT_GT(Play(Variant::kSacredHillL1, 200, *greedy, *random).score_low, 0.5);
  EXPECT_GT(Play(Variant::kSacredHillL1, 40, *search, *greedy).score_low, 0.5);
}

TEST(SacredHillStrengthTest, MoreSimulationsBeatFewer) {
  const std::unique_ptr<Player> many = NewMctsPlayer(200);
  const std::unique_ptr<Player> few = NewMctsPlayer(20);
  EXPECT_GT(Play(Variant::kSacredHillL1, 60, *many, *few).score_low, 0.5);
}

}  // namespace
}  // namespace tara::eval
