#include "tara/train/learn/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/heads.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tara/train/play/self_play.h"
#include "tests/status_matchers.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::HasSubstr;

// A store with games 0 to `count` - 1.
std::unique_ptr<record::GameStore> StoreWithGames(Variant variant,
                                                  uint64_t count) {
  return StoreOf(PlayUniformGames(QuickSelfPlay(variant), IndicesTo(count)));
}

// Shares of win, draw and loss of a side, of a game with this winner (-1:
// none).
std::array<float, 3> ResultFor(Side side, int winner) {
  if (winner < 0) return {0, 1, 0};
  return winner == side ? std::array<float, 3>{1, 0, 0}
                        : std::array<float, 3>{0, 0, 1};
}

// A window of the newest games, all of which are learned from.
SamplerOptions Newest(int games) {
  return {.window = {.max_games = games}, .held_out_share = 0};
}

// Returns a sampler of the run with seed 1 whose window ends at a game.
Sampler Moved(record::GameStore& store, const SamplerOptions& options,
              uint64_t end) {
  Sampler sampler(store, options, /*run_seed=*/1);
  EXPECT_THAT(sampler.MoveWindow(end), IsOk());
  return sampler;
}

void ExpectSameBatch(const Sampler& a, const Sampler& b) {
  const auto of_a = a.Batch(3, 64);
  const auto of_b = b.Batch(3, 64);
  for (size_t i = 0; i < of_a.size(); ++i) {
    EXPECT_EQ(of_a[i].state, of_b[i].state);
    EXPECT_EQ(of_a[i].symmetry, of_b[i].symmetry);
  }
}

class SamplesOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

// Calls `check` for each position of two games of a variant.
void ForEachPosition(
    Variant variant,
    const std::function<void(const SampledGame&, const proto::GameRecord&,
                             int ply)>& check) {
  for (const proto::GameRecord& record :
       PlayUniformGames(QuickSelfPlay(variant), IndicesTo(2))) {
    const SampledGame game = UnpackGame(record).value();
    ASSERT_EQ(game.positions.size(), static_cast<size_t>(record.steps_size()));
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      check(game, record, ply);
    }
  }
}

// Expects these actions in their order, with shares in proportion to weights.
template <typename Numbers>
void ExpectPolicy(const nn::PolicyTarget& policy, const Numbers& actions,
                  const Numbers& weights) {
  ASSERT_EQ(static_cast<int>(policy.size()), actions.size());
  float total = 0;
  for (int i = 0; i < actions.size(); ++i) {
    const auto& [action, share] = policy[static_cast<size_t>(i)];
    EXPECT_EQ(static_cast<uint32_t>(Index(action)), actions[i]);
    EXPECT_NEAR(share / policy[0].second,
                static_cast<double>(weights[i]) / weights[0], 1e-4);
    total += share;
  }
  EXPECT_NEAR(total, 1, 1e-4);
}

TEST_P(SamplesOfVariantTest, TargetsAreOfTheSideToMove) {
  ForEachPosition(
      GetParam().variant,
      [](const SampledGame& game, const proto::GameRecord& record, int ply) {
        const nn::Sample sample = MakeSample(game, ply, Symmetry{0, 0});
        const record::ReplayedGame replayed = Replayed(record);
        EXPECT_EQ(sample.state, replayed.states[ply]);
        const Side side = sample.state.side();
        const auto& points = replayed.outcome.points;
        EXPECT_EQ(sample.margin, points[side] - points[Opponent(side)]);
        EXPECT_EQ(sample.result, ResultFor(side, replayed.outcome.winner()));
      });
}

TEST_P(SamplesOfVariantTest, PoliciesAreDistributionsOverLegalActions) {
  ForEachPosition(
      GetParam().variant,
      [](const SampledGame& game, const proto::GameRecord& record, int ply) {
        const nn::Sample sample = MakeSample(game, ply, Symmetry{0, 0});
        const proto::Step& step = record.steps(ply);
        ExpectPolicy(sample.policy, step.visited_action(), step.visits());
        for (const auto& [action, share] : sample.policy) {
          EXPECT_TRUE(LegalActions(sample.state).Contains(action));
        }
      });
}

