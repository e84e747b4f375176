#include <csignal>
#include <nlohmann/json.hpp>
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

// The line protocol with a real process.

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

// The JSON protocol with a real process.

using Json = nlohmann::json;

TEST(JsonEngineTest, AnswersWhileTheInputIsOpen) {
  EngineProcess engine({"--json"});
  engine.SendLine(
      R"({"id":"x","variant":"poisoned_chalice","simulations":20})");
  const Json answer = Json::parse(*engine.ReadLine());
  EXPECT_EQ(answer["id"], "x");
  EXPECT_EQ(answer["simulations"], 20);
}

TEST(JsonEngineTest, AllIsAnsweredBeforeItEnds) {
  EngineProcess engine({"--json", "--search", "sims=30,positions=4"});
  for (int i = 0; i < 40; ++i) {
    engine.SendLine(
        absl::StrCat(R"({"id":)", i, R"(,"variant":"four_treasures"})"));
  }
  engine.CloseInput();
  std::vector<bool> answered(40);
  while (const auto line = engine.ReadLine()) {
    answered[Json::parse(*line)["id"].get<int>()] = true;
  }
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(answered[i]) << i;
  EXPECT_EQ(engine.Wait(), 0);
}

// The others that are searched in step with it are answered.
TEST(JsonEngineTest, OutlivesASearchThatThereIsNoMemoryFor) {
  EngineProcess engine({"--json", "--model", "playouts", "--threads", "1"},
                       rlim_t{250} << 20);
  engine.SendLine(
      "{\"id\":\"large\",\"variant\":\"four_treasures\",\"simulations\":"
      "16000000}");
  constexpr int kSmall = 20;
  for (int i = 0; i < kSmall; ++i) {
    engine.SendLine(absl::StrCat(
        "{\"id\":", i,
        ",\"variant\":\"high_kings_l1\",\"simulations\":", 50 * i + 1, "}"));
  }
  for (int i = 0; i < kSmall + 1; ++i) {
    const Json answer = Json::parse(*engine.ReadLine());
    if (answer["id"] == "large") {
      EXPECT_THAT(answer["error"].get<std::string>(),
                  HasSubstr("no memory for more simulations; "));
    } else {
      EXPECT_FALSE(answer.contains("error")) << answer;
    }
  }
  EXPECT_EQ(engine.Wait(), 0);
}

TEST(JsonEngineTest, LinesThatAreTooLongAreRefused) {
  EngineProcess engine({"--json"});
  engine.SendLine(std::string(2 << 20, ' '));
  EXPECT_TRUE(Json::parse(*engine.ReadLine()).contains("error"));
}

// A request, cut off or with bytes changed, moved or repeated.
std::string Damaged(std::string line, Random& random) {
  const int changes = 1 + static_cast<int>(random.Below(4));
  for (int i = 0; i < changes && !line.empty(); ++i) {
    const size_t at = random.Below(static_cast<uint32_t>(line.size()));
    switch (random.Below(5)) {
      case 0:
        line.resize(at);
        break;
      case 1:
        line[at] = static_cast<char>(random.Below(256));
        break;
      case 2:
        line.insert(at, line.substr(at / 2, 10));
        break;
      case 3:
        line.erase(at, 1 + random.Below(5));
        break;
      default:
        line.insert(at, 1, "{}[]\",:0-e"[random.Below(10)]);
    }
  }
  return line;
}

TEST(JsonEngineTest, NoBytesEndTheProcess) {
  const std::string requests[] = {
      R"({"id":"a","variant":"high_kings_l2","actions":["D4","B2"],"turns":)"
      R"([0,1,2],"simulations":3,"report":["policy","margins"]})",
      R"({"id":1,"position":"sacred_hill_l1 5/7/7/3r3/7/7/5 1 manoeuvres )"
      R"(- 0,0 0 - -","time_ms":1,"search":{"graph":true,"c_puct":1e30}})",
      R"({"id":2,"variant":"stone_of_destiny","options":)"
      R"({"link_all_at_end":false},"priority":5,"max_actions":2,)"
      R"("report_every_ms":1,"simulations":2})",
      R"({"id":3,"command":"terminate","terminate_id":"a"})",
      R"({"id":4,"command":"terminate_all"})",
      R"({"id":5,"command":"clear_cache"})",
  };
  EngineProcess engine({"--json", "--search", "sims=2,ms=1,positions=4"});
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 3; ++i) {
      engine.SendLine(Damaged(requests[random.Below(6)], random));
    }
    engine.SendLine(absl::StrCat(R"({"id":"check)", round,
                                 R"(","command":"query_version"})"));
    while (true) {
      const auto line = engine.ReadLine();
      ASSERT_TRUE(line.has_value()) << "ended in round " << round;
      const Json answer = Json::parse(*line);
      if (answer.value("name", Json()) == "Tara") break;
    }
    // What was damaged may ask for hours.
    engine.SendLine(R"({"id":0,"command":"terminate_all"})");
  }
  EXPECT_EQ(engine.Wait(), 0);
}

}  // namespace
}  // namespace tara::engine
