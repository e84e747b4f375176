#include "tara/record/game_store.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/record/game_record.h"
#include "tests/base/temporary_folder.h"
#include "tests/status_matchers.h"

namespace tara::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

proto::GameRecord RandomGame(Variant variant, uint64_t game_index,
                             uint32_t generation = 0) {
  State state = InitialState(variant);
  proto::GameRecord record = NewGameRecord(state, {.seed = game_index,
                                                   .model_id = "random",
                                                   .generation = generation,
                                                   .game_index = game_index});
  Random random(DeriveSeed(1, game_index, StreamPurpose::kTest));
  while (!state.finished()) {
    const LegalSet legal = LegalActions(state);
    const Action action = legal.Nth(random.Below(legal.Count()));
    AddStep(action, record);
    ApplyAction(action, state);
  }
  SetResult(state, record);
  return record;
}

// A record with the columns of a query, not a game that can be replayed.
proto::GameRecord Columns(uint64_t game_index, const std::string& variant,
                          uint32_t generation, int points_red, int points_blue,
                          int length = 1, const std::string& ended_by = "out") {
  proto::GameRecord record;
  record.set_game_index(game_index);
  record.set_variant(variant);
  record.set_rule_options("-");
  record.set_generation(generation);
  for (int i = 0; i < length; ++i) record.add_steps();
  record.mutable_result()->add_points(points_red);
  record.mutable_result()->add_points(points_blue);
  record.mutable_result()->set_ended_by(ended_by);
  return record;
}

class GameStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<GameStore> Open(StoreMode mode = StoreMode::kReadWrite) {
    return OpenGameStore(path_, mode).value();
  }

  // Opens the file, expecting an error.
  absl::Status OpenError(StoreMode mode) {
    return OpenGameStore(path_, mode).status();
  }

  void WriteFile(const std::string& contents) {
    std::ofstream(path_, std::ios::binary) << contents;
  }

  // Runs SQL on the file behind the store's back.
  void RunSql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message),
              SQLITE_OK)
        << message;
    sqlite3_close(db);
  }

  int64_t FilesHere() const {
    return std::distance(std::filesystem::directory_iterator(folder_.path()),
                         {});
  }

  const TemporaryFolder folder_;
  std::string path_ = folder_.At("games.sqlite");
};

TEST_F(GameStoreTest, AGameComesBackAsItWasAdded) {
  for (const VariantInfo& info : kVariants) {
    const proto::GameRecord game =
        RandomGame(info.variant, static_cast<uint64_t>(info.variant), 2);
    ASSERT_TRUE(Open()->Add(game).ok());
    const proto::GameRecord read =
        Open(StoreMode::kReadOnly)->Get(game.game_index()).value();
    EXPECT_EQ(read.SerializeAsString(), game.SerializeAsString());
    EXPECT_TRUE(ValidateRecord(read).ok());
  }
}

TEST_F(GameStoreTest, ListGivesTheColumnsOfTheRecord) {
  const absl::Time before = absl::Now();
  const proto::GameRecord game = RandomGame(Variant::kPoisonedChalice, 7, 4);
  std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(game).ok());
  const std::vector<GameRow> rows = store->List({}).value();
  ASSERT_EQ(rows.size(), 1u);
  const GameRow& row = rows.front();
  EXPECT_EQ(row.game_index, 7u);
  EXPECT_EQ(row.variant, "poisoned_chalice");
  EXPECT_EQ(row.rule_options, "-");
  EXPECT_EQ(row.model_id, "random");
  EXPECT_EQ(row.ended_by, "out");
  EXPECT_EQ(row.generation, 4u);
  EXPECT_EQ(row.length, game.steps_size());
  EXPECT_EQ(row.points_red, game.result().points(0));
  EXPECT_EQ(row.points_blue, game.result().points(1));
  EXPECT_GE(row.finished_unix_ms, absl::ToUnixMillis(before));
  EXPECT_LE(row.finished_unix_ms, absl::ToUnixMillis(absl::Now()));
}

