#include "tara/mcts/search/many_games.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/choice/choose_action.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/tree/tree.h"
#include "tests/mcts/fake_evaluator.h"
#include "tests/mcts/positions.h"
#include "tests/mcts/tree_invariants.h"

namespace tara::mcts {
namespace {

// Visits at each turn of a game: what its searches came to.
using History = std::vector<std::vector<int>>;
using Histories = std::map<int, History>;

// A game of a variant, by index, that plays the most visited action and notes
// what it has searched when it is over.
class NotedGame : public SearchedGame {
 public:
  NotedGame(int index, int simulations, Histories& histories)
      : index_(index),
        histories_(histories),
        random_(DeriveSeed(5, index, StreamPurpose::kTest)),
        tree_({.simulations = simulations, .dirichlet_fraction = 0.25f},
              InitialState(static_cast<Variant>(index % kNumVariants)),
              random_()) {}

  Tree& tree() override { return tree_; }

  absl::StatusOr<bool> Play() override {
    EXPECT_EQ(tree_.in_flight(), 0);
    if (told_to_fail) return absl::InternalError("told to fail");
    history_.push_back(Visits(tree_));
    tree_.Advance(ChooseAction(tree_.root_actions(), {}, random_));
    // The first plies are enough, but some games are played to the end.
    if (!tree_.finished() && (history_.size() < 6 || index_ % 7 == 0)) {
      return true;
    }
    histories_[index_] = history_;
    return false;
  }

  bool told_to_fail = false;

