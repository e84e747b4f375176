#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr char kGolden[] = "tests/golden/four_treasures.jsonl";

// Arguments of a quick review.
Words Review(const std::string& game, const Words& more = {}) {
  return Words{"review", game} + "--player mcts:sims=20 --nodes 2k" + more;
}

void ExpectError(const Words& arguments, int status, const std::string& message,
                 const std::string& input = "") {
  EXPECT_THAT(ErrorOf(status, arguments, input), HasSubstr(message));
}

TEST(ReviewTest, PrintsSumsCourseAndTheWorstActions) {
  const std::string result = OutputOf(Review(kGolden, "--all --threads=2"));
  EXPECT_THAT(result,
              AllOf(StartsWith("four_treasures: "),
                    HasSubstr("Judged by mcts:sims=20; exact from action "),
                    HasSubstr("\nRed "), HasSubstr("\nBlue "),
                    HasSubstr("Red's chances of winning after each action"),
                    HasSubstr("All actions"), HasSubstr("Worst actions, "),
                    HasSubstr("   better  "), HasSubstr("[·]")));
  EXPECT_EQ(OutputOf(Review(kGolden, "--all --threads=1")), result);
  EXPECT_THAT(OutputOf(Review(kGolden, "--worst=0")),
              Not(HasSubstr("   better  ")));
}

TEST(ReviewTest, ReadsGamesInEveryForm) {
  const Json second = JsonOf(Review(kGolden, "--game=2"));
  const std::string line = Lines(ReadFile(kGolden)).at(1);
  EXPECT_EQ(JsonOf(Review("-"), line), second);
  EXPECT_EQ(JsonOf(Review("-", "--game=1"), Json::parse(line).dump(2)), second);
  // Unfinished, and in words.
  Json game = Json::parse(line);
  game.erase("result");
  std::string words = "four_treasures";
  while (game["steps"].size() > 6) game["steps"].erase(6);
  for (Json& step : game["steps"]) {
    absl::StrAppend(&words, " ", step["action"].get<std::string>());
  }
  const Json unfinished = JsonOf(Review("-"), game.dump());
  EXPECT_EQ(unfinished["end"], "not finished");
  EXPECT_EQ(unfinished["actions"].size(), 6u);
  EXPECT_EQ(JsonOf(Review("-"), words + "\n"), unfinished);
}

TEST(ReviewTest, ReviewsGamesFromPositions) {
  const std::string game =
      "four_treasures 5/7/7/2rb3/7/7/5 1 battle - 0,0 0 - - E4 C5\n";
  const Json report = JsonOf(Review("-"), game);
  ASSERT_EQ(report["actions"].size(), 2u);
  EXPECT_EQ(report["actions"][0]["played"], "E4");
  EXPECT_EQ(report["actions"][0]["seat"], 1);
  ExpectError(Review("-", "--notes=notes.jsonl"), 2,
              "--notes: the game begins from a custom position, which JSON "
              "lines cannot represent",
              game);
}

TEST(ReviewTest, ReadsGamesOfAStore) {
  const std::string store = TemporaryPath("games.db");
  OutputOf("selfplay --variant poisoned_chalice -o " + store +
           " --games 2 --sims 2 --option compensation=2.5");
  const Json newest = JsonOf(Review(store));
  const Json first = JsonOf(Review(store, "--game=0"));
  EXPECT_NE(newest["actions"], first["actions"]);
  EXPECT_EQ(first["options"]["compensation"], 2.5);
  const std::string exported = TemporaryPath("games.jsonl");
  OutputOf("games export " + store + " -o " + exported);
  EXPECT_EQ(JsonOf(Review(exported)), first);
  ExpectError(Review(store, "--game=7"), 1, "7");
}

TEST(ReviewTest, WritesAPageAndAGameWithNotes) {
  const std::string page = TemporaryPath("review.html");
  const std::string notes = TemporaryPath("noted.jsonl");
  const Json report =
      JsonOf(Review(kGolden, {"--html", page, "--notes", notes, "--worst=2"}));
  EXPECT_THAT(ReadFile(page),
              AllOf(HasSubstr("<title>Tara: Review of a game</title>"),
                    HasSubstr(absl::StrCat("tara review ", kGolden,
                                           " --player mcts:sims=20")),
                    HasSubstr("tara-red-ringforts")));
  EXPECT_EQ(OutputOf("verify " + notes), "1 passed, 0 failed\n");
  const Json noted = Json::parse(ReadFile(notes));
  for (const Json& action : report["actions"]) {
    const Json& step = noted["steps"][action["action"].get<int>() - 1];
    EXPECT_EQ(step["action"], action["played"]);
    EXPECT_EQ(step.contains("note"), action["sure"].get<bool>());
  }
  // Once more: a review of a game with notes is the same.
  EXPECT_EQ(JsonOf(Review(notes)), report);
}

