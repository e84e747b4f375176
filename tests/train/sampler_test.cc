#include "tara/train/learn/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/nn/heads.h"
#include "tara/nn/training/trainer.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tara/train/learn/learner.h"
#include "tara/train/play/self_play.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

std::vector<uint64_t> IndicesTo(uint64_t end) {
  std::vector<uint64_t> indices;
  for (uint64_t i = 0; i < end; ++i) indices.push_back(i);
  return indices;
}

// A store with games 0 to `count` - 1.
std::unique_ptr<record::GameStore> StoreWithGames(const std::string& name,
                                                  Variant variant,
                                                  uint64_t count) {
  auto store = record::OpenGameStore(TestFolder(name) + "/games.db",
                                     record::StoreMode::kReadWrite);
  EXPECT_TRUE(store.ok()) << store.status().message();
  const auto games = PlayUniformGames(QuickSelfPlay(variant), IndicesTo(count));
  const absl::Status added = (*store)->AddAll(games);
  EXPECT_TRUE(added.ok()) << added.message();
  return *std::move(store);
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

class SamplesOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(SamplesOfVariantTest, TargetsAreOfTheSideToMove) {
  const auto records =
      PlayUniformGames(QuickSelfPlay(GetParam().variant), IndicesTo(4));
  for (const proto::GameRecord& record : records) {
    const auto game = UnpackGame(record);
    const auto replayed = record::Replay(record);
    ASSERT_TRUE(game.ok()) << game.status().message();
    ASSERT_TRUE(replayed.ok()) << replayed.status().message();
    ASSERT_EQ(game->positions.size(), static_cast<size_t>(record.steps_size()));
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      const nn::Sample sample = MakeSample(*game, ply, Symmetry{0, 0});
      EXPECT_EQ(sample.state, replayed->states[ply]);
      const Side side = sample.state.side();
      const auto& points = replayed->outcome.points;
      EXPECT_EQ(sample.margin, points[side] - points[Opponent(side)]);
      const int winner = replayed->outcome.winner();
      EXPECT_EQ(sample.result, ResultFor(side, winner));
    }
  }
}

TEST_P(SamplesOfVariantTest, PoliciesAreDistributionsOverLegalActions) {
  const auto records =
      PlayUniformGames(QuickSelfPlay(GetParam().variant), IndicesTo(2));
  for (const proto::GameRecord& record : records) {
    const auto game = UnpackGame(record);
    ASSERT_TRUE(game.ok()) << game.status().message();
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      const nn::Sample sample = MakeSample(*game, ply, Symmetry{0, 0});
      const proto::Step& step = record.steps(ply);
      float total = 0;
      for (int i = 0; i < static_cast<int>(sample.policy.size()); ++i) {
        const auto& [action, share] = sample.policy[i];
        EXPECT_TRUE(LegalActions(sample.state).Contains(action));
        EXPECT_EQ(static_cast<uint32_t>(Index(action)), step.visited_action(i));
        EXPECT_NEAR(share / sample.policy[0].second,
                    static_cast<double>(step.visits(i)) / step.visits(0), 1e-5);
        total += share;
      }
      EXPECT_NEAR(total, 1.0f, 1e-5f);
    }
  }
}

TEST_P(SamplesOfVariantTest, SymmetriesShowTheSeatToMoveAsSeatZero) {
  const auto records =
      PlayUniformGames(QuickSelfPlay(GetParam().variant), IndicesTo(2));
  for (const proto::GameRecord& record : records) {
    const auto game = UnpackGame(record);
    ASSERT_TRUE(game.ok()) << game.status().message();
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      const State& state = game->positions[ply].state;
      for (const Symmetry& symmetry :
           SymmetriesToSeatZero(state.variant, state.seat)) {
        const nn::Sample sample = MakeSample(*game, ply, symmetry);
        const State seen = TransformState(symmetry, sample.state);
        EXPECT_EQ(seen.seat, 0);
        // A transformed policy is legal in the transformed position.
        for (const auto& [action, share] : sample.policy) {
          EXPECT_TRUE(
              LegalActions(seen).Contains(TransformAction(symmetry, action)));
        }
      }
    }
  }
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
  const auto game = UnpackGame(records[0]);
  ASSERT_TRUE(game.ok()) << game.status().message();
  for (int ply = 0; ply < records[0].steps_size(); ++ply) {
    const proto::Step& step = records[0].steps(ply);
    const nn::Sample sample = MakeSample(*game, ply, Symmetry{0, 0});
    ASSERT_EQ(static_cast<int>(sample.policy.size()),
              step.target_action_size());
    float total = 0;
    for (int i = 0; i < step.target_action_size(); ++i) {
      const auto& [action, share] = sample.policy[i];
      EXPECT_EQ(static_cast<uint32_t>(Index(action)), step.target_action(i));
      EXPECT_NEAR(
          share / sample.policy[0].second,
          static_cast<double>(step.target_weight(i)) / step.target_weight(0),
          1e-4);
      total += share;
    }
    EXPECT_NEAR(total, 1, 1e-4);
  }
}

