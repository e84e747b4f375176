// The line protocol with a real process.

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tests/engine/engine_process.h"

namespace tara::engine {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// For the program, and for some hundred thousand simulations.
constexpr rlim_t kLittleMemory = rlim_t{250} << 20;

TEST(LineEngineTest, AnAnalysisStreamsUntilTheNextLine) {
  EngineProcess engine({});
  engine.SendLine("1 analyze 1");
  EXPECT_EQ(engine.ReadLine(), "=1");
  // Without another line it would never end.
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(*engine.ReadLine(), StartsWith("root simulations "));
  }
  engine.SendLine("2 name");
  EXPECT_THAT(engine.ReadAnswer(), Each(StartsWith("root simulations ")));
  EXPECT_THAT(engine.ReadAnswer(), ::testing::ElementsAre("=2 Tara"));
}

TEST(LineEngineTest, QuitEndsItWhileTheInputIsOpen) {
  EngineProcess engine({});
  EXPECT_EQ(engine.Ask("quit"), "=");
  EXPECT_FALSE(engine.ReadLine().has_value());
  EXPECT_EQ(engine.Wait(), 0);
}

TEST(LineEngineTest, TheEndOfTheInputEndsItAfterWhatWasAsked) {
  EngineProcess engine({"--search", "sims=50"});
  engine.Send("genmove\nanalyze\nplay");  // the last line has no end
  engine.CloseInput();
  EXPECT_THAT(engine.ReadAnswer(), ElementsAre(StartsWith("= ")));
  EXPECT_THAT(engine.ReadAnswer(), SizeIs(Gt(1)));
  EXPECT_THAT(engine.ReadAnswer(), ElementsAre(StartsWith("? play has 0")));
  EXPECT_EQ(engine.Wait(), 0);
}

// Searches that would take hours.
TEST(LineEngineTest, NoSearchOutlivesTheInput) {
  for (const std::string search :
       {"sims=16000000", "sims=16000000,gumbel=on", "ms=3600000",
        "sims=16000000,threads=2", "sims=16000000,leaves=8"}) {
    for (const bool quits : {false, true}) {
      SCOPED_TRACE(absl::StrCat(search, quits ? ", quit" : ", end of input"));
      EngineProcess engine({"--model", "playouts", "--search", search});
      engine.Send("genmove\n");
      if (quits) {
        engine.Send("quit\n");
      } else {
        engine.CloseInput();
      }
      EXPECT_THAT(engine.ReadAnswer(), ElementsAre(StartsWith("= ")));
      if (quits) {
        EXPECT_THAT(engine.ReadAnswer(), ElementsAre("="));
      }
      EXPECT_EQ(engine.Wait(), 0);
    }
  }
}

TEST(LineEngineTest, AClockDoesNotKeepASearchThatNobodyWaitsFor) {
  EngineProcess engine({"--model", "playouts"});
  engine.Send("time_settings 360000 0\ngenmove\n");
  engine.CloseInput();
  EXPECT_THAT(engine.ReadAnswer(), ElementsAre("="));
  EXPECT_THAT(engine.ReadAnswer(), ElementsAre(StartsWith("= ")));
  EXPECT_EQ(engine.Wait(), 0);
}

// What a script asks for by simulations it gets, though its input is at its end
// before the first of them.
TEST(LineEngineTest, TheEndOfTheInputDoesNotChangeShortSearches) {
  const std::vector<std::string> arguments = {"--model", "playouts", "--search",
                                              "sims=100"};
  EngineProcess slow(arguments);
  const std::string expected = slow.Ask("genmove");
  EngineProcess engine(arguments);
  engine.Send("genmove\nquit\n");
  engine.CloseInput();
  EXPECT_THAT(engine.ReadAnswer(), ElementsAre(expected));
}

TEST(LineEngineTest, EndsAtOnceWhenNobodyReads) {
  for (const std::vector<std::string>& protocol :
       {std::vector<std::string>{}, std::vector<std::string>{"--json"}}) {
    std::vector<std::string> arguments = {"--model", "playouts", "--search",
                                          "sims=16000000"};
    arguments.insert(arguments.end(), protocol.begin(), protocol.end());
    EngineProcess engine(arguments);
    engine.SendLine(protocol.empty()
                        ? "genmove"
                        : "{\"id\":1,\"variant\":\"four_treasures\"}");
    engine.CloseOutput();
    // Its input is still open.
    EXPECT_EQ(engine.WaitForEnd(), 128 + SIGPIPE);
  }
}

