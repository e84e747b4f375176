#include "tara/eval/balance/balance_store.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/atomic_file.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/nn/inference_options.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
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

void Append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}

const BalanceStudyKey kKey = {.options = {.variant = Variant::kFourTreasures},
                              .player = "mcts:sims=4"};

// Runs a study; stops after `stop_after` games if it is not negative.
absl::StatusOr<BalanceStudy> RunStudy(BalanceStore& store,
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

TEST(BalanceStoreTest, AStudyGoesOnWhereItWasBrokenOff) {
  const BalancePlan plan = {.games = 12, .first_games = 1, .pie_games = 3};
  BalanceStore memory;
  const BalanceStudy whole = RunStudy(memory, plan).value();
  ASSERT_EQ(whole.games.size(), 12u);
  const std::string path = PathOf("resumed.jsonl");
  int played = 0;
  {
    BalanceStore store = BalanceStore::Open(path).value();
    const BalanceStudy part = RunStudy(store, plan, 7, &played).value();
    EXPECT_EQ(played, 7);
    EXPECT_LE(part.games.size(), 7u);
  }
  BalanceStore store = BalanceStore::Open(path).value();
  const BalanceStudy resumed = RunStudy(store, plan, -1, &played).value();
  EXPECT_EQ(GamesOf(resumed), GamesOf(whole));
  EXPECT_EQ(played, 12 + 9 + 3 - 7);
  const BalanceStatistics one = Summarize(whole);
  const BalanceStatistics other = Summarize(resumed);
  EXPECT_EQ(one.drama->deficit.mean, other.drama->deficit.mean);
  EXPECT_EQ(one.choices[1]->mean, other.choices[1]->mean);
  EXPECT_EQ(one.pie->chooser_score.mean, other.pie->chooser_score.mean);
  // All there: nothing is played.
  RunStudy(store, plan, -1, &played).value();
  EXPECT_EQ(played, 0);
}

TEST(BalanceStoreTest, OtherStudiesAreKeptApart) {
  BalanceStore store;
  BalanceStudyKey other = kKey;
  EXPECT_EQ(store.StudyFor(kKey).value(), 0);
  EXPECT_EQ(store.StudyFor(kKey).value(), 0);
  other.network = "12345678";
  EXPECT_EQ(store.StudyFor(other).value(), 1);
  other.options.seed = 2;
  EXPECT_EQ(store.StudyFor(other).value(), 2);
  other.options.variant = Variant::kHighKingsL1;
  other.options.rule_options.no_progress_limit = 30;
  EXPECT_EQ(store.StudyFor(other).value(), 3);
  other.options.temperature = 0.5;
  EXPECT_EQ(store.StudyFor(other).value(), 4);
}

TEST(BalanceStoreTest, TellsTheNumberTypesOfANetworksGames) {
  BalanceStore store;
  const auto add = [&](const std::string& player, const std::string& network) {
    BalanceStudyKey key = kKey;
    key.player = player;
    key.network = network;
    const int study = store.StudyFor(key).value();
    EXPECT_TRUE(store.AddGame(study, BalanceGame()).ok());
  };
  EXPECT_TRUE(store.PrecisionsOf("12345678").empty());
  add("net:a,sims=4,precision=int16", "12345678");
  add("mcts:sims=4", "");
  EXPECT_EQ(store.PrecisionsOf("12345678"),
            std::set<nn::Precision>({nn::Precision::kInt16}));
  add("net:b,precision=int8", "87654321");
  add("best:sims=5", "12345678");
  EXPECT_EQ(
      store.PrecisionsOf("12345678"),
      std::set<nn::Precision>({nn::Precision::kInt16, nn::Precision::kAuto}));
}

TEST(BalanceStoreTest, ALineWithoutItsEndIsCutOff) {
  const std::string path = PathOf("cut.jsonl");
  {
    BalanceStore store = BalanceStore::Open(path).value();
    RunStudy(store, {.games = 3, .first_games = 0}).value();
  }
  const std::string before = ReadWholeFile(path).value();
  Append(path, "{\"game\": 3, \"stu");
  {
    BalanceStore store = BalanceStore::Open(path).value();
    EXPECT_EQ(store.games(store.StudyFor(kKey).value()).size(), 3u);
  }
  EXPECT_EQ(ReadWholeFile(path).value(), before);
}

TEST(BalanceStoreTest, DamageIsToldWithItsLine) {
  const struct {
    std::string line;
    std::string message;
  } kDamages[] = {
      {"{nonsense}", "parse error"},
      {"{\"game\":0,\"study\":7,\"actions\":\"D4\",\"red\":[],\"nats\":[]}",
       "study 7 was not described before"},
      {"{\"game\":0,\"study\":0,\"actions\":\"D4 D4\",\"red\":[0,0],"
       "\"nats\":[]}",
       "action 2 of the game, D4, is illegal"},
      {"{\"game\":0,\"study\":0,\"actions\":\"Z9\",\"red\":[0],\"nats\":[]}",
       "Z9"},
      {"{\"game\":0,\"study\":0,\"actions\":\"D4\",\"red\":[],\"nats\":[]}",
       "expected one for each of the 1 actions"},
      {"{\"study\":1,\"variant\":\"chess\",\"player\":\"\",\"network\":\"\"}",
       "unknown variant 'chess'"},
  };
  for (const auto& [line, message] : kDamages) {
    const std::string path = PathOf("damaged.jsonl");
    {
      BalanceStore::Open(path)->StudyFor(kKey).value();
    }
    Append(path, line + "\n");
    const absl::Status status = BalanceStore::Open(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(path), HasSubstr("line 3 is damaged"),
                      HasSubstr(message)));
  }
}

TEST(BalanceStoreTest, AFileOfAnotherKindIsLeftAlone) {
  const std::string path = PathOf("other.txt");
  Append(path, "shopping list\n");
  EXPECT_THAT(std::string(BalanceStore::Open(path).status().message()),
              HasSubstr("not a file of balance games"));
  EXPECT_EQ(ReadWholeFile(path).value(), "shopping list\n");
  EXPECT_EQ(BalanceStore::Open("/no/such/folder/x").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(BalanceStoreTest, OneProcessHasItAtATime) {
  const std::string path = PathOf("busy.jsonl");
  const BalanceStore first = BalanceStore::Open(path).value();
  EXPECT_THAT(std::string(BalanceStore::Open(path).status().message()),
              HasSubstr("in use by another process"));
}

TEST(BalanceRunnerTest, APrecisionEndsTheGames) {
  const BalancePlan plan = {
      .games = 4 * kBalanceBlock, .precision = 0.09, .first_games = 0};
  BalanceStore store;
  const BalanceStudy study = RunStudy(store, plan).value();
  // Scores of 0 and 1 want some 1.96^2 / 4 / 0.09^2 = 119 games.
  EXPECT_EQ(study.games.size() % kBalanceBlock, 0u);
  EXPECT_LT(study.games.size(), 4u * kBalanceBlock);
  const Interval score = FirstSideScore(study.games);
  EXPECT_LE((score.high - score.low) / 2, 0.09);
}

}  // namespace
}  // namespace tara::eval