TEST(ReviewTest, WrongGamesAreTold) {
  ExpectError(Review("/no/such/file"), 1, "/no/such/file");
  ExpectError(Review("-"), 1, "-: the file is empty; expected a game");
  ExpectError(Review("-"), 1, "-:2: unknown variant 'chess'",
              "\nchess e4 e5\n");
  ExpectError(Review("-"), 1, "-:1: action 2: illegal action D4",
              "four_treasures D4 D4");
  ExpectError(Review("-"), 1, "-: the game has no actions; expected one",
              "four_treasures");
  ExpectError(Review("-"), 1, "-: neither a game store nor text",
              std::string("PK\0\3", 4));
  ExpectError(Review("-", "--game=3"), 2, "--game: - has 2 games; got 3",
              "four_treasures D4\nfour_treasures E6\n");
  ExpectError(Review("-", "--game=0"), 2, "count from 1; got 0",
              "four_treasures D4");
  const std::string damaged = TemporaryPath("damaged.db");
  WriteFile(damaged, "SQLite format 3 and no more");
  ExpectError(Review(damaged), 1, damaged);
}

TEST(ReviewTest, WrongOptionsAreTold) {
  const std::string game = "four_treasures D4 E6";
  const auto by = [](const std::string& player) {
    return Words("review - --player " + player);
  };
  ExpectError(by("greedy"), 2, "'greedy' does not search", game);
  ExpectError(by("best:sims=0"), 2, "'best:sims=0' does not search", game);
  ExpectError(by("stockfish"), 2, "unknown player 'stockfish'", game);
  ExpectError(by("mcts:ms=100"), 2, "expected sims=N", game);
  ExpectError(by("mcts:threads=2"), 2, "expected sims=N", game);
  ExpectError(by("mcts:utility=points"), 2, "expected utility=win", game);
  ExpectError(by("net:/no/such"), 1, "/no/such: no such file", game);
  ExpectError(Review("-", "--html=/no/such/a.html"), 1,
              "--html /no/such/a.html: cannot write", game);
  ExpectError(Review("-", "--notes=/no/such/a.json"), 1,
              "--notes /no/such/a.json: cannot write", game);
  ExpectError({"review"}, 2, "GAME", game);
  ExpectError(Review("-", "--html=out --notes=./out"), 2,
              "--html out: is also the file of --notes", game);
  const std::string pipe = TemporaryPath("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ExpectError(Review("-", {"--html=" + pipe}), 1, "is a device or a pipe",
              game);
  const std::string games = TemporaryPath("several.txt");
  WriteFile(games, "four_treasures D4\nfour_treasures E6\n");
  ExpectError(Review(games, {"--notes=" + games}), 2,
              "the file of the game, which holds other games");
  ExpectError(Review(games, {"--html=" + games}), 2,
              "is also the file of the game");
  EXPECT_EQ(ReadFile(games), "four_treasures D4\nfour_treasures E6\n");
}

TEST(ReviewTest, AnInterruptEndsItInOrder) {
  // A search of hours.
  const std::string game = TemporaryPath("game.txt");
  WriteFile(game, "sacred_hill_l1 D4");
  EXPECT_THAT(ShownUntilInterrupted(
                  "review " + game + " --player mcts:sims=10000000 --threads=1",
                  {"searched 0 of 2 positions"}),
              HasSubstr("tara: interrupted"));
}

Words Build(const std::string& book, const Words& more = {}) {
  return "explore build" + Words{book} + more;
}

Words Show(const std::string& book, const Words& more = {}) {
  return "explore show" + Words{book} + more;
}

TEST(ExploreTest, BuildsABookAndShowsIt) {
  const std::string book = TemporaryPath("book.db");
  const std::string built = OutputOf(Build(
      book, "--variant=four_treasures --positions=30 --player=mcts:sims=20"));
  EXPECT_THAT(built, AllOf(HasSubstr("book.db: four_treasures, 30 positions "
                                     "searched by mcts:sims=20"),
                           HasSubstr(" plies deep")));
  const std::string shown = OutputOf(Show(book));
  EXPECT_THAT(
      shown,
      AllOf(
          HasSubstr(
              "book.db: four_treasures, 30 positions searched by mcts:sims=20"),
          HasSubstr("; 0 games\n"), HasSubstr("Red to move"),
          HasSubstr("action"), HasSubstr("book"), Not(HasSubstr("chosen"))));
  // The same position from another side.
  const Json corner = JsonOf(Show(book, "--actions=B2"));
  const Json other = JsonOf(Show(book, "--actions=F6"));
  EXPECT_EQ(corner["winning"], other["winning"]);
  EXPECT_EQ(corner["actions"].size(), other["actions"].size());
  EXPECT_EQ(corner["seat"], 1);
}

