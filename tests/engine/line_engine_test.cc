// The line protocol with a real process.

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
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

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
