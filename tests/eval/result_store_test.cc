#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/sqlite.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/arena/contest.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A path of this test's own, without a file.
std::string Path() {
  const std::string path =
      testing::TempDir() +
      testing::UnitTest::GetInstance()->current_test_info()->name() + ".db";
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(path + end);
  }
  return path;
}

std::unique_ptr<ResultStore> Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ResultStore>> store = ResultStore::Open(path);
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

const Contest kContest = {.variant = "four_treasures",
                          .conditions = "seed=1",
                          .player_a = "random",
                          .player_b = "greedy"};

TEST(ResultStoreTest, GamesAreThereWhenTheFileIsOpenedAgain) {
  const std::string path = Path();
  const ArenaGame lost_on_time = {.pair = 3,
                                  .match = 7,
                                  .a_is_red = false,
                                  .margin = -2,
                                  .length = 41,
                                  .forfeit = Forfeit::kByA,
                                  .adjudication = Adjudication::kProof,
                                  .time_a = {20, absl::Milliseconds(1500)},
                                  .time_b = {21, absl::Microseconds(7)},
                                  .fault = "Fake 1.0: ended (exit status 3)"};
  {
    const std::unique_ptr<ResultStore> store = Open(path);
    const int64_t contest = *store->Find(kContest);
    ASSERT_TRUE(store->Add(contest, lost_on_time).ok());
    ASSERT_TRUE(
        store->Add(contest, {.pair = 3, .a_is_red = true, .margin = 5}).ok());
    ASSERT_TRUE(
        store->Add(contest, {.pair = 0, .a_is_red = true, .margin = 1}).ok());
  }
  const std::unique_ptr<ResultStore> store = Open(path);
  const std::vector<ArenaGame> games = *store->Games(*store->Find(kContest));
  ASSERT_EQ(games.size(), 3u);
  EXPECT_EQ(games[0].pair, 0);
  EXPECT_EQ(games[0].match, -1);
  EXPECT_TRUE(games[1].a_is_red);
  EXPECT_EQ(games[1].margin, 5);
  const ArenaGame& last = games[2];
  EXPECT_EQ(last.pair, lost_on_time.pair);
  EXPECT_EQ(last.match, lost_on_time.match);
  EXPECT_FALSE(last.a_is_red);
  EXPECT_EQ(last.margin, lost_on_time.margin);
  EXPECT_EQ(last.length, lost_on_time.length);
  EXPECT_EQ(last.forfeit, lost_on_time.forfeit);
  EXPECT_EQ(last.adjudication, lost_on_time.adjudication);
  EXPECT_EQ(last.fault, lost_on_time.fault);
  EXPECT_EQ(games[1].fault, "");
  EXPECT_EQ(last.time_a.moves, 20);
  EXPECT_EQ(last.time_a.time, lost_on_time.time_a.time);
  EXPECT_EQ(last.time_b.time, lost_on_time.time_b.time);
}

TEST(ResultStoreTest, ContestsThatDifferInAnythingAreKeptApart) {
  const std::unique_ptr<ResultStore> store = Open(Path());
  const int64_t contest = *store->Find(kContest);
  EXPECT_EQ(*store->Find(kContest), contest);
  for (std::string Contest::* field :
       {&Contest::variant, &Contest::conditions, &Contest::player_a,
        &Contest::player_b}) {
    Contest other = kContest;
    other.*field += "x";
    const int64_t id = *store->Find(other);
    EXPECT_NE(id, contest);
    ASSERT_TRUE(store->Add(id, {.pair = 0, .a_is_red = true}).ok());
  }
  EXPECT_TRUE(store->Games(contest)->empty());
}

TEST(ResultStoreTest, AGameThatIsPlayedAgainTakesThePlaceOfTheOld) {
  const std::unique_ptr<ResultStore> store = Open(Path());
  const int64_t contest = *store->Find(kContest);
  ASSERT_TRUE(
      store->Add(contest, {.pair = 0, .margin = 5, .fault = "crashed"}).ok());
  ASSERT_TRUE(store->Add(contest, {.pair = 0, .margin = 7}).ok());
  const std::vector<ArenaGame> games = *store->Games(contest);
  ASSERT_EQ(games.size(), 1u);
  EXPECT_EQ(games[0].margin, 7);
  EXPECT_EQ(games[0].fault, "");
}

TEST(ResultStoreTest, FilesOfBeforeFaultsWereKeptAreGoneOnWith) {
  const std::string path = Path();
  {
    const std::unique_ptr<ResultStore> store = Open(path);
    ASSERT_TRUE(store->Add(*store->Find(kContest), {.margin = 5}).ok());
  }
  {
    auto db = SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(db->Execute("DROP TABLE faults", "test").ok());
  }
  const std::unique_ptr<ResultStore> store = Open(path);
  const int64_t contest = *store->Find(kContest);
  ASSERT_TRUE(store->Add(contest, {.pair = 1, .fault = "crashed"}).ok());
  const std::vector<ArenaGame> games = *store->Games(contest);
  ASSERT_EQ(games.size(), 2u);
  EXPECT_EQ(games[0].margin, 5);
  EXPECT_EQ(games[0].fault, "");
  EXPECT_EQ(games[1].fault, "crashed");
}

void Write(const std::string& path, absl::string_view text) {
  std::ofstream(path) << text;
}

TEST(ResultStoreTest, ForeignFilesAreRefused) {
  const std::string path = Path();
  Write(path, "wins,draws,losses\n1,2,3\n and more of it");
  const absl::Status text = ResultStore::Open(path).status();
  EXPECT_EQ(text.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(text.message(), path + ": not a SQLite file");
  EXPECT_EQ(ResultStore::Open(testing::TempDir()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      ResultStore::Open(testing::TempDir() + "none/results.db").status().code(),
      absl::StatusCode::kNotFound);
  std::filesystem::remove(path);
  {
    auto other = SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(other->Execute("CREATE TABLE games (x)", "test").ok());
  }
  EXPECT_THAT(std::string(ResultStore::Open(path).status().message()),
              AllOf(HasSubstr(path), HasSubstr("not a results file"),
                    HasSubstr("of another program")));
}

TEST(ResultStoreTest, DamagedFilesAreReported) {
  const std::string path = Path();
  {
    const std::unique_ptr<ResultStore> store = Open(path);
    const int64_t contest = *store->Find(kContest);
    ASSERT_TRUE(store->Add(contest, {.pair = 0, .margin = 5}).ok());
  }
  {  // the header whole, a game that is none
    auto db = SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(db->Execute("UPDATE games SET forfeit = 9", "test").ok());
  }
  {
    const std::unique_ptr<ResultStore> store = Open(path);
    const absl::Status status = store->Games(*store->Find(kContest)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr("forfeit 9"));
  }
  {  // a table gone
    auto db = SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(db->Execute("DROP TABLE games", "test").ok());
  }
  const absl::Status status = ResultStore::Open(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("damaged results file"), HasSubstr(path)));
  {  // of a program to come
    auto db = SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE(db->Execute("PRAGMA user_version = 7", "test").ok());
  }
  EXPECT_THAT(std::string(ResultStore::Open(path).status().message()),
              HasSubstr("of version 7; this program reads version 1 (written "
                        "by a newer program)"));
}

}  // namespace
}  // namespace tara::eval