TEST_P(SamplesOfVariantTest, SymmetriesShowTheSeatToMoveAsSeatZero) {
  ForEachPosition(GetParam().variant, [](const SampledGame& game,
                                         const proto::GameRecord&, int ply) {
    const State& state = game.positions[ply].state;
    for (const Symmetry& symmetry :
         SymmetriesToSeatZero(state.variant, state.seat)) {
      const nn::Sample sample = MakeSample(game, ply, symmetry);
      const State seen = TransformState(symmetry, sample.state);
      EXPECT_EQ(seen.seat, 0);
      // A transformed policy is legal in the transformed position.
      for (const auto& [action, share] : sample.policy) {
        EXPECT_TRUE(
            LegalActions(seen).Contains(TransformAction(symmetry, action)));
      }
    }
  });
}

TEST_P(SamplesOfVariantTest, ThereAreAsManySymmetriesAsTheRulesKeep) {
  // docs/reference/rules.md section 11: singles 8 board transforms, but
  // Poisoned Chalice 4 for each colour, and doubles the one turn that brings
  // the seat South.
  const VariantInfo& info = GetParam();
  const size_t expected = info.seats == 4                           ? 1
                          : info.family == Family::kPoisonedChalice ? 4
                                                                    : 8;
  for (Seat seat = 0; seat < info.seats; ++seat) {
    std::set<int> boards;
    for (const Symmetry& symmetry : SymmetriesToSeatZero(info.variant, seat)) {
      boards.insert(symmetry.board);
    }
    EXPECT_EQ(boards.size(), expected) << "seat " << seat;
  }
}

INSTANTIATE_TEST_SUITE_P(AllVariants, SamplesOfVariantTest,
                         ::testing::ValuesIn(kVariants), VariantName);

TEST(SamplerTest, APolicyTargetOfItsOwnGoesBeforeTheVisits) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.gumbel = true;
  options.search.simulations = 8;
  const auto records = PlayUniformGames(options, {0});
  const SampledGame game = UnpackGame(records[0]).value();
  for (int ply = 0; ply < records[0].steps_size(); ++ply) {
    const proto::Step& step = records[0].steps(ply);
    const nn::Sample sample = MakeSample(game, ply, Symmetry{0, 0});
    ExpectPolicy(sample.policy, step.target_action(), step.target_weight());
  }
}

TEST(SamplerTest, StepsOfFastSearchesTeachTheValueAlone) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.full_search_share = 0.5f;
  options.fast_simulations = 3;
  const auto records = PlayUniformGames(options, {0});
  const SampledGame game = UnpackGame(records[0]).value();
  const int winner = Replayed(records[0]).outcome.winner();
  int fast = 0;
  for (int ply = 0; ply < records[0].steps_size(); ++ply) {
    const nn::Sample sample = MakeSample(game, ply, Symmetry{0, 0});
    const bool is_fast = records[0].steps(ply).visits_size() == 0;
    EXPECT_EQ(sample.policy.empty(), is_fast);
    fast += is_fast ? 1 : 0;
    EXPECT_EQ(sample.result, ResultFor(sample.state.side(), winner));
  }
  EXPECT_GT(fast, 0);
  EXPECT_LT(fast, records[0].steps_size());
}

TEST(SamplerTest, TheWindowHoldsTheNewestGamesBelowItsEnd) {
  const auto store = StoreWithGames(Variant::kFourTreasures, 8);
  Sampler sampler = Moved(*store, Newest(3), 2);
  EXPECT_EQ(sampler.games(), 2);
  ASSERT_TRUE(sampler.MoveWindow(8).ok());
  EXPECT_EQ(sampler.games(), 3);
  int64_t positions = 0;
  for (uint64_t i = 5; i < 8; ++i) positions += store->Get(i)->steps_size();
  EXPECT_EQ(sampler.positions(), positions);
}

TEST(SamplerTest, AWindowMovedInStepsIsTheWindowMovedAtOnce) {
  const auto store = StoreWithGames(Variant::kFourTreasures, 8);
  Sampler steps(*store, Newest(5), 1);
  for (uint64_t end = 1; end <= 7; ++end) {
    ASSERT_TRUE(steps.MoveWindow(end).ok());
  }
  ExpectSameBatch(steps, Moved(*store, Newest(5), 7));
}