TEST_F(GameStoreTest, QueriesSelectByVariantGenerationAndNumber) {
  std::unique_ptr<GameStore> store = Open();
  // Indices need not arrive in order.
  ASSERT_TRUE(store
                  ->AddAll({Columns(5, "a", 1, 0, 0), Columns(1, "a", 0, 0, 0),
                            Columns(2, "b", 0, 0, 0), Columns(9, "a", 1, 0, 0),
                            Columns(4, "b", 1, 0, 0)})
                  .ok());
  EXPECT_THAT(*store->Indices({}), ElementsAre(1, 2, 4, 5, 9));
  EXPECT_THAT(*store->Indices({.variant = "a"}), ElementsAre(1, 5, 9));
  EXPECT_THAT(*store->Indices({.generation = 1}), ElementsAre(4, 5, 9));
  EXPECT_THAT(*store->Indices({.variant = "b", .generation = 0}),
              ElementsAre(2));
  EXPECT_THAT(*store->Indices({.variant = "c"}), IsEmpty());
  EXPECT_THAT(*store->Indices({.limit = 2}), ElementsAre(1, 2));
  EXPECT_THAT(*store->Indices({.limit = 0}), IsEmpty());
  // The newest games, yet ascending.
  EXPECT_THAT(*store->Indices({.limit = 3, .newest_first = true}),
              ElementsAre(4, 5, 9));
  const auto rows = store->List({.limit = 2, .newest_first = true});
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].game_index, 9u);
  EXPECT_EQ((*rows)[1].game_index, 5u);
  EXPECT_EQ(*store->Count({}), 5);
  EXPECT_EQ(*store->Count({.variant = "a"}), 3);
  EXPECT_EQ(*store->Count({.variant = "a", .generation = 1}), 2);
  EXPECT_EQ(*store->Count({.limit = 4}), 4);
  EXPECT_EQ(*store->Count({.limit = 40}), 5);
}

TEST_F(GameStoreTest, ANameInAQueryIsNoSql) {
  std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(Columns(1, "a'; DROP TABLE games; --", 0, 0, 0)).ok());
  EXPECT_EQ(*store->Count({.variant = "a'; DROP TABLE games; --"}), 1);
  EXPECT_EQ(*store->Count({.variant = "' OR 1 = 1 --"}), 0);
}

TEST_F(GameStoreTest, StatisticsAddUpByVariant) {
  std::unique_ptr<GameStore> store = Open();
  EXPECT_TRUE(store->AddAll({}).ok());
  EXPECT_THAT(*store->Statistics({}), IsEmpty());
  ASSERT_TRUE(
      store
          ->AddAll({Columns(1, "b", 0, 3, 0, 10),
                    Columns(2, "a", 0, 1, 1, 40, "no_progress"),
                    Columns(3, "a", 0, 4, 0, 41), Columns(4, "a", 1, 0, 2, 42),
                    Columns(5, "a", 1, 3, 1, 45, "passed")})
          .ok());
  const std::vector<GameStatistics> all = store->Statistics({}).value();
  ASSERT_EQ(all.size(), 2u);
  const GameStatistics& a = all[0];
  EXPECT_EQ(a.variant, "a");
  EXPECT_EQ(a.rule_options, "-");
  EXPECT_EQ(a.games, 4);
  EXPECT_EQ(a.red_wins, 2);
  EXPECT_EQ(a.blue_wins, 1);
  EXPECT_EQ(a.draws, 1);
  EXPECT_DOUBLE_EQ(a.mean_length, (40 + 41 + 42 + 45) / 4.0);
  EXPECT_DOUBLE_EQ(a.mean_points_red, (1 + 4 + 0 + 3) / 4.0);
  EXPECT_DOUBLE_EQ(a.mean_points_blue, (1 + 0 + 2 + 1) / 4.0);
  EXPECT_THAT(a.ended_by, ElementsAre(Pair("no_progress", 1), Pair("out", 2),
                                      Pair("passed", 1)));
  EXPECT_EQ(all[1].variant, "b");
  EXPECT_EQ(all[1].games, 1);
  const auto later = store->Statistics({.variant = "a", .generation = 1});
  ASSERT_EQ(later->size(), 1u);
  EXPECT_EQ(later->front().games, 2);
}

