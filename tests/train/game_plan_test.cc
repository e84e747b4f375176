#include "tara/train/play/game_plan.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tara/train/config/config.h"
#include "tests/status_matchers.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GamePlanTest : public ::testing::Test {
 protected:
  void Add(uint32_t generation, const std::vector<uint64_t>& indices) {
    for (const uint64_t index : indices) {
      record_.set_generation(generation);
      record_.set_game_index(index);
      ASSERT_THAT(store_->Add(record_), IsOk());
    }
  }

  // Plans as a run does: by what is recorded, or anew.
  GamePlan Plan(int generation, int64_t games,
                const proto::GenerationPlan* before = nullptr) {
    recorded_ = Record(generation, games, before);
    return ExpandPlan(config_, *store_, recorded_).value();
  }

  proto::GenerationPlan Record(int generation, int64_t games,
                               const proto::GenerationPlan* before) {
    config_.mutable_self_play()->set_games_per_generation(games);
    if (config_.variant_size() == 0) config_.add_variant("four_treasures");
    return PlanGeneration(config_, *store_, generation,
                          /*model=*/generation, before)
        .value();
  }

  proto::TrainConfig config_;
  const std::unique_ptr<record::GameStore> store_ = StoreOf();
  proto::GameRecord record_ =
      PlayUniformGames(QuickSelfPlay(Variant::kFourTreasures), {0})[0];
  proto::GenerationPlan recorded_;
};

using Indices = std::vector<uint64_t>;

TEST_F(GamePlanTest, AnEmptyStoreLacksTheWholeFirstGeneration) {
  EXPECT_EQ(Plan(0, 3).missing, (Indices{0, 1, 2}));
}

TEST_F(GamePlanTest, AResumedGenerationLacksExactlyTheGamesNotStored) {
  Add(0, {3, 1});
  const GamePlan plan = Plan(0, 5);
  EXPECT_EQ(plan.missing, (Indices{0, 2, 4}));
  EXPECT_EQ(plan.kept(), 2);
  EXPECT_EQ(plan.size(), 5);
}

TEST_F(GamePlanTest, AGenerationFollowsTheOneThatIsRecorded) {
  const proto::GenerationPlan before = Record(0, 4, nullptr);
  const GamePlan plan = Plan(1, 3, &before);
  EXPECT_EQ(plan.begin, 4u);
  EXPECT_EQ(plan.end, 7u);
  EXPECT_EQ(plan.missing, (Indices{4, 5, 6}));
  EXPECT_EQ(plan.model, 1);
}

TEST_F(GamePlanTest, WithoutARecordAGenerationFollowsTheGamesOfTheStore) {
  Add(0, {0, 1, 2});
  Add(1, {4});
  const GamePlan plan = Plan(1, 3);
  EXPECT_EQ(plan.begin, 3u);
  EXPECT_EQ(plan.end, 6u);
  EXPECT_EQ(plan.missing, (Indices{3, 5}));
}

TEST_F(GamePlanTest, AGenerationThatWasPlannedStaysAsItIs) {
  Plan(0, 4);
  const proto::GenerationPlan planned = recorded_;
  config_.mutable_self_play()->set_games_per_generation(9);
  EXPECT_EQ(ExpandPlan(config_, *store_, planned)->missing,
            (Indices{0, 1, 2, 3}));
  EXPECT_EQ(Plan(1, 2, &planned).missing, (Indices{4, 5}));
}

TEST_F(GamePlanTest, GamesThatAreThereAreKept) {
  Add(0, {0, 1, 2, 3});
  EXPECT_EQ(Plan(0, 2).end, 4u);
  EXPECT_EQ(Plan(0, 6).missing, (Indices{4, 5}));
}

