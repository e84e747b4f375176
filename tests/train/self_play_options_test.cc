// What the options of self-play change in its games.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/record/game_record.h"
#include "tara/train/play/game_plan.h"
#include "tara/train/play/self_play.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

// Whether a step has search statistics or a policy target.
bool TeachesPolicy(const proto::Step& step) {
  return step.visits_size() > 0 || step.target_weight_size() > 0;
}

// Everything at once.
SelfPlayOptions AllOptions(Variant variant) {
  SelfPlayOptions options = QuickSelfPlay(variant);
  options.search.simulations = 16;
  options.search.gumbel = true;
  options.search.graph_search = true;
  options.search.proof = true;
  options.search.solver_vacant_hills = 5;
  options.full_search_share = 0.4f;
  options.fast_simulations = 6;
  options.opening = {.share = 0.5f, .max_plies = 6};
  return options;
}

class OptionsOfVariantTest : public ::testing::TestWithParam<VariantInfo> {};

// How the games are spread over threads and batches.
struct Spread {
  int threads;
  int games_per_thread;
  int groups;
};

TEST_P(OptionsOfVariantTest, GamesAreTheSameHoweverTheyAreSpread) {
  for (const int leaves : {1, 3}) {
    std::vector<std::string> expected;
    for (const Spread& spread :
         {Spread{1, 1, 1}, Spread{1, 7, 1}, Spread{1, 4, 2}, Spread{3, 2, 1},
          Spread{2, 3, 2}}) {
      SelfPlayOptions options = AllOptions(GetParam().variant);
      options.leaves_per_game = leaves;
      options.threads = spread.threads;
      options.games_per_thread = spread.games_per_thread;
      options.evaluation_groups = spread.groups;
      mcts::HashEvaluator hashing;
      SelfPlayStats stats;
      const auto records = PlayGamesWith(hashing, options, IndicesTo(5), stats);
      const std::vector<std::string> games = BytesOf(records);
      if (expected.empty()) {
        ExpectValid(records);
        EXPECT_GT(stats.full_searches, 0);
        EXPECT_LT(stats.full_searches, stats.plies);
        expected = games;
      }
      EXPECT_EQ(games, expected)
          << leaves << " leaves, " << spread.threads << " threads, "
          << spread.games_per_thread << " games each, " << spread.groups
          << " groups";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllVariants, OptionsOfVariantTest,
                         ::testing::ValuesIn(kVariants), VariantName);

TEST(PlayoutCapTest, FastSearchesTeachNoPolicyAndFullOnesAreAsManyAsWished) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 40;
  options.full_search_share = 0.25f;
  options.fast_simulations = 8;
  SelfPlayStats stats;
  const auto games = PlayHashedGames(options, 20, stats);
  ExpectValid(games);
  int full = 0;
  int steps = 0;
  for (const proto::GameRecord& game : games) {
    for (const proto::Step& step : game.steps()) {
      ++steps;
      full += TeachesPolicy(step) ? 1 : 0;
      // A subtree that was kept may bring more.
      EXPECT_GE(step.simulations(), TeachesPolicy(step) ? 40u : 8u);
    }
  }
  EXPECT_EQ(stats.plies, steps);
  EXPECT_EQ(stats.full_searches, full);
  // Five standard deviations: sqrt(n p (1 - p)).
  EXPECT_NEAR(full, 0.25 * steps, 5 * std::sqrt(steps * 0.25 * 0.75));
}

TEST(PlayoutCapTest, FastSearchesHaveNoNoise) {
  // Only fast searches, without temperature: nothing is left to chance.
  SelfPlayOptions options = QuickSelfPlay(Variant::kFourTreasures);
  options.full_search_share = 1e-9f;
  options.fast_simulations = 12;
  options.search.dirichlet_fraction = 0.9f;
  options.temperature_plies = 0;
  for (const bool gumbel : {false, true}) {
    options.search.gumbel = gumbel;
    const auto games = PlayHashedGames(options, 3);
    for (const proto::GameRecord& game : games) {
      ASSERT_EQ(game.steps_size(), games[0].steps_size());
      for (int ply = 0; ply < game.steps_size(); ++ply) {
        EXPECT_EQ(game.steps(ply).action(), games[0].steps(ply).action());
      }
    }
  }
}

TEST(GumbelSelfPlayTest, TargetsAreTheImprovedPolicyOfAllLegalActions) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 16;
  options.search.gumbel = true;
  // Values that differ widely would leave no share to what was not visited.
  const auto games = PlayUniformGames(options, IndicesTo(4));
  ExpectValid(games);
  int unvisited = 0;  // actions of targets that had no visits
  for (const proto::GameRecord& game : games) {
    const auto replayed = Replayed(game);
    for (int ply = 0; ply < game.steps_size(); ++ply) {
      const proto::Step& step = game.steps(ply);
      const int legal = LegalActions(replayed.states[ply]).Count();
      EXPECT_GT(step.target_weight_size(), 0);
      EXPECT_LE(step.target_weight_size(), legal);
      // The action played was visited, and is among the targets.
      EXPECT_THAT(step.visited_action(), ::testing::Contains(step.action()));
      for (const uint32_t action : step.target_action()) {
        unvisited += std::count(step.visited_action().begin(),
                                step.visited_action().end(), action) == 0;
      }
    }
  }
  EXPECT_GT(unvisited, 0);
}

