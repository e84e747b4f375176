#include "tara/eval/alpha_beta/alpha_beta.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tests/mcts/positions.h"

namespace tara::eval {
namespace {

using mcts::After;
using mcts::ExactResult;
using mcts::FindProblems;
using mcts::ListActions;
using mcts::Problem;
using mcts::RandomGame;
using mcts::VariantTestName;

// Returns the score for Red: every line to the depth, by side.
int Minimax(const State& state, int depth) {
  if (state.finished()) return RedScoreOfMargin(Score(state).margin());
  if (depth == 0) return HandEvaluation(state);
  const bool is_red = state.side() == kRed;
  int best = is_red ? -1000000 : 1000000;
  for (const Action action : ListActions(state)) {
    const int score = Minimax(After(state, action), depth - 1);
    best = is_red ? std::max(best, score) : std::min(best, score);
  }
  return best;
}

// Returns positions of random games, of all stages, with few enough actions
// for a minimax to depth 3.
std::vector<State> SmallPositions(Variant variant) {
  constexpr int kMaxActions = 14;
  std::vector<State> positions;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    int since = 0;
    for (const State& state : RandomGame(variant, seed)) {
      if (state.finished() || ++since < 4) continue;
      if (LegalActions(state).Count() > kMaxActions) continue;
      positions.push_back(state);
      since = 0;
    }
  }
  return positions;
}

class AlphaBetaTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, AlphaBetaTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(AlphaBetaTest, WithoutReductionsAndExtensionsItIsMinimax) {
  // In High Kings one position comes at several depths: the table may then know
  // more than the depth asked for.
  const bool may_use_table = GetParam().family != Family::kHighKings;
  const std::vector<State> positions = SmallPositions(GetParam().variant);
  EXPECT_GE(positions.size(), 10u);
  for (const int64_t table_bytes : {0, may_use_table ? 1 << 20 : 0}) {
    AlphaBeta search(
        {.table_bytes = table_bytes, .reductions = false, .extensions = false});
    for (const State& state : positions) {
      const int sign = state.side() == kRed ? 1 : -1;
      for (int depth = 1; depth <= 3; ++depth) {
        const AlphaBetaResult result = search.Search(state, {.depth = depth});
        EXPECT_EQ(result.score, sign * Minimax(state, depth))
            << PositionToText(state) << " depth " << depth;
        EXPECT_EQ(Minimax(After(state, result.action), depth - 1),
                  sign * result.score);
      }
    }
  }
}

TEST_P(AlphaBetaTest, TheLastPliesAreSolvedExactly) {
  AlphaBeta search({.table_bytes = 1 << 20});
  const std::vector<Problem> problems = FindProblems(
      GetParam().variant, {.count = 15, .num_games = 600, .budget = 400});
  EXPECT_GE(problems.size(), 8u);
  for (const Problem& problem : problems) {
    const AlphaBetaResult result = search.Search(problem.state, {});
    EXPECT_TRUE(result.solved);
    EXPECT_NE(
        std::find(problem.best.begin(), problem.best.end(), result.action),
        problem.best.end())
        << ActionToText(result.action);
    int budget = 1000;
    const int red_result = ExactResult(problem.state, budget).value();
    const int expected =
        problem.state.side() == kRed ? red_result : -red_result;
    EXPECT_EQ((result.score > 0) - (result.score < 0), expected);
    EXPECT_TRUE(result.score == 0 || std::abs(result.score) > kWonGame);
  }
}

TEST_P(AlphaBetaTest, TheResultDependsOnThePositionAlone) {
  AlphaBeta fresh({.table_bytes = 1 << 20});
  AlphaBeta used({.table_bytes = 1 << 20});
  const std::vector<State> game = RandomGame(GetParam().variant, 7);
  for (size_t i = 0; i + 1 < game.size(); i += 9) {
    used.Search(game[i / 2], {.nodes = 3000});
    AlphaBeta other({.table_bytes = 1 << 20});
    const AlphaBetaResult a = other.Search(game[i], {.nodes = 2000});
    const AlphaBetaResult b = used.Search(game[i], {.nodes = 2000});
    EXPECT_EQ(a.action, b.action);
    EXPECT_EQ(a.score, b.score);
    EXPECT_EQ(a.nodes, b.nodes);
  }
}

TEST(AlphaBetaLimitsTest, NodesAndDepthEndASearchAfterItsFirstIteration) {
  AlphaBeta search;
  const State state = InitialState(Variant::kFourTreasures);
  for (const int64_t nodes : {1000, 5000}) {
    const AlphaBetaResult result = search.Search(state, {.nodes = nodes});
    EXPECT_EQ(result.nodes, nodes);
    EXPECT_FALSE(result.solved);
  }
  EXPECT_EQ(search.Search(state, {.depth = 2}).depth, 2);
  const AlphaBetaResult least =
      search.Search(state, {.nodes = 1, .time = absl::ZeroDuration()});
  EXPECT_EQ(least.depth, 1);
  EXPECT_GE(least.nodes, kNumHills);
}

TEST(AlphaBetaLimitsTest, TimeEndsASearchByTheClockPassedIn) {
  absl::Time now = absl::UnixEpoch();
  int readings = 0;
  AlphaBetaOptions options;
  options.clock = [&] {
    ++readings;
    now += absl::Milliseconds(1);
    return now;
  };
  AlphaBeta search(options);
  const State state = InitialState(Variant::kFourTreasures);
  const AlphaBetaResult result =
      search.Search(state, {.time = absl::Milliseconds(20)});
  // One reading to begin with; the twentieth after it is 20 ms later.
  EXPECT_EQ(readings, 21);
  EXPECT_GE(result.depth, 1);
  EXPECT_TRUE(LegalActions(state).Contains(result.action));
}

TEST(AlphaBetaScoresTest, WonGamesAreWorthMoreThanAnyEvaluation) {
  EXPECT_EQ(RedScoreOfMargin(0), 0);
  EXPECT_GT(RedScoreOfMargin(1), kMaxHandEvaluation);
  EXPECT_GT(RedScoreOfMargin(3), RedScoreOfMargin(2));
  EXPECT_EQ(RedScoreOfMargin(-5), -RedScoreOfMargin(5));
}

// --- Hand evaluation ---------------------------------------------------------

class HandEvaluationTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, HandEvaluationTest,
                         testing::ValuesIn(kVariants), VariantTestName);

