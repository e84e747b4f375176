// With the clocks of tests/base/jumping_clock.cc.

#include "tara/engine/thinker.h"

#include <optional>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/engine_game.h"
#include "tara/engine/engine_options.h"
#include "tara/mcts/evaluators/simple_evaluators.h"

namespace tara::engine {
namespace {

class CountingEvaluator : public mcts::UniformEvaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    positions += static_cast<int>(states.size());
    return mcts::UniformEvaluator::Evaluate(states, results);
  }

  int positions = 0;
};

TEST(ThinkerTest, ASystemClockThatIsSetCutsNoSearchShort) {
  const absl::Time before = absl::Now();
  ASSERT_GE(absl::Now() - before, absl::Hours(1)) << "the clock does not jump";
  const EngineGame game(InitialState(Variant::kFourTreasures));
  EngineOptions timed;
  timed.time = absl::Milliseconds(100);
  for (const bool with_clock : {true, false}) {
    CountingEvaluator evaluator;
    Thinker thinker(&evaluator);
    std::optional<mcts::MoveBudget> budget;
    if (with_clock) {
      budget = mcts::MoveBudget{.target = absl::Milliseconds(100),
                                .limit = absl::Milliseconds(100)};
    }
    const auto action =
        thinker.Choose(game, with_clock ? EngineOptions() : timed, budget);
    ASSERT_TRUE(action.ok()) << action.status();
    // The steady clock goes on by a millisecond each time that it is read:
    // after each simulation, and now and then.
    EXPECT_GE(evaluator.positions, 20);
    EXPECT_LE(evaluator.positions, 101);
  }
}

}  // namespace
}  // namespace tara::engine