TEST_F(GameStoreTest, StatisticsAreByRulesAndCompensationDecidesWhoWins) {
  std::unique_ptr<GameStore> store = Open();
  std::vector<proto::GameRecord> games = {
      Columns(1, "a", 0, 3, 0), Columns(2, "a", 0, 2, 0),
      Columns(3, "a", 0, 5, 3), Columns(4, "a", 0, 4, 3)};
  for (proto::GameRecord& game : games) {
    game.set_rule_options("compensation=2,pie_rule=true");
  }
  games.push_back(Columns(5, "a", 0, 0, 2));
  ASSERT_TRUE(store->AddAll(games).ok());
  const auto all = store->Statistics({});
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].rule_options, "-");
  EXPECT_EQ((*all)[0].blue_wins, 1);
  EXPECT_EQ((*all)[1].rule_options, "compensation=2,pie_rule=true");
  EXPECT_EQ((*all)[1].red_wins, 1);
  EXPECT_EQ((*all)[1].draws, 2);
  EXPECT_EQ((*all)[1].blue_wins, 1);
  EXPECT_DOUBLE_EQ((*all)[1].mean_points_red, 14 / 4.0);
}

TEST_F(GameStoreTest, AnIndexIsTakenOnceAndNothingOfARefusedBatchStays) {
  std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(Columns(3, "a", 0, 1, 1)).ok());
  EXPECT_THAT(
      store->AddAll({Columns(2, "a", 0, 1, 1), Columns(3, "b", 0, 1, 1)}),
      StatusIs(absl::StatusCode::kAlreadyExists,
               path_ + ": game 3 is in the store already"));
  EXPECT_THAT(*store->Indices({}), ElementsAre(3));
  EXPECT_EQ(store->Get(3)->variant(), "a");
  EXPECT_THAT(store->Get(2), StatusIs(absl::StatusCode::kNotFound,
                                      path_ + ": no game has the index 2"));
  // The store goes on.
  EXPECT_TRUE(store->Add(Columns(4, "a", 0, 1, 1)).ok());
}

TEST_F(GameStoreTest, UnfinishedGamesAndHugeIndicesAreRefused) {
  std::unique_ptr<GameStore> store = Open();
  const auto expect_refused = [&](const proto::GameRecord& game,
                                  const std::string& why) {
    EXPECT_THAT(store->Add(game),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
  };
  proto::GameRecord game = Columns(3, "a", 0, 1, 1);
  game.set_model_id("a\xff");
  expect_refused(game, "is not valid UTF-8");
  game.clear_result();
  expect_refused(game, "game 3: no result");
  expect_refused(Columns(uint64_t{1} << 63, "a", 0, 1, 1), "exceeds 2^63 - 1");
  EXPECT_EQ(*store->Count({}), 0);
}

TEST_F(GameStoreTest, AReadOnlyStoreTakesNoGames) {
  ASSERT_TRUE(Open()->Add(Columns(3, "a", 0, 1, 1)).ok());
  std::unique_ptr<GameStore> store = Open(StoreMode::kReadOnly);
  EXPECT_THAT(
      store->Add(Columns(4, "a", 0, 1, 1)),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("read-only")));
  EXPECT_EQ(*store->Count({}), 1);
}

TEST_F(GameStoreTest, ThreadsMayShareAStore) {
  constexpr int kThreads = 4;
  constexpr int kGames = 25;
  std::unique_ptr<GameStore> store = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < kGames; ++i) {
        const uint64_t index = t * kGames + i;
        EXPECT_TRUE(store->Add(Columns(index, "a", 0, 1, 1)).ok());
        EXPECT_EQ(store->Get(index)->game_index(), index);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*store->Count({}), kThreads * kGames);
}

