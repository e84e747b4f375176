// Arenas, ratings and studies whose games others play, compared with those of
// this process. The others are threads that speak the protocol of
// tara/fleet/fleet.h; tests/python/test_fleet.py has real machines.

#include "tara/fleet/fleet.h"

#include <unistd.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/eval/rating/ratings.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/record/game_record.h"
#include "tests/eval/test_players.h"
#include "tests/fleet/fleet_testing.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A fleet, and a thread that plays its games: the last of those that it is told
// of first, one at a time.
class OneMachine {
 public:
  OneMachine() {
    EXPECT_EQ(pipe(to_fleet_), 0);
    EXPECT_EQ(pipe(from_fleet_), 0);
    fleet_ = std::make_unique<fleet::Fleet>(to_fleet_[0], from_fleet_[1]);
    machine_ = std::thread([this] { Run(); });
  }
  ~OneMachine() {
    close(from_fleet_[1]);  // ends the machine
    machine_.join();
    fleet_ = nullptr;
    for (const int fd : {from_fleet_[0], to_fleet_[0], to_fleet_[1]}) {
      close(fd);
    }
  }

  fleet::Fleet& fleet() { return *fleet_; }

  // Changes what is sent. Set before games are played.
  std::function<void(proto::PlayedGames&)> change;
  std::vector<std::string> refusals;  // read when nothing is played any more

 private:
  void Run() {
    std::string text;
    char buffer[1 << 12];
    ssize_t size = 0;
    while ((size = read(from_fleet_[0], buffer, sizeof(buffer))) > 0) {
      text.append(buffer, static_cast<size_t>(size));
      for (size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
        Handle(nlohmann::json::parse(text.substr(0, end)));
        text.erase(0, end + 1);
      }
    }
  }

  void Handle(const nlohmann::json& event) {
    const uint32_t job = event["job"];
    if (event["event"] == "job") {
      std::string bytes;
      ASSERT_TRUE(
          absl::Base64Unescape(event["request"].get<std::string>(), &bytes));
      ASSERT_TRUE(requests_[job].ParseFromString(bytes));
      const proto::ContestRequest& contest = requests_[job].contest();
      const auto files = event["files"].get<std::vector<std::string>>();
      auto worker = ArenaWorker::Create(contest, files);
      ASSERT_TRUE(worker.ok()) << worker.status();
      arenas_[job] = *std::move(worker);
    } else if (event["event"] == "games") {
      const auto ranges = event["games"].get<std::vector<uint64_t>>();
      std::vector<fleet::Piece> pieces;
      for (size_t i = 0; i < ranges.size(); i += 2) {
        for (uint64_t id = ranges[i]; id < ranges[i + 1]; ++id) {
          pieces.push_back({.id = id, .payload = {}});
          if (event["payloads"].empty()) continue;
          ASSERT_TRUE(absl::Base64Unescape(
              event["payloads"][pieces.size() - 1].get<std::string>(),
              &pieces.back().payload));
        }
      }
      std::reverse(pieces.begin(), pieces.end());
      for (const fleet::Piece& piece : pieces) {
        pieces_[{job, piece.id}] = piece;
        Play(job, piece);
      }
    } else if (event["event"] == "refused") {
      refusals.push_back(event["why"]);
      Play(job, pieces_[{job, event["game"]}]);
    }
  }

  void Play(uint32_t job, const fleet::Piece& piece) {
    const auto never = [] { return false; };
    const auto games = arenas_[job]->Play({piece}, never);
    ASSERT_TRUE(games.ok()) << games.status();
    proto::PlayedGames message;
    message.set_node("machine");
    for (const proto::GameRecord& game : *games) {
      message.add_game(game.SerializeAsString());
    }
    if (change) change(message);
    fleet::SendToFleet(to_fleet_[1], job, message.SerializeAsString());
  }

  int to_fleet_[2] = {-1, -1};
  int from_fleet_[2] = {-1, -1};
  std::map<uint32_t, proto::FleetRequest> requests_;
  std::map<uint32_t, std::unique_ptr<ArenaWorker>> arenas_;
  std::map<std::pair<uint32_t, uint64_t>, fleet::Piece> pieces_;
  std::unique_ptr<fleet::Fleet> fleet_;
  std::thread machine_;
};

TeamSpec Team(const std::string& text) { return ParseTeamSpec(text).value(); }