// Threads do not end their games in their order.
TEST(SamplerTest, AGameThatEndsLateIsLearnedFrom) {
  auto records =
      PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), IndicesTo(8));
  const auto store = StoreOf();
  for (const uint64_t i : {0, 1, 3, 4, 6}) {
    ASSERT_TRUE(store->Add(records[i]).ok());
  }
  Sampler late(*store, Newest(5), 1);
  ASSERT_TRUE(late.MoveWindow(7).ok());
  for (const uint64_t i : {7, 5, 2}) ASSERT_TRUE(store->Add(records[i]).ok());
  ASSERT_TRUE(late.MoveWindow(8).ok());
  EXPECT_EQ(late.games(), 5);
  ExpectSameBatch(late, Moved(*store, Newest(5), 8));
}

TEST(SamplerTest, StepsDrawDifferentBatchesAndAStepAlwaysTheSame) {
  const auto store = StoreWithGames(Variant::kSacredHillL1, 4);
  Sampler sampler = Moved(*store, Newest(10), 4);
  const auto batch = sampler.Batch(5, 32);
  const auto same = sampler.Batch(5, 32);
  const auto other = sampler.Batch(6, 32);
  int differences = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(batch[i].state, same[i].state);
    EXPECT_EQ(batch[i].symmetry, same[i].symmetry);
    differences += batch[i].state == other[i].state ? 0 : 1;
  }
  EXPECT_GT(differences, 0);
}

TEST(SamplerTest, PositionsAndSymmetriesAreDrawnUniformly) {
  const auto store = StoreWithGames(Variant::kSacredHillL1, 2);
  Sampler sampler = Moved(*store, Newest(10), 2);
  // Both games begin with the start position: it has the share of two plies.
  const int draws = 40000;
  std::map<int, int> by_board;
  int starts = 0;
  for (const nn::Sample& sample : sampler.Batch(0, draws)) {
    ++by_board[sample.symmetry.board];
    starts += sample.state == InitialState(Variant::kSacredHillL1) ? 1 : 0;
  }
  // Five standard deviations: sqrt(n p (1 - p)).
  EXPECT_EQ(by_board.size(), 8u);
  for (const auto& [board, count] : by_board) {
    EXPECT_NEAR(count, draws / 8, 5 * 67) << "board " << board;
  }
  const double share = 2.0 / static_cast<double>(sampler.positions());
  EXPECT_NEAR(starts, share * draws, 5 * 30);
}

TEST(SamplerTest, NoGameIsOnBothSides) {
  const auto store = StoreWithGames(Variant::kFourTreasures, 40);
  const double share = 0.3;
  // Every window that the run goes through, and every batch: by the state of a
  // position with ringforts on it games can be told apart.
  std::map<std::string, std::set<uint64_t>> games_of;
  for (uint64_t i = 0; i < 40; ++i) {
    const auto replayed = Replayed(*store->Get(i));
    for (const State& state : replayed.states) {
      games_of[PositionToText(state)].insert(i);
    }
  }
  const auto games_in = [&](const std::vector<nn::Sample>& samples) {
    std::set<uint64_t> games;
    for (const nn::Sample& sample : samples) {
      const auto& found = games_of.at(PositionToText(sample.state));
      if (found.size() == 1) games.insert(*found.begin());
    }
    return games;
  };
  std::set<uint64_t> learned;
  std::set<uint64_t> measured;
  Sampler sampler(*store,
                  {.window = {.max_games = 12}, .held_out_share = share}, 1);
  for (uint64_t end = 10; end <= 40; end += 5) {
    ASSERT_TRUE(sampler.MoveWindow(end).ok());
    EXPECT_EQ(sampler.games() + sampler.held_out_games(),
              std::min<int64_t>(static_cast<int64_t>(end), 12));
    learned.merge(games_in(sampler.Batch(static_cast<int64_t>(end), 2000)));
    measured.merge(
        games_in(sampler.HeldOutSamples(Variant::kFourTreasures, 100000)));
  }
  // Together they are all games.
  EXPECT_EQ(learned.size() + measured.size(), 40u);
  for (const uint64_t game : learned) {
    EXPECT_FALSE(IsHeldOut(share, 1, game)) << game;
  }
  for (const uint64_t game : measured) {
    EXPECT_TRUE(IsHeldOut(share, 1, game)) << game;
  }
}

