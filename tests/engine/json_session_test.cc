#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/outcome.h"
#include "tara/core/variant.h"
#include "tara/engine/engine.h"
#include "tara/engine/sessions.h"
#include "tara/mcts/evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tests/mcts/fake_evaluator.h"

namespace tara::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::ordered_json;

class JsonSessionTest : public ::testing::Test {
 protected:
  JsonSessionTest() : model_(EngineModel::OfPlayouts(1, 1 << 12)) {}

  // Returns the answers to some lines, in the order in which they came.
  std::vector<Json> Ask(const std::vector<std::string>& lines) {
    EngineOptions options = model_->default_options();
    options.search.simulations = 40;
    options.threads = 2;
    absl::Mutex mutex;
    std::vector<Json> answers;
    {
      const JsonSession session =
          NewJsonSession(model_.get(), options, [&](std::string line) {
            absl::MutexLock lock(&mutex);
            EXPECT_EQ(line.find('\n'), std::string::npos);
            answers.push_back(Json::parse(line));
          });
      for (const std::string& line : lines) session(line);
    }
    return answers;
  }

  // Returns the only answer to a line.
  Json AskOne(const std::string& line) {
    const std::vector<Json> answers = Ask({line});
    EXPECT_EQ(answers.size(), 1u) << line;
    return answers.empty() ? Json() : answers[0];
  }

  // Returns the message about a field that a line is refused with.
  std::string Refused(const std::string& line, const std::string& field) {
    const Json answer = AskOne(line);
    EXPECT_TRUE(answer.contains("error")) << answer;
    EXPECT_EQ(answer.value("field", ""), field) << answer;
    return answer.value("error", "");
  }

  std::unique_ptr<EngineModel> model_;
};

TEST_F(JsonSessionTest, AnalysesAPosition) {
  const Json answer =
      AskOne(R"({"id":"a","variant":"four_treasures","actions":["D4","d5"]})");
  EXPECT_EQ(answer["id"], "a");
  EXPECT_EQ(answer["turn"], 2);
  EXPECT_EQ(answer["finished"], false);
  EXPECT_EQ(answer["seat"], 0);
  EXPECT_EQ(answer["side"], "red");
  EXPECT_EQ(answer["simulations"], 40);
  EXPECT_LE(std::abs(answer["value"].get<double>()), 1);
  EXPECT_TRUE(answer["margin"].is_number());
  EXPECT_EQ(answer["best"], answer["actions"][0]["action"]);
  EXPECT_EQ(answer["pv"][0], answer["best"]);
  int visits = 0;
  for (const Json& action : answer["actions"]) {
    visits += action["visits"].get<int>();
    EXPECT_EQ(action["pv"][0], action["action"]);
    EXPECT_TRUE(action.contains("prior") && action.contains("value") &&
                action.contains("lcb") && action.contains("deviation"));
  }
  EXPECT_EQ(visits, 40);
}

TEST_F(JsonSessionTest, AnswersEachTurnThatWasAskedFor) {
  const std::vector<Json> answers =
      Ask({R"({"id":7,"variant":"sacred_hill_l1","actions":["D4","E6","C2"],)"
           R"("turns":[0,2,3],"simulations":8,"report":[]})"});
  std::map<int, Json> by_turn;
  for (const Json& answer : answers) {
    EXPECT_EQ(answer["id"], 7);
    EXPECT_EQ(answer["simulations"], 8);
    EXPECT_FALSE(answer.contains("actions"));
    EXPECT_FALSE(answer.contains("pv"));
    by_turn[answer["turn"]] = answer;
  }
  ASSERT_THAT(by_turn, SizeIs(3));
  EXPECT_EQ(by_turn[0]["side"], "red");
  EXPECT_EQ(by_turn[3]["side"], "blue");
}

TEST_F(JsonSessionTest, AnswersDoNotDependOnWhatElseIsAsked) {
  const std::string line =
      R"({"id":1,"variant":"high_kings_l1","simulations":60})";
  std::vector<std::string> lines = {line};
  for (const VariantInfo& info : kVariants) {
    lines.push_back(absl::StrCat(R"({"id":2,"variant":")", info.id, R"("})"));
  }
  const Json alone = AskOne(line);
  for (const Json& answer : Ask(lines)) {
    if (answer["id"] == 1) {
      EXPECT_EQ(answer, alone);
    }
  }
}