 private:
  const int index_;
  Histories& histories_;
  Random random_;
  Tree tree_;
  History history_;
};

constexpr auto kNeverStop = [] { return false; };

// Hands out the games of the indices, or 0, 1, 2, ... without end.
GameSource NotedGames(Histories& histories,
                      std::optional<std::vector<int>> indices = {}) {
  return [&histories, indices,
          next = 0]() mutable -> std::unique_ptr<SearchedGame> {
    const int i = next++;
    if (!indices.has_value()) {
      return std::make_unique<NotedGame>(i, 24, histories);
    }
    if (i >= static_cast<int>(indices->size())) return nullptr;
    return std::make_unique<NotedGame>((*indices)[i], 24, histories);
  };
}

// Plays games with an evaluator, in the order of their indices.
Histories PlayNotedGames(const ManyGamesOptions& options,
                         const std::vector<int>& indices, Evaluator& evaluator,
                         SearchCounters& counters) {
  Histories histories;
  const absl::Status status = PlayManyGames(
      options, NotedGames(histories, indices), evaluator, kNeverStop, counters);
  EXPECT_TRUE(status.ok()) << status.message();
  return histories;
}

// Plays the first so many games, and checks what was counted.
Histories PlayNotedGames(const ManyGamesOptions& options, int games) {
  FakeEvaluator evaluator;
  SearchCounters counters;
  std::vector<int> indices(games);
  std::iota(indices.begin(), indices.end(), 0);
  Histories histories = PlayNotedGames(options, indices, evaluator, counters);
  EXPECT_EQ(counters.evaluations, evaluator.positions());
  EXPECT_EQ(counters.batches, evaluator.batches());
  EXPECT_GE(counters.simulations, evaluator.positions());
  return histories;
}

TEST(ManyGamesTest, AGameDependsNeitherOnItsCompanyNorOnGroups) {
  for (const int leaves : {1, 4}) {
    const auto play = [&](int games, int groups) {
      return PlayNotedGames(
          {.games = games, .leaves_per_game = leaves, .groups = groups}, 12);
    };
    const Histories alone = play(1, 1);
    ASSERT_EQ(alone.size(), 12u);
    EXPECT_EQ(alone, play(5, 1));
    EXPECT_EQ(alone, play(64, 1));
    EXPECT_EQ(alone, play(6, 2));
    EXPECT_EQ(alone, play(1, 2));
  }
}

TEST(ManyGamesTest, LeavesOfAllGamesShareABatch) {
  FakeEvaluator evaluator;
  SearchCounters counters;
  PlayNotedGames({.games = 6}, {1, 2, 3, 4, 5, 6}, evaluator, counters);
  // Six games of six searches, none of which meets the end of the game: all
  // batches are full but for those where kept subtrees make a search shorter.
  EXPECT_GT(evaluator.positions(), 5 * evaluator.batches());
}

TEST(ManyGamesTest, AGameDoesNotDependOnWhatACacheKnows) {
  const std::vector<int> indices = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (const int leaves : {1, 4}) {
    const Histories alone =
        PlayNotedGames({.games = 1, .leaves_per_game = leaves}, 9);
    for (const int groups : {1, 2}) {
      for (const int64_t room : {64, 100000}) {
        FakeEvaluator evaluator;
        CachingEvaluator cache(&evaluator, room);
        const ManyGamesOptions options = {
            .games = 5, .leaves_per_game = leaves, .groups = groups};
        SearchCounters counters;
        EXPECT_EQ(PlayNotedGames(options, indices, cache, counters), alone);
        const int64_t asked = counters.evaluations;
        const int64_t computed = evaluator.positions();
        EXPECT_EQ(PlayNotedGames(options, indices, cache, counters), alone);
        EXPECT_EQ(counters.evaluations, 2 * asked);
        EXPECT_GE(counters.evaluations - counters.known, evaluator.positions());
        if (room > asked) {
          EXPECT_EQ(evaluator.positions(), computed);
        }
      }
    }
  }
}

TEST(ManyGamesTest, WhatIsKnownLeavesRoomInTheBatches) {
  FakeEvaluator evaluator;
  CachingEvaluator cache(&evaluator, 1 << 18);
  SearchCounters counters;
  PlayNotedGames({.games = 8}, {0, 1, 2, 3, 4}, cache, counters);
  std::vector<int> indices;
  for (int i = 5; i < 85; ++i) {
    indices.push_back(i % 5);              // known
    if (i % 7 != 0) indices.push_back(i);  // not a long one: it would be alone
  }
  const int64_t positions = evaluator.positions();
  const int64_t batches = evaluator.batches();
  PlayNotedGames({.games = 8}, indices, cache, counters);
  EXPECT_GT(evaluator.positions() - positions,
            7 * (evaluator.batches() - batches));
}

TEST(ManyGamesTest, BatchesAreOfASizeThatSuitsTheEvaluator) {
  const Histories alone = PlayNotedGames({.games = 1}, 9);
  for (const int groups : {1, 2}) {
    FakeEvaluator evaluator(/*batch_multiple=*/4);
    SearchCounters counters;
    EXPECT_EQ(PlayNotedGames({.games = 12, .groups = groups},
                             {0, 1, 2, 3, 4, 5, 6, 7, 8}, evaluator, counters),
              alone);
    EXPECT_GT(counters.left_waiting, 0);
    int64_t whole = 0;
    for (const size_t size : evaluator.batch_sizes()) {
      EXPECT_TRUE(size < 4 || size % 4 == 0) << size;
      if (size >= 4) ++whole;
    }
    EXPECT_GT(whole, 0);
  }
}

TEST(ManyGamesTest, NoGamesNeedNoEvaluations) {
  for (const int groups : {1, 2}) {
    FakeEvaluator evaluator;
    SearchCounters counters;
    PlayNotedGames({.groups = groups}, {}, evaluator, counters);
    EXPECT_EQ(evaluator.batches(), 0);
  }
}

TEST(ManyGamesTest, ErrorsOfTheEvaluatorEndIt) {
  for (const int groups : {1, 2}) {
    FakeEvaluator evaluator;
    evaluator.FailAfter(20);
    Histories histories;
    SearchCounters counters;
    EXPECT_EQ(
        PlayManyGames({.games = 4, .leaves_per_game = 2, .groups = groups},
                      NotedGames(histories), evaluator, kNeverStop, counters)
            .message(),
        "told to fail");
    EXPECT_EQ(evaluator.batches(), 21);
    EXPECT_EQ(counters.batches, 20);
  }
}

TEST(ManyGamesTest, ErrorsOfAGameEndIt) {
  for (const int groups : {1, 2}) {
    FakeEvaluator evaluator;
    Histories histories;
    SearchCounters counters;
    int next = 0;
    const absl::Status status = PlayManyGames(
        {.games = 4, .groups = groups},
        [&] {
          auto game = std::make_unique<NotedGame>(next++, 24, histories);
          game->told_to_fail = next == 9;
          return game;
        },
        evaluator, kNeverStop, counters);
    EXPECT_EQ(status.message(), "told to fail");
  }
}

TEST(ManyGamesTest, StoppingDropsTheGamesInProgress) {
  for (const int groups : {1, 2}) {
    FakeEvaluator evaluator;
    Histories histories;
    SearchCounters counters;
    int next = 0;
    ASSERT_TRUE(
        PlayManyGames(
            {.games = 3, .groups = groups},
            [&] { return std::make_unique<NotedGame>(next++, 24, histories); },
            evaluator, [&] { return counters.batches >= 300; }, counters)
            .ok());
    EXPECT_EQ(counters.batches, 300);
    EXPECT_FALSE(histories.empty());
    EXPECT_LT(static_cast<int>(histories.size()), next);
  }
}

TEST(ManyGamesTest, WhatWasAnsweredIsNotLostWhenItStops) {
  for (const int groups : {1, 2}) {
    FakeEvaluator evaluator;
    std::vector<Tree> trees;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      trees.emplace_back(SearchOptions{.simulations = 30},
                         InitialState(Variant::kFourTreasures), seed);
    }
    SearchCounters counters;
    size_t next = 0;
    // Asked when a batch is answered, before the next leaves are gathered.
    ASSERT_TRUE(PlayManyGames(
                    {.games = 4, .leaves_per_game = 2, .groups = groups},
                    [&]() -> std::unique_ptr<SearchedGame> {
                      if (next == trees.size()) return nullptr;
                      return std::make_unique<OneSearch>(&trees[next++]);
                    },
                    evaluator, [&] { return counters.batches >= 2; }, counters)
                    .ok());
    EXPECT_GE(evaluator.batches(), 2);
    EXPECT_EQ(counters.evaluations, evaluator.positions());
    int64_t evaluated = 0;
    for (const Tree& tree : trees) {
      EXPECT_EQ(tree.in_flight(), 0);
      evaluated += UnpackTotals(tree.data().store.node(0).totals).visits;
    }
    EXPECT_EQ(evaluated, evaluator.positions());
  }
}

std::vector<Tree> TreesOfAllVariants(const SearchOptions& options) {
  std::vector<Tree> trees;
  for (const VariantInfo& info : kVariants) {
    trees.emplace_back(options, InitialState(info.variant), 1);
  }
  return trees;
}

std::vector<Tree*> Pointers(std::vector<Tree>& trees) {
  std::vector<Tree*> pointers;
  for (Tree& tree : trees) pointers.push_back(&tree);
  return pointers;
}

TEST(RunSearchesTest, AllTreesShareBatchesOfOneLeafEach) {
  std::vector<Tree> trees = TreesOfAllVariants({.simulations = 30});
  FakeEvaluator evaluator;
  ASSERT_TRUE(RunSearches(Pointers(trees), evaluator).ok());
  for (const Tree& tree : trees) EXPECT_EQ(tree.root_visits(), 30);
  // The root's evaluation and 30 more; no game ends within the tree.
  EXPECT_EQ(evaluator.batch_sizes(), std::vector<size_t>(31, trees.size()));
}

TEST(RunSearchesTest, SeveralLeavesOfATreeFillABatch) {
  std::vector<Tree> trees = TreesOfAllVariants({.simulations = 101});
  for (Tree& tree : trees) {
    FakeEvaluator evaluator;
    ASSERT_TRUE(RunSearches({&tree}, evaluator, 8).ok());
    EXPECT_EQ(tree.root_visits(), 101);
    EXPECT_EQ(tree.in_flight(), 0);
    const std::vector<size_t> sizes = evaluator.batch_sizes();
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 8u);
    // Batches are smaller where walks meet; not much so on the whole.
    EXPECT_LT(sizes.size(), 40u);
  }
}

