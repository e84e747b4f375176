#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

constexpr int kGames = 40;

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