TEST(SamplerTest, StepsOfFastSearchesTeachTheValueAlone) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.full_search_share = 0.5f;
  options.fast_simulations = 3;
  const auto records = PlayUniformGames(options, {0});
  const auto game = UnpackGame(records[0]);
  ASSERT_TRUE(game.ok()) << game.status().message();
  const int winner = record::Replay(records[0])->outcome.winner();
  int fast = 0;
  for (int ply = 0; ply < records[0].steps_size(); ++ply) {
    const nn::Sample sample = MakeSample(*game, ply, Symmetry{0, 0});
    const bool is_fast = records[0].steps(ply).visits_size() == 0;
    EXPECT_EQ(sample.policy.empty(), is_fast);
    fast += is_fast ? 1 : 0;
    EXPECT_EQ(sample.result, ResultFor(sample.state.side(), winner));
  }
  EXPECT_GT(fast, 0);
  EXPECT_LT(fast, records[0].steps_size());
}

TEST(SamplerTest, AResignedGameIsLostByWhoResignedAndTeachesNoMargin) {
  auto records = PlayUniformGames(QuickSelfPlay(Variant::kSacredHillL1), {0});
  proto::GameRecord& record = records[0];
  const State last = record::Replay(record)->states[20];
  while (record.steps_size() > 20) record.mutable_steps()->RemoveLast();
  record::SetResigned(last, record);
  const auto game = UnpackGame(record);
  ASSERT_TRUE(game.ok()) << game.status().message();
  ASSERT_EQ(game->positions.size(), 20u);
  for (int ply = 0; ply < 20; ++ply) {
    const nn::Sample sample = MakeSample(*game, ply, Symmetry{0, 0});
    EXPECT_EQ(sample.result,
              ResultFor(sample.state.side(), Opponent(last.side())));
    EXPECT_FALSE(sample.has_margin);
  }
}

TEST(SamplerTest, TheWindowHoldsTheNewestGamesBelowItsEnd) {
  const auto store = StoreWithGames("window", Variant::kFourTreasures, 8);
  Sampler sampler(*store, Newest(3), 1);
  ASSERT_TRUE(sampler.MoveWindow(2).ok());
  EXPECT_EQ(sampler.games(), 2);
  ASSERT_TRUE(sampler.MoveWindow(8).ok());
  EXPECT_EQ(sampler.games(), 3);
  int64_t positions = 0;
  for (uint64_t i = 5; i < 8; ++i) positions += store->Get(i)->steps_size();
  EXPECT_EQ(sampler.positions(), positions);
}

TEST(SamplerTest, AWindowMovedInStepsIsTheWindowMovedAtOnce) {
  const auto store = StoreWithGames("steps", Variant::kFourTreasures, 8);
  Sampler steps(*store, Newest(5), 1);
  for (uint64_t end = 1; end <= 7; ++end) {
    ASSERT_TRUE(steps.MoveWindow(end).ok());
  }
  Sampler at_once(*store, Newest(5), 1);
  ASSERT_TRUE(at_once.MoveWindow(7).ok());
  const auto a = steps.Batch(3, 64);
  const auto b = at_once.Batch(3, 64);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].state, b[i].state);
    EXPECT_EQ(a[i].symmetry, b[i].symmetry);
  }
}

// Threads do not end their games in their order.
TEST(SamplerTest, AGameThatEndsLateIsLearnedFrom) {
  auto records =
      PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), IndicesTo(8));
  auto store =
      record::OpenGameStore(":memory:", record::StoreMode::kReadWrite).value();
  for (const uint64_t i : {0, 1, 3, 4, 6}) {
    ASSERT_TRUE(store->Add(records[i]).ok());
  }
  Sampler late(*store, Newest(5), 1);
  ASSERT_TRUE(late.MoveWindow(7).ok());
  for (const uint64_t i : {7, 5, 2}) ASSERT_TRUE(store->Add(records[i]).ok());
  ASSERT_TRUE(late.MoveWindow(8).ok());
  Sampler at_once(*store, Newest(5), 1);
  ASSERT_TRUE(at_once.MoveWindow(8).ok());
  EXPECT_EQ(late.games(), 5);
  const auto a = late.Batch(3, 64);
  const auto b = at_once.Batch(3, 64);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].state, b[i].state);
}

