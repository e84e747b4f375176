// The options of selection against the simple twin.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/root_exploration.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/options/search_options.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/state_hash.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/simple_search.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

// Random games, but with priors that differ: drawn from the position.
class UnevenEvaluator : public Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<Evaluation> results) override {
    const absl::Status status = playouts_.Evaluate(states, results);
    for (size_t i = 0; i < states.size(); ++i) {
      Random random(HashState(states[i]));
      std::vector<float>& priors = results[i].priors;
      priors = DrawDirichlet(0.3, static_cast<int>(priors.size()), random);
    }
    return status;
  }

 private:
  PlayoutEvaluator playouts_{1, 17};
};

using TreeTwinTest = testing::TestWithParam<VariantInfo>;

INSTANTIATE_TEST_SUITE_P(AllVariants, TreeTwinTest,
                         testing::ValuesIn(kVariants), VariantTestName);

TEST_P(TreeTwinTest, VisitsAreThoseOfTheSimpleTwinWithEveryOption) {
  const State start = InitialState(GetParam().variant);
  const std::vector<State> game = RandomGame(GetParam().variant, 3);
  const State& middle = game[game.size() * 2 / 3];
  UnevenEvaluator evaluator;
  const std::vector<SearchOptions> all = {
      {.simulations = 300, .prior_temperature = 1.5f},
      {.simulations = 300, .c_puct_growth = 1.0f, .c_puct_base = 100.0f},
      {.simulations = 300, .utility_deviation_scale = 0.85f},
      {.simulations = 300,
       .first_play_urgency = FirstPlayUrgency::kAbsolute,
       .first_play_urgency_value = -0.1f},
      {.simulations = 300, .root_first_play_urgency = 0.0f},
      {.simulations = 300, .forced_playouts = 2.0f},
      {.simulations = 300, .utility = {.kind = UtilityKind::kMix}},
  };
  std::vector<std::vector<int>> found;
  for (const SearchOptions& options : all) {
    for (const State& root : {start, middle}) {
      Tree tree(options, root, 1);
      ASSERT_TRUE(RunSearches({&tree}, evaluator).ok());
      EXPECT_EQ(Visits(tree), SimpleSearch(root, evaluator, options));
      found.push_back(Visits(tree));
    }
  }
  // The options make a difference where there is much to choose.
  Tree plain({.simulations = 300}, start, 1);
  ASSERT_TRUE(RunSearches({&plain}, evaluator).ok());
  EXPECT_LT(std::count(found.begin(), found.end(), Visits(plain)), 3);
}

}  // namespace
}  // namespace tara::mcts
