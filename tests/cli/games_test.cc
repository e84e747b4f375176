// selfplay and games.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/game.pb.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

// Plays a few games of every variant into a store.
std::string PlayGames(const std::string& store, int games) {
  return OutputOf(
      absl::StrCat("selfplay --variant all --model uniform --sims 4 --games ",
                   games, " --output ", store));
}

TEST(GamesTest, ExportedGamesOfEveryVariantAreVerified) {
  const std::string store = TemporaryPath("games.db");
  PlayGames(store, 2);
  const std::string lines = TemporaryPath("games.jsonl");
  EXPECT_THAT(OutputOf("games export " + store + " -o " + lines), IsEmpty());
  EXPECT_EQ(OutputOf("verify " + lines), "20 passed, 0 failed\n");
  const TaraResult piped =
      RunShell(absl::StrCat("$TARA games export ", store, " | $TARA verify -"));
  EXPECT_EQ(piped.out, "20 passed, 0 failed\n");
}

TEST(GamesTest, SelfPlayGoesOnWhereItStopped) {
  const std::string store = TemporaryPath("games.db");
  EXPECT_THAT(PlayGames(store, 1), StartsWith("10 games played"));
  const std::string first = OutputOf("games export " + store);
  EXPECT_THAT(PlayGames(store, 1), StartsWith("0 games played"));
  EXPECT_EQ(OutputOf("games export " + store), first);
  EXPECT_THAT(PlayGames(store, 2), StartsWith("10 games played"));
  EXPECT_THAT(OutputOf("games export " + store), StartsWith(first));
}

TEST(GamesTest, SelfPlayRefusesAStoreWithOtherGames) {
  const std::string store = TemporaryPath("games.db");
  PlayGames(store, 1);
  EXPECT_THAT(ErrorOf(1, "selfplay --variant four_treasures -o " + store),
              HasSubstr("the store has other games"));
}

// Neither are games of other settings counted, nor do those of a match come
// among them.
TEST(GamesTest, AStoreOfSelfPlayIsOfOneSeedAndSearch) {
  for (const std::string player : {"uniform", "mcts:sims=4"}) {
    const std::string store = TemporaryPath("games.db");
    const auto play = [&](const std::string& games, const std::string& sims,
                          const std::string& seed) {
      return RunTara(absl::StrCat("selfplay --variant four_treasures -o ",
                                  store, " --player ", player, " --games ",
                                  games, " --sims ", sims, " --seed ", seed));
    };
    OutputOf(play("2", "4", "1"));
    EXPECT_THAT(ErrorOf(1, play("3", "4", "2")),
                HasSubstr("games with another --seed"));
    if (player == "uniform") {
      EXPECT_THAT(ErrorOf(1, play("3", "5", "1")),
                  HasSubstr("by uniform,sims=4; expected"));
    }
    EXPECT_THAT(
        ErrorOf(
            1,
            "arena --variant four_treasures random greedy --games 2 --store " +
                store),
        HasSubstr("a store of self-play"));
    EXPECT_THAT(OutputOf(play("3", "4", "1")), StartsWith("1 games played"));
  }
}

TEST(GamesTest, NoOutputTakesThePlaceOfGames) {
  const std::string store = TemporaryPath("games.db");
  PlayGames(store, 1);
  const std::string before = ReadFile(store);
  for (const std::string& command :
       {"games export " + store + " -o " + store,
        "stats --variant four_treasures --games 100 --html " + store,
        "review " + store + " --game 1 --notes " + store}) {
    EXPECT_THAT(ErrorOf(1, command),
                HasSubstr(store + ": is a store of games"));
    EXPECT_EQ(ReadFile(store), before);
  }
  EXPECT_THAT(
      ErrorOf(1, "arena --variant four_treasures random greedy --html " +
                     ::testing::TempDir()),
      HasSubstr(": is a folder; expected a new file"));
}

TEST(GamesTest, ListsShowsAndSumsUp) {
  const std::string store = TemporaryPath("games.db");
  PlayGames(store, 2);
  EXPECT_THAT(OutputOf("games list " + store + " --limit 3"),
              EndsWith("\n3 of 20 games\n"));
  const Json list = JsonOf("games list " + store + " --variant four_treasures");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["variant"], "four_treasures");
  EXPECT_EQ(list[0]["model"], "uniform,sims=4");
  EXPECT_GT(list[0]["index"], list[1]["index"]);

  const std::string index = list[0]["index"].dump();
  EXPECT_THAT(OutputOf("games show " + store + " " + index),
              AllOf(HasSubstr("four_treasures"), HasSubstr("   1  Red "),
                    HasSubstr("Finished")));
  EXPECT_THAT(OutputOf("games show " + store + " " + index + " --ply 0"),
              HasSubstr("5/7/7/7/7/7/5 0 "));
  const std::string picture =
      OutputOf("games show " + store + " " + index + " --ply 1 --format=svg");
  EXPECT_THAT(picture, AllOf(HasSubstr("</svg>\n"), HasSubstr("Last action: "),
                             HasSubstr("Blue ringforts: 0")));
  const Json line = JsonOf("games show " + store + " " + index);
  EXPECT_EQ(line["result"]["points"], list[0]["points"]);

  const Json stats = JsonOf("games stats " + store);
  ASSERT_EQ(stats.size(), 10u);
  for (const Json& each : stats) {
    EXPECT_EQ(each["games"], 2);
    EXPECT_EQ(each["red_wins"].get<int>() + each["draws"].get<int>() +
                  each["blue_wins"].get<int>(),
              2);
  }
  EXPECT_THAT(OutputOf("games stats " + store),
              ContainsRegex("four_treasures +2 +[12] "));
}