TEST_F(JsonSessionTest, TellsWhatIsAskedFor) {
  const Json answer = AskOne(
      R"({"id":1,"variant":"four_treasures","report":["policy","evaluation",)"
      R"("margins"]})");
  double sum = 0;
  EXPECT_EQ(answer["policy"].size(), 45u);
  for (const auto& [name, prior] : answer["policy"].items()) {
    sum += prior.get<double>();
  }
  EXPECT_NEAR(sum, 1, 0.01);
  const Json& evaluation = answer["evaluation"];
  EXPECT_NEAR(evaluation["win"].get<double>() +
                  evaluation["draw"].get<double>() +
                  evaluation["loss"].get<double>(),
              1, 0.001);
  sum = 0;
  for (const auto& [margin, chance] : answer["margins"].items()) {
    EXPECT_LE(std::abs(std::stoi(margin)), kMaxMargin);
    EXPECT_GT(chance, 0);
    sum += chance.get<double>();
  }
  EXPECT_NEAR(sum, 1, 0.01);
  EXPECT_FALSE(answer.contains("actions"));
}

TEST_F(JsonSessionTest, NoMoreActionsAreToldThanAskedFor) {
  const Json answer =
      AskOne(R"({"id":1,"variant":"four_treasures","max_actions":3})");
  EXPECT_THAT(answer["actions"], SizeIs(3));
}

TEST_F(JsonSessionTest, TheVersionNamesTheNetwork) {
  const std::string path = ::testing::TempDir() + "/json.checkpoint";
  ASSERT_TRUE(nn::NewTrainer({.channels = 8, .blocks = 1}, {.threads = 1}, 1)
                  ->Save(path, {})
                  .ok());
  auto model = EngineModel::OfNetwork(path, {}, 1 << 10);
  ASSERT_TRUE(model.ok()) << model.status();
  model_ = *std::move(model);
  const Json version = AskOne(R"({"id":2,"command":"query_version"})");
  EXPECT_EQ(version["model"], path);
  EXPECT_EQ(version["backend"], "tara");
  EXPECT_TRUE(version.contains("precision"));
}

TEST_F(JsonSessionTest, FinishedPositionsHaveAResult) {
  const Json answer = AskOne(
      R"({"id":1,"position":"sacred_hill_l1 rrbbb/rrrbbbb/rrrbbbb/rrrbbbb/)"
      R"(rrrbbbb/rrrbbbb/rrbbb - finished - 0,0 0 out:0 -"})");
  EXPECT_EQ(answer["finished"], true);
  EXPECT_EQ(answer["result"]["points"], Json({0, 9}));
  EXPECT_EQ(answer["result"]["winner"], 1);
  EXPECT_EQ(answer["result"]["ended_by"], "out");
  EXPECT_FALSE(answer.contains("simulations"));
}

TEST_F(JsonSessionTest, RuleOptionsAndSearchOptionsAreTaken) {
  const Json answer = AskOne(
      R"({"id":1,"variant":"high_kings_l1","options":{"no_progress_limit":20,)"
      R"("placement_captures_kings":true},"search":{"graph":true,)"
      R"("c_puct":2.5,"utility":"points"},"simulations":10,"priority":-3})");
  EXPECT_EQ(answer["simulations"], 10);
}

TEST_F(JsonSessionTest, TimeEndsASearch) {
  const Json answer =
      AskOne(R"({"id":1,"variant":"sacred_hill_l1","time_ms":20,"report":[]})");
  EXPECT_GE(answer["simulations"].get<int>(), 1);
}

TEST_F(JsonSessionTest, ProgressIsToldOnTheWay) {
  absl::Mutex mutex;
  std::vector<Json> answers;
  const JsonSession session =
      NewJsonSession(model_.get(), EngineOptions(), [&](std::string line) {
        absl::MutexLock lock(&mutex);
        answers.push_back(Json::parse(line));
      });
  const auto await_answers = [&](size_t count) {
    absl::MutexLock lock(&mutex);
    const auto enough = [&] { return answers.size() >= count; };
    mutex.Await(absl::Condition(&enough));
  };
  session(R"({"id":1,"variant":"sacred_hill_l1","time_ms":3600000,)"
          R"("report_every_ms":1,"report":["actions"]})");
  await_answers(2);
  session(R"({"id":2,"command":"terminate","terminate_id":1})");
  await_answers(4);
  std::vector<Json> told;
  {
    absl::MutexLock lock(&mutex);
    told = answers;
  }
  EXPECT_EQ(told[0]["during_search"], true);
  EXPECT_EQ(told[1]["during_search"], true);
  EXPECT_TRUE(told[0].contains("actions"));
  EXPECT_LT(told[0]["simulations"], told[1]["simulations"]);
}