TEST_F(GameStoreTest, TwoConnectionsMayWriteInTurns) {
  std::unique_ptr<GameStore> one = Open();
  std::unique_ptr<GameStore> two = Open();
  std::thread other([&two] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(two->Add(Columns(1000 + i, "a", 0, 1, 1)).ok());
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(one->Add(Columns(i, "a", 0, 1, 1)).ok());
  }
  other.join();
  EXPECT_EQ(*one->Count({}), 100);
}

// --- Contests ----------------------------------------------------------------

proto::GameRecord OfContest(const std::string& conditions, uint64_t place,
                            int points_red = 1) {
  proto::GameRecord game = Columns(0, "four_treasures", 0, points_red, 0);
  game.mutable_contest()->set_conditions(conditions);
  game.mutable_contest()->set_player_a("a");
  game.mutable_contest()->set_player_b("b");
  game.set_place(place);
  return game;
}

std::vector<uint64_t> PlacesOf(GameStore& store, const std::string& variant,
                               const std::string& conditions) {
  std::vector<uint64_t> places;
  const proto::Contest contest = OfContest(conditions, 0).contest();
  const auto games = store.GamesOf(variant, contest);
  for (const proto::GameRecord& game : *games) {
    places.push_back(game.place());
  }
  return places;
}

TEST_F(GameStoreTest, GamesOfAContestAreFoundByPlace) {
  const std::unique_ptr<GameStore> store = Open();
  constexpr uint64_t kFar = (uint64_t{7} << 32) + 1;
  for (const uint64_t place : {uint64_t{5}, uint64_t{0}, kFar, uint64_t{2}}) {
    ASSERT_TRUE(store->Add(OfContest("seed=1", place)).ok());
  }
  ASSERT_TRUE(store->Add(OfContest("seed=2", 0)).ok());
  EXPECT_THAT(PlacesOf(*store, "four_treasures", "seed=1"),
              ElementsAre(0, 2, 5, kFar));
  EXPECT_THAT(PlacesOf(*store, "four_treasures", "seed=2"), ElementsAre(0));
  EXPECT_THAT(PlacesOf(*store, "sacred_hill_l1", "seed=1"), IsEmpty());
  EXPECT_EQ(store->Contests()->size(), 2u);
}

TEST_F(GameStoreTest, GamesOfContestsTakeTheNextFreeIndices) {
  const std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(Columns(41, "four_treasures", 0, 1, 1)).ok());
  ASSERT_TRUE(store->Add(OfContest("seed=1", 3)).ok());
  ASSERT_TRUE(store->Add(OfContest("seed=2", 3)).ok());
  EXPECT_THAT(*store->Indices({}), ElementsAre(41, 42, 43));
  EXPECT_EQ(store->Get(43)->game_index(), 43u);
  EXPECT_EQ(store->Get(43)->contest().conditions(), "seed=2");
}

TEST_F(GameStoreTest, AGameOfAContestThatIsPlayedAgainTakesThePlaceOfTheOld) {
  const std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(OfContest("seed=1", 3, 5)).ok());
  ASSERT_TRUE(store->Add(OfContest("seed=1", 4, 6)).ok());
  ASSERT_TRUE(store->Add(OfContest("seed=1", 3, 7)).ok());
  EXPECT_EQ(*store->Count({}), 2);
  const auto games =
      *store->GamesOf("four_treasures", OfContest("seed=1", 0).contest());
  ASSERT_EQ(games.size(), 2u);
  EXPECT_EQ(games[0].result().points(0), 7);
}

