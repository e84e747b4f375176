// What a game teaches beside its policies and its result, which sampler_test.cc
// looks at.

#include "tara/train/learn/sampled_game.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/record/game_record.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

constexpr Symmetry kIdentity = {0, 0};

SampledGame Unpacked(const proto::GameRecord& record,
                     const TargetOptions& options = {}) {
  const auto game = UnpackGame(record, options);
  EXPECT_TRUE(game.ok()) << game.status().message();
  return game.ok() ? *game : SampledGame();
}

std::vector<proto::GameRecord> PlayHashed(const SelfPlayOptions& options,
                                          int games) {
  std::vector<uint64_t> indices;
  for (int i = 0; i < games; ++i) indices.push_back(static_cast<uint64_t>(i));
  HashingEvaluator evaluator;
  SelfPlayStats stats;
  return PlayGamesWith(evaluator, options, indices, stats);
}

class TargetsOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(TargetsOfVariantTest, TheEndOfTheGameIsOfTheSideToMove) {
  const auto records = PlayUniformGames(QuickSelfPlay(GetParam().variant), {0});
  const SampledGame game = Unpacked(records[0]);
  const auto replayed = record::Replay(records[0]);
  ASSERT_TRUE(replayed.ok()) << replayed.status().message();
  const State& last = replayed->states.back();
  for (int ply = 0; ply < records[0].steps_size(); ++ply) {
    const nn::Sample sample = MakeSample(game, ply, kIdentity);
    const Side own = sample.state.side();
    ASSERT_TRUE(sample.has_final);
    EXPECT_EQ(sample.own_hills, last.ringforts[own]);
    EXPECT_EQ(sample.enemy_hills, last.ringforts[Opponent(own)]);
    EXPECT_EQ(sample.own_kingdoms, CountKingdoms(last, own));
    EXPECT_EQ(sample.enemy_kingdoms, CountKingdoms(last, Opponent(own)));
    // What the record says of it.
    EXPECT_EQ(sample.own_kingdoms, records[0].result().kingdoms(own));
    EXPECT_EQ(Count(sample.own_hills), records[0].result().territory(own));
  }
}

TEST(TargetsTest, ASwapThatTransposesTheBoardIsFollowed) {
  RuleOptions rules;
  rules.pie_rule = true;
  SelfPlayOptions options = QuickSelfPlay(Variant::kPoisonedChalice);
  options.starts = {InitialState(Variant::kPoisonedChalice, rules)};
  std::vector<uint64_t> indices(200);
  std::iota(indices.begin(), indices.end(), 0);
  int turned = 0;
  for (const proto::GameRecord& record : PlayUniformGames(options, indices)) {
    const auto replayed = record::Replay(record);
    ASSERT_TRUE(replayed.ok()) << replayed.status().message();
    if (static_cast<Action>(record.steps(1).action()) != kPass) continue;
    // The first ringfort, before the swap and after it, and at the end.
    const Board before = replayed->states[1].ringforts[kRed];
    const Board after = replayed->states[2].ringforts[kBlue];
    if ((replayed->states.back().ringforts[kBlue] & after) == 0) continue;
    const SampledGame game = Unpacked(record);
    EXPECT_NE(MakeSample(game, 0, kIdentity).enemy_hills & before, 0u);
    EXPECT_NE(MakeSample(game, 1, kIdentity).own_hills & before, 0u);
    EXPECT_NE(MakeSample(game, 2, kIdentity).enemy_hills & after, 0u);
    EXPECT_TRUE(MakeSample(game, 1, kIdentity).reply.empty());
    turned += before != after;
  }
  EXPECT_GE(turned, 1);
}

TEST_P(TargetsOfVariantTest, TheReplyIsThePolicyOfTheNextTurnOfTheOtherSide) {
  const auto records = PlayUniformGames(QuickSelfPlay(GetParam().variant), {0});
  const SampledGame game = Unpacked(records[0]);
  const int length = records[0].steps_size();
  for (int ply = 0; ply < length; ++ply) {
    const nn::Sample sample = MakeSample(game, ply, kIdentity);
    int next = ply + 1;
    while (next < length &&
           game.positions[next].state.side() == sample.state.side()) {
      ++next;
    }
    if (next == length) {
      EXPECT_TRUE(sample.reply.empty());
    } else {
      EXPECT_FALSE(sample.reply.empty());
      EXPECT_EQ(sample.reply, MakeSample(game, next, kIdentity).policy);
    }
  }
}

TEST_P(TargetsOfVariantTest, WhatIsProvedIsTaughtAsTheSolverKnowsIt) {
  SelfPlayOptions options = QuickSelfPlay(GetParam().variant);
  options.search.simulations = 40;
  options.search.proof = true;
  options.search.solver_vacant_hills = 6;
  mcts::EndgameSolver solver({.node_limit = 1 << 18});
  int exact = 0;
  for (const proto::GameRecord& record : PlayHashed(options, 3)) {
    // Of mixtures, whatever their shares.
    const SampledGame game =
        Unpacked(record, {.value = {.search_share = 0.5f, .horizon = 4}});
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      const proto::Step& step = record.steps(ply);
      if (!step.has_proved_low()) continue;
      const nn::Sample sample = MakeSample(game, ply, kIdentity);
      const std::optional<int> red = solver.SolveRedMargin(sample.state);
      if (!red.has_value()) continue;
      ++exact;
      const int margin = sample.state.side() == kRed ? *red : -*red;
      std::array<float, 3> result = {};
      result[1 - ((margin > 0) - (margin < 0))] = 1;
      EXPECT_EQ(sample.result, result) << "ply " << ply;
      if (step.proved_low() == step.proved_high()) {
        EXPECT_EQ(sample.margin, margin) << "ply " << ply;
        EXPECT_TRUE(sample.has_margin);
      }
    }
  }
  EXPECT_GT(exact, 0);
}