constexpr int kGames = 12;

TEST_P(HandEvaluationTest, SymmetricPositionsAreJudgedAlike) {
  for (uint64_t seed = 0; seed < kGames; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished()) continue;
      const int value = HandEvaluation(state);
      for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
        const bool swaps_colours = (symmetry.seat_shift & 1) != 0;
        EXPECT_EQ(HandEvaluation(TransformState(symmetry, state)),
                  swaps_colours ? -value : value)
            << PositionToText(state);
      }
    }
  }
}

TEST_P(HandEvaluationTest, EvaluationsLieWithinTheirBounds) {
  int largest = 0;
  for (uint64_t seed = 0; seed < kGames; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished()) continue;
      largest = std::max(largest, std::abs(HandEvaluation(state)));
      EXPECT_GE(HandStage(state), 0);
      EXPECT_LE(HandStage(state), kFirstStage);
    }
  }
  EXPECT_LE(largest, kMaxHandEvaluation);
  EXPECT_GT(largest, 1000);  // somebody is ahead in some position
}

TEST_P(HandEvaluationTest, TheStageOnlyFallsWhereNothingIsTakenBack) {
  const std::vector<State> game = RandomGame(GetParam().variant, 1);
  EXPECT_EQ(HandStage(game[0]), kFirstStage);
  for (size_t i = 1; i < game.size(); ++i) {
    EXPECT_LE(HandStage(game[i]), HandStage(game[i - 1]));
  }
}