TEST(SamplerTest, HeldOutSamplesAreSpacedEvenlyAndStayTheSame) {
  const auto store = StoreWithGames(Variant::kSacredHillL1, 6);
  Sampler sampler(*store, {.held_out_share = 0.5}, 3);
  ASSERT_TRUE(sampler.MoveWindow(6).ok());
  const Variant variant = Variant::kSacredHillL1;
  size_t positions = 0;
  for (uint64_t i = 0; i < 6; ++i) {
    if (IsHeldOut(0.5, 3, i)) positions += store->Get(i)->steps_size();
  }
  ASSERT_GT(positions, 0u);
  const auto all = sampler.HeldOutSamples(variant, 100000);
  ASSERT_EQ(all.size(), positions);
  const auto some = sampler.HeldOutSamples(variant, 10);
  ASSERT_EQ(some.size(), 10u);
  for (size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(some[i].state, all[i * all.size() / 10].state);
    EXPECT_EQ(some[i].symmetry, all[i * all.size() / 10].symmetry);
  }
}

TEST(SamplerTest, AWindowWithNothingToLearnFromIsAnError) {
  const auto store = StoreWithGames(Variant::kFourTreasures, 2);
  Sampler sampler(*store, {.held_out_share = 1}, 1);
  EXPECT_THAT(sampler.MoveWindow(2),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("2 games, but none to learn")));
}

TEST(SamplerTest, VariantsHaveTheirSharesWhateverTheLengthOfTheirGames) {
  // 8 games of Sacred Hill and 2 of Stone of Destiny, which last more than
  // twice as long.
  const auto store = StoreWithGames(Variant::kSacredHillL1, 8);
  ASSERT_THAT(store->AddAll(PlayUniformGames(
                  QuickSelfPlay(Variant::kStoneOfDestiny), {8, 9})),
              IsOk());
  const int draws = 4000;
  int count = 0;
  for (const nn::Sample& sample : Moved(*store, {}, 10).Batch(0, draws)) {
    count += sample.state.variant == Variant::kStoneOfDestiny ? 1 : 0;
  }
  // Five standard deviations: 5 * sqrt(p (1 - p) / 4000).
  EXPECT_NEAR(static_cast<double>(count) / draws, 0.2, 0.032);
}

TEST(SamplerTest, PositionsAreDrawnEquallyAndUntaughtOnesNever) {
  auto games = PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {0});
  games[0].set_opening_plies(2);
  const int length = games[0].steps_size();
  const std::vector<State> states = Replayed(games[0]).states;
  const auto store = StoreOf(games);
  const Sampler sampler = Moved(*store, {}, 1);
  EXPECT_EQ(sampler.positions(), length - 2);
  const int draws = 200 * (length - 2);
  int count = 0;
  for (const nn::Sample& sample : sampler.Batch(0, draws)) {
    count += sample.state == states[7] ? 1 : 0;
    EXPECT_NE(sample.state, states[0]);
    EXPECT_NE(sample.state, states[1]);
  }
  EXPECT_NEAR(count, 200, 5 * 15);  // five standard deviations
}

TEST(SamplerTest, ADamagedRecordIsAnErrorThatNamesTheGame) {
  auto games = PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {17});
  games[0].mutable_steps(3)->set_action(games[0].steps(2).action());
  const auto store = StoreOf(games);
  Sampler sampler(*store, Newest(10), 1);
  EXPECT_THAT(sampler.MoveWindow(100),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("17")));
}

// --- Distinct positions ------------------------------------------------------

proto::GameRecord AGame(Variant variant) {
  return PlayHashedGames(QuickSelfPlay(variant), 1).front();
}

// Returns the share of the distinct positions of these games.
double DistinctShare(const std::vector<proto::GameRecord>& games) {
  DistinctPositions distinct;
  for (const auto& game : games) EXPECT_THAT(distinct.Add(game), IsOk());
  return distinct.share();
}

TEST(DistinctPositionsTest, AGameOfItsOwnRepeatsNothingAndTheSameTwiceIsHalf) {
  const proto::GameRecord game = AGame(Variant::kSacredHillL1);
  EXPECT_EQ(DistinctShare({}), 0);
  EXPECT_EQ(DistinctShare({game}), 1);
  EXPECT_EQ(DistinctShare({game, game}), 0.5);
}

