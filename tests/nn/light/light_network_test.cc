// What a light network sees. Its gradients are held to those of LibTorch in
// tests/nn/trainer_test.cc.

#include "tara/nn/light/light_network.h"

#include <array>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tests/nn/nn_testing.h"

namespace tara::nn {
namespace {

// Returns the kingdom of the hill: those of `side` that it reaches by steps.
std::set<Hill> KingdomOf(Hill hill, Board side) {
  std::set<Hill> kingdom;
  std::vector<Hill> open = {hill};
  while (!open.empty()) {
    const Hill next = open.back();
    open.pop_back();
    if ((side & BoardOf(next)) == 0 || !kingdom.insert(next).second) continue;
    ForEachHill(Adjacent(BoardOf(next)),
                [&](Hill neighbour) { open.push_back(neighbour); });
  }
  return kingdom;
}

// The flags of a hill, hill by hill: the plain twin.
std::set<int> FlagsOf(Hill hill, Board own, Board enemy) {
  std::set<int> flags;
  const Board vacant = kAllHills & ~(own | enemy);
  for (const Board side : {own, enemy}) {
    std::set<std::set<Hill>> around;
    ForEachHill(Adjacent(BoardOf(hill)) & side, [&](Hill neighbour) {
      around.insert(KingdomOf(neighbour, side));
    });
    if ((vacant & BoardOf(hill)) != 0) {
      const int first = side == own ? kOwnKingdoms2 : kEnemyKingdoms2;
      if (around.size() >= 2) flags.insert(first);
      if (around.size() >= 3) flags.insert(first + 1);
    }
    if ((side & BoardOf(hill)) == 0) continue;
    const std::set<Hill> kingdom = KingdomOf(hill, side);
    Board liberties = 0;
    for (const Hill member : kingdom) {
      liberties |= Adjacent(BoardOf(member)) & vacant;
    }
    for (const auto& [most, flag] :
         {std::pair(0, kLiberties0), std::pair(1, kLiberties1),
          std::pair(2, kLiberties2), std::pair(4, kLiberties4)}) {
      if (Count(liberties) <= most) flags.insert(flag);
    }
    if (kingdom.size() >= 3) flags.insert(kSize3);
    if (kingdom.size() >= 8) flags.insert(kSize8);
  }
  return flags;
}

TEST(LightInputTest, HasEveryPlaneAndFlagOfEachHill) {
  EncodedBatch batch;
  LightInput input;
  for (const State& state : RandomPositionsOfAllVariants(40, 1)) {
    batch.EncodeCanonical(absl::MakeConstSpan(&state, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    for (Hill hill = 0; hill < kNumHills; ++hill) {
      std::array<float, kNumLightInputs> found = {};
      for (int i = 0; i < input.num_rows[hill]; ++i) {
        const int row = input.rows[hill][i];
        EXPECT_EQ(found[row / kLightLevels], 0);
        found[row / kLightLevels] =
            static_cast<float>(row % kLightLevels) / (kLightLevels - 1);
      }
      for (int plane = 0; plane < kNumPlanes; ++plane) {
        EXPECT_EQ(found[plane],
                  batch.planes()[SquareOf(hill) * kNumPlanes + plane])
            << kPlanes[plane].name;
      }
      const std::set<int> flags = FlagsOf(hill, input.own, input.enemy);
      for (int flag = 0; flag < kNumLightFlags; ++flag) {
        EXPECT_EQ(found[kNumPlanes + flag], flags.count(flag)) << flag;
      }
    }
    for (int global = 0; global < kNumGlobals; ++global) {
      EXPECT_EQ(input.globals[global], batch.globals()[global]);
    }
  }
}

TEST(LightInputTest, BitsOfAStateAreThoseOfItsPlanes) {
  EncodedBatch batch;
  LightInput input;
  for (const State& state : RandomPositionsOfAllVariants(200, 8)) {
    batch.EncodeCanonical(absl::MakeConstSpan(&state, 1));
    ReadLightInput(batch.planes(), batch.globals(), input);
    const LightBits expected = LightBitsOf(input);
    LightBits bits;
    EncodeLightBits(state, RepresentativeSymmetry(state), LegalActions(state),
                    bits);
    EXPECT_EQ(bits.own, expected.own);
    EXPECT_EQ(bits.enemy, expected.enemy);
    for (int group = 0; group < kLightGroups; ++group) {
      EXPECT_THAT(bits.groups[group],
                  ::testing::ElementsAreArray(expected.groups[group]))
          << group;
    }
    EXPECT_THAT(bits.globals, ::testing::ElementsAreArray(expected.globals));
  }
}

TEST(LightGeometryTest, PatternsAreTheHillsAroundAndAKnightsMoveAway) {
  for (Hill hill = 0; hill < kNumHills; ++hill) {
    Board near = 0, knight = 0;
    for (int i = 0; i < kPatternHills; ++i) {
      if (kLightPatterns[0][hill][i] < kNumHills) {
        near |= BoardOf(kLightPatterns[0][hill][i]);
      }
      if (kLightPatterns[1][hill][i] < kNumHills) {
        knight |= BoardOf(kLightPatterns[1][hill][i]);
      }
    }
    const Board self = BoardOf(hill);
    EXPECT_EQ(near, self | Adjacent(self) | Diagonal(self));
    EXPECT_EQ(knight, self | KnightMoves(self));
  }
}

TEST(LightGeometryTest, EveryActionHasAPart) {
  for (int index = 0; index < kNumActions; ++index) {
    const auto action = static_cast<Action>(index);
    const PolicyPart& part = kPolicyParts[PolicyOutput(action)];
    EXPECT_NE(part.kind, PolicyPart::kNone);
    EXPECT_EQ(part.from, Parts(action).from);
    EXPECT_EQ(part.kind == PolicyPart::kPass, action == kPass);
    if (part.kind == PolicyPart::kPass) continue;
    EXPECT_EQ(part.to, Parts(action).to);
  }
}

}  // namespace
}  // namespace tara::nn
