#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/position_text.h"
#include "tara/mcts/time/time_manager.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// In the runfiles, where tests run.
constexpr char kFakeEngine[] = "tests/eval/fake_engine";

EngineSpec Fake(const std::vector<std::string>& arguments = {}) {
  // Limits that nothing here meets but what is meant to, however busy the
  // machine.
  EngineSpec spec = {.command = {kFakeEngine},
                     .start_limit = absl::Minutes(5),
                     .move_limit = absl::Minutes(5)};
  spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
  return spec;
}

std::unique_ptr<Player> Make(const EngineSpec& spec) {
  absl::StatusOr<std::unique_ptr<Player>> player = NewEnginePlayer(spec);
  EXPECT_TRUE(player.ok()) << player.status();
  return *std::move(player);
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A path of this test's own, without a file.
std::string Path(const std::string& name) {
  // Names of parametrized tests have slashes.
  const std::string path =
      testing::TempDir() +
      absl::StrReplaceAll(
          testing::UnitTest::GetInstance()->current_test_info()->name(),
          {{"/", "."}}) +
      name;
  std::remove(path.c_str());
  return path;
}

class EveryVariantTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, EveryVariantTest,
                         testing::ValuesIn(kVariants), mcts::VariantTestName);

TEST_P(EveryVariantTest, AnEnginePlaysWholeGames) {
  const auto random = NewRandomPlayer();
  const auto engine = Make(Fake());
  const auto play = [&](ArenaOptions options, Player& player) {
    options.variant = GetParam().variant;
    const ArenaResult result = Play(options, player, *random);
    EXPECT_EQ(result.games, options.games);
    EXPECT_EQ(result.faults_a + result.faults_b, 0);
  };
  play({.games = 4, .concurrent_games = 1}, *engine);
  play({.games = 6, .concurrent_games = 6}, *engine);
  // An engine is told of a swap as what it is, and plays on in its game.
  if (GetParam().seats == 2) {
    play({.rule_options = {.pie_rule = true},
          .games = 40,
          .concurrent_games = 1},
         *engine);
  }
}

struct Fault {
  std::string name;
  std::string what;  // is said of it
};

class FaultTest : public testing::TestWithParam<Fault> {};

INSTANTIATE_TEST_SUITE_P(
    AllFaults, FaultTest,
    testing::Values(
        // On a busy machine it may be late before it hangs.
        Fault{"hang", "' within 200ms"},
        Fault{"crash",
              "ended (signal 11 (Segmentation fault)) instead of "
              "answering 'genmove'"},
        Fault{"exit", "ended (exit status 3) instead of answering 'genmove'"},
        Fault{"silent", "ended (was killed) instead of answering"},
        Fault{"refuse", "refused 'genmove': 'out of ideas'"},
        Fault{"illegal",
              "played pass, which is not legal after 4 actions of "
              "sacred_hill_l1"},
        Fault{"nonsense",
              "answered 'genmove' with 'Z9', which is not an action; expected "
              "one "
              "such as "},
        Fault{"escape",
              "answered 'genmove' with '\\x1b[2JD4', which is not an action"},
        Fault{"garbage",
              "answered 'thinking...\\x01' to 'genmove'; expected a "
              "line that begins with '=' or '?'"},
        Fault{"number",
              "answered '=99999 D4' to 'genmove'; expected the number "
              "of the command"},
        Fault{"flood", "answered 'genmove' with more than 65536 bytes"},
        Fault{"endless", "answered 'genmove' with more than 65536 bytes"}),
    [](const testing::TestParamInfo<Fault>& info) { return info.param.name; });

