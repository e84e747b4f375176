#include "tara/core/symmetry.h"

#include <array>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

constexpr int kGames = 40;

Hill At(absl::string_view text) { return ParseHill(text).value(); }

LegalMask TransformMask(const Symmetry& symmetry, const LegalSet& legal) {
  LegalMask mask;
  legal.ForEach([&](Action action) {
    mask.set(Index(TransformAction(symmetry, action)));
  });
  return mask;
}

// The outcome as the sides see it that have changed places.
Outcome SwapSides(Outcome outcome) {
  for (std::array<int, 2>* pair :
       {&outcome.points, &outcome.kingdoms, &outcome.territory,
        &outcome.bridges, &outcome.kings_captured}) {
    std::swap((*pair)[0], (*pair)[1]);
  }
  outcome.compensation_halves = -outcome.compensation_halves;
  return outcome;
}

TEST(HillTransformTest, TurnsAndFlipsAsDocumented) {
  // D1 is the middle of the southern edge, A4 of the western, B1 beside the
  // south-western corner.
  EXPECT_EQ(TransformHill(1, At("B1")), At("F1"));
  EXPECT_EQ(TransformHill(2, At("B1")), At("B7"));
  EXPECT_EQ(TransformHill(kHalfTurn, At("B1")), At("F7"));
  EXPECT_EQ(TransformHill(kTranspose, At("B1")), At("A2"));
  EXPECT_EQ(TransformHill(kTranspose, At("D1")), At("A4"));
  // South to West to North to East: B1, at South's left, goes to West's left.
  EXPECT_EQ(TransformHill(kClockwiseTurn, At("D1")), At("A4"));
  EXPECT_EQ(TransformHill(kClockwiseTurn, At("A4")), At("D7"));
  EXPECT_EQ(TransformHill(kClockwiseTurn, At("B1")), At("A6"));
  EXPECT_EQ(TransformHill(kAnticlockwiseTurn, At("D1")), At("G4"));
}

TEST(HillTransformTest, IsAPermutationThatKeepsAdjacencyAndTheInverseUndoes) {
  for (uint8_t transform = 0; transform < kNumBoardTransforms; ++transform) {
    const Symmetry inverse = Inverse({transform, 1});
    Board seen = 0;
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      const Hill to = TransformHill(transform, hill);
      seen |= BoardOf(to);
      EXPECT_EQ(TransformHill(inverse.board, to), hill);
      EXPECT_EQ(TransformBoard(transform, Adjacent(BoardOf(hill))),
                Adjacent(BoardOf(to)));
    }
    EXPECT_EQ(seen, kAllHills);
  }
}

TEST(HillTransformTest, BoardsGoWhereTheirHillsGo) {
  Random random(1);
  for (int transform = 0; transform < kNumBoardTransforms; ++transform) {
    for (int repeat = 0; repeat < 2000; ++repeat) {
      const Board board = random() & kAllHills;
      Board expected = 0;
      ForEachHill(board, [&](Hill hill) {
        expected |= BoardOf(TransformHill(transform, hill));
      });
      ASSERT_EQ(TransformBoard(transform, board), expected)
          << transform << " of " << board;
    }
  }
}

// Pairs are the actions that link them.
TEST(HillTransformTest, PairsGoWhereTheirLinksGo) {
  Random random(2);
  for (uint8_t transform = 0; transform < kNumBoardTransforms; ++transform) {
    for (int repeat = 0; repeat < 2000; ++repeat) {
      const LegalSet pairs = {
          .links_east = random() & West(kAllHills) & kAllHills,
          .links_north = random() & South(kAllHills) & kAllHills};
      const HillPairs image = TransformPairs(
          transform, {.east = pairs.links_east, .north = pairs.links_north});
      const LegalSet actual = {.links_east = image.east,
                               .links_north = image.north};
      ASSERT_EQ(actual.ToMask(), TransformMask({transform, 0}, pairs));
    }
  }
}