// Plays an arena here and by a fleet, and expects the same of both.
void ExpectTheSame(ArenaOptions options, const std::string& a,
                   const std::string& b) {
  const TeamSpec team_a = Team(a), team_b = Team(b);
  SetTeams(team_a, team_b, options);
  const ArenaResult here = Play(options, a, b, 2);
  OneMachine machine;
  const auto there = PlayArenaOnFleet(options, team_a, team_b, machine.fleet());
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_GT(here.games, 0);
  EXPECT_EQ(Margins(*there), Margins(here));
  EXPECT_EQ(there->score.low, here.score.low);
  EXPECT_THAT(machine.refusals, IsEmpty());
}

TEST(FleetArenaTest, GamesAreThoseOfThisProcess) {
  for (const VariantInfo& variant : kVariants) {
    ExpectTheSame({.variant = variant.variant, .games = 8, .seed = 3},
                  "mcts:sims=16", "greedy");
  }
}

TEST(FleetArenaTest, SoAreMatchesTeamsAndRuleOptions) {
  RuleOptions options;
  options.compensation_halves = 3;
  ExpectTheSame({.variant = Variant::kSacredHillDoublesL1,
                 .rule_options = options,
                 .by_match = true,
                 .games = 32,
                 .seed = 5},
                "mcts:sims=8,utility=match", "greedy+random");
}

TEST(FleetArenaTest, ASequentialTestDecidesTheSame) {
  ExpectTheSame({.variant = Variant::kFourTreasures,
                 .games = 4000,
                 .seed = 3,
                 .sprt = SprtOptions{.elo0 = 0, .elo1 = 100}},
                "greedy", "random");
}

TEST(FleetArenaTest, WhatCannotBeTheGameIsRefusedAndPlayedAgain) {
  OneMachine machine;
  int lies = 0;
  machine.change = [&](proto::PlayedGames& message) {
    proto::GameRecord game;
    ASSERT_TRUE(game.ParseFromString(message.game(0)));
    if (lies == 0) game.set_seed(1);
    if (lies == 1) {  // other openings than those that were drawn
      game.mutable_steps(0)->set_action(game.steps(0).action() == 0 ? 1 : 0);
    }
    if (lies == 2) game.mutable_result()->set_points(0, 44);
    if (lies == 3) message.add_game(message.game(0));
    if (lies++ < 3) *message.mutable_game(0) = game.SerializeAsString();
  };
  const ArenaOptions options = {
      .variant = Variant::kSacredHillL1, .games = 8, .seed = 3};
  const auto result = PlayArenaOnFleet(options, Team("greedy"), Team("random"),
                                       machine.fleet());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->games, 8);
  ASSERT_EQ(machine.refusals.size(), 4u);
  EXPECT_THAT(machine.refusals[0], HasSubstr("seed: 1; expected"));
  EXPECT_THAT(machine.refusals[1], HasSubstr("action of ply 0"));
  EXPECT_THAT(machine.refusals[3], HasSubstr("2 games; expected 1"));
}

TEST(FleetArenaTest, PlayersWhoseGamesDifferElsewhereAreRefused) {
  OneMachine machine;
  ArenaOptions options;
  for (const auto& [player, why] : std::map<std::string, std::string>{
           {"engine:./engine", "is a program on this machine"},
           {"alphabeta:ms=20", "searches for a fixed time"},
           {"mcts:ms=20", "searches for a fixed time"},
           {"mcts:sims=20,threads=2", "several threads"}}) {
    EXPECT_THAT(PlayArenaOnFleet(options, Team("greedy"), Team(player),
                                 machine.fleet()),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr(player), HasSubstr(why))));
  }
  options.clocks = GameClocks();
  EXPECT_THAT(
      PlayArenaOnFleet(options, Team("greedy"), Team("random"),
                       machine.fleet()),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("clocks")));
}

TEST(FleetArenaTest, AWorkerRefusesWhatMakesNoSense) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  proto::ContestRequest request;
  request.set_variant("sacred_hill_l1");
  request.set_rule_options("-");
  request.mutable_arena();
  request.add_player("greedy");
  EXPECT_THAT(ArenaWorker::Create(request, {}),
              StatusIs(kInvalid, HasSubstr("expected two")));
  request.add_player("net:somewhere");
  EXPECT_THAT(ArenaWorker::Create(request, {}),
              StatusIs(kInvalid, HasSubstr("0 networks")));
  *request.mutable_player(1) = "random";
  const auto worker = ArenaWorker::Create(request, {});
  ASSERT_TRUE(worker.ok()) << worker.status();
  for (const std::string& what : {std::string(), std::string("\xff\xff")}) {
    EXPECT_THAT(
        (*worker)->Play({{.id = 7, .payload = what}}, [] { return false; }),
        StatusIs(kInvalid, HasSubstr("series 7")));
  }
}