TEST_P(FaultTest, LosesTheGameAloneAndIsStartedAgain) {
  const std::string counter = Path(GetParam().name);
  // Games have some twenty actions of a side: each process errs in its second
  // choice, so that every game is lost.
  EngineSpec spec =
      Fake({"--fault", GetParam().name, "--after", "1", "--counter", counter});
  if (GetParam().name == "hang") spec.move_limit = absl::Milliseconds(200);
  {
    const auto engine = Make(spec);
    const auto random = NewRandomPlayer();
    const ArenaResult result =
        Play({.games = 2, .concurrent_games = 1}, *engine, *random);
    EXPECT_EQ(result.games, 2);
    EXPECT_EQ(result.losses, 2);
    EXPECT_EQ(result.faults_a, 2);
    EXPECT_EQ(result.faults_b, 0);
    for (const ArenaGame& game : result.played) {
      EXPECT_EQ(game.forfeit, Forfeit::kByA);
      EXPECT_EQ(game.margin, -kForfeitMargin);
      EXPECT_THAT(game.fault, StartsWith("Fake 1.0: "));
    }
    EXPECT_THAT(result.played[0].fault, HasSubstr(GetParam().what));
  }
  EXPECT_EQ(Contents(counter), "started\nstarted\nstarted\n");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(EnginePlayerTest, TheOtherGamesOfACallGoOn) {
  const auto engine = Make(Fake({"--fault", "exit", "--after", "30"}));
  const auto random = NewRandomPlayer();
  const ArenaResult result =
      Play({.games = 12, .concurrent_games = 3}, *random, *engine);
  EXPECT_EQ(result.games, 12);
  EXPECT_GT(result.faults_b, 0);
  EXPECT_LT(result.faults_b, 12);
}

TEST(EnginePlayerTest, OneThatResignsGoesOnWithTheNextGame) {
  const std::string counter = Path("counter");
  const auto engine =
      Make(Fake({"--fault", "resign", "--after", "1", "--counter", counter}));
  const auto random = NewRandomPlayer();
  const ArenaResult result =
      Play({.games = 2, .concurrent_games = 1}, *engine, *random);
  EXPECT_EQ(result.faults_a, 2);
  EXPECT_EQ(result.played[0].fault, "Fake 1.0: resigned");
  EXPECT_EQ(Contents(counter), "started\n");
}

TEST(EnginePlayerTest, AnEngineThatDoesNotQuitIsEnded) {
  Make(Fake({"--fault", "stubborn"}));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(EnginePlayerTest, WhatIsNoEngineIsRefusedAtOnce) {
  const auto error = [](const EngineSpec& spec) {
    return std::string(NewEnginePlayer(spec).status().message());
  };
  EXPECT_THAT(error({.command = {"/no/such/engine"}}),
              HasSubstr("cannot start '/no/such/engine'"));
  EXPECT_THAT(error(Fake({"--fault", "gone"})),
              AllOf(HasSubstr("engine 'tests/eval/fake_engine --fault gone' "
                              "cannot be used: ended (exit status 7) instead "
                              "of answering 'protocol_version'"),
                    HasSubstr("log=FILE")));
  EngineSpec mute = Fake({"--fault", "mute"});
  mute.start_limit = absl::Milliseconds(50);
  EXPECT_THAT(error(mute),
              HasSubstr("no answer to 'protocol_version' within 50ms"));
  EXPECT_THAT(error(Fake({"--fault", "old"})),
              HasSubstr("speaks version '1' of the protocol; expected 2"));
  EXPECT_THAT(error(Fake({"--fault", "poor"})),
              HasSubstr("does not have the command 'genmove'"));
  EXPECT_THAT(error(Fake({"--fault", "longwinded"})),
              AllOf(HasSubstr("its name 'xxx"),
                    HasSubstr("' has 101 bytes; expected at most 100")));
}

TEST(EnginePlayerTest, ItsNameIsPrintable) {
  EXPECT_THAT(EngineName(Fake({"--fault", "unprintable"})),
              IsOkAndHolds("Fa\\x1b[2Jke\\x0a\\xff 1.0"));
}

TEST(EnginePlayerTest, AVariantThatItDoesNotKnowIsAnErrorAndNoForfeit) {
  const std::string choosy = "engine:tests/eval/fake_engine --fault choosy";
  EXPECT_EQ(
      PlayArena({.games = 2, .concurrent_games = 1}, Factory(choosy),
                Factory("random"), 1)
          .status(),
      absl::FailedPreconditionError(
          "Fake 1.0: refused 'variant sacred_hill_l1': 'unknown variant'"));
  EXPECT_EQ(Play({.variant = Variant::kFourTreasures,
                  .games = 2,
                  .concurrent_games = 1},
                 choosy, "random")
                .games,
            2);
}

// What was said, of a log: the lines to the engine.
std::vector<std::string> Said(const std::string& log) {
  std::vector<std::string> said;
  std::ifstream file(log);
  std::string line;
  while (std::getline(file, line)) {
    // "> ID COMMAND"
    if (line.rfind("> ", 0) == 0)
      said.push_back(line.substr(line.find(' ', 2) + 1));
  }
  return said;
}

// Asks for a choice after these actions.
Action Choose(Player& player, const std::vector<std::string>& texts,
              std::optional<ClockReading> clock = {}, uint64_t game = 0) {
  State state = InitialState(Variant::kFourTreasures);
  std::vector<Action> actions;
  for (const std::string& text : texts) {
    actions.push_back(*ParseAction(text));
    EXPECT_TRUE(PlayAction(actions.back(), state).ok());
  }
  std::string fault;
  const Turn turn = {.state = state,
                     .game = game,
                     .actions = actions,
                     .clock = clock,
                     .forfeit = &fault};
  const Action action = ChooseOne(player, turn).value();
  EXPECT_EQ(fault, "");
  return action;
}

TEST(EnginePlayerTest, IsToldWhatItDoesNotKnow) {
  EngineSpec spec = Fake();
  spec.log = Path("log");
  const auto engine = Make(spec);
  const std::string first = ActionToText(Choose(*engine, {"D4"}));
  const std::string second = first == "A2" ? "B2" : "A2";
  Choose(*engine, {"D4", first, second});
  Choose(*engine, {"D4", "E4"});  // took back
  engine->EndGame(0);
  Choose(*engine, {}, {}, 1);
  EXPECT_THAT(Said(spec.log),
              testing::ElementsAre(
                  "protocol_version", "name", "version", "list_commands",
                  "variant four_treasures", "play D4", "genmove",
                  "play " + second, "genmove", "clear_board", "play D4",
                  "play E4", "genmove", "clear_board", "genmove"));
  EXPECT_THAT(Contents(spec.log), HasSubstr("a fake engine speaks"));
}

TEST(EnginePlayerTest, IsToldOfItsClock) {
  EngineSpec spec = Fake();
  spec.log = Path("log");
  const auto engine = Make(spec);
  const mcts::TimeControl control = *mcts::ParseTimeControl("300s+2s");
  const std::string first =
      ActionToText(Choose(*engine, {}, {{control, absl::Seconds(300)}}));
  Choose(*engine, {first, first == "A2" ? "B2" : "A2"},
         {{control, absl::Milliseconds(297500)}});
  engine->EndGame(0);
  Choose(*engine, {}, {{*mcts::ParseTimeControl("5s/move"), absl::Seconds(5)}},
         1);
  const std::vector<std::string> said = Said(spec.log);
  EXPECT_THAT(
      std::vector<std::string>(said.begin() + 4, said.end()),
      testing::ElementsAre("variant four_treasures",
                           "time_settings 300.000 2.000", "time_left 300.000",
                           "genmove", first == "A2" ? "play B2" : "play A2",
                           "time_left 297.500", "genmove", "clear_board",
                           "time_settings 0.000 5.000", "genmove"));
}

TEST(EnginePlayerTest, OnItsClockItIsWaitedForALittleLonger) {
  EngineSpec spec = Fake({"--fault", "hang"});
  spec.grace = absl::Milliseconds(100);
  const auto engine = Make(spec);
  const auto random = NewRandomPlayer();
  // The time that choosing takes is nothing on this clock.
  const ArenaResult result =
      Play({.games = 2,
            .clocks = GameClocks{.control = *mcts::ParseTimeControl("100ms"),
                                 .now = [] { return absl::UnixEpoch(); }}},
           *engine, *random);
  EXPECT_EQ(result.faults_a, 2);
  EXPECT_EQ(result.clock_a.forfeits, 0);  // a fault, not late alone
  EXPECT_THAT(result.played[0].fault, EndsWith("within 200ms"));
}

TEST(EnginePlayerTest, PositionsWithoutTheirGameAreSetWhereItCan) {
  EngineSpec spec = Fake({"--fault", "setter"});
  spec.log = Path("log");
  const auto engine = Make(spec);
  State state = InitialState(Variant::kFourTreasures);
  ASSERT_TRUE(PlayAction("D4", state).ok());
  ASSERT_THAT(ChooseOne(*engine, {.state = state}), IsOk());
  engine->EndGame(0);
  Choose(*engine, {"D4"});
  const std::vector<std::string> said = Said(spec.log);
  EXPECT_THAT(
      std::vector<std::string>(said.begin() + 4, said.end()),
      testing::ElementsAre("set_position " + PositionToText(state), "genmove",
                           "variant four_treasures", "play D4", "genmove"));
}

TEST(EnginePlayerTest, PositionsWithoutTheirGameAreAnErrorWhereItCannot) {
  const auto engine = Make(Fake());
  State state = InitialState(Variant::kFourTreasures);
  ASSERT_TRUE(PlayAction("D4", state).ok());
  EXPECT_THAT(ChooseOne(*engine, {.state = state}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("plays games from their start")));
}

TEST(EnginePlayerTest, WhereNobodyTakesAForfeitAFaultIsAnError) {
  const auto engine = Make(Fake({"--fault", "exit"}));
  EXPECT_THAT(
      ChooseOne(*engine, {.state = InitialState(Variant::kFourTreasures)}),
      StatusIs(absl::StatusCode::kAborted, HasSubstr("exit status 3")));
}

}  // namespace
}  // namespace tara::eval