TEST_F(JsonSessionTest, TerminatedRequestsAreAnsweredAllTheSame) {
  const std::string endless =
      R"("variant":"sacred_hill_l1","time_ms":3600000,"turns":[0,0,0]})";
  const std::vector<Json> answers =
      Ask({R"({"id":"a",)" + endless, R"({"id":"b",)" + endless,
           R"({"id":1,"command":"terminate","terminate_id":"a"})",
           R"({"id":2,"command":"terminate","terminate_id":"nobody"})",
           R"({"id":3,"command":"terminate_all"})"});
  std::map<std::string, int> terminated;
  std::map<int, int> requests;
  for (const Json& answer : answers) {
    if (answer.contains("command")) {
      requests[answer["id"]] = answer["requests"];
    } else {
      EXPECT_EQ(answer["terminated"], true);
      ++terminated[answer["id"]];
    }
  }
  EXPECT_EQ(terminated, (std::map<std::string, int>{{"a", 3}, {"b", 3}}));
  EXPECT_EQ(requests, (std::map<int, int>{{1, 1}, {2, 0}, {3, 1}}));
}

TEST_F(JsonSessionTest, SaysWhatItIs) {
  const Json answer = AskOne(R"({"id":"v","command":"query_version"})");
  EXPECT_EQ(answer["name"], "Tara");
  EXPECT_EQ(answer["protocol"], 1);
  EXPECT_EQ(answer["model"], "random games");
}

TEST_F(JsonSessionTest, TheCacheIsCleared) {
  const Json answer = AskOne(R"({"id":"c","command":"clear_cache"})");
  EXPECT_EQ(answer, Json::parse(R"({"id":"c","command":"clear_cache"})"));
}

TEST_F(JsonSessionTest, UnknownFieldsAreWarnedOf) {
  const std::vector<Json> answers = Ask(
      {R"({"id":1,"variant":"four_treasures","simulation":8,"colour":"red"})"});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_EQ(answers[0], Json::parse(R"({"id":1,"warning":"unknown field",)"
                                    R"("field":"simulation"})"));
  EXPECT_EQ(answers[1]["field"], "colour");
  EXPECT_EQ(answers[2]["simulations"], 40);
}

TEST_F(JsonSessionTest, EmptyLinesAreNoRequests) {
  EXPECT_THAT(Ask({"", "  \t"}), IsEmpty());
}

// A line, the field that its error is about, and a part of the message.
struct Refusal {
  const char* line;
  const char* field;
  const char* message;
};

TEST_F(JsonSessionTest, WhatIsNoRequestIsRefused) {
  constexpr Refusal kRefusals[] = {
      {"{\"id\":1", "",
       "malformed JSON at byte 8; expected an object on one line"},
      {"hello", "", "malformed JSON"},
      {"[1e999]", "", "malformed JSON"},
      {"{\"id\":1,\"id\":2}", "", "field 'id' is given twice"},
      {"[1,2]", "", "a request is a list"},
      {"3", "", "a request is 3"},
      {"{\"id\":\"\xff\"}", "", "malformed JSON"},
      {"{}", "id", "is missing"},
      {R"({"id":[1]})", "id", "is a list"},
      {R"({"id":1.5})", "id", "is 1.5"},
      {R"({"id":null})", "id", "is null"},
      {R"({"id":1,"command":"dance"})", "command", "analyze, terminate"},
      {R"({"id":1,"command":"terminate"})", "terminate_id", "is missing"},
      {R"({"id":1})", "variant", "is missing"},
      {R"({"id":1,"variant":"chess"})", "variant", "chess"},
      {R"({"id":1,"variant":3})", "variant", "is 3"},
      {R"({"id":1,"position":"here"})", "position", "here"},
      {R"({"id":1,"position":3})", "position", "is 3"},
      {R"({"id":1,"options":{},"position":"four_treasures 5/7/7/7/7/7/5 0 )"
       R"(battle - 0,0 0 - -"})",
       "options", "next to a position"},
  };
  for (const auto& [line, field, message] : kRefusals) {
    EXPECT_THAT(Refused(line, field), HasSubstr(message));
  }
  EXPECT_THAT(Refused(std::string(100000, '['), ""),
              HasSubstr("JSON nests deeper than 32"));
  EXPECT_THAT(Refused(R"({"id":")" + std::string(300, 'x') + R"("})", "id"),
              HasSubstr("256 bytes"));
}

