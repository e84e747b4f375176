// What a game teaches beside its policies and its result, which sampler_test.cc
// looks at.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/outcome.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/record/game_record.h"
#include "tara/train/learn/sampler.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

constexpr Symmetry kIdentity = {0, 0};

SampledGame Unpacked(const proto::GameRecord& record,
                     const ValueTargetOptions& options = {}) {
  return UnpackGame(record, options).value();
}

class TargetsOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(TargetsOfVariantTest, TheEndOfTheGameIsOfTheSideToMove) {
  const auto records = PlayUniformGames(QuickSelfPlay(GetParam().variant), {0});
  const SampledGame game = Unpacked(records[0]);
  const auto replayed = Replayed(records[0]);
  const State& last = replayed.states.back();
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
  int turned = 0;
  for (const proto::GameRecord& record :
       PlayUniformGames(options, IndicesTo(200))) {
    const auto replayed = Replayed(record);
    if (static_cast<Action>(record.steps(1).action()) != kPass) continue;
    // The first ringfort, before the swap and after it, and at the end.
    const Board before = replayed.states[1].ringforts[kRed];
    const Board after = replayed.states[2].ringforts[kBlue];
    if ((replayed.states.back().ringforts[kBlue] & after) == 0) continue;
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
  for (const proto::GameRecord& record : PlayHashedGames(options, 3)) {
    // Of mixtures, whatever their shares.
    const SampledGame game =
        Unpacked(record, {.search_share = 0.5f, .horizon = 4});
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

TEST(SampledGameTest, AResignedGameIsLostAndHasNoMarginsButProvedOnes) {
  auto records = PlayUniformGames(QuickSelfPlay(Variant::kSacredHillL1), {0});
  proto::GameRecord& record = records[0];
  const State last = Replayed(record).states[20];
  while (record.steps_size() > 20) record.mutable_steps()->RemoveLast();
  record::SetResigned(last, record);
  record::SetProved(-3, -3, last, *record.mutable_steps(4));
  record::SetProved(-9, -1, last, *record.mutable_steps(5));
  const SampledGame game = Unpacked(record);
  for (int ply = 0; ply < 20; ++ply) {
    const nn::Sample sample = MakeSample(game, ply, kIdentity);
    EXPECT_FALSE(sample.has_final);
    EXPECT_EQ(sample.has_margin, ply == 4);
    if (ply == 4 || ply == 5) continue;
    EXPECT_EQ(sample.result[0], sample.state.side() != last.side());
    EXPECT_EQ(sample.result[2], sample.state.side() == last.side());
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
  }
}

TEST(SampledGameTest, TechniquesComposeInOneGame) {
  // Gumbel targets of few simulations, fast searches, an opening, proofs,
  // and mixed values at once: each keeps its meaning.
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 16;
  options.search.gumbel = true;
  options.search.proof = true;
  options.search.solver_vacant_hills = 6;
  options.full_search_share = 0.5f;
  options.fast_simulations = 6;
  options.opening = {.share = 1, .max_plies = 5};
  int policies = 0;
  int fast = 0;
  for (const proto::GameRecord& record : PlayHashedGames(options, 4)) {
    const SampledGame game =
        Unpacked(record, {.search_share = 0.5f, .horizon = 8});
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      const proto::Step& step = record.steps(ply);
      const SampledGame::Position& position = game.positions[ply];
      EXPECT_EQ(position.is_taught, step.simulations() > 0) << "ply " << ply;
      if (!position.is_taught) continue;
      ++(position.num_targets == 0 ? fast : policies);
      if (position.num_targets == 0) {
        EXPECT_EQ(step.policy_surprise(), 0);
      }
    }
  }
  EXPECT_GT(policies, 0);
  EXPECT_GT(fast, 0);
}

// --- Value target ------------------------------------------------------------

// A step of a hand-made game: who acts, and what the search says for it.
struct Ply {
  Seat seat;
  std::optional<float> root_value;  // none: there was no search
  std::optional<int> proved = {};   // the margin
};

struct Game {
  proto::GameRecord record;
  record::ReplayedGame replayed;
};

// Only what value targets look at; the boards are empty.
Game MakeGame(const std::vector<Ply>& plies, int red_points, int blue_points) {
  Game game = {};
  for (const Ply& ply : plies) {
    State state{};
    state.seat = static_cast<uint8_t>(ply.seat);
    game.replayed.states.push_back(state);
    proto::Step& step = *game.record.add_steps();
    if (ply.root_value.has_value()) {
      step.set_root_value(*ply.root_value);
      step.set_simulations(10);
    }
    if (ply.proved.has_value()) {
      record::SetProved(*ply.proved, *ply.proved, state, step);
    }
  }
  game.replayed.outcome.points = {red_points, blue_points};
  return game;
}

std::vector<ValueTarget> Targets(const Game& game,
                                 const ValueTargetOptions& options) {
  return ValueTargets(game.record, game.replayed, options);
}

// Five plies: Red, then Blue twice (a turn of two actions), then Red twice, as
// when Blue is skipped. Red wins. Parity would give Blue's second action and
// both of Red's last ones to the wrong side.
Game RedWins() {
  return MakeGame({{0, 0.2f}, {1, 0.0f}, {1, -0.4f}, {0, 0.6f}, {0, 1.0f}}, 3,
                  0);
}

TEST(ValueTargetTest, WithoutSearchesTheyAreTheOutcomeOfTheSideToMove) {
  const auto targets = Targets(RedWins(), {});
  const std::vector<float> expected = {1, -1, -1, 1, 1};
  for (size_t ply = 0; ply < expected.size(); ++ply) {
    EXPECT_EQ(targets[ply].value, expected[ply]) << "ply " << ply;
    EXPECT_EQ(targets[ply].draw, 0);
  }
}

TEST(ValueTargetTest, SearchesOfAHorizonAreAveragedBySide) {
  // Horizon 2: a = 1/2. Red's values of the searches: 0.2, 0, 0.4, 0.6, 1, and
  // z = 1. From the end, each the mean of the search and what is later:
  //   ply 4: (1 + 1) / 2 = 1
  //   ply 3: (0.6 + 1) / 2 = 0.8
  //   ply 2: (0.4 + 0.8) / 2 = 0.6
  //   ply 1: (0 + 0.6) / 2 = 0.3
  //   ply 0: (0.2 + 0.3) / 2 = 0.25
  const Game game = RedWins();
  const auto one = Targets(game, {.search_share = 1, .horizon = 1});
  const auto all = Targets(game, {.search_share = 1, .horizon = 2});
  const std::vector<float> searched = {0.25f, -0.3f, -0.6f, 0.8f, 1};
  // Half of it from the outcome: (1 + 0.25) / 2 = 0.625, and so on.
  const auto half = Targets(game, {.search_share = 0.5f, .horizon = 2});
  const std::vector<float> mixed = {0.625f, -0.65f, -0.8f, 0.9f, 1};
  for (size_t ply = 0; ply < searched.size(); ++ply) {
    EXPECT_NEAR(all[ply].value, searched[ply], 1e-6) << "ply " << ply;
    EXPECT_NEAR(half[ply].value, mixed[ply], 1e-6) << "ply " << ply;
    // A horizon of one ply is the search of the position alone.
    EXPECT_EQ(one[ply].value, game.record.steps(ply).root_value());
  }
}

TEST(ValueTargetTest, SeatsOfOneSideShareItsValues) {
  // Doubles: seats 0 and 2 are Red, 1 and 3 Blue.
  const Game game = MakeGame({{2, 0.5f}, {3, 0.5f}, {0, -0.5f}}, 0, 3);
  // Red's searches: 0.5, -0.5, -0.5; z = -1. a = 1/2:
  //   ply 2: (-0.5 - 1) / 2 = -0.75;  ply 1: (-0.5 - 0.75) / 2 = -0.625;
  //   ply 0: (0.5 - 0.625) / 2 = -0.0625
  const auto targets = Targets(game, {.search_share = 1, .horizon = 2});
  EXPECT_NEAR(targets[2].value, -0.75f, 1e-6);
  EXPECT_NEAR(targets[1].value, 0.625f, 1e-6);
  EXPECT_NEAR(targets[0].value, -0.0625f, 1e-6);
}

TEST(ValueTargetTest, PliesWithoutASearchArePassedOver) {
  const Game with_gap =
      MakeGame({{0, 0.2f}, {1, std::nullopt}, {0, 0.6f}}, 3, 0);
  const Game without = MakeGame({{0, 0.2f}, {0, 0.6f}}, 3, 0);
  const ValueTargetOptions options = {.search_share = 0.7f, .horizon = 4};
  EXPECT_EQ(Targets(with_gap, options)[0].value,
            Targets(without, options)[0].value);
}

TEST(ValueTargetTest, AProvedResultStandsForAllThatComesLater) {
  // Red has proved a win at ply 1, for Blue a loss by 2 at ply 2; then another
  // player loses it for Red.
  const Game game =
      MakeGame({{0, 0.0f}, {0, 0.9f, 2}, {1, -0.9f, -2}, {0, 0.3f}}, 0, 3);
  const auto targets = Targets(game, {.search_share = 0.5f, .horizon = 2});
  EXPECT_EQ(targets[1].value, 1);
  EXPECT_EQ(targets[2].value, -1);
  // Not proved any more: half the outcome, -1, half (0.3 - 1) / 2 = -0.35.
  EXPECT_NEAR(targets[3].value, -0.675f, 1e-6);
  // Before it: half the outcome, -1; half the searches, (0 + 1) / 2.
  EXPECT_NEAR(targets[0].value, -0.25f, 1e-6);
  // Also where nothing is mixed.
  EXPECT_EQ(Targets(game, {})[1].value, 1);
}

TEST(ValueTargetTest, ADrawHasTheShareOfTheOutcome) {
  // z = 0, drawn. a = 1/2; ply 0: V = (0.4 + 0) / 2 = 0.2, of which a half is
  // the outcome's draw. With s = 1/2: value 0.1, draw 1/2 + 1/2 * 1/2 = 0.75.
  const Game game = MakeGame({{0, 0.4f}}, 1, 1);
  const ValueTarget target =
      Targets(game, {.search_share = 0.5f, .horizon = 2})[0];
  EXPECT_NEAR(target.value, 0.1f, 1e-6);
  EXPECT_NEAR(target.draw, 0.75f, 1e-6);
  const std::array<float, 3> result = target.result();
  EXPECT_NEAR(result[0], 0.175f, 1e-6);
  EXPECT_NEAR(result[1], 0.75f, 1e-6);
  EXPECT_NEAR(result[2], 0.075f, 1e-6);
}

TEST(ValueTargetTest, ResultsAreDistributionsWhoseDifferenceIsTheValue) {
  for (const int blue_points : {0, 1, 5}) {
    const Game game = MakeGame({{0, 1.0f},
                                {1, -1.0f},
                                {1, 0.3f, 0},
                                {0, -1.0f},
                                {1, 1.0f},
                                {0, -0.2f}},
                               1, blue_points);
    for (const float share : {0.0f, 0.3f, 1.0f}) {
      for (const float horizon : {1.0f, 3.0f, 50.0f}) {
        for (const ValueTarget& target :
             Targets(game, {.search_share = share, .horizon = horizon})) {
          const std::array<float, 3> result = target.result();
          for (const float probability : result) {
            EXPECT_GE(probability, -1e-6f);
          }
          EXPECT_NEAR(result[0] + result[1] + result[2], 1, 1e-6);
          EXPECT_NEAR(result[0] - result[2], target.value, 1e-6);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tara::train
