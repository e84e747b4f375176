#include "tara/record/game_record.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tests/core/core_testing.h"
#include "tests/status_matchers.h"

namespace tara::record {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Plays a game at random and records it, with invented search statistics.
proto::GameRecord RandomGame(Variant variant, const RuleOptions& options,
                             uint64_t seed) {
  State state = InitialState(variant, options);
  proto::GameRecord record = NewGameRecord(
      state,
      {.seed = seed, .model_id = "random", .generation = 3, .game_index = 17});
  Random random(DeriveSeed(seed, 0, StreamPurpose::kTest));
  while (!state.finished()) {
    const LegalSet legal = LegalActions(state);
    const Action action = legal.Nth(random.Below(legal.Count()));
    proto::Step& step = AddStep(action, record);
    step.add_visited_action(Index(action));
    step.add_visits(1 + random.Below(100));
    step.set_root_value(static_cast<float>(2 * random.Uniform() - 1));
    ApplyAction(action, state);
  }
  SetResult(state, record);
  return record;
}

proto::GameRecord SacredHillGame() {
  return RandomGame(Variant::kSacredHillL1, {}, 1);
}

class EveryVariant : public ::testing::TestWithParam<VariantInfo> {};

TEST_P(EveryVariant, ReplayGivesThePositionsThatWerePlayed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const proto::GameRecord record = RandomGame(GetParam().variant, {}, seed);
    const ReplayedGame game = Replay(record).value();
    ASSERT_EQ(game.states.size(), record.steps_size() + 1u);
    State state = InitialState(GetParam().variant);
    for (int ply = 0; ply < record.steps_size(); ++ply) {
      ASSERT_EQ(game.states[ply], state) << "ply " << ply;
      ApplyAction(static_cast<Action>(record.steps(ply).action()), state);
    }
    EXPECT_EQ(game.states.back(), state);
    EXPECT_EQ(game.outcome, Score(state));
    EXPECT_TRUE(ValidateRecord(record).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(GameRecord, EveryVariant,
                         ::testing::ValuesIn(kVariants), VariantTestName);

TEST(GameRecordTest, ANewRecordCarriesVersionsOriginAndRules) {
  const proto::GameRecord record =
      RandomGame(Variant::kHighKingsL2, {.no_progress_limit = 12}, 9);
  EXPECT_EQ(record.schema_version(), kGameSchemaVersion);
  EXPECT_EQ(record.rules_version(), kRulesVersion);
  EXPECT_EQ(record.variant(), "high_kings_l2");
  EXPECT_EQ(record.rule_options(), "no_progress_limit=12");
  EXPECT_EQ(record.seed(), 9u);
  EXPECT_EQ(record.model_id(), "random");
  EXPECT_EQ(record.generation(), 3u);
  EXPECT_EQ(record.game_index(), 17u);
}

TEST(GameRecordTest, RuleOptionsTakePartInTheReplay) {
  const RuleOptions options = {.no_progress_limit = 7};
  const proto::GameRecord record =
      RandomGame(Variant::kHighKingsL1, options, 2);
  const State initial = InitialStateOf(record).value();
  EXPECT_EQ(initial, InitialState(Variant::kHighKingsL1, options));
  EXPECT_TRUE(ValidateRecord(record).ok());
}

TEST(GameRecordTest, RecordsOfTheFirstVersionAreStillRead) {
  proto::GameRecord record = SacredHillGame();
  record.set_schema_version(1);
  EXPECT_TRUE(ValidateRecord(record).ok()) << ValidateRecord(record);
}

TEST(GameRecordTest, APolicyTargetIsKeptInProportion) {
  proto::GameRecord record = SacredHillGame();
  const State start = InitialState(Variant::kSacredHillL1);
  const Action actions[] = {LegalActions(start).Nth(0),
                            LegalActions(start).Nth(1),
                            LegalActions(start).Nth(2)};
  proto::Step& step = *record.mutable_steps(0);
  SetPolicyTarget(actions, {0.125f, 0.0f, 0.5f}, step);
  ASSERT_EQ(step.target_action_size(), 2);
  EXPECT_EQ(step.target_action(0), static_cast<uint32_t>(Index(actions[0])));
  EXPECT_EQ(step.target_action(1), static_cast<uint32_t>(Index(actions[2])));
  EXPECT_EQ(step.target_weight(0), 16384u);  // a quarter of 65535, rounded
  EXPECT_EQ(step.target_weight(1), 65535u);
  EXPECT_TRUE(ValidateRecord(record).ok()) << ValidateRecord(record);
}

// A game of which the last actions are left out: the side to move resigns.
proto::GameRecord ResignedGame(int length) {
  proto::GameRecord record = SacredHillGame();
  State state = InitialState(Variant::kSacredHillL1);
  for (int ply = 0; ply < length; ++ply) {
    ApplyAction(static_cast<Action>(record.steps(ply).action()), state);
  }
  while (record.steps_size() > length) record.mutable_steps()->RemoveLast();
  SetResigned(state, record);
  return record;
}

TEST(GameRecordTest, AResignedGameEndsWhereItStandsAndIsLostByWhoResigned) {
  for (const int length : {0, 10, 11}) {
    const proto::GameRecord record = ResignedGame(length);
    const ReplayedGame game = Replay(record).value();
    const Side side = game.states.back().side();
    EXPECT_EQ(game.states.size(), length + 1u);
    EXPECT_EQ(game.resigned_by, side);
    EXPECT_EQ(game.outcome.winner(), Opponent(side));
    EXPECT_EQ(game.outcome.ended_by, Ending::kNone);
    EXPECT_EQ(record.result().resigned_by(), static_cast<uint32_t>(side));
  }
  EXPECT_NE(Replay(ResignedGame(10))->resigned_by,
            Replay(ResignedGame(11))->resigned_by);
}

TEST(GameRecordTest,
     AGameThatIsGivenUpOrAdjudicatedHasTheMarginItWasEndedWith) {
  proto::GameRecord record = ResignedGame(10);
  proto::GameResult& result = *record.mutable_result();
  const auto expect_refused = [&](const std::string& why) {
    EXPECT_THAT(std::string(ValidateRecord(record).message()), HasSubstr(why));
  };
  // Only the side to move resigns.
  result.set_resigned_by(1 - result.resigned_by());
  expect_refused("expected the side to move");
  result.set_resigned_by(7);
  expect_refused("side 7 resigns");
  result.clear_resigned_by();
  expect_refused("the game is not over");
  SetMargin(Replay(ResignedGame(10))->states.back(), -3, record);
  expect_refused("the game is not over");
  result.set_adjudication("proof");
  const ReplayedGame game = Replay(record).value();
  EXPECT_FALSE(game.finished());
  EXPECT_EQ(game.outcome.margin(), -3);
  EXPECT_EQ(RedMargin(record), -3);
  result.clear_adjudication();
  result.set_forfeited_by(0);
  EXPECT_EQ(ValidateRecord(record), absl::OkStatus());
  result.set_forfeited_by(2);
  expect_refused("side 2 forfeits; expected 0 or 1");
  result.clear_points();
  result.set_forfeited_by(1);
  expect_refused("0 points; expected the points of two sides");
}

TEST(GameRecordTest, AGameWhoseActionsWereNotKeptHasALengthAndNoReplay) {
  proto::GameRecord record =
      NewGameRecord(InitialState(Variant::kSacredHillL1), {.game_index = 5});
  record.set_unrecorded_length(42);
  EXPECT_EQ(LengthOf(record), 42);
  EXPECT_THAT(ValidateRecord(record),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("game 5: its actions were not kept")));
}

TEST(GameRecordTest, BoundsOfTheMarginAreKeptWhereTheyProveTheResult) {
  State state = InitialState(Variant::kSacredHillL1);
  proto::Step step;
  SetProved(2, 47, state, step);
  EXPECT_EQ(ProvedResult(step, state), 1);
  SetProved(-3, -3, state, step);
  EXPECT_EQ(ProvedResult(step, state), -1);
  EXPECT_EQ(step.proved_low(), -3);
  EXPECT_EQ(step.proved_high(), -3);
  SetProved(0, 0, state, step);
  EXPECT_EQ(ProvedResult(step, state), 0);
  // Not lost, but won or drawn.
  SetProved(0, 3, state, step);
  EXPECT_EQ(ProvedResult(step, state), std::nullopt);
  EXPECT_FALSE(step.has_proved_low());
  EXPECT_FALSE(step.has_proved_high());
  // With a point and a half for Blue's side, Red loses by those margins.
  state.options.compensation_halves = 3;
  SetProved(0, 1, state, step);
  EXPECT_EQ(ProvedResult(step, state), -1);
  state.seat = 1;
  SetProved(-1, 0, state, step);
  EXPECT_EQ(ProvedResult(step, state), 1);
  SetProved(-2, 0, state, step);
  EXPECT_FALSE(step.has_proved_low());
}

void SetBounds(int low, int high, proto::GameRecord& record) {
  record.mutable_steps(3)->set_proved_low(low);
  record.mutable_steps(3)->set_proved_high(high);
}

TEST(GameRecordTest, ADamagedRecordIsRefusedWithThePlaceAndTheReason) {
  using R = proto::GameRecord;
  const std::vector<std::pair<void (*)(R&), std::string>> kDamages = {
      {[](R& r) { r.set_schema_version(3); },
       "schema version 3; this program reads versions 1 to 2"},
      {[](R& r) { r.clear_schema_version(); },
       "schema version 0; this program reads versions 1 to 2"},
      {[](R& r) { r.clear_rules_version(); },
       "rules version 0; this program reads version 1"},
      {[](R& r) { r.set_variant("chess"); }, "chess"},
      {[](R& r) { r.set_rule_options("no_progress_limit=9"); },
       "has no rule option 'no_progress_limit'"},
      {[](R& r) { r.clear_rule_options(); }, "expected name=value"},
      // The first ringfort's hill is taken.
      {[](R& r) {
         r.mutable_steps(1)->Clear();
         r.mutable_steps(1)->set_action(r.steps(0).action());
       },
       "ply 1: "},
      {[](R& r) { r.mutable_steps(4)->set_action(570); },
       "ply 4: action 570 is out of range; expected 0 to 569"},
      {[](R& r) { AddStep(kPass, r); },
       "the game is over (out), but 1 steps follow"},
      {[](R& r) { r.mutable_steps()->RemoveLast(); }, "the game is not over"},
      {[](R& r) { r.mutable_steps(2)->add_visits(1); },
       "ply 2: 1 visited actions but 2 visits"},
      {[](R& r) { r.mutable_steps(2)->set_visited_action(0, 569); },
       "ply 2: visited action pass is illegal"},
      {[](R& r) { r.mutable_steps(2)->set_visited_action(0, 4000000000); },
       "ply 2: visited action 4000000000 is out of range"},
      {[](R& r) {
         r.mutable_steps(2)->add_visited_action(r.steps(2).visited_action(0));
         r.mutable_steps(2)->add_visits(1);
       },
       "is listed twice"},
      {[](R& r) { r.mutable_steps(2)->set_visits(0, 0); }, "has no visits"},
      {[](R& r) { r.mutable_steps(2)->add_target_weight(1); },
       "ply 2: 0 target actions but 1 weight"},
      {[](R& r) {
         r.mutable_steps(2)->add_target_action(569);
         r.mutable_steps(2)->add_target_weight(1);
       },
       "ply 2: target action pass is illegal"},
      {[](R& r) {
         r.mutable_steps(2)->add_target_action(r.steps(2).action());
         r.mutable_steps(2)->add_target_weight(0);
       },
       "has no weight"},
      {[](R& r) { r.mutable_result()->set_resigned_by(0); },
       "ends early here, but the game is over"},
      {[](R& r) { r.mutable_steps(3)->set_root_value(1.5); },
       "ply 3: root value 1.5; expected -1 to 1"},
      {[](R& r) { r.mutable_steps(3)->set_root_value(NAN); },
       "ply 3: root value nan"},
      {[](R& r) { r.mutable_steps(3)->set_policy_surprise(NAN); },
       "ply 3: policy surprise nan; expected 0 to 100"},
      {[](R& r) { r.mutable_steps(3)->set_proved_low(1); },
       "ply 3: of the two bounds of the proved margin one"},
      {[](R& r) { SetBounds(0, 2, r); },
       "ply 3: proved margin from 0 to 2; expected an interval"},
      {[](R& r) { SetBounds(3, 48, r); }, "ply 3: proved margin from 3 to 48"},
      {[](R& r) { SetBounds(3, 2, r); }, "ply 3: proved margin from 3 to 2"},
      {[](R& r) { r.set_opening_plies(1000); },
       "its random opening has 1000 plies"},
      {[](R& r) { r.mutable_result()->set_points(0, 99); },
       "result: recorded points [99, "},
      {[](R& r) { r.mutable_result()->set_kingdoms(1, 44); },
       "result: recorded kingdoms ["},
      {[](R& r) { r.mutable_result()->clear_territory(); },
       "result: recorded territory []; the rules give ["},
      {[](R& r) { r.mutable_result()->set_bridges(0, 41); },
       "result: recorded bridges [41, "},
      {[](R& r) { r.mutable_result()->add_kings_captured(1); },
       "result: recorded kings captured [0, 0, 1]"},
      {[](R& r) { r.mutable_result()->set_ended_by("passed"); },
       "recorded ending 'passed'; the rules give 'out'"}};
  const proto::GameRecord whole = SacredHillGame();
  ASSERT_TRUE(ValidateRecord(whole).ok());
  for (const auto& [damage, message] : kDamages) {
    proto::GameRecord record = whole;
    damage(record);
    EXPECT_THAT(ValidateRecord(record),
                StatusIs(absl::StrContains(message, "version")
                             ? absl::StatusCode::kFailedPrecondition
                             : absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("game 17"), HasSubstr(message))));
  }
}

}  // namespace
}  // namespace tara::record
