// The JSON protocol with a real process.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tests/engine/engine_process.h"

namespace tara::engine {
namespace {

using ::testing::HasSubstr;
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