TEST_F(GamePlanTest, WhatAGameStartsFromDoesNotDependOnWhatIsMissing) {
  config_.add_variant("four_treasures");
  config_.add_variant("high_kings_l1");
  config_.add_variant("stone_of_destiny");
  const GamePlan all = Plan(0, 8);
  EXPECT_EQ(all.starts, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1}));
  Add(0, {0, 1, 4, 6});
  const auto rest = ExpandPlan(config_, *store_, recorded_).value();
  EXPECT_EQ(rest.starts, all.starts);
  EXPECT_EQ(rest.start_of(7), 1);
  // The next generation goes on where this one ended.
  const proto::GenerationPlan before = recorded_;
  EXPECT_EQ(Plan(1, 4, &before).starts, (std::vector<int>{2, 0, 1, 2}));
}

TEST_F(GamePlanTest, APlanForOtherVariantsIsRefused) {
  Plan(0, 4);
  config_.set_variant(0, "high_kings_l1");
  const absl::Status status = ExpandPlan(config_, *store_, recorded_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(GamePlanTest, AStoreWithoutTheGenerationBeforeIsAnError) {
  const auto plan = PlanGeneration(config_, *store_, 2, 2, nullptr);
  EXPECT_THAT(plan,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("generation 1")));
}

// Two generations of three games, of which the store lacks what is not added.
TEST_F(GamePlanTest, LostGamesAreListedByGeneration) {
  proto::RunState state;
  *state.add_plan() = Record(0, 3, nullptr);
  *state.add_plan() = Record(1, 3, &state.plan(0));
  Add(0, {1});
  Add(1, {3, 5});
  const auto lost = LostGames(config_, *store_, state, 0, 6).value();
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].generation, 0);
  EXPECT_EQ(lost[0].missing, (Indices{0, 2}));
  EXPECT_EQ(lost[1].generation, 1);
  EXPECT_EQ(lost[1].missing, (Indices{4}));
  // Only those that are asked for.
  const auto some = LostGames(config_, *store_, state, 1, 4).value();
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].missing, (Indices{2}));
  EXPECT_TRUE(LostGames(config_, *store_, state, 3, 4)->empty());
}

TEST_F(GamePlanTest, LostGamesWithoutAPlanAreAnError) {
  proto::RunState state;
  *state.add_plan() = Record(0, 3, nullptr);
  *state.add_plan() = Record(1, 3, &state.plan(0));
  state.mutable_plan()->DeleteSubrange(0, 1);
  Add(0, {0, 1});
  EXPECT_THAT(LostGames(config_, *store_, state, 0, 6),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("game 2")));
}

// --- Game rules --------------------------------------------------------------

absl::StatusOr<std::vector<GameRules>> RulesFor(
    const std::vector<std::string>& variants, const std::string& options) {
  proto::TrainConfig config;
  for (const std::string& id : variants) config.add_variant(id);
  config.set_rule_options(options);
  return RulesOf(config);
}

TEST(GameRulesTest, OptionsGoToTheVariantsThatHaveThem) {
  const auto rules =
      RulesFor({"four_treasures", "high_kings_l1"}, "no_progress_limit=12")
          .value();
  EXPECT_EQ(rules[0].start, InitialState(Variant::kFourTreasures));
  EXPECT_EQ(rules[1].start.options.no_progress_limit, 12);
  for (const GameRules& each : rules) EXPECT_TRUE(each.drawn.empty());
}

TEST(GameRulesTest, WhatIsWrongIsNamed) {
  struct Wrong {
    std::string variant, options, error;
  };
  const std::vector<Wrong> kWrong = {
      {"chess", "-", "chess"},
      {"four_treasures", "no_progress_limit=12",
       "four_treasures has no rule option 'no_progress_limit'; it has: "},
      {"four_treasures", "compensation=0/1.3",
       "bad value '1.3'; expected -12 to 12 in steps of 0.5"},
      {"four_treasures", "compensation=3..-3",
       "bad range '3..-3'; expected the lower value first"},
      {"four_treasures", "compensation=0*0/1", "bad weight '0'"},
      {"four_treasures", "compensation=0*nan/1", "bad weight 'nan'"},
      {"four_treasures", "compensation=0*0x10/1", "bad weight '0x10'"},
      {"four_treasures", "compensation=/1", "bad value ''"},
      {"four_treasures", "compensation",
       "expected name=value or variant:name=value"},
      {"four_treasures", "compensation=0,compensation=1",
       "rule option compensation is given twice"},
      {"four_treasures", "poisoned_chalice:compensation=1",
       "the config does not name variant 'poisoned_chalice'"},
      {"four_treasures_doubles", "pie_rule=false/true",
       "no rule option 'pie_rule'"}};
  for (const Wrong& wrong : kWrong) {
    EXPECT_THAT(
        RulesFor({wrong.variant}, wrong.options),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(wrong.error)));
  }
}