TEST(GumbelSelfPlayTest, EverySearchHasItsSimulationsBesideThoseKept) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 16;
  options.search.gumbel = true;
  SelfPlayStats stats;
  PlayHashedGames(options, 3, stats);
  // And one evaluation of each root that was not kept.
  EXPECT_GE(stats.simulations, 16 * stats.plies);
  EXPECT_LE(stats.simulations, 17 * stats.plies);
}

TEST(ForcedPlayoutsTest, AreInTheVisitsAndPrunedFromTheTargets) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 60;
  options.search.forced_playouts = 4;
  const auto games = PlayHashedGames(options, 3);
  ExpectValid(games);
  int pruned = 0;
  for (const proto::GameRecord& game : games) {
    for (const proto::Step& step : game.steps()) {
      ASSERT_GT(step.target_weight_size(), 0);
      EXPECT_LE(step.target_weight_size(), step.visits_size());
      pruned += step.visits_size() - step.target_weight_size();
    }
  }
  EXPECT_GT(pruned, 0);
}

// Self-play whose ends are proved and solved.
SelfPlayOptions Proving(Variant variant) {
  SelfPlayOptions options = QuickSelfPlay(variant);
  options.search.simulations = 40;
  options.search.proof = true;
  options.search.solver_vacant_hills = 6;
  return options;
}