TEST(SamplerTest, StepsDrawDifferentBatchesAndAStepAlwaysTheSame) {
  const auto store = StoreWithGames("batches", Variant::kSacredHillL1, 4);
  Sampler sampler(*store, Newest(10), 1);
  ASSERT_TRUE(sampler.MoveWindow(4).ok());
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
  const auto store = StoreWithGames("uniform", Variant::kSacredHillL1, 2);
  Sampler sampler(*store, Newest(10), 1);
  ASSERT_TRUE(sampler.MoveWindow(2).ok());
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
  const auto store = StoreWithGames("sides", Variant::kFourTreasures, 40);
  const double share = 0.3;
  // Every window that the run goes through, and every batch: by the state of a
  // position with ringforts on it games can be told apart.
  std::map<std::string, std::set<uint64_t>> games_of;
  for (uint64_t i = 0; i < 40; ++i) {
    const auto replayed = record::Replay(*store->Get(i));
    ASSERT_TRUE(replayed.ok()) << replayed.status().message();
    for (const State& state : replayed->states) {
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
  const auto store = StoreWithGames("spaced", Variant::kSacredHillL1, 6);
  Sampler sampler(*store, {.held_out_share = 0.5}, 3);
  ASSERT_TRUE(sampler.MoveWindow(6).ok());
  const Variant variant = Variant::kSacredHillL1;
  ASSERT_GT(sampler.held_out_games(), 0);
  ASSERT_EQ(sampler.HeldOutVariants(), std::vector<Variant>{variant});
  const auto all = sampler.HeldOutSamples(variant, 100000);
  ASSERT_EQ(static_cast<int64_t>(all.size()),
            sampler.HeldOutPositions(variant));
  const auto some = sampler.HeldOutSamples(variant, 10);
  ASSERT_EQ(some.size(), 10u);
  for (size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(some[i].state, all[i * all.size() / 10].state);
    EXPECT_EQ(some[i].symmetry, all[i * all.size() / 10].symmetry);
  }
}

TEST(SamplerTest, AWindowWithNothingToLearnFromIsAnError) {
  const auto store = StoreWithGames("nothing", Variant::kFourTreasures, 2);
  Sampler sampler(*store, {.held_out_share = 1}, 1);
  const absl::Status status = sampler.MoveWindow(2);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(status.message()).find("2 games, but none to learn"),
            std::string::npos)
      << status.message();
}

TEST(SamplerTest, VariantsHaveTheirSharesWhateverTheLengthOfTheirGames) {
  auto store = record::OpenGameStore(TestFolder("balance") + "/games.db",
                                     record::StoreMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.status().message();
  // 8 games of Sacred Hill and 2 of Stone of Destiny, which last more than
  // twice as long.
  ASSERT_TRUE((*store)
                  ->AddAll(PlayUniformGames(
                      QuickSelfPlay(Variant::kSacredHillL1), IndicesTo(8)))
                  .ok());
  ASSERT_TRUE((*store)
                  ->AddAll(PlayUniformGames(
                      QuickSelfPlay(Variant::kStoneOfDestiny), {8, 9}))
                  .ok());
  const int draws = 4000;
  const auto share = [&](double balance) {
    Sampler sampler(**store, {.variant_balance = balance}, 1);
    EXPECT_TRUE(sampler.MoveWindow(10).ok());
    int count = 0;
    for (const nn::Sample& sample : sampler.Batch(0, draws)) {
      count += sample.state.variant == Variant::kStoneOfDestiny ? 1 : 0;
    }
    return static_cast<double>(count) / draws;
  };
  // Five standard deviations: 5 * sqrt(p (1 - p) / 4000).
  EXPECT_NEAR(share(1), 0.5, 0.04);
  EXPECT_NEAR(share(0), 0.2, 0.032);
  // sqrt(2) / (sqrt(2) + sqrt(8)) = 1/3.
  EXPECT_NEAR(share(0.5), 1.0 / 3, 0.038);
}

TEST(SamplerTest, PositionsAreDrawnByTheirSurpriseAndUntaughtOnesNever) {
  auto store = record::OpenGameStore(TestFolder("surprise") + "/games.db",
                                     record::StoreMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.status().message();
  auto games = PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {0});
  games[0].set_opening_plies(2);
  const int length = games[0].steps_size();
  for (proto::Step& step : *games[0].mutable_steps()) {
    step.set_policy_surprise(0.1f);
  }
  // One position is as surprising as all the other ones together.
  games[0].mutable_steps(7)->set_policy_surprise(
      0.1f * static_cast<float>(length - 3));
  const State surprising = record::Replay(games[0])->states[7];
  const State drawn = record::Replay(games[0])->states[1];
  ASSERT_TRUE((*store)->AddAll(games).ok());
  Sampler sampler(**store, {.targets = {.policy_surprise = 1}}, 1);
  ASSERT_TRUE(sampler.MoveWindow(1).ok());
  EXPECT_EQ(sampler.positions(), length - 2);
  const int draws = 4000;
  int count = 0;
  for (const nn::Sample& sample : sampler.Batch(0, draws)) {
    count += sample.state == surprising ? 1 : 0;
    EXPECT_NE(sample.state, drawn);
    EXPECT_NE(sample.state, InitialState(Variant::kFourTreasures));
  }
  // Five standard deviations: sqrt(n p (1 - p)); weights are rounded.
  EXPECT_NEAR(count, draws / 2, 5 * 32);
}

TEST(SamplerTest, CountsThePositionsThatCameWithNewGames) {
  const auto store = StoreWithGames("new", Variant::kFourTreasures, 8);
  Sampler sampler(*store, {.held_out_share = 0.3}, 2);
  ASSERT_TRUE(sampler.MoveWindow(8).ok());
  int64_t expected = 0;
  for (uint64_t i = 5; i < 8; ++i) {
    if (!IsHeldOut(0.3, 2, i)) expected += store->Get(i)->steps_size();
  }
  EXPECT_EQ(sampler.PositionsFrom(5), expected);
  EXPECT_EQ(sampler.PositionsFrom(0), sampler.positions());
  EXPECT_EQ(sampler.PositionsFrom(8), 0);
}

TEST(SamplerTest, ADamagedRecordIsAnErrorThatNamesTheGame) {
  auto store = record::OpenGameStore(TestFolder("damaged") + "/games.db",
                                     record::StoreMode::kReadWrite);
  ASSERT_TRUE(store.ok()) << store.status().message();
  auto games = PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {17});
  games[0].mutable_steps(3)->set_action(games[0].steps(2).action());
  ASSERT_TRUE((*store)->Add(games[0]).ok());
  Sampler sampler(**store, Newest(10), 1);
  const absl::Status status = sampler.MoveWindow(100);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::string(status.message()).find("17"), std::string::npos)
      << status.message();
}