TEST(GameRulesTest, ValuesAddUpWithTheirWeights) {
  const auto rules = RulesFor({"poisoned_chalice", "four_treasures_doubles"},
                              "compensation=0*8/-1..1,pie_rule=false*3/true")
                         .value();
  const std::vector<DrawnOption>& drawn = rules[0].drawn;
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].option->name, "compensation");
  EXPECT_THAT(drawn[0].values, ElementsAre(-2, -1, 0, 1, 2));  // half points
  EXPECT_THAT(drawn[0].weights, ElementsAre(1, 1, 9, 1, 1));
  EXPECT_EQ(drawn[1].option->name, "pie_rule");
  EXPECT_THAT(drawn[1].weights, ElementsAre(3, 1));
  // Pairs have no pie rule.
  ASSERT_EQ(rules[1].drawn.size(), 1u);
}

TEST(GameRulesTest, AVariantsOwnValuesGoBeforeThoseOfAll) {
  const auto rules =
      RulesFor({"poisoned_chalice", "stone_of_destiny"},
               "compensation=-1..1,poisoned_chalice:compensation=2")
          .value();
  EXPECT_TRUE(rules[0].drawn.empty());
  EXPECT_EQ(rules[0].start.options.compensation_halves, 4);
  EXPECT_EQ(rules[1].drawn.size(), 1u);
}

TEST(GameRulesTest, EvaluationsAreOfTheDefaultWhereItIsDrawn) {
  const auto rules = RulesFor({"high_kings_l1"},
                              "compensation=-3..3/2*9,no_progress_limit="
                              "20/30*2")
                         .value();
  EXPECT_EQ(rules[0].start.options.compensation_halves, 0);
  EXPECT_EQ(rules[0].start.options.no_progress_limit, 30);
}

TEST(GameRulesTest, DrawsGoByTheWeights) {
  const auto rules =
      RulesFor({"four_treasures"}, "compensation=0*2/1.5,pie_rule=false/true")
          .value();
  constexpr int kDraws = 30000;
  std::map<std::string, int> counts;
  Random random(7);
  for (int i = 0; i < kDraws; ++i) {
    const State start = DrawStart(rules[0].start, rules[0].drawn, random);
    EXPECT_TRUE(ValidatePosition(start).ok());
    ++counts[FormatRuleOptions(start.options)];
  }
  ASSERT_EQ(counts.size(), 4u);
  // Five standard deviations, which is at most 83.
  EXPECT_NEAR(counts["-"], kDraws / 3, 415);
  EXPECT_NEAR(counts["pie_rule=true"], kDraws / 3, 415);
  EXPECT_NEAR(counts["compensation=1.5"], kDraws / 6, 415);
  EXPECT_NEAR(counts["compensation=1.5,pie_rule=true"], kDraws / 6, 415);
}