TEST_F(GameStoreTest, AStoreOfBeforeContestsIsReadAndGoneOnWith) {
  ASSERT_TRUE(Open()->Add(Columns(0, "four_treasures", 0, 1, 1)).ok());
  RunSql("DROP TABLE contest_games; DROP TABLE contests");
  EXPECT_EQ(Open(StoreMode::kReadOnly)->List({})->size(), 1u);
  const std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(OfContest("seed=1", 0)).ok());
  EXPECT_THAT(*store->Indices({}), ElementsAre(0, 1));
}

TEST_F(GameStoreTest, TheWayAGameEndedIsAColumn) {
  const std::unique_ptr<GameStore> store = Open();
  proto::GameRecord game = OfContest("seed=1", 0);
  game.set_unrecorded_length(30);
  ASSERT_TRUE(store->Add(game).ok());
  EXPECT_EQ(store->List({})->at(0).length, 30);
  const auto ending_of = [&](const proto::GameResult& result) {
    *game.mutable_result() = result;
    EXPECT_TRUE(store->Add(game).ok());
    return store->List({})->at(0).ended_by;
  };
  proto::GameResult result = game.result();
  EXPECT_EQ(ending_of(result), "unknown");
  result.set_adjudication("proof");
  EXPECT_EQ(ending_of(result), "proof");
  result.set_forfeited_by(1);
  EXPECT_EQ(ending_of(result), "time");
  result.set_fault("crashed");
  EXPECT_EQ(ending_of(result), "fault");
  result.set_resigned_by(0);
  EXPECT_EQ(ending_of(result), "resigned");
}

TEST_F(GameStoreTest, OneConnectionMayHaveAStoreForItself) {
  const std::unique_ptr<GameStore> first = Open(StoreMode::kExclusive);
  EXPECT_EQ(
      OpenError(StoreMode::kExclusive).message(),
      path_ + ": in use by another process; expected a game store of its own");
  EXPECT_EQ(*Open(StoreMode::kReadOnly)->Count({}), 0);
}

// --- Files -------------------------------------------------------------------

TEST_F(GameStoreTest, WhatIsMissingIsNotFoundAndAnEmptyFileNoStore) {
  EXPECT_THAT(
      OpenError(StoreMode::kReadOnly),
      StatusIs(absl::StatusCode::kNotFound, path_ + ": no such game store"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  WriteFile("");
  EXPECT_THAT(OpenError(StoreMode::kReadOnly),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       path_ + ": no game store: an empty file"));
  EXPECT_TRUE(Open()->Add(Columns(1, "a", 0, 1, 1)).ok());
  path_ = folder_.At("no/games.sqlite");
  EXPECT_THAT(
      OpenError(StoreMode::kReadWrite),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no such folder")));
}

TEST_F(GameStoreTest, FilesOfAnotherKindAreRefusedAndLeftAlone) {
  const std::string text(5000, 'x');
  WriteFile(text);
  for (const StoreMode mode : {StoreMode::kReadOnly, StoreMode::kReadWrite}) {
    EXPECT_THAT(OpenError(mode), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("not a SQLite file")));
  }
  std::ifstream file(path_, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(GameStoreTest, DatabasesThatAreNoStoresAreRefused) {
  RunSql("CREATE TABLE games (name TEXT)");
  EXPECT_THAT(OpenError(StoreMode::kReadWrite),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("a SQLite file of another program")));
  std::filesystem::remove(path_);
  Open().reset();
  RunSql("PRAGMA user_version = 2");
  EXPECT_THAT(
      OpenError(StoreMode::kReadOnly),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("game store of version 2; this program reads version "
                         "1 (written by a newer program)")));
  RunSql("PRAGMA user_version = 1; DROP TABLE games");
  EXPECT_THAT(
      OpenError(StoreMode::kReadOnly),
      StatusIs(absl::StatusCode::kDataLoss, HasSubstr("no such table: games")));
  path_ = folder_.path();
  EXPECT_THAT(OpenError(StoreMode::kReadWrite),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no game store: a folder")));
}

TEST_F(GameStoreTest, ATruncatedStoreIsDamaged) {
  std::vector<proto::GameRecord> games;
  for (int i = 0; i < 50; ++i) {
    games.push_back(RandomGame(Variant::kSacredHillL1, i));
  }
  ASSERT_TRUE(Open()->AddAll(games).ok());
  std::filesystem::resize_file(path_, 8192);
  EXPECT_THAT(OpenError(StoreMode::kReadWrite),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path_)));
}