TEST(GamesTest, ExportsRuleOptions) {
  const std::string store = TemporaryPath("games.db");
  OutputOf(
      "selfplay --variant high_kings_l1 --option no_progress_limit=5 --games 2 "
      "--sims 2 -o " +
      store);
  const TaraResult exported = RunTara("games export " + store);
  EXPECT_THAT(exported.out, HasSubstr("no_progress_limit"));
  EXPECT_EQ(OutputOf("verify -", exported.out), "2 passed, 0 failed\n");
}

TEST(GamesTest, WhatWasDrawnAndWhatIsProvedIsShown) {
  const std::string store = TemporaryPath("games.db");
  OutputOf("selfplay --variant four_treasures --games 1 --sims 1 -o " + store);
  {
    const auto opened =
        record::OpenGameStore(store, record::StoreMode::kReadWrite).value();
    proto::GameRecord game = opened->Get(0).value();
    game.set_game_index(1);
    game.set_opening_plies(1);
    const State start = InitialState(Variant::kFourTreasures);
    record::SetProved(3, 3, start, *game.mutable_steps(1));
    record::SetProved(-47, -1, start, *game.mutable_steps(2));
    ASSERT_TRUE(opened->Add(game).ok());
  }
  const std::string shown = OutputOf("games show " + store + " 1");
  EXPECT_THAT(shown, HasSubstr("  drawn at random\n   2  "));
  EXPECT_THAT(shown, HasSubstr("  proved +3\n   3  "));
  EXPECT_THAT(shown, HasSubstr("  proved -47 to -1\n   4  "));
}

TEST(GamesTest, ResignedGamesAreShownAsSuchAndLeftOutOfExports) {
  const std::string store = TemporaryPath("games.db");
  OutputOf("selfplay --variant four_treasures --games 2 --sims 1 -o " + store);
  {
    // A third, which Red resigns at once.
    const auto opened =
        record::OpenGameStore(store, record::StoreMode::kReadWrite).value();
    const State start = InitialState(Variant::kFourTreasures);
    proto::GameRecord game = record::NewGameRecord(start, {.game_index = 2});
    record::SetResigned(start, game);
    ASSERT_TRUE(opened->Add(game).ok());
  }
  EXPECT_THAT(OutputOf("games show " + store + " 2"),
              HasSubstr("Red resigns."));
  EXPECT_THAT(ErrorOf(1, "games show " + store + " 2 --format=json"),
              HasSubstr("game 2 was not played to its end"));
  const TaraResult exported = RunTara("games export " + store);
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.err, HasSubstr("left out: 1"));
  EXPECT_EQ(OutputOf("verify -", exported.out), "2 passed, 0 failed\n");
  const Json stats = JsonOf("games stats " + store);
  EXPECT_EQ(stats[0]["ended_by"]["resigned"], 1);
}

TEST(GamesTest, MissingAndDamagedStoresAreFailures) {
  const std::string missing = TemporaryPath("missing.db");
  EXPECT_THAT(ErrorOf(1, "games list " + missing),
              AllOf(StartsWith("tara: "), HasSubstr(missing)));
  const std::string damaged = TemporaryPath("damaged.db");
  WriteFile(damaged, "this is no data base");
  for (const char* const command : {"list", "stats", "export"}) {
    EXPECT_THAT(ErrorOf(1, absl::StrCat("games ", command, " ", damaged)),
                HasSubstr(damaged));
  }
  EXPECT_EQ(RunTara("games show " + damaged + " 0").status, 1);
}

TEST(GamesTest, AListComparesItsColumnsWithTheGames) {
  const std::string store = TemporaryPath("games.db");
  PlayGames(store, 1);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(store.c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "UPDATE games SET model_id = 'Uniform'", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  EXPECT_THAT(ErrorOf(1, "games list " + store),
              HasSubstr("damaged: the column model_id"));
}

TEST(GamesTest, AnExportSaysWhyItCannotWrite) {
  const std::string store = TemporaryPath("games.db");
  PlayGames(store, 2);
  const TaraResult result =
      RunShell("$TARA games export " + store + " > /dev/full");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
}

TEST(GamesTest, AFailedExportLeavesNoFile) {
  const std::string store = TemporaryPath("games.db");
  OutputOf("selfplay --variant four_treasures --games 1 --sims 1 -o " + store);
  const std::string missing_folder = TemporaryPath("folder") + "/x.jsonl";
  EXPECT_THAT(ErrorOf(1, "games export " + store + " -o " + missing_folder),
              HasSubstr("--output " + missing_folder));
}

TEST(GamesTest, AStoreOfAnOlderProgramGoesOn) {
  const std::string store = TemporaryPath("games.db");
  WriteFile(store, ReadFile("tests/cli/witness/games.db"));
  EXPECT_THAT(OutputOf("games list " + store), HasSubstr("2 of 2 games"));
  EXPECT_THAT(
      OutputOf("selfplay --variant four_treasures --games 3 --sims 2 -o " +
               store),
      HasSubstr("1 games played"));
  OutputOf("games show " + store + " 0");
}

}  // namespace
}  // namespace tara::cli
