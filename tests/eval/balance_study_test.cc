// Studies of balance, and the stores that keep their games.

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_store.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Player>> Searcher() {
  return NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                         {.search = {.simulations = 4}, .reuse = true});
}

std::string PathOf(const std::string& name) {
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name);
  std::remove(path.c_str());
  return path;
}

std::unique_ptr<record::GameStore> Open(const std::string& path) {
  return record::OpenGameStore(path, record::StoreMode::kExclusive).value();
}

const BalanceStudyKey kKey = {.options = {.variant = Variant::kFourTreasures},
                              .player = "mcts:sims=4",
                              .identity = "mcts:sims=4"};

// Runs a study; stops after `stop_after` games if it is not negative.
absl::StatusOr<BalanceStudy> RunStudy(record::GameStore& store,
                                      const BalancePlan& plan,
                                      int stop_after = -1,
                                      int* played = nullptr) {
  auto driver = BalanceDriver::Create(Searcher, 2, 4);
  int calls = -1;  // the first is before any game
  absl::StatusOr<BalanceStudy> study = RunBalanceStudy(
      plan, kKey, **driver, store,
      [&](const BalanceProgress&) { return ++calls != stop_after; });
  if (played != nullptr) *played = calls;
  return study;
}

std::vector<std::vector<Action>> GamesOf(const BalanceStudy& study) {
  std::vector<std::vector<Action>> games;
  for (const GameFacts& game : study.games) games.push_back(game.actions);
  return games;
}

TEST(BalanceStudyTest, AStudyGoesOnWhereItWasBrokenOff) {
  const BalancePlan plan = {.games = 12, .first_games = 1, .pie_games = 3};
  const auto memory = Open(":memory:");
  const BalanceStudy whole = RunStudy(*memory, plan).value();
  ASSERT_EQ(whole.games.size(), 12u);
  const std::string path = PathOf("resumed.db");
  int played = 0;
  {
    const auto store = Open(path);
    const BalanceStudy part = RunStudy(*store, plan, 7, &played).value();
    // Those that were finished when it stopped are kept, but no more begin.
    EXPECT_GE(played, 7);
    EXPECT_LE(played, 12);
    EXPECT_LE(part.games.size(), static_cast<size_t>(played));
  }
  const int played_before = played;
  const auto store = Open(path);
  const BalanceStudy resumed = RunStudy(*store, plan, -1, &played).value();
  EXPECT_EQ(GamesOf(resumed), GamesOf(whole));
  EXPECT_EQ(played, 12 + 9 + 3 - played_before);
  const BalanceStatistics one = Summarize(whole);
  const BalanceStatistics other = Summarize(resumed);
  EXPECT_EQ(one.drama->deficit.mean, other.drama->deficit.mean);
  EXPECT_EQ(one.choices[1]->mean, other.choices[1]->mean);
  EXPECT_EQ(one.pie->chooser_score.mean, other.pie->chooser_score.mean);
  // All there: nothing is played.
  RunStudy(*store, plan, -1, &played).value();
  EXPECT_EQ(played, 0);
}

TEST(BalanceStudyTest, OtherStudiesAreKeptApart) {
  std::set<std::string> studies;
  BalanceStudyKey other = kKey;
  const auto add = [&] {
    studies.insert(ContestOf(other).SerializeAsString());
    return studies.size();
  };
  EXPECT_EQ(add(), 1u);
  EXPECT_EQ(add(), 1u);
  other.identity = "net:12345678-9,sims=4";
  EXPECT_EQ(add(), 2u);
  other.options.seed = 2;
  EXPECT_EQ(add(), 3u);
  other.options.variant = Variant::kHighKingsL1;
  other.options.rule_options.no_progress_limit = 30;
  EXPECT_EQ(add(), 4u);
  other.options.temperature = 0.5;
  EXPECT_EQ(add(), 5u);
}

TEST(BalanceStudyTest, APlaceNamesAGameOfAStudy) {
  for (const BalanceGameId& id :
       {BalanceGameId{.index = 7},
        BalanceGameId{.index = 0, .first = ParseAction("D4").value()}}) {
    EXPECT_EQ(BalanceGameId::AtPlace(id.place()), id);
  }
  EXPECT_EQ(BalanceGameId{.index = 7}.place(), 7u);
}

TEST(BalanceStudyTest, OneProcessHasItsStoreAtATime) {
  const std::string path = PathOf("busy.db");
  const auto first = Open(path);
  EXPECT_THAT(
      std::string(record::OpenGameStore(path, record::StoreMode::kExclusive)
                      .status()
                      .message()),
      HasSubstr("in use by another process"));
  EXPECT_TRUE(record::OpenGameStore(path, record::StoreMode::kReadOnly).ok());
}

TEST(BalanceStudyTest, APrecisionEndsTheGames) {
  const BalancePlan plan = {
      .games = 4 * kBalanceBlock, .precision = 0.09, .first_games = 0};
  const auto store = Open(":memory:");
  const BalanceStudy study = RunStudy(*store, plan).value();
  // Scores of 0 and 1 want some 1.96^2 / 4 / 0.09^2 = 119 games.
  EXPECT_EQ(study.games.size() % kBalanceBlock, 0u);
  EXPECT_LT(study.games.size(), 4u * kBalanceBlock);
  const Interval score = FirstSideScore(study.games);
  EXPECT_LE((score.high - score.low) / 2, 0.09);
}

}  // namespace
}  // namespace tara::eval