TEST(ActionTransformTest, KeepsKindsAndTheInverseUndoes) {
  for (uint8_t transform = 0; transform < kNumBoardTransforms; ++transform) {
    const Symmetry symmetry = {transform, 0};
    for (int index = 0; index < kNumActions; ++index) {
      const Action action = static_cast<Action>(index);
      const Action image = TransformAction(symmetry, action);
      EXPECT_EQ(Parts(image).kind, Parts(action).kind);
      EXPECT_EQ(TransformAction(Inverse(symmetry), image), action);
    }
  }
  const Symmetry turn = {kClockwiseTurn, 0};
  const auto image = [&](absl::string_view text) {
    return ActionToText(TransformAction(turn, ParseAction(text).value()));
  };
  // (file, rank) goes to (rank, 7 - file): D4 stays, E6 becomes F3.
  EXPECT_EQ(image("D4-E6*"), "D4-F3*");
  EXPECT_EQ(image("D4=E4"), "D3=D4");
  EXPECT_EQ(image("D4=D5"), "D4=E4");
  EXPECT_EQ(image("pass"), "pass");
}

class SymmetryTest : public ::testing::TestWithParam<VariantInfo> {};

// Section 11: numbers of symmetries.
TEST_P(SymmetryTest, ListsBeginWithTheIdentityAndHaveTheirSizes) {
  const auto games = GameSymmetries(GetParam().variant);
  const auto positions = PositionSymmetries(GetParam().variant);
  const bool doubles = GetParam().seats == 4;
  const bool chalice = GetParam().family == Family::kPoisonedChalice;
  EXPECT_THAT(games, SizeIs(doubles ? 1 : chalice ? 4 : 8));
  EXPECT_THAT(positions, SizeIs(doubles ? 4 : chalice ? 8 : 16));
  EXPECT_EQ(games[0], (Symmetry{0, 0}));
  for (const Symmetry& symmetry : games) EXPECT_EQ(symmetry.seat_shift, 0);
}

TEST_P(SymmetryTest, TransformedGamesAreLegalWithTheTransformedResult) {
  const State start = InitialState(GetParam().variant);
  for (int game = 0; game < kGames; ++game) {
    Outcome outcome = {};
    const std::vector<Action> actions = PlayRandomGame(
        start, game,
        [&](const State& state, const LegalSet&) { outcome = Score(state); });
    for (const Symmetry& symmetry : GameSymmetries(GetParam().variant)) {
      State image = start;
      for (const Action action : actions) {
        ASSERT_EQ(PlayAction(TransformAction(symmetry, action), image),
                  absl::OkStatus());
      }
      EXPECT_TRUE(image.finished());
      EXPECT_EQ(Score(image), outcome);
    }
  }
}

// Acting and transforming commute: the successor of the image is the image of
// the successor.
TEST_P(SymmetryTest, PositionsActionsAndResultsGoTogether) {
  for (const RuleOptions& options :
       {RuleOptions(), ChangedOptions(GetParam())}) {
    for (int game = 0; game < kGames && !HasFailure(); ++game) {
      PlayRandomGame(
          InitialState(GetParam().variant, options), game,
          [](const State& state, const LegalSet& legal) {
            for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
              State image = TransformState(symmetry, state);
              EXPECT_EQ(ValidatePosition(image), absl::OkStatus());
              EXPECT_EQ(LegalActions(image).ToMask(),
                        TransformMask(symmetry, legal));
              EXPECT_EQ(TransformState(Inverse(symmetry), image), state);
              EXPECT_EQ(Score(image), symmetry.seat_shift % 2 == 0
                                          ? Score(state)
                                          : SwapSides(Score(state)));
              if (state.finished()) continue;
              const Action action = legal.Nth(legal.Count() / 2);
              State next = state;
              ApplyAction(action, next);
              ApplyAction(TransformAction(symmetry, action), image);
              EXPECT_EQ(image, TransformState(symmetry, next));
            }
          });
    }
  }
}