class ProvedStepsTest : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(ProvedStepsTest, SayWhatTheSolverSays) {
  mcts::EndgameSolver solver({.node_limit = 1 << 18});
  int proved = 0;
  int compared = 0;
  SelfPlayStats stats;
  const auto games = PlayHashedGames(Proving(GetParam().variant), 3, stats);
  ExpectValid(games);
  if (GetParam().variant == Variant::kSacredHillL1) {
    EXPECT_GT(stats.solved, 0);  // in others few games fill the hills
  }
  for (const proto::GameRecord& game : games) {
    const auto replayed = Replayed(game);
    for (int ply = 0; ply < game.steps_size(); ++ply) {
      const proto::Step& step = game.steps(ply);
      if (!step.has_proved_low()) continue;
      ++proved;
      const State& state = replayed.states[ply];
      // Proofs by search may lie beyond what the solver can do in a test.
      const std::optional<int> red = solver.SolveRedMargin(state);
      if (!red.has_value()) continue;
      ++compared;
      const int margin = state.side() == kRed ? *red : -*red;
      EXPECT_LE(step.proved_low(), margin) << "ply " << ply;
      EXPECT_GE(step.proved_high(), margin) << "ply " << ply;
      EXPECT_EQ(record::ProvedResult(step, state), (margin > 0) - (margin < 0));
      // Both sides play so that what is proved comes true.
      const int winner = replayed.outcome.winner();
      EXPECT_EQ(record::ProvedResult(step, state),
                winner < 0 ? 0 : (winner == state.side() ? 1 : -1));
    }
  }
  // Every game has an end, and its last searches see it.
  EXPECT_GT(proved, 0);
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(AllVariants, ProvedStepsTest,
                         ::testing::ValuesIn(kVariants), VariantName);

TEST(OpeningTest, AShareOfTheGamesBeginsWithRandomActionsThatNobodySearched) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.opening = {.share = 0.5f, .max_plies = 4};
  const auto games = PlayHashedGames(options, 80);
  ExpectValid(games);
  std::vector<int> by_plies(5);
  std::set<uint32_t> first_actions;
  for (const proto::GameRecord& game : games) {
    ASSERT_LE(game.opening_plies(), 4u);
    ++by_plies[game.opening_plies()];
    for (int ply = 0; ply < game.steps_size(); ++ply) {
      const proto::Step& step = game.steps(ply);
      const bool drawn = ply < static_cast<int>(game.opening_plies());
      EXPECT_EQ(step.simulations() == 0, drawn);
      EXPECT_EQ(TeachesPolicy(step), !drawn);
    }
    if (game.opening_plies() > 0) first_actions.insert(game.steps(0).action());
  }
  // Five standard deviations: sqrt(n p (1 - p)) with p = 1/2 and 1/8.
  EXPECT_NEAR(by_plies[0], 40, 5 * 4.5);
  for (int plies = 1; plies <= 4; ++plies) {
    EXPECT_NEAR(by_plies[plies], 10, 5 * 3) << plies;
    EXPECT_GT(by_plies[plies], 0);
  }
  // Some 40 draws of 45 hills meet 26 of them on average, never only a few.
  EXPECT_GT(first_actions.size(), 15u);
}

TEST(OpeningTest, NoOpeningLeavesTheGamesAsTheyWere) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kFourTreasures);
  const auto without = PlayHashedGames(options, 3);
  options.opening = {.share = 0, .max_plies = 40};
  EXPECT_EQ(BytesOf(PlayHashedGames(options, 3)), BytesOf(without));
}

TEST(OpeningTest, NoOpeningEndsTheGame) {
  for (const VariantInfo& info : kVariants) {
    Random random(3);
    for (int i = 0; i < 20; ++i) {
      const State start = InitialState(info.variant);
      const Opening opening =
          DrawOpening({.share = 1, .max_plies = 10000}, start, random);
      EXPECT_FALSE(opening.state.finished()) << info.id;
      State state = start;
      for (const Action action : opening.actions) ApplyAction(action, state);
      EXPECT_EQ(state, opening.state) << info.id;
    }
  }
}

TEST(PolicySurpriseTest, IsTheDivergenceOfTheTargetFromThePrior) {
  // Uniform priors over n actions: the divergence is log(n) less the entropy
  // of the target.
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 24;
  for (const bool gumbel : {false, true}) {
    options.search.gumbel = gumbel;
    for (const proto::GameRecord& game : PlayUniformGames(options, {0, 1})) {
      const auto replayed = Replayed(game);
      for (int ply = 0; ply < game.steps_size(); ++ply) {
        const proto::Step& step = game.steps(ply);
        const auto& weights = gumbel ? step.target_weight() : step.visits();
        double total = 0;
        for (const uint32_t weight : weights) total += weight;
        double expected = std::log(LegalActions(replayed.states[ply]).Count());
        for (const uint32_t weight : weights) {
          expected += weight / total * std::log(weight / total);
        }
        // Priors are kept to one part in 4000, weights to one in 65535.
        EXPECT_NEAR(step.policy_surprise(), expected, 2e-3) << "ply " << ply;
      }
    }
  }
}

TEST(PolicySurpriseTest, IsNotMeasuredOfFastSearches) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.full_search_share = 0.5f;
  options.fast_simulations = 3;
  int surprising = 0;
  for (const proto::GameRecord& game : PlayHashedGames(options, 4)) {
    for (const proto::Step& step : game.steps()) {
      if (!TeachesPolicy(step)) {
        EXPECT_EQ(step.policy_surprise(), 0);
      }
      surprising += step.policy_surprise() > 0.01f ? 1 : 0;
    }
  }
  EXPECT_GT(surprising, 0);
}

