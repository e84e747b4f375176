// With the clocks of tests/base/jumping_clock.cc.

#include "tara/mcts/search/search_session.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/search/many_games.h"
#include "tests/mcts/fake_evaluator.h"

namespace tara::mcts {
namespace {

// A game, and the seeds that a session of it has drawn.
class SearchSessionTest : public testing::Test {
 protected:
  SearchSession Session(const SessionOptions& options) {
    return SearchSession(options, &evaluator_, /*solver=*/nullptr);
  }
  void GoTo(SearchSession& session) {
    session.GoTo(state_, actions_, [this] { return ++seeds_drawn_; });
  }
  void Play(Action action) {
    ApplyAction(action, state_);
    actions_.push_back(action);
  }

  FakeEvaluator evaluator_;
  State state_ = InitialState(Variant::kFourTreasures);
  std::vector<Action> actions_;
  uint64_t seeds_drawn_ = 0;
  Random random_{1};
};

TEST_F(SearchSessionTest, TheTreeFollowsTheGame) {
  SearchSession session =
      Session({.search = {.simulations = 50}, .reuse = true});
  for (int turn = 0; turn < 5; ++turn) {
    GoTo(session);
    EXPECT_EQ(session.tree().root(), state_);
    EXPECT_EQ(session.tree().root_visits() > 0, turn > 0);
    ASSERT_TRUE(session.Search({}).ok());
    EXPECT_EQ(session.tree().root_visits(), 50);
    Play(session.Choose(random_));
  }
  EXPECT_EQ(seeds_drawn_, 1u);
}

TEST_F(SearchSessionTest, AnotherGameHasAnotherTree) {
  SearchSession session =
      Session({.search = {.simulations = 50}, .reuse = true});
  Play(LegalActions(state_).Nth(0));
  GoTo(session);
  ASSERT_TRUE(session.Search({}).ok());
  // Taken back; then another position after as many actions.
  actions_.clear();
  state_ = InitialState(Variant::kFourTreasures);
  GoTo(session);
  EXPECT_EQ(session.tree().root_visits(), 0);
  ASSERT_TRUE(session.Search({}).ok());
  state_ = InitialState(Variant::kHighKingsL1);
  GoTo(session);
  EXPECT_EQ(session.tree().root(), state_);
  EXPECT_EQ(session.tree().root_visits(), 0);
  EXPECT_EQ(seeds_drawn_, 3u);
}

TEST_F(SearchSessionTest, WithoutReuseEachPositionHasATreeOfItsOwn) {
  SearchSession session = Session({.search = {.simulations = 50}});
  for (int turn = 0; turn < 2; ++turn) {
    GoTo(session);
    EXPECT_EQ(session.tree().root_visits(), 0);
    ASSERT_TRUE(session.Search({}).ok());
    Play(session.Choose(random_));
  }
  EXPECT_EQ(seeds_drawn_, 2u);
}

TEST_F(SearchSessionTest, AGumbelRootHasNoMoreThanItsSimulations) {
  SearchSession session =
      Session({.search = {.simulations = 50, .gumbel = true}, .reuse = true});
  for (int turn = 0; turn < 3; ++turn) {
    GoTo(session);
    ASSERT_TRUE(session.Search({}).ok());
    EXPECT_EQ(session.tree().root_visits(), 50);
    Play(session.Choose(random_));
  }
}

TEST_F(SearchSessionTest, AnAnalysisHasTheTreeOfASearch) {
  SearchSession session = Session({});
  GoTo(session);
  int reports = 0;
  ASSERT_TRUE(session
                  .Analyze(
                      {.simulations = 500}, [] { return false; },
                      [&](const Tree&) { ++reports; })
                  .ok());
  EXPECT_GE(reports, 1);
  SearchOptions options = session.tree().options();
  Tree searched(options, state_, seeds_drawn_);
  ASSERT_TRUE(RunSearches({&searched}, evaluator_).ok());
  EXPECT_EQ(session.tree().root_visits(), 500);
  EXPECT_EQ(session.tree().root_value(), searched.root_value());
  EXPECT_EQ(session.tree().principal_variation(),
            searched.principal_variation());
}

TEST_F(SearchSessionTest, AfterAnErrorItBeginsAnew) {
  for (const bool analysis : {false, true}) {
    evaluator_.FailAfter(39);
    SearchSession session =
        Session({.search = {.simulations = 30}, .reuse = true});
    GoTo(session);
    ASSERT_TRUE(session.Search({}).ok());
    GoTo(session);
    EXPECT_EQ(session.tree().root_visits(), 30);
    const absl::Status status =
        analysis ? session.Analyze(
                       {}, [] { return false; }, [](const Tree&) {})
                 : session.Search({.time = absl::Hours(1)});
    EXPECT_EQ(status.message(), "told to fail");
    GoTo(session);
    EXPECT_EQ(session.tree().root_visits(), 0);
  }
}

TEST_F(SearchSessionTest, ASystemClockThatIsSetCutsNoSearchShort) {
  const absl::Time before = absl::Now();
  ASSERT_GE(absl::Now() - before, absl::Hours(1)) << "the clock does not jump";
  for (const bool by_game : {true, false}) {
    evaluator_.ForgetBatches();
    SearchSession session = Session({});
    GoTo(session);
    SearchTime time;
    if (by_game) {
      time.start = SteadyTime();
      time.budget = MoveBudget{.target = absl::Milliseconds(100),
                               .limit = absl::Milliseconds(100)};
    } else {
      time.time = absl::Milliseconds(100);
    }
    ASSERT_TRUE(session.Search(time).ok());
    // The steady clock goes on by a millisecond each time that it is read:
    // after each simulation, and now and then.
    EXPECT_GE(evaluator_.positions(), 20);
    EXPECT_LE(evaluator_.positions(), 101);
  }
}

}  // namespace
}  // namespace tara::mcts
