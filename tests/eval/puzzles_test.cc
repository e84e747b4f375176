#include "tara/eval/puzzles/puzzles.h"

#include <map>
#include <set>

#include "gtest/gtest.h"
#include "tara/core/position_text.h"
#include "tara/core/symmetry.h"
#include "tara/record/game_record.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

// Red's result under best play: 1, 0, -1, by trying everything once.
class BruteForce {
 public:
  int Result(const State& state) {
    if (state.finished()) return Score(state).result();
    const std::string key = PositionToText(state);
    if (const auto found = known_.find(key); found != known_.end()) {
      return found->second;
    }
    const int sign = state.side() == kRed ? 1 : -1;
    int best = -1;
    LegalActions(state).ForEach([&](Action action) {
      if (best < 1) best = std::max(best, sign * After(state, action));
    });
    return known_[key] = sign * best;
  }

  int After(State state, Action action) {
    ApplyAction(action, state);
    return Result(state);
  }

 private:
  std::map<std::string, int> known_;
};

std::vector<Puzzle> PuzzlesOf(Variant variant, int games, int puzzles = 100,
                              absl::Span<Player* const> naive = {}) {
  const auto player = NewGreedyPlayer();
  return MakePuzzles({.start = InitialState(variant),
                      .games = games,
                      .puzzles = puzzles,
                      .node_limit = 300},
                     *player, naive)
      .value();
}

class PuzzlesTest : public testing::TestWithParam<VariantInfo> {};

TEST_P(PuzzlesTest, HaveOneAnswerAtEachDecisionByBruteForce) {
  const bool has_kings = GetParam().family == Family::kHighKings;  // slow
  const std::vector<Puzzle> puzzles =
      PuzzlesOf(GetParam().variant, 400, has_kings ? 1 : 6);
  ASSERT_FALSE(puzzles.empty());
  for (const Puzzle& puzzle : puzzles) {
    BruteForce brute;
    State state = puzzle.state;
    const Side side = state.side();
    const int sign = side == kRed ? 1 : -1;
    EXPECT_EQ(sign * brute.Result(state), 1) << PuzzleToText(puzzle);
    int decisions = 0;
    for (const Action played : puzzle.line) {
      const LegalSet legal = LegalActions(state);
      ASSERT_TRUE(legal.Contains(played)) << PuzzleToText(puzzle);
      if (state.side() == side && legal.Count() > 1) {
        ++decisions;
        legal.ForEach([&](Action action) {
          EXPECT_EQ(sign * brute.After(state, action) == 1, action == played)
              << PuzzleToText(puzzle) << " " << ActionToText(action, state);
        });
      }
      ApplyAction(played, state);
      EXPECT_EQ(sign * brute.Result(state), 1) << PuzzleToText(puzzle);
    }
    EXPECT_TRUE(decisions == 2 || decisions == 3) << PuzzleToText(puzzle);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, PuzzlesTest, testing::ValuesIn(kVariants),
                         mcts::VariantTestName);

TEST(PuzzleListTest, HasNoPositionTwiceAndDependsOnTheSeedAlone) {
  const std::vector<Puzzle> puzzles = PuzzlesOf(Variant::kPoisonedChalice, 400);
  std::set<std::string> seen;
  for (const Puzzle& puzzle : puzzles) {
    for (const Symmetry& symmetry :
         PositionSymmetries(Variant::kPoisonedChalice)) {
      EXPECT_FALSE(seen.contains(
          PositionToText(TransformState(symmetry, puzzle.state))));
    }
    seen.insert(PositionToText(puzzle.state));
    const auto game = record::ParseGameText(PuzzleToText(puzzle));
    EXPECT_TRUE(game.ok()) << game.status();
  }
  const std::vector<Puzzle> again = PuzzlesOf(Variant::kPoisonedChalice, 400);
  ASSERT_EQ(again.size(), puzzles.size());
  for (size_t i = 0; i < puzzles.size(); ++i) {
    EXPECT_EQ(PuzzleToText(again[i]), PuzzleToText(puzzles[i]));
  }
}

TEST(PuzzleListTest, PrefersTrapsIfThereAreTooMany) {
  FixedPlayer first, last(true);
  const std::vector<Player*> naive = {&first, &last};
  const auto variant = Variant::kFourTreasures;
  std::map<int, int> found;
  const std::vector<Puzzle> all = PuzzlesOf(variant, 200, 100, naive);
  for (const Puzzle& puzzle : all) {
    const LegalSet legal = LegalActions(puzzle.state);
    EXPECT_EQ(puzzle.traps,
              (legal.Nth(0) != puzzle.line[0]) +
                  (legal.Nth(legal.Count() - 1) != puzzle.line[0]));
    ++found[puzzle.traps];
  }
  ASSERT_GT(found[2], 1);
  ASSERT_GT(found[1], 0);
  for (const Puzzle& puzzle : PuzzlesOf(variant, 200, found[2], naive)) {
    EXPECT_EQ(puzzle.traps, 2);
  }
}

TEST(PuzzleListTest, ErrorsOfPlayersAndStopsAreReturned) {
  FixedPlayer player;
  player.fail = true;
  const State start = InitialState(Variant::kSacredHillL1);
  EXPECT_FALSE(MakePuzzles({.start = start}, player).ok());
  player.fail = false;
  EXPECT_TRUE(absl::IsCancelled(
      MakePuzzles({.start = start, .stop = [] { return true; }}, player)
          .status()));
}

}  // namespace
}  // namespace tara::eval
