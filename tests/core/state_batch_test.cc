#include "tara/core/state_batch.h"

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/game_batch.h"
#include "tara/core/instruction_set.h"
#include "tara/core/playouts.h"
#include "tara/core/rules.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

class StateBatchTest : public ::testing::TestWithParam<VariantInfo> {};

// Chooses at random, every third time among the last legal actions
// (sacrifices, passes), which makes rare endings frequent.
Action AnyAction(const LegalSet& legal, Random& random) {
  const int count = legal.Count();
  const int n = static_cast<int>(random.Below(static_cast<uint32_t>(count)));
  return legal.Nth(random.Below(3) == 0 ? count - 1 : n);
}

void ExpectSameLegalActions(const StateBatch& batch) {
  std::vector<LegalMask> masks(batch.slots());
  batch.LegalMasks(absl::MakeSpan(masks));
  for (int slot = 0; slot < batch.slots(); ++slot) {
    ASSERT_EQ(masks[slot], LegalActions(batch.states()[slot]).ToMask()) << slot;
    ASSERT_EQ(batch.legal()[slot].Count(), masks[slot].count());
  }
}

// Over all variants and both options two million plies.
TEST_P(StateBatchTest, StepsAsThePublicFunctionsDo) {
  constexpr int kSlots = 67;
  constexpr int kSteps = 1500;
  for (const RuleOptions& options :
       {RuleOptions(), ChangedOptions(GetParam())}) {
    StateBatch batch(GetParam().variant, options, kSlots, /*seed=*/1);
    Random random(3);
    std::vector<State> twins(kSlots, InitialState(GetParam().variant, options));
    std::vector<int64_t> games(kSlots);
    for (int i = 0; i < kSlots; ++i) games[i] = i;
    int64_t next_game = kSlots;
    std::vector<Action> actions(kSlots);
    for (int step = 0; step < kSteps; ++step) {
      if (step % 5 == 0) ExpectSameLegalActions(batch);
      for (int slot = 0; slot < kSlots; ++slot) {
        actions[slot] = AnyAction(batch.legal()[slot], random);
      }
      batch.Step(actions);
      size_t ended = 0;
      for (int slot = 0; slot < kSlots; ++slot) {
        State& twin = twins[slot];
        ApplyAction(actions[slot], twin);
        if (twin.finished()) {
          ASSERT_LT(ended, batch.finished().size());
          const StateBatch::Finished& finished = batch.finished()[ended++];
          EXPECT_EQ(finished.slot, slot);
          EXPECT_EQ(finished.game, games[slot]);
          EXPECT_EQ(finished.end, twin);
          EXPECT_EQ(finished.outcome, Score(twin));
          games[slot] = next_game++;
          twin = InitialState(GetParam().variant, options);
        }
        ASSERT_EQ(batch.states()[slot], twin);
        ASSERT_EQ(batch.game(slot), games[slot]);
      }
      ASSERT_EQ(batch.finished().size(), ended);
    }
    EXPECT_GT(next_game, 10 * kSlots);
  }
}

TEST_P(StateBatchTest, RandomStepsPlayTheGamesOfTheBatchedCore) {
  constexpr int kGames = 500;
  StateBatch batch(GetParam().variant, {}, /*slots=*/40, /*seed=*/5);
  std::vector<int64_t> margins(kNumMargins);
  for (int left = kGames; left > 0;) {
    batch.StepRandomly();
    for (const StateBatch::Finished& finished : batch.finished()) {
      if (finished.game >= kGames) continue;
      --left;
      ++margins[finished.outcome.margin() + kMaxMargin];
    }
  }
  const PlayoutStatistics expected = PlayRandomGames(
      GetParam().variant, {}, /*seed=*/5, 0, kGames, InstructionSet::kPortable);
  EXPECT_EQ(margins, std::vector<int64_t>(expected.margins.begin(),
                                          expected.margins.end()));
}

TEST_P(StateBatchTest, GoesOnFromPositionsItIsGiven) {
  StateBatch batch(GetParam().variant, {}, /*slots=*/3, /*seed=*/1);
  PlayRandomGame(InitialState(GetParam().variant), /*seed=*/4,
                 [&](const State& state, const LegalSet&) {
                   if (state.finished()) return;
                   batch.SetState(1, state);
                   EXPECT_EQ(batch.states()[1], state);
                   ExpectSameLegalActions(batch);
                   const std::vector<Action> actions = {
                       batch.legal()[0].Nth(0), batch.legal()[1].Nth(0),
                       batch.legal()[2].Nth(0)};
                   State next = state;
                   ApplyAction(actions[1], next);
                   batch.Step(actions);
                   if (!next.finished()) {
                     EXPECT_EQ(batch.states()[1], next);
                   }
                   ExpectSameLegalActions(batch);
                 });
}

TEST_P(StateBatchTest, MayBeEmpty) {
  StateBatch batch(GetParam().variant, {}, /*slots=*/0, /*seed=*/1);
  batch.Step({});
  EXPECT_TRUE(batch.states().empty());
  EXPECT_TRUE(batch.finished().empty());
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, StateBatchTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

}  // namespace
}  // namespace tara