TEST(RunSearchesTest, TreesThatAreDoneOrFinishedAreLeftAlone) {
  std::vector<Tree> trees;
  const std::vector<State> game = RandomGame(Variant::kSacredHillL1, 1);
  for (int i = 0; i < 3; ++i) {
    trees.emplace_back(SearchOptions{.simulations = 5}, game[game.size() - 2],
                       1);
  }
  for (const Action action : ListActions(game[game.size() - 2])) {
    if (After(game[game.size() - 2], action).finished()) {
      trees[0].Advance(action);
      break;
    }
  }
  ASSERT_TRUE(trees[0].finished());
  FakeEvaluator evaluator;
  ASSERT_TRUE(RunSearches({&trees[1]}, evaluator).ok());
  evaluator.ForgetBatches();
  ASSERT_TRUE(RunSearches(Pointers(trees), evaluator).ok());
  EXPECT_EQ(trees[0].root_visits(), 0);
  EXPECT_EQ(trees[1].root_visits(), 5);
  EXPECT_EQ(trees[2].root_visits(), 5);
  for (const size_t size : evaluator.batch_sizes()) EXPECT_EQ(size, 1u);
}

TEST(RunSearchesTest, AfterAFailureTheTreesCanGoOn) {
  std::vector<Tree> trees = TreesOfAllVariants({.simulations = 20});
  std::vector<Tree> twins = trees;
  FakeEvaluator evaluator;
  evaluator.FailAfter(7);
  EXPECT_EQ(RunSearches(Pointers(trees), evaluator).message(), "told to fail");
  for (const Tree& tree : trees) EXPECT_EQ(tree.in_flight(), 0);
  evaluator.FailAfter(INT64_MAX);
  ASSERT_TRUE(RunSearches(Pointers(trees), evaluator).ok());
  ASSERT_TRUE(RunSearches(Pointers(twins), evaluator).ok());
  for (size_t i = 0; i < trees.size(); ++i) {
    EXPECT_EQ(Visits(trees[i]), Visits(twins[i]));
  }
}

}  // namespace
}  // namespace tara::mcts
