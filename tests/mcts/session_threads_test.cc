// One tree, several threads, limits of time, and pondering.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/search/search_session.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"
#include "tara/mcts/utility.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

// A session at a position without a past.
class SessionAt : public SearchSession {
 public:
  SessionAt(const State& root, const SessionOptions& options,
            Evaluator& evaluator, LeafSolver* solver = nullptr)
      : SearchSession(options, &evaluator, solver) {
    Return(root);
  }
  void Return(const State& root) {
    GoTo(root, {}, [] { return 1; });
  }
};

// Solves, and counts.
class CountingSolver : public LeafSolver {
 public:
  std::optional<int> SolveRedMargin(const State& state) override {
    const std::optional<int> margin = solver_.SolveRedMargin(state);
    answers += margin.has_value();
    return margin;
  }

  int64_t answers = 0;

 private:
  // Kings may wander for long.
  EndgameSolver solver_{{.node_limit = 2000}};
};

// Goes on by a millisecond each time it is read, by whatever thread.
class SteppingClock {
 public:
  absl::Time operator()() const {
    return absl::UnixEpoch() + absl::Milliseconds(reads_->fetch_add(1));
  }

 private:
  std::shared_ptr<std::atomic<int64_t>> reads_ =
      std::make_shared<std::atomic<int64_t>>(0);
};

class SessionThreadsTest : public testing::TestWithParam<VariantInfo> {
 protected:
  State start() const { return InitialState(GetParam().variant); }
  // So many plies before the end.
  State Late(size_t plies) const {
    const std::vector<State> game = RandomGame(GetParam().variant, 3);
    return game[game.size() - std::min(plies, game.size())];
  }

  PlayoutEvaluator playouts_{1, 17};
  UniformEvaluator uniform_;
};

