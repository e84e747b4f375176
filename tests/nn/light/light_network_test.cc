// What a light network sees, and the gradients that it learns by.

#include "tara/nn/light/light_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/nn/encode/encoded_batch.h"
#include "tara/nn/encode/features.h"
#include "tara/nn/light/light_learning.h"
#include "tests/nn/light/light_testing.h"
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

// A sample with targets for all heads.
LightSample MakeSample(const State& state, Random& random) {
  LightSample sample;
  EncodedBatch batch;
  batch.EncodeCanonical(absl::MakeConstSpan(&state, 1));
  ReadLightInput(batch.planes(), batch.globals(), sample.input);
  sample.outputs.assign(batch.OutputsOf(0).begin(), batch.OutputsOf(0).end());
  sample.policy.assign(sample.outputs.size(), 0);
  float total = 0;
  for (float& share : sample.policy) {
    share = static_cast<float>(random.Uniform());
    total += share;
  }
  for (float& share : sample.policy) share /= total;
  sample.result = {0.5f, 0.125f, 0.375f};
  sample.margin = static_cast<int>(random.Below(9)) - 4;
  sample.has_margin = sample.has_owners = true;
  for (uint8_t& owner : sample.owners) {
    owner = static_cast<uint8_t>(random.Below(kNumOwners));
  }
  sample.weight = 0.75f;
  return sample;
}

constexpr PerHead<float> kScales = {{Head::kPolicy, 1.0f},
                                    {Head::kValue, 1.5f},
                                    {Head::kMargin, 0.25f},
                                    {Head::kOwner, 0.5f}};

TEST(LightLearningTest, GradientsAreThoseOfTheLosses) {
  const LightTensors tensors(2);
  AlignedFloats parameters = RandomParameters(tensors, 7, 0.05);
  Random random(7);
  TransposedLight transposed(tensors);
  transposed.Refresh(parameters.data());
  const LightLearning& learning = BestLightLearning();
  const auto activations = std::make_unique<LightActivations>();
  const auto loss_of = [&](const LightSample& sample, float* gradient) {
    LightLosses losses;
    learning.forward(tensors, parameters.data(), sample.input, sample.outputs,
                     *activations);
    learning.backward(tensors, parameters.data(), transposed, sample, kScales,
                      *activations, gradient, losses);
    double total = 0;
    for (const HeadInfo& info : kHeads) {
      total += kScales[info.head] * losses.sums[info.head];
    }
    return total;
  };
  for (const State& state : RandomPositionsOfAllVariants(2, 3)) {
    const LightSample sample = MakeSample(state, random);
    AlignedFloats gradient(tensors.size()), unused(tensors.size());
    loss_of(sample, gradient.data());
    int compared = 0, wrong = 0;
    for (const LightTensor* const tensor : tensors.all()) {
      // Where it is the greatest: elsewhere it drowns in rounding.
      size_t place = tensor->offset;
      for (size_t i = place; i < tensor->offset + tensor->size(); ++i) {
        if (std::abs(gradient.data()[i]) > std::abs(gradient.data()[place])) {
          place = i;
        }
      }
      float& parameter = parameters.data()[place];
      const float before = parameter;
      constexpr float kStep = 2e-3f;
      parameter = before + kStep;
      const double up = loss_of(sample, unused.data());
      parameter = before - kStep;
      const double down = loss_of(sample, unused.data());
      parameter = before;
      const double expected = (up - down) / (2.0 * kStep);
      const double tolerance = 0.03 * std::abs(expected) + 2e-3;
      ++compared;
      wrong += std::abs(gradient.data()[place] - expected) > tolerance;
    }
    // Steps that cross a corner of a ReLU or change a maximum are few.
    EXPECT_LE(wrong, 3) << "of " << compared;
  }
}

TEST(LightLearningTest, TablesHaveTheRowsOfTheirNetworks) {
  const LightTensors tensors(1);
  const AlignedFloats parameters = RandomParameters(tensors, 11, 0.2);
  Random random(11);
  const auto at = [&](const LightTensor& tensor, int row, int column) {
    return static_cast<double>(parameters.data()[tensor.RowAt(row) + column]);
  };
  for (int table = 0; table < kNumLightTables; ++table) {
    std::vector<uint32_t> patterns;
    while (patterns.size() < 150) {
      patterns.push_back(random.Below(1 << (2 * kPatternHills)));
    }
    AlignedFloats rows(patterns.size() * kLightChannels);
    BestLightLearning().tabulate(tensors, parameters.data(), table, patterns,
                                 rows.data());
    const LightTableNetwork& net = tensors.tables[table];
    for (size_t i = 0; i < patterns.size(); ++i) {
      const uint32_t pattern = patterns[i];
      std::array<double, kLightChannels> hidden1, hidden2;
      for (int c = 0; c < kLightChannels; ++c) {
        hidden1[c] = at(net.bias1, 0, c);
        for (int hill = 0; hill < kPatternHills; ++hill) {
          const auto owner =
              static_cast<int>((pattern >> hill & 1) +
                               2 * (pattern >> (kPatternHills + hill) & 1));
          hidden1[c] += at(net.hidden1, kNumLightOwners * hill + owner, c);
        }
        hidden1[c] = std::max(hidden1[c], 0.0);
      }
      for (int c = 0; c < kLightChannels; ++c) {
        hidden2[c] = at(net.bias2, 0, c);
        for (int k = 0; k < kLightChannels; ++k) {
          hidden2[c] += hidden1[k] * at(net.hidden2, k, c);
        }
        hidden2[c] = std::max(hidden2[c], 0.0);
      }
      for (int c = 0; c < kLightChannels; ++c) {
        double expected = 0;
        for (int k = 0; k < kLightChannels; ++k) {
          expected += hidden2[k] * at(net.out, k, c);
        }
        EXPECT_NEAR(rows.data()[i * kLightChannels + c], expected,
                    1e-3 * (1 + std::abs(expected)));
      }
    }
  }
}

}  // namespace
}  // namespace tara::nn
