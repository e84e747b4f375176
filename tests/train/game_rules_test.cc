#include "tara/train/play/game_rules.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/validate.h"
#include "tara/core/variant.h"
#include "tara/record/game_record.h"
#include "tests/train/train_testing.h"

namespace tara::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<std::vector<GameRules>> RulesFor(
    const std::vector<std::string>& variants, const std::string& options) {
  proto::TrainConfig config;
  for (const std::string& id : variants) config.add_variant(id);
  config.set_rule_options(options);
  return RulesOf(config);
}

std::string ErrorOf(const std::vector<std::string>& variants,
                    const std::string& options) {
  const absl::Status status = RulesFor(variants, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << options;
  return std::string(status.message());
}

TEST(GameRulesTest, OptionsGoToTheVariantsThatHaveThem) {
  const auto rules =
      RulesFor({"four_treasures", "high_kings_l1"}, "no_progress_limit=12");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ((*rules)[0].start, InitialState(Variant::kFourTreasures));
  EXPECT_EQ((*rules)[1].start.options.no_progress_limit, 12);
  for (const GameRules& each : *rules) EXPECT_TRUE(each.drawn.empty());
}

TEST(GameRulesTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(ErrorOf({"chess"}, "-"), HasSubstr("chess"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "no_progress_limit=12"),
              HasSubstr("four_treasures has no rule option "
                        "'no_progress_limit'; it has: "));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=0/1.3"),
              HasSubstr("bad value '1.3'; expected -12 to 12 in steps of 0.5"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=3..-3"),
              HasSubstr("bad range '3..-3'; expected the lower value first"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=0*0/1"),
              HasSubstr("bad weight '0'"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=0*nan/1"),
              HasSubstr("bad weight 'nan'"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=0*0x10/1"),
              HasSubstr("bad weight '0x10'"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation"),
              HasSubstr("expected name=value or variant:name=value"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=0,compensation=1"),
              HasSubstr("rule option compensation is given twice"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "poisoned_chalice:compensation=1"),
              HasSubstr("the config does not name variant 'poisoned_chalice'"));
  EXPECT_THAT(ErrorOf({"four_treasures_doubles"}, "pie_rule=false/true"),
              HasSubstr("no rule option 'pie_rule'"));
  EXPECT_THAT(ErrorOf({"four_treasures"}, "compensation=/1"),
              HasSubstr("bad value ''"));
}

TEST(GameRulesTest, ValuesAddUpWithTheirWeights) {
  const auto rules = RulesFor({"poisoned_chalice", "four_treasures_doubles"},
                              "compensation=0*8/-1..1,pie_rule=false*3/true");
  ASSERT_TRUE(rules.ok()) << rules.status();
  const std::vector<DrawnOption>& drawn = (*rules)[0].drawn;
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].option->name, "compensation");
  EXPECT_THAT(drawn[0].values, ElementsAre(-2, -1, 0, 1, 2));  // half points
  EXPECT_THAT(drawn[0].weights, ElementsAre(1, 1, 9, 1, 1));
  EXPECT_EQ(drawn[1].option->name, "pie_rule");
  EXPECT_THAT(drawn[1].weights, ElementsAre(3, 1));
  // Pairs have no pie rule.
  ASSERT_EQ((*rules)[1].drawn.size(), 1u);
}

TEST(GameRulesTest, AVariantsOwnValuesGoBeforeThoseOfAll) {
  const auto rules =
      RulesFor({"poisoned_chalice", "stone_of_destiny"},
               "compensation=-1..1,poisoned_chalice:compensation=2");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_TRUE((*rules)[0].drawn.empty());
  EXPECT_EQ((*rules)[0].start.options.compensation_halves, 4);
  EXPECT_EQ((*rules)[1].drawn.size(), 1u);
}

TEST(GameRulesTest, EvaluationsAreOfTheDefaultWhereItIsDrawn) {
  const auto rules = RulesFor({"high_kings_l1"},
                              "compensation=-3..3/2*9,no_progress_limit="
                              "20/30*2");
  ASSERT_TRUE(rules.ok()) << rules.status();
  EXPECT_EQ((*rules)[0].start.options.compensation_halves, 0);
  EXPECT_EQ((*rules)[0].start.options.no_progress_limit, 30);
}

TEST(GameRulesTest, DrawsGoByTheWeights) {
  const auto rules =
      RulesFor({"four_treasures"}, "compensation=0*2/1.5,pie_rule=false/true");
  ASSERT_TRUE(rules.ok()) << rules.status();
  constexpr int kDraws = 30000;
  std::map<std::string, int> counts;
  Random random(7);
  for (int i = 0; i < kDraws; ++i) {
    const State start = DrawStart((*rules)[0].start, (*rules)[0].drawn, random);
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
      RulesFor({"four_treasures"}, "compensation=-3..3,pie_rule=false/true");
  ASSERT_TRUE(rules.ok()) << rules.status();
  SelfPlayOptions options = QuickSelfPlay(Variant::kFourTreasures);
  options.drawn = {(*rules)[0].drawn};
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

}  // namespace
}  // namespace tara::train