INSTANTIATE_TEST_SUITE_P(AllVariants, SessionThreadsTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(SessionThreadsTest, EveryNodeAddsUpAfterwards) {
  for (const bool graph : {false, true}) {
    for (const bool proof : {false, true}) {
      for (const int leaves : {1, 7}) {
        for (const State& root : {start(), Late(8)}) {
          SessionAt session(root,
                            {.search = {.simulations = 800,
                                        .graph_search = graph,
                                        .proof = proof},
                             .threads = 4,
                             .leaves_per_game = leaves},
                            playouts_);
          ASSERT_TRUE(session.Search({}).ok());
          EXPECT_TRUE(session.tree().done());
          // A proved action gets a visit beside each leaf.
          EXPECT_LE(session.tree().root_visits(),
                    proof ? 800 + 4 * leaves : 800);
          EXPECT_EQ(session.tree().in_flight(), 0);
          ExpectInvariants(session.tree(), playouts_);
        }
      }
    }
  }
}

TEST_P(SessionThreadsTest, TheyAskTheSolverAndProveWhatIsTrue) {
  // Exact to the point, so that there is one truth.
  const UtilityOptions points = {.kind = UtilityKind::kPoints};
  int64_t answers = 0;
  for (const Problem& problem : FindProblems(
           GetParam().variant, {.count = 4, .num_games = 100, .budget = 300})) {
    int budget = 300;
    const int exact = *ExactMargin(problem.state, budget);
    const bool is_red = problem.state.side() == kRed;
    for (const bool graph : {false, true}) {
      for (const int threads : {2, 4}) {
        CountingSolver solver;
        // Not the root's own actions, where hills are what is left of a game.
        SessionAt session(problem.state,
                          {.search = {.simulations = 20000,
                                      .utility = points,
                                      .graph_search = graph,
                                      .proof = true,
                                      .solver_vacant_hills =
                                          Count(problem.state.vacant()) - 1},
                           .threads = threads},
                          uniform_, &solver);
        ASSERT_TRUE(session.Search({}).ok());
        const Tree& tree = session.tree();
        ASSERT_TRUE(tree.settled());
        EXPECT_EQ(tree.root_bounds().low, is_red ? exact : -exact);
        EXPECT_EQ(tree.root_bounds().high, is_red ? exact : -exact);
        EXPECT_EQ(tree.counts().solved, solver.answers);
        ExpectInvariants(tree, uniform_);
        answers += solver.answers;
      }
    }
  }
  // In High Kings and Stone of Destiny endings have full boards.
  if (SolvableVacantHills(GetParam().variant) > 0) {
    EXPECT_GT(answers, 0);
  }
}

TEST_P(SessionThreadsTest, OneThreadSearchesAsOneOwnerDoes) {
  for (const int leaves : {1, 5}) {
    for (const State& root : {start(), Late(8)}) {
      SessionAt session(
          root,
          {.search = ForPlay({.simulations = 500}), .leaves_per_game = leaves},
          playouts_);
      Tree owned(session.tree().options(), root, 1);
      ASSERT_TRUE(session.Search({}).ok());
      ASSERT_TRUE(RunSearches({&owned}, playouts_, leaves).ok());
      EXPECT_EQ(Visits(session.tree()), Visits(owned));
    }
  }
}

TEST_P(SessionThreadsTest, TimeEndsItAlsoWhereGamesEnd) {
  // From 3 plies before the end most simulations end in finished games.
  for (const State& root : {start(), Late(3)}) {
    for (const int threads : {1, 3}) {
      for (const int leaves : {1, 4}) {
        SessionAt session(root, {.threads = threads, .leaves_per_game = leaves},
                          uniform_);
        ASSERT_TRUE(session
                        .Search({.time = absl::Milliseconds(300),
                                 .clock = SteppingClock()})
                        .ok());
        EXPECT_GE(session.tree().root_visits(), 1);
        // The clock is read at least once for each thread's batch, or for 64
        // walks that end in finished games.
        EXPECT_LT(session.tree().root_visits(), 310 * 64);
        ExpectInvariants(session.tree(), uniform_);
      }
    }
  }
}

TEST_P(SessionThreadsTest, ThereIsASimulationHoweverShortTheTime) {
  for (const int threads : {1, 2}) {
    SessionAt session(start(), {.threads = threads}, playouts_);
    ASSERT_TRUE(
        session.Search({.time = absl::Nanoseconds(1), .clock = SteppingClock()})
            .ok());
    EXPECT_GE(session.tree().root_visits(), 1);
    EXPECT_LE(session.tree().root_visits(), 10);
  }
}

TEST(SessionTimeTest, ItEndsWhereNothingCanChangeTheChoice) {
  // A second is a thousand readings of the clock. After 2 ms it is looked
  // whether the second most visited action can still catch up, which it cannot
  // soon after the half.
  PlayoutEvaluator playouts(1, 17);
  SearchOptions search = {.c_puct = 0.1f};  // one action gets nearly all
  SessionAt session(InitialState(Variant::kSacredHillL1), {.search = search},
                    playouts);
  ASSERT_TRUE(
      session.Search({.time = absl::Seconds(1), .clock = SteppingClock()})
          .ok());
  EXPECT_LT(session.tree().root_visits(), 900);
}

TEST(SessionStopTest, TheCallbackEndsTheSearch) {
  UniformEvaluator uniform;
  for (const int threads : {1, 2}) {
    SessionAt session(InitialState(Variant::kSacredHillL1),
                      {.search = {.simulations = 10000000}, .threads = threads},
                      uniform);
    std::atomic<int> asked = 0;
    ASSERT_TRUE(session.Search({}, [&] { return ++asked > 100; }).ok());
    EXPECT_FALSE(session.tree().done());
    // A simulation is asked about once by its thread, and at most twice by the
    // other one, where that waits for it.
    EXPECT_GT(session.tree().root_visits(), 30);
    EXPECT_LT(session.tree().root_visits(), 110);
    ExpectInvariants(session.tree(), uniform);
  }
}

TEST(SessionStopTest, TheEvaluatorsErrorEndsIt) {
  const State start = InitialState(Variant::kFourTreasures);
  for (const int threads : {1, 3}) {
    for (const int batches : {0, 1, 40}) {
      FakeEvaluator evaluator;
      evaluator.FailAfter(batches);
      SessionAt session(start,
                        {.search = {.simulations = 500},
                         .threads = threads,
                         .leaves_per_game = 4},
                        evaluator);
      EXPECT_EQ(session.Search({}).message(), "told to fail");
      evaluator.FailAfter(INT64_MAX);
      session.Return(start);
      ASSERT_TRUE(session.Search({}).ok());
      EXPECT_EQ(session.tree().root_visits(), 500);
    }
  }
}

// A session that ponders after the first action.
class PonderingTest : public testing::TestWithParam<int> {
 protected:
  void Ponder(int simulations) {
    session_.emplace(start_,
                     SessionOptions{.search = {.simulations = 30},
                                    .reuse = true,
                                    .threads = GetParam()},
                     evaluator_);
    session_->Ponder(kAction, simulations);
  }
  State After() const { return mcts::After(start_, kAction); }

  static constexpr Action kAction = static_cast<Action>(7);
  const State start_ = InitialState(Variant::kFourTreasures);
  FakeEvaluator evaluator_;
  std::optional<SessionAt> session_;
};

INSTANTIATE_TEST_SUITE_P(Threads, PonderingTest, testing::Values(1, 2, 3));

TEST_P(PonderingTest, TheTreeComesBackWithWhatWasFoundAndGoesOn) {
  Ponder(/*simulations=*/1 << 20);
  evaluator_.AwaitBatches(100);
  ASSERT_TRUE(session_->StopPondering().ok());
  ExpectInvariants(session_->tree(), evaluator_);
  session_->GoTo(After(), std::vector<Action>{kAction}, [] { return 1; });
  const int visits = session_->tree().root_visits();
  EXPECT_GT(visits, 90);
  ASSERT_TRUE(session_->Search({.time = absl::Nanoseconds(1)}).ok());
  EXPECT_GT(session_->tree().root_visits(), visits);
  ExpectInvariants(session_->tree(), evaluator_);
}

TEST_P(PonderingTest, ItEndsAtItsLimit) {
  Ponder(/*simulations=*/200);
  // Each simulation is a batch, far from the game's end, and so is the root. A
  // batch that has begun is waited for, and applied.
  evaluator_.AwaitBatches(201);
  ASSERT_TRUE(session_->StopPondering().ok());
  EXPECT_EQ(session_->tree().root_visits(), 200);
  EXPECT_EQ(evaluator_.batches(), 201);
  if (GetParam() > 1) return;
  // One thread has the tree of a search.
  Tree searched({.simulations = 200}, After(), 1);
  ASSERT_TRUE(RunSearches({&searched}, evaluator_).ok());
  EXPECT_EQ(Visits(session_->tree()), Visits(searched));
}

TEST_P(PonderingTest, StoppedAtOnceTheTreeIsAsGood) {
  for (int round = 0; round < 10; ++round) {
    Ponder(/*simulations=*/1 << 20);
    ASSERT_TRUE(session_->StopPondering().ok());
    EXPECT_EQ(session_->tree().in_flight(), 0);
    session_->GoTo(After(), std::vector<Action>{kAction}, [] { return 1; });
    ASSERT_TRUE(session_->Search({}).ok());
    ExpectInvariants(session_->tree(), evaluator_);
  }
}

TEST_P(PonderingTest, DestroyedWhileRunningItStops) {
  Ponder(/*simulations=*/1 << 20);
  evaluator_.AwaitBatches(100);
  session_.reset();
  // Nobody else asks from now on: the batches are those of one search.
  const int64_t before = evaluator_.batches();
  Tree tree({.simulations = 300}, start_, 1);
  ASSERT_TRUE(RunSearches({&tree}, evaluator_).ok());
  EXPECT_EQ(evaluator_.batches(), before + 301);
}

TEST_P(PonderingTest, TheEvaluatorsErrorIsTold) {
  evaluator_.FailAfter(29);
  Ponder(/*simulations=*/1 << 20);
  evaluator_.AwaitBatches(30);
  EXPECT_EQ(session_->StopPondering().message(), "told to fail");
}

}  // namespace
}  // namespace tara::mcts