TEST_P(SymmetryTest, CanonicalSymmetryShowsTheSeatToMoveAsSeat0) {
  PlayRandomGame(InitialState(GetParam().variant), 1,
                 [&](const State& state, const LegalSet&) {
                   const Symmetry symmetry = CanonicalSymmetry(state);
                   EXPECT_EQ(TransformState(symmetry, state).seat, 0);
                   EXPECT_THAT(PositionSymmetries(GetParam().variant),
                               ::testing::Contains(symmetry));
                 });
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, SymmetryTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

// Section 11: what canonical means for each family.
TEST(CanonicalSymmetryTest, TurnsTheBoardOnlyWhereTheRulesHaveDirections) {
  const State singles = After(Variant::kFourTreasures, "D4");
  EXPECT_EQ(CanonicalSymmetry(singles), (Symmetry{kIdentityTransform, 1}));
  const State chalice = After(Variant::kPoisonedChalice, "B1");
  EXPECT_EQ(CanonicalSymmetry(chalice), (Symmetry{kTranspose, 1}));
  State doubles = InitialState(Variant::kFourTreasuresDoubles);
  EXPECT_EQ(CanonicalSymmetry(doubles), (Symmetry{kIdentityTransform, 0}));
  // West (seat 1) is shown as South: an anticlockwise turn.
  doubles = After(doubles, "B1");
  EXPECT_EQ(CanonicalSymmetry(doubles), (Symmetry{kAnticlockwiseTurn, 3}));
  doubles = After(doubles, "A2");
  EXPECT_EQ(CanonicalSymmetry(doubles), (Symmetry{kHalfTurn, 2}));
  doubles = After(doubles, "B7");
  EXPECT_EQ(CanonicalSymmetry(doubles), (Symmetry{kClockwiseTurn, 1}));
}

// --- Representative ----------------------------------------------------------

class RepresentativeTest : public ::testing::TestWithParam<VariantInfo> {};

// Calls check(state) with the positions of random games that are not finished.
template <typename Check>
void ForEachPosition(Variant variant, const Check& check) {
  for (int game = 0; game < kGames; ++game) {
    PlayRandomGame(InitialState(variant), game,
                   [&](const State& state, const LegalSet&) {
                     if (!state.finished()) check(state);
                   });
    if (::testing::Test::HasFailure()) return;
  }
}

State RepresentativeOf(const State& state) {
  return TransformState(RepresentativeSymmetry(state), state);
}

TEST_P(RepresentativeTest, SymmetricPositionsHaveOneRepresentative) {
  ForEachPosition(GetParam().variant, [](const State& state) {
    const State representative = RepresentativeOf(state);
    EXPECT_EQ(representative.seat, 0);
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      EXPECT_EQ(RepresentativeOf(TransformState(symmetry, state)),
                representative);
    }
  });
}

TEST_P(RepresentativeTest, ASymmetryOfTheVariantLeadsThere) {
  ForEachPosition(GetParam().variant, [](const State& state) {
    const Symmetry symmetry = RepresentativeSymmetry(state);
    EXPECT_THAT(PositionSymmetries(state.variant),
                ::testing::Contains(symmetry));
  });
}

// What is asked of the representative is then told in its own frame, also where
// the position is symmetric in itself and other symmetries lead there as well.
TEST_P(RepresentativeTest, TheRepresentativeIsItsOwnByTheIdentity) {
  ForEachPosition(GetParam().variant, [](const State& state) {
    EXPECT_EQ(RepresentativeSymmetry(RepresentativeOf(state)), Symmetry{});
  });
}

// The plain twin: of all images with seat 0 to move, compared board by board.
TEST_P(RepresentativeTest, ItIsTheLeastOfTheImagesWithSeat0ToMove) {
  const auto boards = [](const State& state) {
    return std::array{state.ringforts[0], state.ringforts[1],
                      state.kings[0],     state.kings[1],
                      state.links_east,   state.links_north};
  };
  ForEachPosition(GetParam().variant, [&](const State& state) {
    auto least = boards(RepresentativeOf(state));
    for (const Symmetry& symmetry : PositionSymmetries(state.variant)) {
      const State image = TransformState(symmetry, state);
      if (image.seat != 0) continue;
      EXPECT_GE(boards(image), least);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, RepresentativeTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

TEST(RepresentativeSymmetryTest, TellsPositionsApartThatAreNotSymmetric) {
  // Beside the corner, and in the middle of an edge.
  EXPECT_NE(RepresentativeOf(After(Variant::kSacredHillL1, "B1")),
            RepresentativeOf(After(Variant::kSacredHillL1, "D1")));
  EXPECT_EQ(RepresentativeOf(After(Variant::kSacredHillL1, "B1")),
            RepresentativeOf(After(Variant::kSacredHillL1, "G6")));
}

}  // namespace
}  // namespace tara
