#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/tara_process.h"

namespace tara::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

// Builds quickly, and returns what it says.
TaraResult Build(const std::string& book,
                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"explore", "build", book};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunTara(arguments);
}

TaraResult Show(const std::string& book,
                const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"explore", "show", book};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return RunTara(arguments);
}

void ExpectError(const TaraResult& result, int status,
                 const std::string& message) {
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_THAT(result.err, HasSubstr(message));
  EXPECT_EQ(result.out, "");
}

TEST(ExploreTest, BuildsABookAndShowsIt) {
  const std::string book = TemporaryPath("book.db");
  const TaraResult built = Build(
      book,
      {"--variant=four_treasures", "--positions=30", "--player=mcts:sims=20"});
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_THAT(built.out, AllOf(StartsWith("Searched by mcts:sims=20"),
                               HasSubstr("four_treasures"), HasSubstr("30")));
  const TaraResult shown = Show(book, {"--ascii"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(
      shown.out,
      AllOf(
          HasSubstr(
              "book.db: four_treasures, 30 positions searched by mcts:sims=20"),
          HasSubstr("; 0 games\n"), HasSubstr("Red to move"),
          HasSubstr("action"), HasSubstr("book"), Not(HasSubstr("chosen"))));
  // The same position from another side.
  const Json corner = Json::parse(
      Show(book, {"--actions=B2", "--format=json"}).out, nullptr, false);
  const Json other = Json::parse(
      Show(book, {"--actions=F6", "--format=json"}).out, nullptr, false);
  EXPECT_EQ(corner["winning"], other["winning"]);
  EXPECT_EQ(corner["actions"].size(), other["actions"].size());
  EXPECT_EQ(corner["seat"], 1);
}

TEST(ExploreTest, GrowsWhenAskedByThePlayerThatItHas) {
  const std::string book = TemporaryPath("grows.db");
  ASSERT_EQ(Build(book, {"--variant=stone_of_destiny", "--positions=12",
                         "--player=mcts:sims=20"})
                .status,
            0);
  const TaraResult again =
      Build(book, {"--variant=stone_of_destiny", "--positions=20"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("Searched by mcts:sims=20"));
  EXPECT_EQ(Json::parse(Show(book, {"--format=json"}).out)["positions"], 20);
  ExpectError(
      Build(book, {"--variant=stone_of_destiny", "--player=mcts:sims=21"}), 1,
      "grows.db: its positions were searched by mcts:sims=20 "
      "(mcts:sims=20); got mcts:sims=21");
}

TEST(ExploreTest, CountsTheGamesOfAStoreOnce) {
  const std::string store = TemporaryPath("games.db");
  const std::string book = TemporaryPath("counted.db");
  ASSERT_EQ(RunTara({"selfplay", "--variant", "poisoned_chalice", "-o", store,
                     "--games", "12", "--sims", "4"})
                .status,
            0);
  const TaraResult built = Build(book, {"--games", store, "--games", store});
  EXPECT_EQ(built.status, 0) << built.err;
  EXPECT_EQ(built.out, store + ": 12 new games\n" + store + ": 0 new games\n");
  const Json shown = Json::parse(Show(book, {"--format=json"}).out);
  EXPECT_EQ(shown["games_in_book"], 12);
  EXPECT_EQ(shown["winning"], nullptr);
  int games = 0;
  for (const Json& action : shown["actions"]) {
    games += action["games"].get<int>();
  }
  EXPECT_EQ(games, 12);
  EXPECT_THAT(Show(book).out, AllOf(HasSubstr("score %"), HasSubstr("games")));
}

TEST(ExploreTest, OneProcessAtATimeBuildsABook) {
  const std::string book = TemporaryPath("book.db");
  const auto build = [&] {
    return Build(book, {"--variant=high_kings_l1", "--positions=1",
                        "--player=mcts:sims=1"});
  };
  ASSERT_EQ(build().status, 0);
  const int other = open(book.c_str(), O_RDONLY);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  ExpectError(build(), 1,
              book +
                  ": in use by another process; expected an opening book of "
                  "its own");
  EXPECT_EQ(Show(book).status, 0);
  close(other);
  EXPECT_EQ(build().status, 0);
}

TEST(ExploreTest, WritesAPage) {
  const std::string book = TemporaryPath("page.db");
  const std::string page = TemporaryPath("page.html");
  ASSERT_EQ(Build(book, {"--variant=sacred_hill_doubles_l1", "--positions=50",
                         "--player=mcts:sims=4"})
                .status,
            0);
  EXPECT_EQ(Show(book, {"--html", page}).status, 0);
  EXPECT_THAT(ReadFile(page), AllOf(HasSubstr("<title>Tara: Opening book"),
                                    HasSubstr("sacred_hill_doubles_l1")));
  ExpectError(Show(book, {"--html", "/nowhere/page.html"}), 1, "--html");
}

TEST(ExploreTest, RefusesWhatItCannotDo) {
  const std::string book = TemporaryPath("wrong.db");
  ExpectError(Build(book), 2,
              "nothing to add: expected --variant for searches, --games for "
              "games, or both");
  ExpectError(Build(book, {"--games=x.db", "--option=compensation=1"}), 2,
              "--option requires --variant");
  ExpectError(Build(book, {"--variant=chess"}), 2, "chess");
  ExpectError(Build(book, {"--variant=four_treasures", "--player=greedy"}), 2,
              "--player: 'greedy' does not search");
  const std::string other = TemporaryPath("other.db");
  ExpectError(Build(other, {"--games=missing.db"}), 1, "missing.db");
  EXPECT_FALSE(std::filesystem::exists(other));
  ExpectError(Show(TemporaryPath("none.db")), 1, "none.db");
  const std::string text = TemporaryPath("text.db");
  WriteFile(text, std::string(5000, 'x'));
  ExpectError(Show(text), 1, "text.db");

  ASSERT_EQ(
      Build(book, {"--variant=all", "--positions=1", "--player=mcts:sims=2"})
          .status,
      0);
  ExpectError(Show(book), 2, "missing --variant");
  ExpectError(Show(book, {"--variant=four_treasures", "--actions=D4 C3 E5"}), 1,
              "wrong.db: the position is not in the book");
  ExpectError(Show(book, {"--variant=four_treasures", "--actions=D9"}), 1,
              "D9");
}

}  // namespace
}  // namespace tara::cli