// --- Distinct positions ------------------------------------------------------

proto::GameRecord AGame(Variant variant) {
  HashingEvaluator evaluator;
  SelfPlayStats stats;
  return PlayGamesWith(evaluator, QuickSelfPlay(variant), {0}, stats).front();
}

TEST(DistinctPositionsTest, ThereAreNoneBeforeTheFirst) {
  EXPECT_EQ(DistinctPositions().share(), 0);
}

TEST(DistinctPositionsTest, AGameOfItsOwnRepeatsNothing) {
  DistinctPositions distinct;
  ASSERT_TRUE(distinct.Add(AGame(Variant::kFourTreasures)).ok());
  EXPECT_EQ(distinct.share(), 1);
}

TEST(DistinctPositionsTest, TheSameGameTwiceIsHalf) {
  const proto::GameRecord game = AGame(Variant::kSacredHillL1);
  DistinctPositions distinct;
  ASSERT_TRUE(distinct.Add(game).ok());
  ASSERT_TRUE(distinct.Add(game).ok());
  EXPECT_EQ(distinct.share(), 0.5);
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
    DistinctPositions distinct;
    ASSERT_TRUE(distinct.Add(game).ok());
    const absl::Status added = distinct.Add(turned);
    ASSERT_TRUE(added.ok()) << added.message();
    EXPECT_EQ(distinct.share(), 0.5);
  }
}