TEST(LineEngineTest, OutlivesASearchThatThereIsNoMemoryFor) {
  for (const std::string search : {"leaves=1", "leaves=8", "threads=2"}) {
    SCOPED_TRACE(search);
    EngineProcess engine({"--model", "playouts", "--search", search},
                         kLittleMemory);
    EXPECT_EQ(engine.Ask("variant four_treasures"), "=");
    EXPECT_EQ(engine.Ask("set_option sims 16000000"), "=");
    EXPECT_THAT(engine.Ask("1 genmove"),
                StartsWith("?1 no memory for more simulations; "));
    EXPECT_EQ(engine.Ask("2 name"), "=2 Tara");
    EXPECT_THAT(engine.Ask("3 analyze 100 simulations 16000000"),
                HasSubstr("\nerror no memory for more simulations; "));
    EXPECT_EQ(engine.Ask("set_option sims 10"), "=");
    EXPECT_THAT(engine.Ask("4 genmove"), StartsWith("=4 "));
    EXPECT_EQ(engine.Wait(), 0);
  }
}

TEST(LineEngineTest, SeveralThreadsSearchAPosition) {
  EngineProcess engine({"--threads", "2", "--search", "sims=300"});
  EXPECT_THAT(engine.Ask("genmove"), StartsWith("= "));
  EXPECT_THAT(engine.Ask("analyze simulations 2000 actions 1"),
              StartsWith("=\nroot simulations "));
}

TEST(LineEngineTest, LinesThatAreTooLongAreRefused) {
  EngineProcess engine({});
  EXPECT_EQ(engine.Ask(absl::StrCat("3 play ", std::string(1 << 20, 'D'))),
            "?3 the line is too long");
  EXPECT_EQ(engine.Ask("name"), "= Tara");
}

// Bytes of all values, with ends of lines and pieces of commands among them,
// but none that make "quit".
std::string Noise(int bytes, Random& random) {
  const std::vector<std::string> pieces = absl::StrSplit(
      "\n|\r\n|play |D4|genmove|undo|variant |#|1 |C5*|=|analyze |-|9999|qui|"
      "set_position |ms|nan |sims|\t|high_kings_l1|time_settings |1e999",
      '|');
  std::string noise;
  while (static_cast<int>(noise.size()) < bytes) {
    if (random.Below(2) == 0) {
      noise += pieces[random.Below(static_cast<uint32_t>(pieces.size()))];
    } else {
      noise.push_back(static_cast<char>(random.Below(256)));
    }
  }
  return noise;
}

TEST(LineEngineTest, NoBytesEndTheProcess) {
  EngineProcess engine({"--search", "sims=2,ms=1"});
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int round = 0; round < 200; ++round) {
    for (std::string line : {Noise(40, random), Noise(8, random)}) {
      engine.Send(absl::StrCat(line, "x\n"));
    }
    engine.SendLine(absl::StrCat("4", round, " name"));
    while (true) {
      const auto read = engine.ReadLine();
      ASSERT_TRUE(read.has_value()) << "ended in round " << round;
      if (*read == absl::StrCat("=4", round, " Tara")) break;
    }
  }
  EXPECT_EQ(engine.Wait(), 0);
}

TEST(EngineCommandTest, WrongArgumentsAreSaidAtOnce) {
  EXPECT_EQ(EngineProcess({"--variant", "chess"}).Wait(), 2);
  EXPECT_EQ(EngineProcess({"--search", "sims=0"}).Wait(), 2);
  EXPECT_EQ(EngineProcess({"--search", "sims=5,sims=6"}).Wait(), 2);
  EXPECT_EQ(EngineProcess({"--model", "nowhere"}).Wait(), 1);
  EXPECT_EQ(EngineProcess({"--search", "gumbel=on", "--threads", "2"}).Wait(),
            2);
}

}  // namespace
}  // namespace tara::engine
