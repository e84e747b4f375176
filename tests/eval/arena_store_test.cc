// Games of arenas in game stores.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

std::unique_ptr<record::GameStore> NewStore() {
  return record::OpenGameStore(":memory:", record::StoreMode::kReadWrite)
      .value();
}

// Plays an arena of a random player and one that gives games up, in a store.
ArenaResult Play(ArenaOptions options, record::GameStore& store,
                 const proto::Contest& contest) {
  EXPECT_TRUE(ResumeFromStore(store, contest, options).ok());
  return Play(options, Factory("random"), FactoryOf<QuittingPlayer>(30));
}

std::vector<ArenaGame> EarlierIn(record::GameStore& store,
                                 const proto::Contest& contest) {
  ArenaOptions options;
  EXPECT_TRUE(ResumeFromStore(store, contest, options).ok());
  return options.earlier;
}

TEST(ArenaStoreTest, GamesComeBackAsTheyWere) {
  for (const bool by_match : {false, true}) {
    const auto store = NewStore();
    const proto::Contest contest = NewContest("seed=1", "random", "quitter");
    const ArenaResult result =
        Play({.by_match = by_match, .games = 8}, *store, contest);
    ASSERT_EQ(result.games, 8);
    EXPECT_GT(result.faults_b, 0);
    const std::vector<ArenaGame> games = EarlierIn(*store, contest);
    ASSERT_EQ(games.size(), 8u);
    const auto all = [](const ArenaGame& game) {
      return std::tie(game.pair, game.match, game.a_is_red, game.margin,
                      game.length, game.forfeit, game.fault);
    };
    for (size_t i = 0; i < games.size(); ++i) {
      EXPECT_EQ(all(games[i]), all(result.played[i]));
      EXPECT_EQ(games[i].match >= 0, by_match);
    }
  }
}

TEST(ArenaStoreTest, RecordsFollowTheRulesAndNameTheirPlayers) {
  const auto store = NewStore();
  const proto::Contest contest = NewContest("seed=1", "random", "quitter");
  Play({.games = 4}, *store, contest);
  std::set<std::string> models;
  const auto games = store->GamesOf("sacred_hill_l1", contest);
  ASSERT_EQ(games->size(), 4u);
  for (const proto::GameRecord& game : *games) {
    EXPECT_EQ(record::ValidateRecord(game), absl::OkStatus());
    EXPECT_EQ(game.opening_plies(), 2u);
    models.insert(game.model_id());
  }
  EXPECT_EQ(models,
            (std::set<std::string>{"random vs quitter", "quitter vs random"}));
}

TEST(ArenaStoreTest, TimesAreThoseOfTheSides) {
  proto::GameRecord game;
  game.mutable_result()->add_points(5);
  game.mutable_result()->add_points(0);
  game.mutable_result()->set_forfeited_by(1);
  game.add_moves(20);
  game.add_moves(21);
  game.add_time_us(1500);
  game.add_time_us(7);
  game.set_unrecorded_length(41);
  game.set_place(6);  // A is Red, in the fourth pair
  EXPECT_EQ(ArenaGameOf(game).pair, 3);
  EXPECT_EQ(ArenaGameOf(game).margin, 5);
  EXPECT_EQ(ArenaGameOf(game).forfeit, Forfeit::kByB);
  EXPECT_EQ(ArenaGameOf(game).time_a.moves, 20);
  EXPECT_EQ(ArenaGameOf(game).length, 41);
  game.set_place(7);
  EXPECT_EQ(ArenaGameOf(game).pair, 3);
  EXPECT_EQ(ArenaGameOf(game).margin, -5);
  EXPECT_EQ(ArenaGameOf(game).forfeit, Forfeit::kByA);
  EXPECT_EQ(ArenaGameOf(game).time_a.time, absl::Microseconds(7));
}

TEST(ArenaStoreTest, ContestsThatDifferInAnythingAreKeptApart) {
  const auto store = NewStore();
  const proto::Contest contest = NewContest("seed=1", "random", "quitter");
  Play({.variant = Variant::kFourTreasures, .games = 2}, *store, contest);
  for (const proto::Contest& other :
       {contest, NewContest("seed=2", "random", "quitter"),
        NewContest("seed=1", "greedy", "quitter"),
        NewContest("seed=1", "random", "greedy")}) {
    // The first in another variant.
    EXPECT_TRUE(EarlierIn(*store, other).empty());
    Play({.games = 2}, *store, other);
    EXPECT_EQ(EarlierIn(*store, other).size(), 2u);
  }
  EXPECT_EQ(*store->Count({}), 10);
}

}  // namespace
}  // namespace tara::eval