TEST_F(GameStoreTest, ADamagedRecordIsNamedAndTheOthersStay) {
  std::unique_ptr<GameStore> store = Open();
  const proto::GameRecord whole = RandomGame(Variant::kSacredHillL1, 1);
  ASSERT_TRUE(store->Add(whole).ok());
  for (int i = 2; i <= 4; ++i) {
    ASSERT_TRUE(store->Add(RandomGame(Variant::kSacredHillL1, i)).ok());
  }
  RunSql(
      "UPDATE games SET record = x'' WHERE game_index = 2;"
      "UPDATE games SET record = substr(record, 1, 60) WHERE game_index = 3;"
      // The checksum finds a changed byte at the end of the data.
      "UPDATE games SET record = CAST(substr(record, 1, length(record) - 6) || "
      "x'55' || substr(record, -5) AS BLOB) WHERE game_index = 4;");
  for (int i = 2; i <= 4; ++i) {
    EXPECT_THAT(store->Get(i),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr(path_ + ": game " + std::to_string(i) +
                                   ": damaged record: ")));
  }
  EXPECT_EQ(store->Get(1)->SerializeAsString(), whole.SerializeAsString());
}

TEST_F(GameStoreTest, WhatIsNoFileIsRefusedAndNothingIsMadeBesideIt) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  for (const StoreMode mode : {StoreMode::kReadOnly, StoreMode::kReadWrite}) {
    EXPECT_THAT(std::string(OpenError(mode).message()),
                HasSubstr(path_ + ": no game store: a device or a pipe"));
  }
  EXPECT_EQ(FilesHere(), 1);
  path_ = folder_.At("a") + std::string(1, '\0') + "b";
  EXPECT_THAT(OpenError(StoreMode::kReadWrite),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(FilesHere(), 1);
}

// The folder is one that cannot be written to, as another user's.
TEST_F(GameStoreTest, ACopyWithItsLogAloneIsReadWhereNothingCanBeWritten) {
  const std::string original = path_;
  std::unique_ptr<GameStore> writer = Open();
  ASSERT_TRUE(writer->Add(Columns(1, "a", 0, 1, 1)).ok());
  std::filesystem::create_directory(folder_.At("copy"));
  // The name of a host, if that were a URI as it stands.
  const std::string copy = "/" + folder_.At("copy/games.sqlite");
  std::filesystem::copy_file(original, copy);
  std::filesystem::copy_file(original + "-wal", copy + "-wal");
  const std::string without_log = "/" + folder_.At("copy/whole.sqlite");
  writer.reset();
  std::filesystem::copy_file(original, without_log);
  const std::string empty_log = folder_.At("copy/empty.sqlite");
  std::filesystem::copy_file(original, empty_log);
  std::ofstream(empty_log + "-wal");
  setenv("FAIL_ACCESS", std::to_string(EACCES).c_str(), 1);
  for (const std::string& path : {copy, without_log, empty_log}) {
    path_ = path;
    EXPECT_THAT(*Open(StoreMode::kReadOnly)->Indices({}), ElementsAre(1));
  }
  unsetenv("FAIL_ACCESS");
  EXPECT_EQ(std::distance(
                std::filesystem::directory_iterator(folder_.At("copy")), {}),
            5);
}

