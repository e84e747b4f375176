// The contract of the 570 actions.

#include "tara/core/action.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"

namespace tara {
namespace {

using ::testing::HasSubstr;

Action At(int index) { return static_cast<Action>(index); }

TEST(ActionTest, TextRoundTripsForAllIndices) {
  for (int index = 0; index < kNumActions; ++index) {
    const std::string text = ActionToText(At(index));
    const absl::StatusOr<Action> action = ParseAction(text);
    ASSERT_TRUE(action.ok()) << action.status().message();
    EXPECT_EQ(Index(*action), index) << text;
  }
}

// docs/reference/rules.md section 1 (canonical order of hills) and the list at
// the head of action.h. B1's knight's moves are C3 (+1, +2), A3 (-1, +2), D2
// (+2, +1); in canonical order D2, A3, C3. F7's last is E5 or G5: G5. B1's
// links are C1, then B2. The last link is that of E7 and F7.
TEST(ActionTest, IndicesAreTheContract) {
  const std::pair<int, std::string> kContract[] = {
      {0, "B1"},      {4, "F1"},       {5, "A2"},       {22, "D4"},
      {44, "F7"},     {45, "B1-D2"},   {46, "B1-A3"},   {47, "B1-C3"},
      {268, "F7-D6"}, {269, "B1-D2*"}, {492, "F7-D6*"}, {493, "B1=C1"},
      {494, "B1=B2"}, {568, "E7=F7"},  {569, "pass"},
  };
  for (const auto& [index, text] : kContract) {
    EXPECT_EQ(ActionToText(At(index)), text);
  }
}

TEST(ActionTest, MovesAndLinksAreOrderedByOriginThenDestination) {
  const auto expect_order = [](int first, int end) {
    for (int index = first + 1; index < end; ++index) {
      const ActionParts before = Parts(At(index - 1));
      const ActionParts parts = Parts(At(index));
      EXPECT_LT(std::pair(before.from, before.to),
                std::pair(parts.from, parts.to))
          << ActionToText(At(index));
    }
  };
  expect_order(kFirstKingMove, kFirstSacrifice);
  expect_order(kFirstSacrifice, kFirstLink);
  expect_order(kFirstLink, kPassIndex);
}

TEST(ActionTest, PartsAndConstructorsAreInverse) {
  for (int index = 0; index < kNumActions; ++index) {
    const auto [kind, from, to] = Parts(At(index));
    const bool sacrifice = kind == ActionKind::kSacrifice;
    const Action action = kind == ActionKind::kHill   ? HillAction(to)
                          : kind == ActionKind::kLink ? LinkAction(from, to)
                          : kind == ActionKind::kPass
                              ? kPass
                              : KingMove(from, to, sacrifice);
    EXPECT_EQ(Index(action), index);
  }
}

TEST(ActionTest, AcceptsLowerCase) {
  EXPECT_EQ(ParseAction("d4").value(), ParseAction("D4").value());
  EXPECT_EQ(ParseAction("c5-b3*").value(), ParseAction("C5-B3*").value());
  EXPECT_EQ(ParseAction("PASS").value(), kPass);
}

TEST(ActionTest, SaysWhatIsWrongWithATextThatIsNoAction) {
  const std::pair<const char*, const char*> kBad[] = {
      {"", "'' is not a hill"},
      {"A1", "without the corners"},
      {"D8", "'D8' is not a hill"},
      {"H4", "'H4' is not a hill"},
      {"D44", "'D44' is not a hill"},
      {"D4-E5", "a king moves by a knight's move"},
      {"D4-", "'' is not a hill"},
      {"D4-E6-F4", "more than one '-'"},
      {"D4=E5", "the hills of a link are adjacent"},
      {"D4=E4=F4", "more than one '='"},
      {"E4=D4", "canonical order, D4=E4"},
      {"D4*", "'D4*' is not a hill"},
      {"passes", "'passes' is not a hill"},
  };
  for (const auto& [text, message] : kBad) {
    const absl::StatusOr<Action> action = ParseAction(text);
    EXPECT_EQ(action.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(action.status().message(), HasSubstr(message)) << text;
  }
}

// Section 1: 45 hills, 76 adjacent pairs, 224 directed knight's moves; each
// hill has 2, 3 or 4 adjacent hills.
TEST(BoardTest, HasTheGeometryOfTheRules) {
  int knight_moves = 0;
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    const int adjacent = Count(Adjacent(BoardOf(hill)));
    EXPECT_GE(adjacent, 2);
    EXPECT_LE(adjacent, 4);
    knight_moves += Count(KnightMoves(BoardOf(hill)));
    for (Hill other = 0; other < kNumHills; ++other) {
      const int dx = FileOf(other) - FileOf(hill);
      const int dy = RankOf(other) - RankOf(hill);
      const int distance = dx * dx + dy * dy;
      const Board from = BoardOf(hill);
      const auto contains = [&](Board board) {
        return (board & BoardOf(other)) != 0;
      };
      EXPECT_EQ(contains(Adjacent(from)), distance == 1);
      EXPECT_EQ(contains(Diagonal(from)), distance == 2);
      EXPECT_EQ(contains(TwoStepsStraight(from)), distance == 4);
      EXPECT_EQ(contains(KnightMoves(from)), distance == 5);
      EXPECT_EQ(contains(TwoStepsDiagonal(from)), distance == 8);
    }
  }
  EXPECT_EQ(knight_moves, 224);
  EXPECT_EQ(CountAdjacentPairs(kAllHills), 76);
}

// A2 has the adjacent hills A3 and B2; D4 has four.
TEST(BoardTest, BesiegedMeansEveryAdjacentHillIsTheBesiegers) {
  const Board corner = BoardOf(ParseHill("A2").value());
  const Board centre = BoardOf(ParseHill("D4").value());
  EXPECT_EQ(Besieged(Adjacent(corner)) & corner, corner);
  EXPECT_EQ(Besieged(Adjacent(centre)) & centre, centre);
  EXPECT_EQ(Besieged(Adjacent(centre) & ~North(centre)) & centre, 0u);
}

TEST(BoardTest, NthHillCountsInCanonicalOrder) {
  for (int n = 0; n < kNumHills; ++n) EXPECT_EQ(NthHill(kAllHills, n), n);
}

// --- Random action -----------------------------------------------------------

TEST(RandomActionTest, DrawsEachLegalActionAboutAsOften) {
  const State state = InitialState(Variant::kSacredHillL1);
  const int legal = LegalActions(state).Count();
  constexpr int kDrawsEach = 400;
  std::array<int, kNumActions> drawn = {};
  Random random(1);
  for (int i = 0; i < kDrawsEach * legal; ++i) {
    ++drawn[Index(RandomAction(state, random))];
  }
  for (int action = 0; action < kNumActions; ++action) {
    if (!LegalActions(state).Contains(static_cast<Action>(action))) {
      EXPECT_EQ(drawn[action], 0);
      continue;
    }
    // Six standard deviations of a binomial count with a mean of 400.
    EXPECT_NEAR(drawn[action], kDrawsEach, 120);
  }
}

TEST(RandomPositionsTest, AreWholeGamesFromEachStart) {
  const std::vector<State> starts = {InitialState(Variant::kFourTreasures),
                                     InitialState(Variant::kHighKingsL2)};
  Random random(2);
  const std::vector<State> positions = RandomPositions(starts, 1, random);
  ASSERT_GE(positions.size(), 2u);
  EXPECT_EQ(positions.front(), starts[0]);
  int begun = 0;
  for (const State& position : positions) {
    EXPECT_FALSE(position.finished());
    begun += position == starts[0] || position == starts[1];
  }
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace tara
