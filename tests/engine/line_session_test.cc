#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/engine/engine.h"
#include "tara/engine/sessions.h"
#include "tara/mcts/evaluator.h"
#include "tests/mcts/fake_evaluator.h"

namespace tara::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class LineSessionTest : public ::testing::Test {
 protected:
  LineSessionTest() : model_(EngineModel::OfPlayouts(1, 1 << 12)) { Restart(); }

  void Restart() {
    EngineOptions options = model_->default_options();
    options.search.simulations = 32;
    session_ = NewLineSession(model_.get(), options,
                              InitialState(Variant::kSacredHillL1));
  }

  // Returns the answer without the blank line that ends it.
  std::string Ask(const std::string& line) {
    std::ostringstream out;
    goes_on_ = session_(line, {.ready = [this] { return interrupted_; }}, out);
    std::string answer = out.str();
    if (answer.empty()) return "";
    EXPECT_TRUE(absl::EndsWith(answer, "\n\n")) << answer;
    answer.resize(answer.size() - 2);
    EXPECT_FALSE(absl::StrContains(answer, "\n\n")) << answer;
    return answer;
  }

  std::unique_ptr<EngineModel> model_;
  LineSession session_;
  bool interrupted_ = false;
  bool goes_on_ = true;
};

TEST_F(LineSessionTest, SaysWhatItIs) {
  EXPECT_EQ(Ask("protocol_version"), "= 2");
  EXPECT_EQ(Ask("5 name"), "=5 Tara");
  EXPECT_THAT(Ask("version"), MatchesRegex("= [0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(LineSessionTest, EveryListedCommandIsKnownAndHasHelp) {
  std::vector<std::string> names =
      absl::StrSplit(Ask("list_commands").substr(2), '\n');
  EXPECT_GE(names.size(), 20u);
  for (const std::string& name : names) {
    EXPECT_EQ(Ask("known_command " + name), "= true");
    EXPECT_THAT(Ask("help " + name), StartsWith("= " + name));
  }
  EXPECT_EQ(Ask("known_command xyzzy"), "= false");
  EXPECT_THAT(Ask("help xyzzy"), StartsWith("? unknown command 'xyzzy'"));
}

TEST_F(LineSessionTest, WhatIsNoCommandIsAnError) {
  EXPECT_THAT(Ask("9 xyzzy D4"), StartsWith("?9 unknown command 'xyzzy'"));
  EXPECT_THAT(Ask("9"), StartsWith("?9 unknown command ''"));
  for (const char* line : {"", "   ", "# only 1 comment", "\t#", "\x01\x02"}) {
    EXPECT_EQ(Ask(line), "") << line;
  }
}

TEST_F(LineSessionTest, SpacesCommentsAndControlCharactersAreLeftOut) {
  EXPECT_EQ(Ask("  12 play \t D4  # a comment"), "=12");
  EXPECT_EQ(Ask("his\x07tory\r"), "= D4");
}

TEST_F(LineSessionTest, WrongNumbersOfArgumentsAreErrors) {
  EXPECT_EQ(Ask("play"), "? play has 0 arguments; expected: play ACTION");
  EXPECT_EQ(Ask("genmove red"), "? genmove has 1 argument; expected: genmove");
  EXPECT_EQ(Ask("time_settings 1"),
            "? time_settings has 1 argument; expected: time_settings MAIN_S "
            "INCREMENT_S");
}

TEST_F(LineSessionTest, PlaysAndTakesBack) {
  EXPECT_EQ(Ask("play d4"), "=");
  EXPECT_EQ(Ask("to_move"), "= 1 Blue");
  EXPECT_EQ(Ask("play E6"), "=");
  EXPECT_EQ(Ask("history"), "= D4 E6");
  // A knight's move from D4 leads to E6, too, but there Blue has built.
  EXPECT_EQ(Ask("legal_actions"), "= B3 B5 C2 C6 E2 F3 F5");
  EXPECT_THAT(Ask("play A2"), StartsWith("? illegal action A2"));
  EXPECT_THAT(Ask("play A1"), StartsWith("? bad action 'A1'"));
  EXPECT_EQ(Ask("undo"), "=");
  EXPECT_EQ(Ask("position"),
            "= sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres - 0,0 0 - -");
  EXPECT_EQ(Ask("undo"), "=");
  EXPECT_THAT(Ask("undo"), StartsWith("? cannot undo"));
}

TEST_F(LineSessionTest, BeginsGamesOfVariantsAndRules) {
  EXPECT_EQ(Ask("variant"), "= sacred_hill_l1");
  EXPECT_EQ(Ask("play D4"), "=");
  EXPECT_EQ(Ask("variant high_kings_l2 no_progress_limit=20"), "=");
  EXPECT_EQ(Ask("variant"), "= high_kings_l2 no_progress_limit=20");
  EXPECT_EQ(Ask("history"), "=");
  EXPECT_EQ(Ask("play D4"), "=");
  EXPECT_EQ(Ask("clear_board"), "=");
  EXPECT_EQ(Ask("position"),
            "= high_kings_l2 5/7/7/7/7/7/5 0 placement - 0,0 0 - "
            "no_progress_limit=20");
  EXPECT_THAT(Ask("variant chess"), AllOf(StartsWith("? "), HasSubstr("chess"),
                                          HasSubstr("four_treasures")));
  EXPECT_THAT(Ask("variant four_treasures no_progress_limit=20"),
              AllOf(StartsWith("? "), HasSubstr("no_progress_limit")));
  EXPECT_EQ(Ask("variant"), "= high_kings_l2 no_progress_limit=20");
}

TEST_F(LineSessionTest, SwapsByThePieRule) {
  EXPECT_EQ(Ask("variant four_treasures pie_rule=true,compensation=-1.5"), "=");
  EXPECT_EQ(Ask("play D4"), "=");
  EXPECT_THAT(Ask("legal_actions"), HasSubstr(" G6 swap"));
  EXPECT_THAT(Ask("play pass"), StartsWith("? bad action 'pass'"));
  EXPECT_THAT(Ask("analyze simulations 200"), HasSubstr(" info action swap "));
  EXPECT_EQ(Ask("play swap"), "=");
  EXPECT_EQ(Ask("position"),
            "= four_treasures 5/7/7/3b3/7/7/5 0 battle - 0,0 0 - "
            "compensation=-1.5");
  EXPECT_EQ(Ask("history"), "= D4 swap");
  EXPECT_THAT(Ask("play swap"), StartsWith("? bad action 'swap'"));
  EXPECT_EQ(Ask("undo"), "=");
  EXPECT_EQ(Ask("undo"), "=");
  // The game is still the one that has the rule.
  EXPECT_EQ(Ask("variant"), "= four_treasures compensation=-1.5,pie_rule=true");
}

TEST_F(LineSessionTest, TakesPositionsAsText) {
  const std::string text =
      "four_treasures 5/7/7/3r3/7/7/5 1 battle - 0,0 0 - -";
  EXPECT_EQ(Ask("set_position " + text), "=");
  EXPECT_EQ(Ask("position"), "= " + text);
  EXPECT_THAT(Ask("set_position four_treasures 5/7"), StartsWith("? "));
  EXPECT_EQ(Ask("position"), "= " + text);
}

TEST_F(LineSessionTest, DrawsTheBoardInAscii) {
  EXPECT_EQ(Ask("play D4"), "=");
  const std::string drawing = Ask("showboard");
  EXPECT_THAT(drawing, AllOf(HasSubstr("4  .     .     .     o     ."),
                             HasSubstr("Blue to move (seat 1)")));
  for (const char c : drawing) EXPECT_LT(static_cast<unsigned char>(c), 128);
}

TEST_F(LineSessionTest, GamesOfEveryVariantComeToAResult) {
  for (const VariantInfo& info : kVariants) {
    EXPECT_EQ(Ask(absl::StrCat("variant ", info.id)), "=");
    EXPECT_EQ(Ask("set_option sims 2"), "=");
    EXPECT_THAT(Ask("final_score"), StartsWith("? the game is not over"));
    EXPECT_THAT(Ask("result"), StartsWith("? the game is not over"));
    int plies = 0;
    while (Ask("to_move") != "= none") {
      ASSERT_THAT(Ask("genmove"), StartsWith("= "));
      ASSERT_LT(++plies, 1000);
    }
    EXPECT_THAT(Ask("final_score"),
                MatchesRegex("= (Red\\+[0-9]+|Blue\\+[0-9]+|0)"));
    EXPECT_THAT(Ask("result"),
                MatchesRegex("= points [0-9]+,[0-9]+ kingdoms .* ended_by "
                             "[a-z_]+"));
    EXPECT_EQ(Ask("legal_actions"), "=");
    EXPECT_THAT(Ask("genmove"), StartsWith("? the game is over"));
    EXPECT_THAT(Ask("analyze"), StartsWith("? the game is over"));
    EXPECT_THAT(Ask("play D4"), StartsWith("? illegal action D4"));
    EXPECT_THAT(Ask("time_left 5"), StartsWith("? the game is over"));
    EXPECT_EQ(Ask("undo"), "=");
    EXPECT_THAT(Ask("genmove"), StartsWith("= "));
  }
}

// One kingdom each, so territory decides: 2 + 26 - 19 points. Red has 12 pairs
// along ranks and 16 along files; Blue more than the 40 that count.
TEST_F(LineSessionTest, ScoresAFinishedPosition) {
  EXPECT_EQ(Ask("set_position sacred_hill_l1 rrbbb/rrrbbbb/rrrbbbb/rrrbbbb/"
                "rrrbbbb/rrrbbbb/rrbbb - finished - 0,0 0 out:0 -"),
            "=");
  EXPECT_EQ(Ask("final_score"), "= Blue+9");
  EXPECT_EQ(Ask("result"),
            "= points 0,9 kingdoms 1,1 territory 19,26 bridges 28,40 "
            "kings_captured 0,0 ended_by out");
}

TEST_F(LineSessionTest, TheSameSeedPlaysTheSameGame) {
  std::vector<std::string> games;
  for (int i = 0; i < 2; ++i) {
    Restart();
    Ask("set_option temperature 1");
    for (int k = 0; k < 6; ++k) Ask("genmove");
    games.push_back(Ask("history"));
  }
  EXPECT_EQ(games[0], games[1]);
  Restart();
  Ask("set_option temperature 1");
  Ask("set_option seed 2");
  for (int k = 0; k < 6; ++k) Ask("genmove");
  EXPECT_NE(Ask("history"), games[0]);
}

TEST_F(LineSessionTest, OptionsAreSetAndListed) {
  EXPECT_EQ(Ask("set_option sims 5"), "=");
  EXPECT_EQ(Ask("set_option graph on"), "=");
  EXPECT_EQ(Ask("set_option ms 20"), "=");
  EXPECT_THAT(Ask("list_options"),
              AllOf(StartsWith("= sims 5\nms 20\n"), HasSubstr("\ngraph on")));
  EXPECT_THAT(Ask("set_option sims none"),
              AllOf(StartsWith("? sims is 'none'"), HasSubstr("expected")));
  EXPECT_THAT(Ask("set_option lcb -1"), StartsWith("? lcb is '-1'"));
  EXPECT_THAT(Ask("set_option ms 3.5"), StartsWith("? ms is '3.5'"));
  EXPECT_THAT(Ask("set_option reuse yes"), StartsWith("? reuse is 'yes'"));
  EXPECT_THAT(Ask("set_option xyzzy 1"),
              StartsWith("? unknown option 'xyzzy'"));
  EXPECT_EQ(Ask("set_option gumbel on"), "=");
  EXPECT_THAT(Ask("set_option threads 2"),
              StartsWith("? threads cannot be combined with gumbel"));
  EXPECT_THAT(Ask("genmove"), StartsWith("= "));
  EXPECT_THAT(Ask("analyze simulations 40"), StartsWith("=\nroot simulations"));
}

TEST_F(LineSessionTest, ALevelSetsWhatItStandsFor) {
  EXPECT_EQ(Ask("set_option level 1"), "=");
  EXPECT_THAT(
      Ask("list_options"),
      AllOf(StartsWith("= sims 64\n"), HasSubstr("\nlevel 1\n"),
            HasSubstr("\nleaves 4\n"), HasSubstr("\nreuse off\n"),
            HasSubstr("\nvalue_margin 2\n"), HasSubstr("\ngumbel_actions 64")));
  EXPECT_THAT(Ask("genmove"), StartsWith("= "));
  // The strongest is the usual search, with more simulations.
  EXPECT_EQ(Ask("set_option level 10"), "=");
  EXPECT_THAT(
      Ask("list_options"),
      AllOf(StartsWith("= sims 4096\n"), HasSubstr("\nlevel 10\n"),
            HasSubstr("\nvalue_margin 0\n"), Not(HasSubstr("gumbel on"))));
  EXPECT_EQ(Ask("set_option sims 3"), "=");
  EXPECT_THAT(Ask("list_options"), StartsWith("= sims 3\n"));
  EXPECT_THAT(Ask("set_option level 11"),
              AllOf(StartsWith("? level is '11'"), HasSubstr("0 to 10")));
  EXPECT_THAT(Ask("set_option level x"), StartsWith("? level is 'x'"));
}

TEST_F(LineSessionTest, ClocksAreSetAndCorrected) {
  EXPECT_THAT(Ask("time_left 3"), StartsWith("? no time for the game was set"));
  EXPECT_EQ(Ask("time_settings 0.2 0"), "=");
  EXPECT_EQ(Ask("time_left 0.1"), "=");
  EXPECT_THAT(Ask("genmove"), StartsWith("= "));
  EXPECT_EQ(Ask("time_settings 0 0.01"), "=");
  EXPECT_THAT(Ask("genmove"), StartsWith("= "));
  EXPECT_THAT(Ask("time_left 3"), StartsWith("? no time for the game was set"));
  EXPECT_EQ(Ask("time_settings 0 0"), "=");
  EXPECT_THAT(Ask("time_settings -1 0"), StartsWith("? a time of -1 s"));
  EXPECT_THAT(Ask("time_settings nan 0"), StartsWith("? 'nan' is not a time"));
  EXPECT_THAT(Ask("time_settings 0 0x100"),
              StartsWith("? '0x100' is not a time"));
  EXPECT_THAT(Ask("time_settings soon 0"),
              StartsWith("? 'soon' is not a time"));
}

TEST_F(LineSessionTest, AnAnalysisTellsValuesPriorsAndLines) {
  // Within an hour, so that there is one report, however busy the machine.
  const std::string answer = Ask("7 analyze 360000 simulations 64 actions 2");
  EXPECT_THAT(answer, StartsWith("=7\nroot simulations 64 value "));
  const std::string last = answer.substr(answer.rfind('\n') + 1);
  EXPECT_THAT(
      last, MatchesRegex("root simulations 64 value -?[01]\\.[0-9]+ margin "
                         "-?[0-9.]+ info action [A-G][1-7] visits [0-9]+ value "
                         "-?[0-9.]+ prior 0\\.[0-9]+ lcb -?[0-9.]+ order 0 pv( "
                         "[A-G][1-7])+ info action .* order 1 pv( "
                         "[A-G][1-7])+"));
}

TEST_F(LineSessionTest, AnAnalysisEndsWhenAnotherLineHasCome) {
  interrupted_ = true;
  EXPECT_THAT(Ask("analyze 1"), StartsWith("=\nroot simulations "));
}

TEST_F(LineSessionTest, AnAnalysisIsRefusedWithWrongArguments) {
  EXPECT_THAT(Ask("analyze quickly 3"),
              StartsWith("? unknown argument 'quickly'"));
  EXPECT_THAT(Ask("analyze simulations"),
              StartsWith("? 'simulations' has no value"));
  EXPECT_THAT(Ask("analyze 0"), StartsWith("? interval is '0'"));
  EXPECT_THAT(Ask("analyze simulations 0"), StartsWith("? simulations is '0'"));
  EXPECT_THAT(Ask("analyze actions many"), StartsWith("? actions is 'many'"));
}

// What was searched before is not searched again: the limit counts it.
TEST_F(LineSessionTest, TheTreeIsKeptBetweenPositions) {
  Ask("analyze simulations 500");
  const std::string move = Ask("genmove").substr(2);
  const std::string kept = Ask("analyze simulations 1");
  EXPECT_THAT(kept, StartsWith("=\nroot simulations "));
  int simulations = 0;
  ASSERT_EQ(std::sscanf(kept.c_str(), "=\nroot simulations %d", &simulations),
            1);
  EXPECT_GT(simulations, 32) << move;
  Ask("set_option reuse off");
  EXPECT_THAT(Ask("analyze simulations 1"),
              StartsWith("=\nroot simulations 1 "));
}

TEST_F(LineSessionTest, QuittingEndsTheSession) {
  EXPECT_EQ(Ask("name"), "= Tara");
  EXPECT_TRUE(goes_on_);
  EXPECT_THAT(Ask("quit now"), StartsWith("? quit has 1 argument"));
  EXPECT_TRUE(goes_on_);
  EXPECT_EQ(Ask("1 quit"), "=1");
  EXPECT_FALSE(goes_on_);
}

TEST_F(LineSessionTest, ErrorsOfTheModelAreAnswered) {
  auto broken = std::make_unique<mcts::FakeEvaluator>();
  broken->FailAfter(0, "the device is gone");
  model_ = EngineModel::OfEvaluator(std::move(broken), 0);
  Restart();
  EXPECT_EQ(Ask("genmove"), "? the device is gone");
  EXPECT_EQ(Ask("analyze"), "=\nerror the device is gone");
  EXPECT_EQ(Ask("play D4"), "=");
}

// A network that has learned High Kings with another limit than the default.
class LearnedLineSessionTest : public LineSessionTest {
 protected:
  void SetUp() override {
    model_->SetLearned({{.variant = Variant::kSacredHillL1, .options = {}},
                        {.variant = Variant::kHighKingsL1,
                         .options = {.no_progress_limit = 30}}},
                       untrained_);
    Restart();
  }
  bool untrained_ = false;
};

TEST_F(LearnedLineSessionTest, RulesThatItHasNotLearnedAreRefused) {
  Ask("play D4");
  EXPECT_THAT(Ask("1 variant four_treasures"),
              AllOf(StartsWith("?1 "),
                    HasSubstr("has not learned "
                              "four_treasures; its run "
                              "learned sacred_hill_l1"),
                    HasSubstr("--untrained")));
  EXPECT_THAT(Ask("2 variant high_kings_l1"),
              AllOf(StartsWith("?2 "),
                    HasSubstr("has not learned no_progress_limit=40 of "
                              "high_kings_l1; its run learned "
                              "no_progress_limit=30")));
  EXPECT_THAT(Ask("3 set_position four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 "
                  "0 - -"),
              StartsWith("?3 "));
  // The game goes on as it was.
  EXPECT_EQ(Ask("history"), "= D4");
  EXPECT_EQ(Ask("variant high_kings_l1 no_progress_limit=30"), "=");
  EXPECT_THAT(Ask("analyze simulations 8"),
              ::testing::Not(HasSubstr("not_learned")));
}

class UntrainedLineSessionTest : public LearnedLineSessionTest {
 protected:
  UntrainedLineSessionTest() { untrained_ = true; }
};

TEST_F(UntrainedLineSessionTest, RulesThatItHasNotLearnedAreMarked) {
  EXPECT_EQ(Ask("variant high_kings_l1 placement_captures_kings=true"), "=");
  EXPECT_THAT(Ask("analyze simulations 8"),
              HasSubstr(" not_learned "
                        "no_progress_limit=40,placement_captures_kings=true "
                        "info action "));
  EXPECT_EQ(Ask("variant sacred_hill_l1"), "=");
  EXPECT_THAT(Ask("analyze simulations 8"),
              ::testing::Not(HasSubstr("not_learned")));
}

// Calls `push` of many lines on a thread, and `pop` here, and counts how many
// were ever pushed and not yet popped.
template <typename Push, typename Pop>
int64_t MostThatWait(int64_t lines, const Push& push, const Pop& pop) {
  std::atomic<int64_t> pushed = 0;
  std::thread pushing([&] {
    for (int64_t i = 0; i < lines; ++i) {
      push();
      ++pushed;
    }
  });
  // Not before as many are there as may be, and time for some more.
  while (pushed < std::min(lines, kMaxWaiting)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int64_t most = 0;
  for (int64_t popped = 0; popped < lines; ++popped) {
    most = std::max(most, pushed - popped);
    pop();
  }
  pushing.join();
  return most;
}

TEST(LineQueueTest, NoMoreLinesWaitThanMay) {
  LineQueue lines;
  EXPECT_LE(MostThatWait(
                2 * kMaxWaiting,
                [&] {
                  lines.AwaitRoom();
                  lines.Push({.text = "name"});
                },
                [&] { EXPECT_TRUE(lines.Pop().has_value()); }),
            kMaxWaiting + 1);
}

TEST(LineQueueTest, NoMoreBytesWaitThanMay) {
  constexpr int64_t kBytes = int64_t{1} << 20;
  constexpr auto kMost = static_cast<int64_t>(kMaxWaitingBytes) / kBytes;
  LineQueue lines;
  std::atomic<int64_t> pushed = 0;
  std::thread pushing([&] {
    for (int i = 0; i < 2 * kMost; ++i) {
      lines.AwaitRoom();
      lines.Push({.text = std::string(kBytes, 'x')});
      ++pushed;
    }
  });
  while (pushed < kMost) std::this_thread::yield();
  for (int popped = 0; popped < 2 * kMost; ++popped) {
    EXPECT_LE(pushed - popped, kMost + 1);
    EXPECT_TRUE(lines.Pop().has_value());
  }
  pushing.join();
}

// A stream that takes nothing until it is told to.
class BlockedBuffer : public std::streambuf {
 public:
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }

 private:
  void Wait() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&open_));
  }
  int overflow(int c) override {
    Wait();
    return c;
  }
  std::streamsize xsputn(const char*, std::streamsize size) override {
    Wait();
    return size;
  }

  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(OutputQueueTest, ThereIsRoomUntilTooMuchWaitsToBeRead) {
  BlockedBuffer buffer;
  std::ostream out(&buffer);
  OutputQueue answers(&out);
  answers.Push("one");
  answers.AwaitRoom();  // at once
  for (size_t bytes = 0; bytes < kMaxWaitingBytes; bytes += size_t{1} << 20) {
    answers.Push(std::string(size_t{1} << 20, 'x'));
  }
  std::atomic<bool> has_room = false;
  std::thread waiting([&] {
    answers.AwaitRoom();
    has_room = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_room);
  buffer.Open();
  waiting.join();
}

TEST(ReadLineTest, KeepsNoMoreOfALineThanItMay) {
  std::istringstream in("12345678\nab\r\n\nlast");
  InputLine line;
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "1234");
  EXPECT_TRUE(line.too_long);
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "ab");
  EXPECT_FALSE(line.too_long);
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_THAT(line.text, IsEmpty());
  ASSERT_TRUE(ReadLine(in, 4, line));
  EXPECT_EQ(line.text, "last");
  EXPECT_FALSE(ReadLine(in, 4, line));
}

}  // namespace
}  // namespace tara::engine