TEST_F(GameStoreTest, ReadingLeavesNoFilesBehindAndDoesNotDisturbAWriter) {
  ASSERT_TRUE(Open()->Add(Columns(1, "a", 0, 1, 1)).ok());
  ASSERT_EQ(FilesHere(), 1);
  EXPECT_THAT(*Open(StoreMode::kReadOnly)->Indices({}), ElementsAre(1));
  EXPECT_EQ(FilesHere(), 1);
  std::unique_ptr<GameStore> writer = Open();
  ASSERT_TRUE(writer->Add(Columns(2, "a", 0, 1, 1)).ok());
  std::unique_ptr<GameStore> reader = Open(StoreMode::kReadOnly);
  EXPECT_THAT(*reader->Indices({}), ElementsAre(1, 2));
  EXPECT_FALSE(reader->Add(Columns(3, "a", 0, 1, 1)).ok());
  reader.reset();
  ASSERT_TRUE(writer->Add(Columns(3, "a", 0, 1, 1)).ok());
  reader = Open(StoreMode::kReadOnly);
  writer.reset();
  EXPECT_THAT(*reader->Indices({}), ElementsAre(1, 2, 3));
  reader.reset();
  EXPECT_EQ(FilesHere(), 1);
}

TEST_F(GameStoreTest, AFileSystemWithoutLocksIsNamedAtOnce) {
  Open().reset();
  setenv("FAIL_LOCKS", std::to_string(ENOLCK).c_str(), 1);
  for (const StoreMode mode : {StoreMode::kReadOnly, StoreMode::kReadWrite}) {
    EXPECT_THAT(std::string(OpenError(mode).message()),
                HasSubstr("its file system has no locks"));
  }
  unsetenv("FAIL_LOCKS");
}

TEST_F(GameStoreTest, AStoreThatIsRemovedMeanwhileTakesNoMoreGames) {
  std::unique_ptr<GameStore> store = Open();
  ASSERT_TRUE(store->Add(Columns(1, "a", 0, 1, 1)).ok());
  std::filesystem::remove(path_);
  EXPECT_THAT(store->Add(Columns(2, "a", 0, 1, 1)),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr(path_ + ": was removed")));
}

