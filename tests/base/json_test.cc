#include "tara/base/json.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tara {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Json = nlohmann::ordered_json;

std::string Nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJsonTest, ReadsValuesInTheirOrder) {
  const auto json = ParseJson<Json>(
      "\xEF\xBB\xBF {\"b\": [1, -2, 2.5, true, null, \"x\"], \"a\": {}}\r\n");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->dump(), "{\"b\":[1,-2,2.5,true,null,\"x\"],\"a\":{}}");
  EXPECT_TRUE(ParseJson<nlohmann::json>(Nested(kMaxJsonDepth)).ok());
  // Names may come again in other objects.
  EXPECT_TRUE(ParseJson<Json>("[{\"a\":1},{\"a\":{\"a\":1}}]").ok());
}

TEST(ParseJsonTest, SaysInItsOwnWordsWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "malformed JSON at byte 1"},
      {"{\"a\": ]", "malformed JSON at byte 7"},
      {"{\"a\": 1} x", "malformed JSON at byte 10"},
      {"hello", "malformed JSON at byte 1"},
      {"\"\xff\"", "malformed JSON at byte 2"},
      {"[1e999]", "malformed JSON at byte 6"},
      {std::string("{}\0", 3), "malformed JSON at byte 3"},
      {std::string("{}\0{}", 5), "malformed JSON at byte 3"},
      {"{\"a\":1,\"a\":1}",
       "field 'a' is given twice in one object; expected it once"},
      {"[{\"b\":{\"a\\u001b\":1,\"a\\u001b\":2}}]",
       "field 'a\\x1b' is given twice"},
      {Nested(kMaxJsonDepth + 1), "JSON nests deeper than 32"},
      // More than the stack has room for.
      {Nested(1000000), "JSON nests deeper than 32"},
      {std::string(1000000, '['), "JSON nests deeper than 32"},
      {absl::StrCat("{\"a\":", Nested(1000000), "}"), "nests deeper than 32"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = ParseJson<Json>(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("exception")));
    EXPECT_EQ(ParseJson<nlohmann::json>(text).status(), status);
  }
}

TEST(JsonProblemTest, NamesWhatIsMissingOrOfAnotherType) {
  const auto problem = [](auto access) -> std::string {
    const Json json = {{"a", "text"}, {"list", {1}}};
    try {
      access(json);
    } catch (const Json::exception& error) {
      return JsonProblem(error);
    }
    return "";
  };
  EXPECT_EQ(problem([](const Json& json) { json.at("score"); }),
            "field 'score' is missing");
  EXPECT_EQ(problem([](const Json& json) { json.at("a").get<int>(); }),
            "expected number, got string");
  EXPECT_THAT(problem([](const Json& json) { json.at("list").at(3); }),
              Not(HasSubstr("json.exception")));
}

TEST(JsonTextTest, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(JsonText(Json{{"run", "a\xff"}}), "{\"run\":\"a\xEF\xBF\xBD\"}");
}

TEST(ShownJsonTest, IsShort) {
  EXPECT_EQ(ShownJson(Json::array({1, 2})), "a list");
  EXPECT_EQ(ShownJson(Json::object()), "an object");
  EXPECT_EQ(ShownJson(Json(2.5)), "2.5");
  EXPECT_EQ(ShownJson(Json("a")), "\"a\"");
  EXPECT_EQ(ShownJson(Json(std::string(200, 'x'))).size(), 103u);
}

}  // namespace
}  // namespace tara