// A game's rules come from its own stream: they do not depend on which other
// games are played, nor on the threads.
TEST(GameRulesTest, AGameDrawsTheSameRulesWhateverElseIsPlayed) {
  const auto rules =
      RulesFor({"four_treasures"}, "compensation=-3..3,pie_rule=false/true")
          .value();
  SelfPlayOptions options = QuickSelfPlay(Variant::kFourTreasures);
  options.drawn = {rules[0].drawn};
  const std::vector<proto::GameRecord> all =
      PlayUniformGames(options, {0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<proto::GameRecord> one = PlayUniformGames(options, {5});
  EXPECT_EQ(one[0].rule_options(), all[5].rule_options());
  EXPECT_EQ(one[0].steps_size(), all[5].steps_size());
  std::map<std::string, int> counts;
  for (const proto::GameRecord& record : all) {
    ++counts[record.rule_options()];
    EXPECT_TRUE(record::Replay(record).ok());
  }
  EXPECT_GT(counts.size(), 4u);
}

// --- Mixture -----------------------------------------------------------------

constexpr char kThree[] =
    "variant: 'four_treasures' variant: 'high_kings_l1' "
    "variant: 'poisoned_chalice' ";

proto::TrainConfig Config(const std::string& mixture) {
  return ParseTrainConfig(kThree + mixture, "test.textproto", {}).value();
}

std::vector<double> Shares(const std::string& mixture) {
  return MixtureShares(Config(mixture)).value();
}

TEST(MixtureTest, WeightsGiveSharesInProportion) {
  EXPECT_THAT(Shares(""), ElementsAre(1.0 / 3, 1.0 / 3, 1.0 / 3));
  EXPECT_THAT(Shares("mixture { weight: 'high_kings_l1=2' "
                     "weight: 'poisoned_chalice=5' }"),
              ElementsAre(0.125, 0.25, 0.625));
  // Those of variants that the run lacks wait.
  EXPECT_THAT(Shares("mixture { weight: 'sacred_hill_l1=9' "
                     "weight: 'high_kings_l1=2' }"),
              ElementsAre(0.25, 0.5, 0.25));
}

TEST(DivideGamesTest, WhatIsLeftOverTakesTurns) {
  const std::vector<double> third(3, 1.0 / 3);
  EXPECT_THAT(DivideGames(9, third, 0), ElementsAre(3, 3, 3));
  EXPECT_THAT(DivideGames(10, third, 0), ElementsAre(4, 3, 3));
  EXPECT_THAT(DivideGames(10, third, 10), ElementsAre(3, 4, 3));
  EXPECT_THAT(DivideGames(11, third, 20), ElementsAre(4, 3, 4));
}

TEST(DivideGamesTest, TheLargestFractionsAreRoundedUp) {
  // 10 games: 1.25, 2.5, 6.25.
  EXPECT_THAT(DivideGames(10, {0.125, 0.25, 0.625}, 0), ElementsAre(1, 3, 6));
}

TEST(VariantOrderTest, EqualNumbersAlternateByTheIndexOfTheGame) {
  EXPECT_THAT(VariantOrder({2, 2, 2}, 0), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(VariantOrder({2, 2, 2}, 7), ElementsAre(1, 2, 0, 1, 2, 0));
}

TEST(VariantOrderTest, EveryPartOfAGenerationIsAFairSample) {
  const std::vector<int64_t> games = {10, 30, 60};
  const std::vector<int> order = VariantOrder(games, 5);
  ASSERT_EQ(order.size(), 100u);
  std::vector<int64_t> played(3, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    ++played[order[i]];
    for (int v = 0; v < 3; ++v) {
      const double fair = games[v] * static_cast<double>(i + 1) / 100;
      EXPECT_LT(std::abs(fair - static_cast<double>(played[v])), 1.0);
    }
  }
  EXPECT_EQ(played, games);
}

TEST(VariantOrderTest, AVariantMayHaveNoGame) {
  EXPECT_THAT(VariantOrder({0, 2}, 0), ElementsAre(1, 1));
}

TEST(MixtureTest, WrongMixturesAreRefusedWithTheField) {
  const std::vector<std::pair<std::string, std::string>> kWrong = {
      {"mixture { weight: 'four_leaves=2' }",
       "mixture.weight: 'four_leaves=2': expected variant=weight, of "
       "sacred_hill_l1, "},
      {"mixture { weight: 'four_treasures=0' }", "expected a number above 0"},
      {"mixture { weight: 'four_treasures=nan' }", "expected a number above 0"},
      {"mixture { weight: 'four_treasures=1' "
       "weight: 'four_treasures=2' }",
       "has a weight already"}};
  for (const auto& [mixture, error] : kWrong) {
    EXPECT_THAT(ParseTrainConfig(kThree + mixture, "test.textproto", {}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(error)));
  }
}

}  // namespace
}  // namespace tara::train
