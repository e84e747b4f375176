// With the clocks of tests/base/jumping_clock.cc.

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"

namespace tara::eval {
namespace {

TEST(EngineClockTest, ASystemClockThatIsSetEndsNoDeadline) {
  const absl::Time before = absl::Now();
  ASSERT_GE(absl::Now() - before, absl::Hours(1)) << "the clock does not jump";
  // The limits are less than the system's clock goes on by when it is read.
  EngineSpec spec = {.command = {"tests/eval/fake_engine"},
                     .start_limit = absl::Minutes(30),
                     .move_limit = absl::Minutes(30)};
  const auto engine = NewEnginePlayer(spec);
  ASSERT_TRUE(engine.ok()) << engine.status();
  const State start = InitialState(Variant::kFourTreasures);
  EXPECT_TRUE(CheckEngine(spec, {start}).ok());
  std::string fault;
  const Turn turn = {.state = start, .forfeit = &fault};
  Action action = kPass;
  ASSERT_TRUE(
      (*engine)->ChooseActions({turn}, absl::MakeSpan(&action, 1)).ok());
  EXPECT_EQ(fault, "");
  EXPECT_TRUE(LegalActions(start).Contains(action));
}

}  // namespace
}  // namespace tara::eval