RatedPlayer Rated(const std::string& text) {
  RatedPlayer player = {MakeContestant(Team(text), /*stored=*/true).value()};
  player.name = text;
  return player;
}

TEST(FleetRatingTest, RatingsAreThoseOfThisProcess) {
  const std::vector<RatedPlayer> players = {Rated("random"), Rated("greedy"),
                                            Rated("mcts:sims=8"),
                                            Rated("mcts:sims=32")};
  RatingTournamentOptions options = {.games_per_player = 40};
  for (const Variant variant :
       {Variant::kSacredHillL1, Variant::kFourTreasures}) {
    ArenaOptions& arena = options.arenas.emplace_back();
    arena.variant = variant;
    arena.seed = 2;
  }
  const auto rate = [&](fleet::Fleet* fleet) {
    options.fleet = fleet;
    const auto store = StoreInMemory();
    return PlayRatingTournament(players, options, *store).value();
  };
  const RatingTable here = rate(nullptr);
  OneMachine machine;
  const RatingTable there = rate(&machine.fleet());
  for (size_t v = 0; v < options.arenas.size(); ++v) {
    EXPECT_EQ(there.variants[v].games, here.variants[v].games);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(there.variants[v].ratings.Difference(i, 0).elo,
                here.variants[v].ratings.Difference(i, 0).elo);
    }
  }
}

TEST(FleetStudyTest, GamesAreThoseOfThisProcess) {
  const TeamSpec player = Team("mcts:sims=8");
  const Action d4 = ParseAction("D4").value();
  const auto play = [&](fleet::Fleet* fleet) {
    std::map<uint64_t, std::vector<Action>> games;
    for (const bool restricted : {false, true}) {
      ArenaOptions options = {.variant = Variant::kFourTreasures,
                              .games = 12,
                              .opening_plies = 0,
                              .drawn_plies = 6,
                              .temperature = 1.4,
                              .self_play = !restricted};
      if (restricted) options.a_avoids = ActionType::kPass;
      if (!restricted) options.given_openings = {{d4}, {}};
      options.adjudicate = false;
      options.on_game = [&](const proto::GameRecord& game) {
        games[game.place() + 100 * restricted] = record::ActionsOf(game);
        return absl::OkStatus();
      };
      const PlayerFactory make = NewPlayerFactory(player);
      EXPECT_TRUE((fleet == nullptr
                       ? PlayArena(options, make, make, 2)
                       : PlayArenaOnFleet(options, player, player, *fleet))
                      .ok());
    }
    return games;
  };
  const auto here = play(nullptr);
  EXPECT_EQ(here.size(), 24u);
  OneMachine machine;
  EXPECT_EQ(play(&machine.fleet()), here);
  EXPECT_THAT(machine.refusals, IsEmpty());
}

TEST(PlayAllTest, PlaysInTurnWithoutAFleetUntilAnError) {
  std::vector<size_t> begun;
  const absl::Status status = fleet::PlayAll(
      /*fleet=*/nullptr, 4, [] { return false; },
      [&](size_t i, const StopCheck& stop) {
        EXPECT_FALSE(stop());
        begun.push_back(i);
        return i == 2 ? absl::InternalError("broken") : absl::OkStatus();
      });
  EXPECT_EQ(status, absl::InternalError("broken"));
  EXPECT_THAT(begun, ElementsAre(0, 1, 2));
}

TEST(PlayAllTest, PlaysAtOnceWithAFleetAndTellsOthersOfAnError) {
  OneMachine machine;
  std::atomic<int> begun = 0;
  const absl::Status status = fleet::PlayAll(
      &machine.fleet(), 3, [] { return false; },
      [&](size_t i, const StopCheck& stop) -> absl::Status {
        ++begun;
        while (begun < 3) std::this_thread::yield();
        if (i == 1) return absl::InternalError("broken");
        while (!stop()) std::this_thread::yield();
        return absl::CancelledError("told to stop");
      });
  EXPECT_EQ(status, absl::InternalError("broken"));
}

}  // namespace
}  // namespace tara::eval