TEST(DistinctPositionsTest, AGameTurnedAboutIsTheSame) {
  const proto::GameRecord game = AGame(Variant::kFourTreasures);
  for (const Symmetry& symmetry : PositionSymmetries(Variant::kFourTreasures)) {
    if (symmetry.seat_shift != 0) continue;
    proto::GameRecord turned = game;
    for (proto::Step& step : *turned.mutable_steps()) {
      const auto action = static_cast<Action>(step.action());
      step.Clear();  // what was searched is of the other actions
      step.set_action(
          static_cast<uint32_t>(Index(TransformAction(symmetry, action))));
    }
    EXPECT_EQ(DistinctShare({game, turned}), 0.5);
  }
}

TEST(DistinctPositionsTest, OpeningsDoNotCount) {
  const proto::GameRecord game = AGame(Variant::kSacredHillL1);
  proto::GameRecord opened = game;
  opened.set_opening_plies(static_cast<uint32_t>(game.steps_size()) - 1);
  const auto steps = static_cast<double>(game.steps_size());
  EXPECT_DOUBLE_EQ(DistinctShare({opened, game}), steps / (steps + 1));
}

TEST(DistinctPositionsTest, AGameThatCannotBeIsAnError) {
  proto::GameRecord game = AGame(Variant::kSacredHillL1);
  game.mutable_steps(1)->set_action(game.steps(0).action());
  DistinctPositions distinct;
  EXPECT_FALSE(distinct.Add(game).ok());
}

// --- Replay window -----------------------------------------------------------

TEST(WindowGamesTest, WithoutGrowthItHasItsMostFromTheStart) {
  const WindowOptions options = {.max_games = 700};
  EXPECT_EQ(WindowGames(options, 0), 700);
  EXPECT_EQ(WindowGames(options, 100000), 700);
}

TEST(WindowGamesTest, GrowsByThePowerLawFromTheLeastToTheMost) {
  const WindowOptions options = {
      .max_games = 1500, .growth = 0.75, .growth_rate = 0.4, .min_games = 250};
  // All games there are, as long as these are few.
  EXPECT_EQ(WindowGames(options, 10), 250);
  EXPECT_EQ(WindowGames(options, 250), 250);
  // N / c = 4: 4^0.75 = 2.8284, 250 * (1 + 0.4 * 1.8284 / 0.75) = 493.8.
  EXPECT_EQ(WindowGames(options, 1000), 493);
  // N / c = 16: 16^0.75 = 8, 250 * (1 + 0.4 * 7 / 0.75) = 1183.3.
  EXPECT_EQ(WindowGames(options, 4000), 1183);
  // N / c = 81: 81^0.75 = 27, 250 * (1 + 0.4 * 26 / 0.75) = 3716.7.
  EXPECT_EQ(WindowGames(options, 20250), 1500);
}

TEST(WindowGamesTest, NeverGoesBackToGamesThatItHasLeft) {
  for (const double growth : {0.1, 0.5, 1.0}) {
    const WindowOptions options = {.max_games = 100000,
                                   .growth = growth,
                                   .growth_rate = 1,
                                   .min_games = 20};
    int64_t begin = 0;
    for (int64_t games = 1; games < 3000; ++games) {
      const int64_t next = games - WindowGames(options, games);
      EXPECT_GE(std::max<int64_t>(next, 0), begin) << games;
      begin = std::max<int64_t>(next, 0);
    }
  }
}

TEST(HeldOutTest, AboutTheShareOfTheGamesIsHeldOutInEveryRun) {
  for (const uint64_t seed : {1, 2, 77}) {
    int held_out = 0;
    const int games = 20000;
    for (int i = 0; i < games; ++i) {
      held_out += IsHeldOut(0.05, seed, static_cast<uint64_t>(i)) ? 1 : 0;
    }
    // Five standard deviations: sqrt(n p (1 - p)).
    EXPECT_NEAR(held_out, 0.05 * games, 5 * std::sqrt(games * 0.05 * 0.95));
  }
}

TEST(HeldOutTest, RunsHoldOutDifferentGamesAndASmallerShareSomeOfThem) {
  int differences = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    differences += IsHeldOut(0.1, 1, i) != IsHeldOut(0.1, 2, i) ? 1 : 0;
    if (IsHeldOut(0.05, 1, i)) {
      EXPECT_TRUE(IsHeldOut(0.1, 1, i));
    }
    EXPECT_FALSE(IsHeldOut(0, 1, i));
  }
  EXPECT_GT(differences, 0);
}

}  // namespace
}  // namespace tara::train
