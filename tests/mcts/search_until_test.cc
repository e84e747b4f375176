// Searches of one position by rules and by time.

#include "tara/mcts/search/search_until.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/time/stop_rule.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

bool Never() { return false; }

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

class SearchUntilTest : public testing::TestWithParam<VariantInfo> {
 protected:
  State start() const { return InitialState(GetParam().variant); }
  // Most simulations from here on end in finished games.
  State last() const {
    const std::vector<State> game = RandomGame(GetParam().variant, 3);
    return game[game.size() - std::min<size_t>(3, game.size())];
  }

  PlayoutEvaluator playouts_{1, 17};
  UniformEvaluator uniform_;
};

INSTANTIATE_TEST_SUITE_P(AllVariants, SearchUntilTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(SearchUntilTest, WithOneThreadItSearchesAsOneOwnerDoes) {
  // Whatever the slices that the clock makes of the search.
  const SearchOptions options = {.simulations = 500, .graph_search = true};
  Tree sliced(options, start(), 1);
  Tree owned(options, start(), 1);
  ASSERT_TRUE(
      SearchUntil(sliced, playouts_, {.clock = SteppingClock()}, Never).ok());
  ASSERT_TRUE(RunSearches({&owned}, playouts_).ok());
  const std::vector<RootAction> a = sliced.root_actions();
  const std::vector<RootAction> b = owned.root_actions();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].visits, b[i].visits);
}

TEST_P(SearchUntilTest, TimeEndsItAlsoWhereGamesEnd) {
  for (const State& root : {start(), last()}) {
    for (const int threads : {1, 3}) {
      for (const int leaves : {1, 4}) {
        Tree tree({.simulations = kMaxSimulations}, root, 1);
        ASSERT_TRUE(SearchUntil(tree, uniform_,
                                {.threads = threads,
                                 .leaves_per_game = leaves,
                                 .time = absl::Milliseconds(300),
                                 .clock = SteppingClock()},
                                Never)
                        .ok());
        EXPECT_GE(tree.root_visits(), 1);
        // The clock is read at least once for each thread's batch, or for 64
        // walks that end in finished games.
        EXPECT_LT(tree.root_visits(), 310 * 64);
        EXPECT_EQ(tree.options().simulations, kMaxSimulations);
        ExpectInvariants(tree, uniform_);
      }
    }
  }
}

TEST_P(SearchUntilTest, ThereIsASimulationHoweverShortTheTime) {
  for (const int threads : {1, 2}) {
    Tree tree({.simulations = kMaxSimulations}, start(), 1);
    ASSERT_TRUE(SearchUntil(tree, playouts_,
                            {.threads = threads,
                             .time = absl::ZeroDuration(),
                             .clock = SteppingClock()},
                            Never)
                    .ok());
    EXPECT_GE(tree.root_visits(), 1);
    EXPECT_LE(tree.root_visits(), 10);
  }
}

TEST(SearchUntilEndTest, ItEndsByTheProgressOfThisSearch) {
  PlayoutEvaluator playouts(1, 17);
  Tree tree({.simulations = 50}, InitialState(Variant::kSacredHillL1), 1);
  ASSERT_TRUE(RunSearches({&tree}, playouts).ok());
  tree.SetSimulations(kMaxSimulations);
  std::vector<SearchProgress> seen;
  const auto is_enough = [&seen](const SearchProgress& progress) {
    seen.push_back(progress);
    return seen.size() == 5;
  };
  ASSERT_TRUE(SearchUntil(tree, playouts,
                          {.clock = SteppingClock(), .is_enough = is_enough},
                          Never)
                  .ok());
  ASSERT_EQ(seen.size(), 5u);
  for (const SearchProgress& progress : seen) {
    EXPECT_EQ(progress.simulations, progress.new_simulations + 50);
    EXPECT_GT(progress.new_simulations, 0);
    EXPECT_GT(progress.elapsed, absl::ZeroDuration());
    EXPECT_EQ(progress.num_actions, tree.root_actions().size());
    EXPECT_GT(progress.most_visits, 0);
    EXPECT_FALSE(progress.root_settled);
  }
  EXPECT_EQ(seen.back().simulations, tree.root_visits());
}

TEST(SearchUntilEndTest, StopEndsItAtOnce) {
  UniformEvaluator uniform;
  for (const int threads : {1, 2}) {
    Tree tree({.simulations = kMaxSimulations},
              InitialState(Variant::kSacredHillL1), 1);
    std::atomic<int> asked = 0;
    ASSERT_TRUE(SearchUntil(tree, uniform, {.threads = threads}, [&] {
                  return ++asked > 100;
                }).ok());
    EXPECT_LT(tree.root_visits(), 110);
    ExpectInvariants(tree, uniform);
  }
}

TEST(SearchUntilEndTest, TheEvaluatorsErrorEndsIt) {
  FakeEvaluator failing;
  failing.FailAfter(0);
  for (const int threads : {1, 2}) {
    Tree tree({.simulations = 70}, InitialState(Variant::kFourTreasures), 1);
    EXPECT_EQ(SearchUntil(tree, failing, {.threads = threads}, Never).message(),
              "told to fail");
    EXPECT_EQ(tree.in_flight(), 0);
    EXPECT_EQ(tree.options().simulations, 70);
  }
}

}  // namespace
}  // namespace tara::mcts
