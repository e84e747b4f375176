#include "tara/eval/regret/solved_set.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/variant.h"
#include "tara/eval/regret/regret.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string PathOf(const std::string& name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

TEST(SolvedSetTest, WhatIsWrittenIsReadAgain) {
  std::vector<SolvedPosition> all;
  for (const VariantInfo& info : kVariants) {
    for (SolvedPosition& position : MakeSolvedPositions(
             {.variant = info.variant, .positions = 2, .node_limit = 2000})) {
      all.push_back(std::move(position));
    }
  }
  ASSERT_GE(all.size(), 20u);
  const std::string path = PathOf("set.jsonl");
  ASSERT_TRUE(WriteSolvedSet(path, all).ok());
  const auto read = ReadSolvedSet(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(PositionToText((*read)[i].state), PositionToText(all[i].state));
    EXPECT_EQ((*read)[i].margins, all[i].margins);
  }
}

TEST(SolvedSetTest, RuleOptionsAreKept) {
  RuleOptions options;
  ASSERT_TRUE(SetRuleOption(Variant::kStoneOfDestiny, "link_all_at_end",
                            "false", options)
                  .ok());
  const auto positions =
      MakeSolvedPositions({.variant = Variant::kStoneOfDestiny,
                           .rule_options = options,
                           .positions = 1,
                           .node_limit = 2000});
  const std::string path = PathOf("options.jsonl");
  ASSERT_TRUE(WriteSolvedSet(path, positions).ok());
  EXPECT_EQ(ReadSolvedSet(path)->at(0).state.options, options);
}

TEST(SolvedSetTest, WhatIsNoSetOrDamagedIsRefused) {
  const std::string path = PathOf("wrong.jsonl");
  const auto positions = MakeSolvedPositions(
      {.variant = Variant::kFourTreasures, .positions = 2, .node_limit = 2000});
  ASSERT_TRUE(WriteSolvedSet(path, positions).ok());
  const std::string good = ReadWholeFile(path).value();
  const std::string head = good.substr(0, good.find('\n') + 1);
  const size_t last_line = good.rfind('\n', good.size() - 2) + 1;
  const auto margins = [&](const std::string& first) {
    return absl::StrReplaceAll(
        good, {{"\"margins\":[", absl::StrCat("\"margins\":[", first, ",")}});
  };
  struct Wrong {
    std::string text;
    absl::StatusCode code;
    std::string message;
  };
  const auto lost = absl::StatusCode::kDataLoss;
  const auto foreign = absl::StatusCode::kFailedPrecondition;
  for (const Wrong& wrong : std::vector<Wrong>{
           {"", foreign, ":1: no file of solved endgames"},
           {"these are notes\n", foreign, ":1: no file of solved endgames"},
           {"{\"tara_solved_endgames\": 9, \"positions\": 0}\n", foreign,
            "version 9; this program reads 1"},
           {"{\"tara_solved_endgames\": 1}\n", lost, "no number"},
           {good.substr(0, good.size() - 9), lost, ":3: malformed JSON"},
           {good.substr(0, last_line), lost, "1 positions; expected 2"},
           {absl::StrCat(head, "[]\n", good.substr(last_line)), lost,
            ":2: expected {\"position\""},
           {absl::StrReplaceAll(good, {{"four_treasures ", "chess "}}), lost,
            "'chess'"},
           {margins("0"), lost, " legal actions"},
           {margins("99"), lost, "margin 99; expected -47 to 47"},
           {margins("\"a\""), lost, "margin \"a\""},
       }) {
    ASSERT_TRUE(WriteFileAtomically(path, wrong.text).ok());
    const absl::Status status = ReadSolvedSet(path).status();
    EXPECT_EQ(status.code(), wrong.code) << wrong.text << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith(path), HasSubstr(wrong.message)));
  }
  EXPECT_EQ(ReadSolvedSet(PathOf("none")).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tara::eval
