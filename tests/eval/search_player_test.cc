#include <atomic>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/time/time_manager.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

// A number of positions that threads count up and wait for.
class PositionCount {
 public:
  void Add(int64_t count) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    count_ += count;
  }
  int64_t operator*() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return count_;
  }
  void Await(int64_t count) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return count_ >= count;
    };
    mutex_.Await(absl::Condition(&enough));
  }

 private:
  mutable absl::Mutex mutex_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Answers as playouts do, and counts the positions.
class CountingEvaluator : public mcts::Evaluator {
 public:
  explicit CountingEvaluator(PositionCount* positions)
      : positions_(positions) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    const absl::Status status = playouts_.Evaluate(states, results);
    positions_->Add(static_cast<int64_t>(states.size()));
    return status;
  }

 private:
  PositionCount* const positions_;
  mcts::PlayoutEvaluator playouts_{1, 3};
};

struct CountedPlayer {
  std::unique_ptr<PositionCount> positions = std::make_unique<PositionCount>();
  std::unique_ptr<Player> player;
};

// A session's options, without a cache, which would hide what is searched anew.
SearchPlayerOptions Uncached(const mcts::SessionOptions& session) {
  SearchPlayerOptions options = {session};
  options.cache_positions = 1;
  return options;
}

CountedPlayer NewCountedPlayer(const SearchPlayerOptions& options) {
  CountedPlayer counted;
  counted.player = NewSearchPlayer(
      std::make_unique<CountingEvaluator>(counted.positions.get()), options);
  return counted;
}

// Goes on by a millisecond each time it is read, by whatever thread.
std::function<absl::Time()> SteppingClock(std::atomic<int64_t>* reads) {
  return [reads] {
    return absl::UnixEpoch() + absl::Milliseconds(reads->fetch_add(1));
  };
}

// Plays `plies` actions of a game, those of seat 1 at random; returns them all,
// which are legal. With a budget the player may ponder.
std::vector<Action> PlayGame(
    Player& player, Variant variant, uint64_t game, int plies,
    std::optional<mcts::MoveBudget> budget = std::nullopt) {
  Random own(DeriveSeed(1, game, StreamPurpose::kTest));
  Random answers(DeriveSeed(2, game, StreamPurpose::kTest));
  State state = InitialState(variant);
  std::vector<Action> actions;
  while (!state.finished() && plies-- > 0) {
    Action action;
    if (state.seat != 1) {
      const Turn turn = {.state = state,
                         .random = &own,
                         .game = game,
                         .actions = actions,
                         .budget = budget,
                         .may_ponder = budget.has_value()};
      action = ChooseOne(player, turn).value();
    } else {
      action = RandomAction(state, answers);
    }
    EXPECT_THAT(PlayAction(action, state), IsOk());
    actions.push_back(action);
  }
  player.EndGame(game);
  return actions;
}

class SearchPlayerOfVariantTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, SearchPlayerOfVariantTest,
                         testing::ValuesIn(kVariants), mcts::VariantTestName);

TEST_P(SearchPlayerOfVariantTest, EveryWayOfSearchingPlaysLegally) {
  std::vector<SearchPlayerOptions> all(7);
  for (SearchPlayerOptions& options : all) options.search.simulations = 30;
  all[0].search.graph_search = true;
  all[1].search.proof = true;
  all[1].search.solver_vacant_hills = 3;
  all[2].search.gumbel = true;
  all[2].search.gumbel_noise = 0;
  all[3].confidence_z = 5;
  all[4].leaves_per_game = 4;
  all[5].reuse = true;
  all[5].search.graph_search = true;
  all[6].time = absl::Microseconds(300);
  for (const SearchPlayerOptions& options : all) {
    PlayGame(*NewCountedPlayer(options).player, GetParam().variant, 7, 500);
  }
}

TEST_P(SearchPlayerOfVariantTest, ReusingTheTreeSavesEvaluations) {
  const Variant variant = GetParam().variant;
  // A random action is seldom among the lines looked at.
  const int simulations = GetParam().seats == 2 ? 200 : 400;
  const CountedPlayer forgetful =
      NewCountedPlayer(Uncached({.search = {.simulations = simulations}}));
  const CountedPlayer mindful = NewCountedPlayer(
      Uncached({.search = {.simulations = simulations}, .reuse = true}));
  for (uint64_t game = 0; game < 2; ++game) {
    PlayGame(*forgetful.player, variant, game, 12);
    PlayGame(*mindful.player, variant, game, 12);
  }
  EXPECT_LT(**mindful.positions, **forgetful.positions);
}

TEST_P(SearchPlayerOfVariantTest, WithClocksThreadsAndPonderingItIsLegalToo) {
  std::vector<SearchPlayerOptions> all(4);
  all[1].threads = 3;
  all[2].reuse = all[2].ponder = true;
  all[2].search.graph_search = true;
  all[3] = all[2];
  all[3].threads = 2;
  all[3].search.proof = true;
  all[3].search.solver_vacant_hills = 3;
  for (SearchPlayerOptions& options : all) {
    std::atomic<int64_t> reads = 0;
    options.now = SteppingClock(&reads);
    PlayGame(*NewCountedPlayer(options).player, GetParam().variant, 7, 500,
             mcts::MoveBudget{.target = absl::Milliseconds(20),
                              .limit = absl::Milliseconds(60)});
  }
}