TEST(DistinctPositionsTest, OpeningsDoNotCount) {
  const proto::GameRecord game = AGame(Variant::kSacredHillL1);
  proto::GameRecord opened = game;
  opened.set_opening_plies(static_cast<uint32_t>(game.steps_size()) - 1);
  DistinctPositions distinct;
  ASSERT_TRUE(distinct.Add(opened).ok());
  ASSERT_TRUE(distinct.Add(game).ok());
  const auto steps = static_cast<double>(game.steps_size());
  EXPECT_DOUBLE_EQ(distinct.share(), steps / (steps + 1));
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

// --- Held out ----------------------------------------------------------------

// Keeps what it is to measure; its policy loss is the number of the call.
class FakeTrainer : public nn::Trainer {
 public:
  absl::StatusOr<nn::Losses> Step(const std::vector<nn::Sample>&,
                                  double) override {
    ADD_FAILURE() << "measuring learns nothing";
    return nn::Losses();
  }
  absl::StatusOr<nn::Losses> Measure(
      const std::vector<nn::Sample>& batch) override {
    measured.push_back(batch);
    if (fails) return absl::InternalError("broken");
    return nn::Losses{
        .heads = {{nn::Head::kPolicy, static_cast<double>(measured.size())}}};
  }
  absl::Status Evaluate(absl::Span<const State>,
                        absl::Span<mcts::Evaluation>) override {
    return absl::OkStatus();
  }
  absl::Status Save(const std::string&, const nn::TrainingProgress&,
                    absl::Span<const State>) override {
    return absl::OkStatus();
  }

  std::vector<std::vector<nn::Sample>> measured;
  bool fails = false;
};

class HeldOutLossesTest : public ::testing::Test {
 protected:
  // Adds games of a variant until so many of them are held out.
  void AddGames(Variant variant, int held_out) {
    std::vector<uint64_t> indices;
    for (int count = 0; count < held_out; ++next_) {
      indices.push_back(next_);
      count += IsHeldOut(kShare, kSeed, next_) ? 1 : 0;
    }
    const auto games = PlayUniformGames(QuickSelfPlay(variant), indices);
    ASSERT_TRUE(store_->AddAll(games).ok());
  }

  void SetUp() override {
    auto store = record::OpenGameStore(TestFolder("held_out") + "/games.db",
                                       record::StoreMode::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.status().message();
    store_ = *std::move(store);
  }

  static constexpr double kShare = 0.5;
  static constexpr uint64_t kSeed = 5;
  uint64_t next_ = 0;
  std::unique_ptr<record::GameStore> store_;
  FakeTrainer trainer_;
};

TEST_F(HeldOutLossesTest, AreMeasuredByVariantWhereThereIsEnough) {
  AddGames(Variant::kFourTreasures, 3);
  AddGames(Variant::kSacredHillL1, 1);    // some 45 positions
  AddGames(Variant::kStoneOfDestiny, 6);  // more than 512 positions
  Sampler sampler(*store_, {.held_out_share = kShare}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  const auto losses = MeasureHeldOut(sampler, trainer_);
  ASSERT_TRUE(losses.ok()) << losses.status().message();
  ASSERT_EQ(losses->size(), 2u);
  ASSERT_EQ(trainer_.measured.size(), 2u);
  EXPECT_EQ(losses->at(0).variant, Variant::kFourTreasures);
  EXPECT_EQ(losses->at(1).variant, Variant::kStoneOfDestiny);
  EXPECT_EQ(losses->at(1).positions, kMaxHeldOutPositions);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(losses->at(i).losses.heads[nn::Head::kPolicy],
              static_cast<double>(i + 1));
    EXPECT_EQ(losses->at(i).positions,
              static_cast<int64_t>(trainer_.measured[i].size()));
    for (const nn::Sample& sample : trainer_.measured[i]) {
      EXPECT_EQ(sample.state.variant, losses->at(i).variant);
    }
  }
  // Of 1 and 2.
  EXPECT_EQ(MeanLosses(*losses).heads[nn::Head::kPolicy], 1.5);
}

TEST_F(HeldOutLossesTest, WithoutHeldOutGamesThereAreNone) {
  AddGames(Variant::kFourTreasures, 1);
  Sampler sampler(*store_, {.held_out_share = 0}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  const auto losses = MeasureHeldOut(sampler, trainer_);
  ASSERT_TRUE(losses.ok()) << losses.status().message();
  EXPECT_TRUE(losses->empty());
  EXPECT_EQ(MeanLosses(*losses).heads[nn::Head::kPolicy], 0);
}

TEST_F(HeldOutLossesTest, AnErrorOfTheTrainerIsTheirs) {
  AddGames(Variant::kFourTreasures, 3);
  Sampler sampler(*store_, {.held_out_share = kShare}, kSeed);
  ASSERT_TRUE(sampler.MoveWindow(next_).ok());
  trainer_.fails = true;
  EXPECT_EQ(MeasureHeldOut(sampler, trainer_).status().code(),
            absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace tara::train