TEST_F(GameStoreTest, TheLogShrinksOnceAForeignReaderIsGone) {
  std::unique_ptr<GameStore> store = Open();
  uint64_t next = 0;
  const auto add = [&] {
    ASSERT_TRUE(
        store->Add(Columns(next++, std::string(100'000, 'a'), 0, 1, 1)).ok());
  };
  add();
  const auto log_bytes = [&] {
    return std::filesystem::file_size(path_ + "-wal");
  };
  constexpr uintmax_t kMost = 16 << 20;
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT COUNT(*) FROM games", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  while (log_bytes() <= kMost + kMost / 4) add();
  sqlite3_close(reader);
  for (int i = 0; i < 3; ++i) add();
  EXPECT_LE(log_bytes(), kMost);
}

TEST_F(GameStoreTest, AColumnThatIsNotItsRecordsIsDamage) {
  Open()
      ->AddAll({RandomGame(Variant::kSacredHillL1, 1),
                RandomGame(Variant::kSacredHillL1, 2)})
      .IgnoreError();
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"variant", "'sacred_hill_l2'"},
      {"rule_options", "'x'"},
      {"generation", "7"},
      {"model_id", "'x'"},
      {"length", "length + 1"},
      {"points_red", "points_red + 1"},
      {"ended_by", "'x'"},
      {"points_blue", "points_blue + 1"}};
  for (const auto& [column, value] : changes) {
    ASSERT_TRUE(Open()->CheckRow(Open()->List({})->back()).ok());
    RunSql("CREATE TABLE before AS SELECT * FROM games; UPDATE games SET " +
           column + " = " + value + " WHERE game_index = 2");
    const std::vector<GameRow> rows = *Open()->List({});
    EXPECT_TRUE(Open()->CheckRow(rows[0]).ok());
    EXPECT_THAT(Open()->CheckRow(rows[1]),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr("game 2: damaged: the column " + column)));
    RunSql(
        "INSERT OR REPLACE INTO games SELECT * FROM before; DROP TABLE "
        "before");
  }
}

// A page of the table has another index for the second of three games: a search
// among them goes the wrong way.
TEST_F(GameStoreTest, AGameThatIsListedButNotFoundIsDamage) {
  Open()
      ->AddAll({Columns(1, "a", 0, 1, 1), Columns(2, "a", 0, 1, 1),
                Columns(3, "a", 0, 1, 1)})
      .IgnoreError();
  std::ifstream in(path_, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  in.close();
  // Page 2 is the table's (https://www.sqlite.org/fileformat2.html): the places
  // of its cells follow 8 bytes; a cell begins with its size and its index.
  const std::string page = bytes.substr(4096, 4096);
  ASSERT_EQ(page[0], 0x0d);
  ASSERT_EQ(page[4], 3);
  const size_t cell = 4096 + static_cast<uint8_t>(page[10]) * size_t{256} +
                      static_cast<uint8_t>(page[11]);
  const size_t index = cell + (bytes[cell] < 0 ? 2 : 1);
  ASSERT_EQ(bytes[index], 2);
  bytes[index] = 100;
  WriteFile(bytes);
  std::unique_ptr<GameStore> store = Open(StoreMode::kReadOnly);
  EXPECT_THAT(store->Get(3), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store->GetListed(3),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("game 3 is listed, but not found")));
  EXPECT_TRUE(store->GetListed(1).ok());
  EXPECT_THAT(store->GetListed(50), StatusIs(absl::StatusCode::kNotFound));
}

// Adds games from `first` on until it is killed, and writes each index to the
// pipe once its Add has returned.
[[noreturn]] void AddUntilKilled(const std::string& path, uint64_t first,
                                 int pipe) {
  absl::StatusOr<std::unique_ptr<GameStore>> store =
      OpenGameStore(path, StoreMode::kReadWrite);
  if (!store.ok()) _exit(3);
  for (uint64_t index = first;; ++index) {
    if (!(*store)->Add(RandomGame(Variant::kSacredHillL1, index)).ok()) {
      _exit(4);
    }
    if (write(pipe, &index, sizeof(index)) != sizeof(index)) _exit(5);
  }
}

TEST_F(GameStoreTest, KillingTheWriterLosesNoFinishedGame) {
  constexpr int kKills = 10;
  Random random(DeriveSeed(1, 0, StreamPurpose::kTest));
  uint64_t next = 0;
  std::vector<uint64_t> acknowledged;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    int fds[2];
    ASSERT_EQ(pipe(fds), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(fds[0]);
      AddUntilKilled(path_, next, fds[1]);
    }
    close(fds[1]);
    // Every other time not before a game is there, however busy the machine.
    uint64_t index = 0;
    if (kill_number % 2 == 1) {
      ASSERT_EQ(read(fds[0], &index, sizeof(index)), ssize_t{sizeof(index)});
      acknowledged.push_back(index);
    }
    // From the first moment (the store not yet made) to many games later.
    absl::SleepFor(absl::Microseconds(random.Below(60'000)));
    kill(child, SIGKILL);
    int exit_status = 0;
    ASSERT_EQ(waitpid(child, &exit_status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(exit_status)) << "child exited by itself";
    while (read(fds[0], &index, sizeof(index)) == sizeof(index)) {
      acknowledged.push_back(index);
    }
    close(fds[0]);

    std::unique_ptr<GameStore> store = Open();
    for (const uint64_t game_index : acknowledged) {
      ASSERT_TRUE(ValidateRecord(store->Get(game_index).value()).ok());
    }
    // The kill may come between the commit and its acknowledgement.
    const std::vector<uint64_t> stored = *store->Indices({});
    EXPECT_LE(stored.size(), acknowledged.size() + kill_number + 1);
    next = stored.empty() ? 0 : stored.back() + 1;
  }
  EXPECT_FALSE(acknowledged.empty()) << "no game was ever added: no test";
}

}  // namespace
}  // namespace tara::record
