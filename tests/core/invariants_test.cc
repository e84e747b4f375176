// What holds at every position of every variant, over random games.

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

constexpr int kGames = 150;  // by each of two sets of options

// Returns a length that no game exceeds.
//
// A hill converts (a ringfort on it changes sides, by capture or sacrifice)
// only when all its adjacent hills hold the other side's ringforts. Then the
// hill and all its adjacent hills are of one side, and none of them can
// convert any more: each would need the others to convert first. So each of
// the 45 hills is built on at most once and converts at most once.
//
// - Sacred Hill, Four Treasures, Poisoned Chalice: each action builds or
//   captures: at most 45 + 45.
// - High Kings: progress is at most 45 builds, 45 conversions and 3 captured
//   kings beyond these (with 2 of one side the game ends); each, and the end,
//   comes after fewer than L = no_progress_limit actions without progress, but
//   for one closing turn: (45 + 45 + 3 + 1) * L + 1.
// - Stone of Destiny: 45 builds; at most 76 links, which stay; each, and the
//   end, after fewer than L turns without link, of one action each; a turn
//   with a link has two: 45 + (76 + 1) * L + 76.
//
// A swap of the pie rule is one action more.
int LengthBound(const State& start) {
  const int limit = start.options.no_progress_limit;
  const int swaps = start.options.pie_rule ? 1 : 0;
  switch (Info(start.variant).family) {
    case Family::kHighKings:
      return swaps + (45 + 45 + 3 + 1) * limit + 1;
    case Family::kStoneOfDestiny:
      return swaps + 45 + (76 + 1) * limit + 76;
    default:
      return swaps + 45 + 45;
  }
}

class InvariantsTest : public ::testing::TestWithParam<VariantInfo> {
 protected:
  // By the rules as written, and by changed ones.
  std::vector<State> Starts() const {
    return {InitialState(GetParam().variant),
            InitialState(GetParam().variant, ChangedOptions(GetParam()))};
  }

  template <typename Visitor>
  void ForEachGame(Visitor&& visit) {
    for (const State& start : Starts()) {
      for (int game = 0; game < kGames && !HasFailure(); ++game) {
        PlayRandomGame(start, game, visit);
      }
    }
  }
};

TEST_P(InvariantsTest, EveryPositionIsValidAndSettledAndItsTextIsInverse) {
  ForEachGame([](const State& state, const LegalSet&) {
    EXPECT_EQ(ValidatePosition(state), absl::OkStatus());
    EXPECT_EQ(Settled(state), state);
    EXPECT_EQ(state.padding, 0);
    const std::string text = PositionToText(state);
    const absl::StatusOr<State> parsed = ParsePosition(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, state) << text;
    EXPECT_EQ(PositionToText(*parsed), text);
  });
}

TEST_P(InvariantsTest, ListMaskCountNthAndContainsAgree) {
  ForEachGame([](const State& state, const LegalSet& legal) {
    std::vector<Action> list;
    legal.ForEach([&](Action action) { list.push_back(action); });
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
    EXPECT_EQ(legal.Count(), static_cast<int>(list.size()));
    EXPECT_EQ(legal.empty(), list.empty());
    EXPECT_EQ(list.empty(), state.finished());
    const LegalMask mask = legal.ToMask();
    EXPECT_EQ(mask.count(), list.size());
    for (int n = 0; n < legal.Count(); ++n) {
      EXPECT_EQ(legal.Nth(n), list[n]);
      EXPECT_TRUE(mask[Index(list[n])]);
    }
    for (int index = 0; index < kNumActions; ++index) {
      EXPECT_EQ(legal.Contains(static_cast<Action>(index)), mask[index]);
    }
  });
}

TEST_P(InvariantsTest, GamesEndWithinTheDerivedBoundAndReplayToTheSameEnd) {
  for (const State& start : Starts()) {
    for (int game = 0; game < kGames; ++game) {
      State last = start;
      const std::vector<Action> actions = PlayRandomGame(
          start, game,
          [&](const State& state, const LegalSet&) { last = state; });
      EXPECT_LE(static_cast<int>(actions.size()), LengthBound(start));
      State replayed = start;
      for (const Action action : actions) {
        ASSERT_EQ(PlayAction(action, replayed), absl::OkStatus());
      }
      EXPECT_EQ(replayed, last);
    }
  }
}

// Each hill is built on at most once and converts at most once: no hill is
// left vacant again, and no hill changes sides twice. Stone of Destiny's swaps
// are no conversions in this sense.
TEST_P(InvariantsTest, AHillConvertsAtMostOnce) {
  if (GetParam().family == Family::kStoneOfDestiny) return;
  for (int game = 0; game < kGames; ++game) {
    std::map<Hill, int> conversions;
    State before = InitialState(GetParam().variant);
    PlayRandomGame(before, game, [&](const State& state, const LegalSet&) {
      EXPECT_EQ(state.vacant() & ~before.vacant(), 0u);
      for (const Side side : {kRed, kBlue}) {
        ForEachHill(before.ringforts[side] & state.ringforts[Opponent(side)],
                    [&](Hill hill) {
                      EXPECT_LE(++conversions[hill], 1) << HillToText(hill);
                    });
      }
      before = state;
    });
  }
}

TEST_P(InvariantsTest, IllegalActionsAreRefusedAndChangeNothing) {
  ForEachGame([](const State& state, const LegalSet& legal) {
    for (const int index : {0, kPassIndex}) {
      const Action action = static_cast<Action>(index);
      if (legal.Contains(action)) continue;
      State same = state;
      EXPECT_EQ(PlayAction(action, same).code(),
                absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(same, state);
    }
    if (!state.finished()) return;
    const Outcome outcome = Score(state);
    EXPECT_NE(outcome.ended_by, Ending::kNone);
    EXPECT_GT(outcome.points[kRed] + outcome.points[kBlue], 0);
  });
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, InvariantsTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

}  // namespace
}  // namespace tara