TEST(SearchPlayerTest, AClockTakesThePlaceOfOtherLimits) {
  for (const absl::Duration own : {absl::ZeroDuration(), absl::Hours(1)}) {
    std::atomic<int64_t> reads = 0;
    SearchPlayerOptions options = {{.search = {.simulations = 1}}};
    options.time = own;
    options.now = SteppingClock(&reads);
    const CountedPlayer counted = NewCountedPlayer(options);
    Random random(1);
    Turn turn = {.state = InitialState(Variant::kSacredHillL1),
                 .random = &random,
                 .game = 1,
                 .budget = mcts::MoveBudget{.target = absl::Milliseconds(200),
                                            .limit = absl::Milliseconds(600)}};
    ASSERT_THAT(ChooseOne(*counted.player, turn), IsOk());
    // A simulation reads the clock twice or three times.
    EXPECT_GT(**counted.positions, 50);
    EXPECT_LE(reads, 610);
    // Two side by side, and without time.
    turn.budget = mcts::MoveBudget{.target = absl::ZeroDuration(),
                                   .limit = absl::ZeroDuration()};
    std::vector<Turn> turns = {turn, turn};
    turns[1].game = 2;
    std::vector<Action> actions(2);
    const int64_t before = **counted.positions;
    ASSERT_TRUE(
        counted.player->ChooseActions(turns, absl::MakeSpan(actions)).ok());
    EXPECT_LE(**counted.positions - before, 10);
  }
}

TEST(SearchPlayerTest, AClockMakesNobodyStrongerWhoPlaysBelowHisStrength) {
  std::atomic<int64_t> reads = 0;
  SearchPlayerOptions options = {
      {.search = {.simulations = 20}, .value_margin = 1}};
  options.now = SteppingClock(&reads);
  const CountedPlayer counted = NewCountedPlayer(options);
  Random random(1);
  const Turn turn = {
      .state = InitialState(Variant::kSacredHillL1),
      .random = &random,
      .budget = mcts::MoveBudget{.target = absl::Milliseconds(200),
                                 .limit = absl::Milliseconds(600)}};
  ASSERT_THAT(ChooseOne(*counted.player, turn), IsOk());
  EXPECT_LE(**counted.positions, 21);
}

TEST(SearchPlayerTest, WhatWasPonderedOnNeedNotBeSearched) {
  SearchPlayerOptions options =
      Uncached({.search = {.simulations = 200}, .reuse = true});
  options.ponder = true;
  options.ponder_simulations = 20000;
  const CountedPlayer counted = NewCountedPlayer(options);
  Random random(1);
  State state = InitialState(Variant::kFourTreasures);
  std::vector<Action> actions;
  const auto choose = [&](bool may_ponder) {
    const Turn turn = {.state = state,
                       .random = &random,
                       .actions = actions,
                       .may_ponder = may_ponder};
    actions.push_back(ChooseOne(*counted.player, turn).value());
    ApplyAction(actions.back(), state);
  };
  choose(/*may_ponder=*/true);
  // Of 20000 simulations hardly any meets the cache.
  counted.positions->Await(19000);
  // Each of the 48 answers has had about 400 of them.
  actions.push_back(LegalActions(state).Nth(0));
  ApplyAction(actions.back(), state);
  choose(/*may_ponder=*/false);
  // 201 for the first choice, 20000 pondering: so the second took few.
  EXPECT_LT(**counted.positions, 20201 + 100);
}

TEST(SearchPlayerTest, PonderingWaitsForLeave) {
  SearchPlayerOptions options = {
      {.search = {.simulations = 40}, .reuse = true}};
  const CountedPlayer plain = NewCountedPlayer(options);
  options.ponder = true;
  const CountedPlayer pondering = NewCountedPlayer(options);
  const Variant variant = Variant::kStoneOfDestiny;
  EXPECT_EQ(PlayGame(*plain.player, variant, 3, 99),
            PlayGame(*pondering.player, variant, 3, 99));
  EXPECT_EQ(**plain.positions, **pondering.positions);
}

TEST(SearchPlayerTest, AGameDoesNotDependOnThoseBesideIt) {
  const SearchPlayerOptions options = {
      {.search = {.simulations = 40, .graph_search = true, .proof = true},
       .reuse = true}};
  const CountedPlayer alone = NewCountedPlayer(options);
  const CountedPlayer busy = NewCountedPlayer(options);
  const Variant variant = Variant::kSacredHillL2;
  const std::vector<Action> expected = PlayGame(*alone.player, variant, 5, 99);
  for (uint64_t game = 0; game < 5; ++game) {
    PlayGame(*busy.player, variant, game, 9);
  }
  EXPECT_EQ(PlayGame(*busy.player, variant, 5, 99), expected);
}

}  // namespace
}  // namespace tara::eval
