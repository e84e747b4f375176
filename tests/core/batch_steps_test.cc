// Each step of the lanes against the scalar core: legal hills, kingdoms, and
// that every legal hill is equally likely.

#include "tests/core/batch_steps.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/instruction_set.h"
#include "tara/core/outcome.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

using batch::kStepLanes;

class BatchStepsTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  static batch::StepFunctions Steps() {
#if defined(__x86_64__)
    switch (GetParam()) {
      case InstructionSet::kAvx512:
        return batch::Avx512Steps();
      case InstructionSet::kAvx2:
        return batch::Avx2Steps();
      case InstructionSet::kPortable:
        break;
    }
#endif
    return batch::PortableSteps();
  }
};

// Positions of one seat and phase, gathered until the lanes are full.
struct Gathered {
  int count = 0;
  std::array<Board, kStepLanes> own, enemy, legal;
};

TEST_P(BatchStepsTest, LegalHillsAreThoseOfTheScalarCoreAtEachStep) {
  const batch::StepFunctions steps = Steps();
  for (const VariantInfo& info : kVariants) {
    const int variant = static_cast<int>(info.variant);
    for (const RuleOptions& options :
         {RuleOptions(), ChangedOptionsOfLanes(info)}) {
      std::array<std::array<Gathered, 2>, 4> gathered;
      int64_t compared = 0;
      for (uint64_t seed = 0; seed < 3000; ++seed) {
        PlayRandomGame(
            InitialState(info.variant, options), seed,
            [&](const State& state, const LegalSet& legal) {
              if (state.finished()) return;
              const bool manoeuvres = state.phase == Phase::kManoeuvres;
              Gathered& positions = gathered[state.seat][manoeuvres];
              positions.own[positions.count] = state.ringforts[state.side()];
              positions.enemy[positions.count] =
                  state.ringforts[Opponent(state.side())];
              positions.legal[positions.count] = legal.hills;
              if (++positions.count < kStepLanes) return;
              positions.count = 0;
              std::array<Board, kStepLanes> hills;
              if (!steps.legal_hills(variant, options, positions.own.data(),
                                     positions.enemy.data(), state.seat,
                                     manoeuvres, hills.data())) {
                return;
              }
              ASSERT_EQ(hills, positions.legal) << info.id;
              compared += kStepLanes;
            });
        if (seed == 0 && info.family == Family::kHighKings) break;
        if (seed == 0 && info.family == Family::kStoneOfDestiny) break;
      }
      if (info.family != Family::kHighKings &&
          info.family != Family::kStoneOfDestiny) {
        EXPECT_GT(compared, 100000) << info.id;
      }
    }
  }
}

TEST_P(BatchStepsTest, KingdomsAreThoseOfTheScalarCore) {
  const batch::StepFunctions steps = Steps();
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int round = 0; round < 20000; ++round) {
    std::array<Board, kStepLanes> hills;
    std::array<uint64_t, kStepLanes> counts;
    for (Board& board : hills) {
      // From sparse boards to dense ones: holes are frequent in the latter.
      board = random() & kAllHills;
      if (round % 3 == 1) board &= random();
      if (round % 3 == 2) board |= random() & kAllHills;
    }
    steps.kingdoms(hills.data(), counts.data());
    for (int i = 0; i < kStepLanes; ++i) {
      State state = InitialState(Variant::kFourTreasures);
      state.ringforts[kRed] = hills[i];
      ASSERT_EQ(static_cast<int>(counts[i]), CountKingdoms(state, kRed))
          << hills[i];
    }
  }
}

TEST_P(BatchStepsTest, AKingdomWithinAHoleOfAnotherIsCounted) {
  // Red all around; within, a ring of Blue that meets at corners; within that,
  // D4 again.
  const Board ring = Hills("D3 C4 E4 D5");
  const std::array<Board, kStepLanes> hills = {
      kAllHills & ~ring,  // D4 and the rest
      ring,               // no two are adjacent
      kAllHills & ~Hills("D4"),
      Hills("C3 D3 E3 C4 E4 C5 D5 E5"),
      kAllHills,
      0,
      Hills("D4"),
      kAllHills & ~Hills("B2 F2 B6 F6 D4 C3"),
  };
  std::array<uint64_t, kStepLanes> counts;
  Steps().kingdoms(hills.data(), counts.data());
  EXPECT_EQ(counts, (std::array<uint64_t, kStepLanes>{2, 4, 1, 1, 1, 0, 1, 1}));
}

TEST_P(BatchStepsTest, ChoosesAsTheScalarCoreAndUniformly) {
  constexpr int kDraws = 40000;
  std::array<Board, kStepLanes> boards;
  Random random(DeriveSeed(2, 0, StreamPurpose::kTest));
  for (int i = 0; i < kStepLanes; ++i) boards[i] = random() & kAllHills;
  boards[0] = kAllHills;
  boards[1] = Hills("D4");
  boards[2] = Hills("B1 F7");
  std::vector<Board> chosen(kDraws * kStepLanes);
  Steps().random_hills(boards.data(), 9, kDraws, chosen.data());
  for (int i = 0; i < kStepLanes; ++i) {
    Random stream(
        DeriveSeed(9, static_cast<uint64_t>(i), StreamPurpose::kPlayouts));
    const int count = Count(boards[i]);
    std::array<int, kNumHills> histogram = {};
    for (int draw = 0; draw < kDraws; ++draw) {
      const Hill hill = NthHill(boards[i], ChooseNth(stream(), count));
      ASSERT_EQ(chosen[draw * kStepLanes + i], BoardOf(hill));
      ++histogram[hill];
    }
    // Chi-square with count - 1 degrees of freedom: mean count - 1, variance
    // 2 (count - 1); five deviations.
    const double expected = static_cast<double>(kDraws) / count;
    double chi_square = 0;
    ForEachHill(boards[i], [&](Hill hill) {
      const double deviation = histogram[hill] - expected;
      chi_square += deviation * deviation / expected;
    });
    EXPECT_LE(chi_square, count - 1 + 5 * std::sqrt(2.0 * (count - 1)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BatchStepsTest, ::testing::ValuesIn(SupportedInstructionSets()),
    [](const ::testing::TestParamInfo<InstructionSet>& info) {
      return std::string(InstructionSetName(info.param));
    });

}  // namespace
}  // namespace tara