TEST(GraphSelfPlayTest, SimulationsCatchUpWithOtherLines) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kFourTreasures);
  options.search.simulations = 100;
  SelfPlayStats without;
  PlayHashedGames(options, 2, without);
  EXPECT_EQ(without.caught_up, 0);
  options.search.graph_search = true;
  SelfPlayStats stats;
  ExpectValid(PlayHashedGames(options, 2, stats));
  EXPECT_GT(stats.caught_up, 0);
}

TEST(TemperatureTest, IsThatOfTheFirstPlies) {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.search.simulations = 60;
  options.search.dirichlet_fraction = 0;
  options.temperature_plies = 20;
  int drawn = 0;  // another action than the most visited is played
  for (const proto::GameRecord& game : PlayHashedGames(options, 8)) {
    for (int ply = 0; ply < game.steps_size(); ++ply) {
      const proto::Step& step = game.steps(ply);
      const uint32_t most =
          *std::max_element(step.visits().begin(), step.visits().end());
      for (int i = 0; i < step.visits_size(); ++i) {
        if (step.visited_action(i) != step.action()) continue;
        if (ply >= 20) {
          EXPECT_EQ(step.visits(i), most) << "ply " << ply;
        }
        drawn += step.visits(i) < most ? 1 : 0;
      }
    }
  }
  EXPECT_GT(drawn, 0);
}

SelfPlayOptions Resigning() {
  SelfPlayOptions options = QuickSelfPlay(Variant::kSacredHillL1);
  options.resignation = {
      .threshold = -0.2f, .turns = 2, .played_on_share = 0.5f};
  return options;
}

TEST(ResignationSelfPlayTest, LostGamesAreResignedUnlessTheyArePlayedOn) {
  SelfPlayStats stats;
  const SelfPlayOptions options = Resigning();
  const auto games = PlayHashedGames(options, 20, stats);
  ExpectValid(games);
  int resigned = 0;
  int played_on = 0;
  for (const proto::GameRecord& game : games) {
    const bool is_played_on =
        ResignationWatch(options.resignation,
                         DeriveSeed(options.run_seed, game.game_index(),
                                    StreamPurpose::kResignation))
            .played_on();
    played_on += is_played_on ? 1 : 0;
    if (!game.result().has_resigned_by()) continue;
    ++resigned;
    EXPECT_FALSE(is_played_on);
    const auto replayed = Replayed(game);
    EXPECT_NE(replayed.outcome.winner(), *replayed.resigned_by);
  }
  EXPECT_GT(resigned, 0);
  EXPECT_GT(played_on, 0);
  EXPECT_EQ(stats.resigned, resigned);
  EXPECT_EQ(stats.played_on, played_on);
  EXPECT_GT(stats.resignable, 0);
  EXPECT_LE(stats.resignable, stats.played_on);
  // Values are noise here: some who would have resigned win.
  EXPECT_GT(stats.resignable_not_lost, 0);
  EXPECT_LE(stats.resignable_not_lost, stats.resignable);
}

TEST(ResignationSelfPlayTest, AGameIsTheSameUpToItsResignation) {
  SelfPlayOptions options = Resigning();
  const auto resigning = PlayHashedGames(options, 8);
  options.resignation.threshold = std::nullopt;
  const auto playing = PlayHashedGames(options, 8);
  for (size_t i = 0; i < playing.size(); ++i) {
    EXPECT_FALSE(playing[i].result().has_resigned_by());
    ASSERT_LE(resigning[i].steps_size(), playing[i].steps_size());
    for (int ply = 0; ply < resigning[i].steps_size(); ++ply) {
      EXPECT_EQ(resigning[i].steps(ply).action(),
                playing[i].steps(ply).action());
    }
  }
}

}  // namespace
}  // namespace tara::train
