// The number types of networks' players: one for all threads, part of who they
// are.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/base/random.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/players/make_player.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/player_spec.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/inference_options.h"
#include "tara/nn/training/trainer.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

class NetworkPlayersTest : public ::testing::Test {
 protected:
  void SetUp() override { Save(8); }

  void Save(int channels) {
    folder_ = ::testing::TempDir() + "/network_players";
    std::filesystem::create_directories(folder_ + "/models");
    file_ = folder_ + "/models/tara.tara";
    ASSERT_TRUE(nn::NewTrainer({.channels = channels, .blocks = 1}, {}, 1)
                    ->Save(file_, {})
                    .ok());
    id_ = nn::NetworkFileId(file_).value();
  }

  std::string Net(const std::string& options = "") const {
    return absl::StrCat("net:", file_, options.empty() ? "" : ",", options);
  }

  std::string folder_;
  std::string file_;
  std::string id_;
};

// As the command line does it.
absl::StatusOr<TeamSpec> Resolved(const std::string& text) {
  return WithPrecision(ParseTeamSpec(text).value());
}

std::string ResolvedText(const std::string& text) {
  const TeamSpec team = Resolved(text).value();
  // What is written means what is meant.
  for (const PlayerSpec& player : team.players) {
    const PlayerSpec parsed = ParsePlayerSpec(player.text).value();
    EXPECT_EQ(parsed.path, player.path);
    EXPECT_EQ(parsed.inference.precision, player.inference.precision);
  }
  return team.text;
}

TEST_F(NetworkPlayersTest, SpecsAreGivenTheirNumberType) {
  EXPECT_EQ(ResolvedText(Net()), Net("precision=float32"));
  EXPECT_EQ(ResolvedText(Net("sims=3")), Net("sims=3,precision=float32"));
  EXPECT_EQ(ResolvedText(Net("precision=auto,sims=3")),
            Net("sims=3,precision=float32"));
  EXPECT_EQ(ResolvedText(Net("precision=float32")), Net("precision=float32"));
  EXPECT_EQ(ResolvedText(Net("sims=3") + "+greedy"),
            Net("sims=3,precision=float32") + "+greedy");
  EXPECT_EQ(ResolvedText("greedy+greedy"), "greedy+greedy");
  EXPECT_EQ(PrecisionsOf(*Resolved(Net() + "+" + Net("precision=int8"))),
            "float32, int8");
  EXPECT_EQ(PrecisionsOf(*Resolved("greedy")), "");
  setenv("TARA_ROOT", folder_.c_str(), /*overwrite=*/1);
  EXPECT_EQ(ResolvedText("best"), "best:precision=float32");
  EXPECT_EQ(ResolvedText("best:sims=3"), "best:sims=3,precision=float32");
  EXPECT_EQ(ResolvedText("level:3"), "level:3,precision=float32");
  EXPECT_EQ(ResolvedText("level:3,precision=auto"),
            "level:3,precision=float32");
  unsetenv("TARA_ROOT");
  EXPECT_EQ(Resolved("net:/nowhere").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(NetworkPlayersTest, AnIdentityHasTheNumberType) {
  const auto identity = [](const std::string& spec) {
    return PlayerIdentity(Resolved(spec).value()).value();
  };
  EXPECT_EQ(identity(Net()), "net:" + id_ + ",precision=float32");
  EXPECT_EQ(identity(Net("sims=3")),
            "net:" + id_ + ",sims=3,precision=float32");
  EXPECT_EQ(identity(Net("sims=3,precision=int8")),
            "net:" + id_ + ",sims=3,precision=int8");
  EXPECT_EQ(identity(Net("sims=3") + "+greedy"),
            "net:" + id_ + ",sims=3,precision=float32+greedy");
  setenv("TARA_ROOT", folder_.c_str(), /*overwrite=*/1);
  for (const std::string options : {"", "sims=3,graph=on"}) {
    EXPECT_EQ(
        identity(absl::StrCat("best", options.empty() ? "" : ":", options)),
        identity(Net(options)));
  }
  // Of a level it is what it stands for: another table makes other players.
  EXPECT_EQ(
      identity("level:3"),
      identity(Net(NetworkOptionsOf(ParsePlayerSpec("level:3").value()))));
  const PlayerSpec best = ParsePlayerSpec("best").value();
  std::filesystem::remove(file_);
  EXPECT_FALSE(PlayerIdentity(best).ok());
  unsetenv("TARA_ROOT");
  EXPECT_FALSE(PlayerIdentity(best).ok());
}

// Returns what a player chooses at the start.
Action ChoiceOf(Player& player) {
  Random random(1);
  return ChooseOne(player, {.state = InitialState(Variant::kFourTreasures),
                            .random = &random})
      .value();
}

TEST_F(NetworkPlayersTest, PlayersThatExistAtTheSameTimeShareTheirNetwork) {
  const PlayerFactory make = Factory(Net("sims=8"));
  std::unique_ptr<Player> first = make().value();
  const Action choice = ChoiceOf(*first);
  std::filesystem::remove(file_);
  std::unique_ptr<Player> second = make().value();
  first = nullptr;
  EXPECT_EQ(ChoiceOf(*second), choice);
  EXPECT_TRUE(make().ok());
  second = nullptr;
  EXPECT_EQ(make().status().code(), absl::StatusCode::kNotFound);
}

TEST_F(NetworkPlayersTest, ARunThatGoesOnDoesNotChangeWhoPlays) {
  const std::string run = folder_ + "/run";
  std::filesystem::create_directories(run);
  const auto write = [&](const std::string& name, int channels) {
    ASSERT_TRUE(nn::NewTrainer({.channels = channels, .blocks = 1}, {}, 1)
                    ->Save(run + "/" + name, {})
                    .ok());
    std::ofstream(run + "/latest") << name << "\n";
  };
  for (const std::string options : {"", ",precision=float32"}) {
    write("1.pt", 8);
    const TeamSpec team = Resolved("net:" + run + options).value();
    const std::string identity = PlayerIdentity(team).value();
    const Action choice = ChoiceOf(*NewPlayerFactory(team)().value());
    write("2.pt", 16);
    std::filesystem::remove(run + "/latest");
    EXPECT_EQ(PlayerIdentity(team).value_or(""), identity);
    EXPECT_EQ(ChoiceOf(*NewPlayerFactory(team)().value()), choice);
  }
  std::filesystem::remove_all(run);
}

TEST_F(NetworkPlayersTest, TheNumberOfThreadsDoesNotChangeTheGames) {
  // Enough channels for a choice of number types.
  Save(32);
  const ArenaOptions options = {
      .variant = Variant::kFourTreasures, .games = 12, .seed = 5};
  const auto play = [&](int threads) {
    const ArenaResult result = Play(options, Net("sims=8"), "greedy", threads);
    std::vector<std::pair<double, int>> games;
    for (const ArenaGame& game : result.played) {
      games.emplace_back(game.margin, game.length);
    }
    return games;
  };
  const auto alone = play(1);
  ASSERT_EQ(alone.size(), 12u);
  for (const int threads : {2, 3, 6}) EXPECT_EQ(play(threads), alone);
}

}  // namespace
}  // namespace tara::eval