TEST_F(JsonSessionTest, WrongFieldsAreNamed) {
  constexpr Refusal kRefusals[] = {
      {R"("position":"four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 0 - -")",
       "variant", "next to a position"},
      {R"("options":3)", "options", "is 3"},
      {R"("options":{"no_progress_limit":0})", "options.no_progress_limit",
       "1 to 255"},
      {R"("options":{"x":[]})", "options.x", "is a list"},
      {R"("actions":"D4")", "actions", "is \"D4\""},
      {R"("actions":["D4",5])", "actions[1]", "is 5"},
      {R"("actions":["D4","D4"])", "actions[1]", "illegal action D4"},
      {R"("turns":[])", "turns", "is a list"},
      {R"("turns":[0,1])", "turns[1]", "from 0 to 0"},
      {R"("turns":[-1])", "turns[0]", "is -1"},
      {R"("simulations":0)", "simulations", "is 0"},
      {R"("simulations":18446744073709551615)", "simulations",
       "is 18446744073709551615"},
      {R"("simulations":"many")", "simulations", "is \"many\""},
      {R"("time_ms":1.5)", "time_ms", "is 1.5"},
      {R"("report_every_ms":0)", "report_every_ms", "is 0"},
      {R"("priority":true)", "priority", "is true"},
      {R"("max_actions":1000)", "max_actions", "is 1000"},
      {R"("search":[])", "search", "is a list"},
      {R"("search":{"c_puct":"much"})", "search.c_puct", "much"},
      {R"("search":{"x":1})", "search.x", "unknown search option"},
      {R"("report":"all")", "report", "is \"all\""},
      {R"("report":["pv","all"])", "report[1]", "margins"},
  };
  for (const auto& [fields, field, message] : kRefusals) {
    EXPECT_THAT(Refused(absl::StrCat(R"({"id":1,"variant":"high_kings_l1",)",
                                     fields, "}"),
                        field),
                HasSubstr(message));
  }
}

TEST_F(JsonSessionTest, ErrorsOfTheModelAreAnswered) {
  auto broken = std::make_unique<mcts::FakeEvaluator>();
  broken->FailAfter(0, "the device is gone");
  model_ = EngineModel::OfEvaluator(std::move(broken), 0);
  const Json answer = AskOne(R"({"id":1,"variant":"four_treasures"})");
  EXPECT_EQ(answer, Json::parse(R"({"id":1,"turn":0,)"
                                R"("error":"the device is gone"})"));
}

TEST_F(JsonSessionTest, RulesThatTheNetworkHasNotLearnedAreRefusedOrMarked) {
  const std::vector<nn::BundleVariant> learned = {
      {.variant = Variant::kHighKingsL1, .options = {.no_progress_limit = 30}}};
  const std::string other = R"({"id":1,"variant":"high_kings_l1"})";
  const std::string known =
      R"({"id":2,"variant":"high_kings_l1","options":{"no_progress_limit":30}})";
  model_->SetLearned(learned, /*untrained=*/false);
  const Json refused = AskOne(other);
  EXPECT_EQ(refused["id"], 1);
  EXPECT_THAT(refused.value("error", ""),
              HasSubstr("has not learned no_progress_limit=40 of "
                        "high_kings_l1; its run learned "
                        "no_progress_limit=30"));
  EXPECT_TRUE(AskOne(known).contains("best"));
  model_->SetLearned(learned, /*untrained=*/true);
  const Json marked = AskOne(other);
  EXPECT_TRUE(marked.contains("best"));
  EXPECT_EQ(marked.value("not_learned", ""), "no_progress_limit=40");
  EXPECT_FALSE(AskOne(known).contains("not_learned"));
}

}  // namespace
}  // namespace tara::engine