TEST_P(HandEvaluationTest, EveryNamedFeatureOccursAndNoOther) {
  std::set<int> seen;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    for (const State& state : RandomGame(GetParam().variant, seed)) {
      if (state.finished()) continue;
      const HandFeatures features = ComputeHandFeatures(state);
      for (int i = 0; i < kNumHandFeatures; ++i) {
        if (features[i] != 0) seen.insert(i);
      }
    }
  }
  for (const int feature : seen) {
    EXPECT_FALSE(HandFeatureName(GetParam().variant, feature).empty())
        << feature;
  }
  for (int i = kNumSharedFeatures; i < kNumHandFeatures; ++i) {
    const absl::string_view name = HandFeatureName(GetParam().variant, i);
    EXPECT_EQ(!name.empty(), seen.contains(i)) << name;
  }
}

int Feature(const State& state, absl::string_view name) {
  const HandFeatures features = ComputeHandFeatures(state);
  for (int i = 0; i < kNumHandFeatures; ++i) {
    if (HandFeatureName(state.variant, i) == name) return features[i];
  }
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

State PositionAfter(Variant variant,
                    const std::vector<absl::string_view>& actions) {
  State state = InitialState(variant);
  for (const absl::string_view action : actions) {
    EXPECT_TRUE(PlayAction(action, state).ok()) << action;
  }
  return state;
}

TEST(HandFeaturesTest, CountsAreOfRedMinusBlue) {
  // . . . . .        Four Treasures, ranks 4 to 2, files C to F:
  // C D E F          rank 4: red C, blue F; rank 3: blue E; rank 2: red C, D
  const State state = PositionAfter(Variant::kFourTreasures,
                                    {"C4", "E3", "C2", "F4", "D2", "G4"});
  EXPECT_EQ(Feature(state, "tempo"), 1);
  EXPECT_EQ(Feature(state, "odd_tempo"), 1);     // 39 vacant hills
  EXPECT_EQ(Feature(state, "kingdoms"), 2 - 2);  // C4, C2+D2; E3, F4+G4
  EXPECT_EQ(Feature(state, "territory"), 0);
  EXPECT_EQ(Feature(state, "bridges"), 1 - 1);
  EXPECT_EQ(Feature(state, "open_lines"), 1 - 0);      // C4-C3-C2
  EXPECT_EQ(Feature(state, "safe_diagonals"), 0 - 1);  // E3, F4: E4, F3
  EXPECT_EQ(Feature(state, "on_edge"), 0 - 1);         // G4
  EXPECT_EQ(Feature(state, "knight_pairs"), 1 - 1);    // C4-D2; E3-G4
  EXPECT_EQ(Feature(state, "free_singles"), 1 - 1);    // C4; E3
}

TEST(HandFeaturesTest, BesiegedSinglesAreLost) {
  const State state = PositionAfter(Variant::kFourTreasures,
                                    {"D4", "B1", "A4", "B2", "D1", "A3"});
  // Blue's B2, A3 and Red's A4: A4's neighbours are A3, B4, A5.
  EXPECT_EQ(Feature(state, "singles_lost"), 0);
  const State next =
      PositionAfter(Variant::kFourTreasures, {"A2", "A3", "D4", "B2", "E4"});
  // Red's A2 has the neighbours A3 and B2, both Blue's.
  EXPECT_EQ(Feature(next, "singles_lost"), 1);
}

// --- Component counts --------------------------------------------------------

TEST(ComponentCountsTest, FourBoardsAreCountedAsOneByOne) {
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int round = 0; round < 20000; ++round) {
    std::array<Board, 4> boards;
    for (Board& board : boards) {
      // From sparse to full: the and, or neither, or the or of two draws.
      board = random();
      if (round % 3 == 0) board &= random();
      if (round % 3 == 1) board |= random();
      board &= kAllHills;
    }
    const std::array<int, 4> counts = CountComponentsOfFour(boards);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(counts[i], CountComponents(boards[i])) << boards[i];
    }
  }
}

TEST(ComponentCountsTest, FullAndEmptyBoardsAndStripesAreCounted) {
  const Board stripes = RankBoard(0) | RankBoard(2) | RankBoard(4);
  EXPECT_EQ(CountComponentsOfFour({0, kAllHills, stripes, FileBoard(3)}),
            (std::array<int, 4>{0, 1, 3, 1}));
}

}  // namespace
}  // namespace tara::eval