TEST(ExploreTest, GrowsWhenAskedByThePlayerThatItHas) {
  const std::string book = TemporaryPath("grows.db");
  OutputOf(Build(
      book, "--variant=stone_of_destiny --positions=12 --player=mcts:sims=20"));
  const std::string again =
      OutputOf(Build(book, "--variant=stone_of_destiny --positions=20"));
  EXPECT_THAT(again, HasSubstr("20 positions searched by mcts:sims=20"));
  EXPECT_EQ(JsonOf(Show(book))["positions"], 20);
  ExpectError(Build(book, "--variant=stone_of_destiny --player=mcts:sims=21"),
              1,
              "grows.db: its positions were searched by mcts:sims=20 "
              "(mcts:sims=20); got mcts:sims=21");
}

TEST(ExploreTest, CountsTheGamesOfAStoreOnce) {
  const std::string store = TemporaryPath("games.db");
  const std::string book = TemporaryPath("counted.db");
  OutputOf("selfplay --variant poisoned_chalice -o " + store +
           " --games 12 --sims 4");
  const std::string built =
      OutputOf(Build(book, {"--games", store, "--games", store}));
  EXPECT_EQ(built, store + ": 12 new games\n" + store + ": 0 new games\n");
  const Json shown = JsonOf(Show(book));
  EXPECT_EQ(shown["games_in_book"], 12);
  EXPECT_EQ(shown["winning"], nullptr);
  int games = 0;
  for (const Json& action : shown["actions"]) {
    games += action["games"].get<int>();
  }
  EXPECT_EQ(games, 12);
  EXPECT_THAT(OutputOf(Show(book)),
              AllOf(HasSubstr("score %"), HasSubstr("games")));
}

TEST(ExploreTest, OneProcessAtATimeBuildsABook) {
  const std::string book = TemporaryPath("book.db");
  const auto build = [&] {
    return Build(book,
                 "--variant=high_kings_l1 --positions=1 --player=mcts:sims=1");
  };
  OutputOf(build());
  const int other = open(book.c_str(), O_RDONLY);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  ExpectError(build(), 1,
              book +
                  ": in use by another process; expected an opening book of "
                  "its own");
  OutputOf(Show(book));
  close(other);
  OutputOf(build());
}

TEST(ExploreTest, WritesAPage) {
  const std::string book = TemporaryPath("page.db");
  const std::string page = TemporaryPath("page.html");
  OutputOf(Build(
      book,
      "--variant=sacred_hill_doubles_l1 --positions=50 --player=mcts:sims=4"));
  OutputOf(Show(book, {"--html", page}));
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("<title>Tara: Opening book"),
                                    HasSubstr("sacred_hill_doubles_l1")));
  ExpectError(Show(book, {"--html", "/nowhere/page.html"}), 1, "--html");
}

TEST(ExploreTest, RefusesWhatItCannotDo) {
  const std::string book = TemporaryPath("wrong.db");
  ExpectError(Build(book), 2,
              "nothing to add: expected --variant for searches, --games for "
              "games, or both");
  ExpectError(Build(book, "--games=x.db --option=compensation=1"), 2,
              "--option requires --variant");
  ExpectError(Build(book, "--variant=chess"), 2, "chess");
  ExpectError(Build(book, "--variant=four_treasures --player=greedy"), 2,
              "--player: 'greedy' does not search");
  const std::string other = TemporaryPath("other.db");
  ExpectError(Build(other, "--games=missing.db"), 1, "missing.db");
  EXPECT_FALSE(std::filesystem::exists(other));
  ExpectError(Show(TemporaryPath("none.db")), 1, "none.db");
  const std::string text = TemporaryPath("text.db");
  WriteFile(text, std::string(5000, 'x'));
  ExpectError(Show(text), 1, "text.db");

  OutputOf(Build(book, "--variant=all --positions=1 --player=mcts:sims=2"));
  ExpectError(Show(book), 2, "missing --variant");
  ExpectError(Show(book, {"--variant=four_treasures", "--actions=D4 C3 E5"}), 1,
              "wrong.db: the position is not in the book");
  ExpectError(Show(book, "--variant=four_treasures --actions=D9"), 1, "D9");
}

}  // namespace
}  // namespace tara::cli
