// The games and counts of tests/golden, made by an independent implementation.

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/record/game_record.h"
#include "tests/core/core_testing.h"

namespace tara {
namespace {

std::string GoldenPath(absl::string_view file) {
  return absl::StrCat(std::getenv("TEST_SRCDIR"), "/",
                      std::getenv("TEST_WORKSPACE"), "/tests/golden/", file);
}

class GoldenTest : public ::testing::TestWithParam<VariantInfo> {};

// Returns the number of games of a file, each of which must replay step by step
// to its result.
int VerifyGames(absl::string_view path) {
  std::ifstream file(GoldenPath(path));
  int games = 0;
  for (std::string line; std::getline(file, line); ++games) {
    EXPECT_EQ(record::ParseGameLine(line).status(), absl::OkStatus())
        << "game " << games;
  }
  return games;
}

TEST_P(GoldenTest, EveryGameReplaysStepByStepToItsResult) {
  EXPECT_EQ(VerifyGames(absl::StrCat(GetParam().id, ".jsonl")), 40);
}

TEST_P(GoldenTest, SoDoGamesWithCompensationAndThePieRule) {
  EXPECT_EQ(VerifyGames(absl::StrCat("options/", GetParam().id, ".jsonl")), 12);
}

TEST_P(GoldenTest, NumbersOfActionSequencesAgree) {
  std::ifstream file(GoldenPath("perft.json"));
  const auto perft = nlohmann::json::parse(file).at(std::string(GetParam().id));
  const auto expect_counts = [](const State& state,
                                const nlohmann::json& counts) {
    for (int depth = 1; depth <= static_cast<int>(counts.size()); ++depth) {
      EXPECT_EQ(Perft(state, depth), counts[depth - 1].get<int64_t>())
          << PositionToText(state) << ", depth " << depth;
    }
  };
  const State start = InitialState(GetParam().variant);
  expect_counts(start, perft.at("start"));
  for (const auto& position : perft.at("positions")) {
    State state = start;
    for (const auto& action : position.at("prefix")) {
      ASSERT_EQ(PlayAction(action.get<std::string>(), state), absl::OkStatus());
    }
    expect_counts(state, position.at("counts"));
  }
}

TEST_P(GoldenTest, PerftDivideAddsUpToPerft) {
  const State start = InitialState(GetParam().variant);
  int64_t sum = 0;
  for (const auto& [action, count] : PerftDivide(start, 3)) sum += count;
  EXPECT_EQ(sum, Perft(start, 3));
}

INSTANTIATE_TEST_SUITE_P(EveryVariant, GoldenTest,
                         ::testing::ValuesIn(kVariants), VariantTestName);

TEST(PerftTest, EndsSoonWhenItIsStopped) {
  int asked = 0;
  const std::function<bool()> stop = [&asked] { return ++asked > 3; };
  Perft(InitialState(Variant::kHighKingsL1), 40, &stop);  // would never end
  EXPECT_GT(asked, 3);
}

}  // namespace
}  // namespace tara