INSTANTIATE_TEST_SUITE_P(AllVariants, TargetsOfVariantTest,
                         ::testing::ValuesIn(kVariants), VariantName);

TEST(SampledGameTest, AResignedGameHasNoEndButItsProvedMargins) {
  auto records = PlayUniformGames(QuickSelfPlay(Variant::kSacredHillL1), {0});
  proto::GameRecord& record = records[0];
  const State last = record::Replay(record)->states[20];
  while (record.steps_size() > 20) record.mutable_steps()->RemoveLast();
  record::SetResigned(last, record);
  record::SetProved(-3, -3, last, *record.mutable_steps(4));
  record::SetProved(-9, -1, last, *record.mutable_steps(5));
  const SampledGame game = Unpacked(record);
  for (int ply = 0; ply < 20; ++ply) {
    const nn::Sample sample = MakeSample(game, ply, kIdentity);
    EXPECT_FALSE(sample.has_final);
    EXPECT_EQ(sample.has_margin, ply == 4);
  }
  EXPECT_EQ(MakeSample(game, 4, kIdentity).margin, -3);
}

TEST(SampledGameTest, WhatWasDrawnOrPlayedByProofTeachesNothing) {
  auto records = PlayUniformGames(QuickSelfPlay(Variant::kSacredHillL1), {0});
  records[0].set_opening_plies(3);
  records[0].mutable_steps(30)->set_played_by_proof(true);
  const SampledGame game = Unpacked(records[0]);
  for (int ply = 0; ply < records[0].steps_size(); ++ply) {
    const bool is_taught = ply >= 3 && ply != 30;
    EXPECT_EQ(game.positions[ply].is_taught, is_taught);
    EXPECT_EQ(game.positions[ply].weight,
              is_taught ? SampledGame::kWeightOne : 0);
  }
}

TEST(SampledGameTest, FrequenciesFollowTheSurpriseOfThePositionsWithAPolicy) {
  auto records = PlayUniformGames(QuickSelfPlay(Variant::kSacredHillL1), {0});
  proto::GameRecord& record = records[0];
  for (proto::Step& step : *record.mutable_steps()) {
    step.clear_visited_action();
    step.clear_visits();
    step.clear_policy_surprise();
  }
  // Three positions teach policy; the mean of their surprises is 0.5.
  const float surprises[] = {0.25f, 0.0f, 1.25f};
  for (int ply = 0; ply < 3; ++ply) {
    proto::Step& step = *record.mutable_steps(ply);
    step.add_visited_action(step.action());
    step.add_visits(1);
    step.set_policy_surprise(surprises[ply]);
  }
  // Of an untaught one nothing counts.
  record.mutable_steps(3)->CopyFrom(record.steps(3));
  record.mutable_steps(3)->set_policy_surprise(50);
  record.mutable_steps(3)->set_played_by_proof(true);
  const auto weights = [&](float share) {
    const SampledGame game = Unpacked(record, {.policy_surprise = share});
    std::vector<int> result;
    for (int ply = 0; ply < 5; ++ply) {
      result.push_back(game.positions[ply].weight);
    }
    return result;
  };
  // In units of 1/256. With s = 1/2: 1/2 + 1/2 * 0.25 / 0.5 = 0.75, 1/2 and
  // 1/2 + 1/2 * 1.25 / 0.5 = 1.75: 3 in all, as without.
  EXPECT_EQ(weights(0), (std::vector<int>{256, 256, 256, 0, 256}));
  EXPECT_EQ(weights(0.5f), (std::vector<int>{192, 128, 448, 0, 256}));
  EXPECT_EQ(weights(1), (std::vector<int>{128, 0, 640, 0, 256}));
}

TEST(SampledGameTest, TechniquesComposeInOneGame) {
  // Gumbel targets of few simulations, fast searches, an opening, proofs,
  // mixed values and surprise at once: each keeps its meaning.
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 16;
  options.search.gumbel = true;
  options.search.proof = true;
  options.search.solver_vacant_hills = 6;
  options.full_search_share = 0.5f;
  options.fast_simulations = 6;
  options.opening = {.share = 1, .max_plies = 5};
  options.end_when_proved = true;
  int policies = 0;
  int fast = 0;
  for (const proto::GameRecord& record : PlayHashed(options, 4)) {
    const SampledGame game =
        Unpacked(record, {.value = {.search_share = 0.5f, .horizon = 8},
                          .policy_surprise = 0.5f});
    double with_policy = 0;
    double weight = 0;
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      const proto::Step& step = record.steps(ply);
      const SampledGame::Position& position = game.positions[ply];
      EXPECT_EQ(position.is_taught, step.simulations() > 0) << "ply " << ply;
      if (!position.is_taught) continue;
      if (position.num_targets == 0) {
        ++fast;
        EXPECT_EQ(position.weight, SampledGame::kWeightOne);
        EXPECT_EQ(step.policy_surprise(), 0);
        continue;
      }
      ++policies;
      with_policy += 1;
      weight += position.weight;
    }
    // Surprise moves weight between positions, not between games. Each is
    // rounded to a unit.
    EXPECT_NEAR(weight / SampledGame::kWeightOne, with_policy,
                with_policy / SampledGame::kWeightOne);
  }
  EXPECT_GT(policies, 0);
  EXPECT_GT(fast, 0);
}

}  // namespace
}  // namespace tara::train
