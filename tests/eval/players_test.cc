#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/mcts/time/time_manager.h"
#include "tara/nn/inference/network_evaluator.h"
#include "tara/nn/training/trainer.h"
#include "tests/base/temporary_folder.h"
#include "tests/eval/test_players.h"
#include "tests/mcts/positions.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Gives the last two legal actions the same high prior; fails when told to.
class LastTwoEvaluator : public mcts::Evaluator {
 public:
  explicit LastTwoEvaluator(bool fail = false) : fail_(fail) {}

  absl::Status Evaluate(absl::Span<const State> states,
                        absl::Span<mcts::Evaluation> results) override {
    if (fail_) return absl::InternalError("told to fail");
    for (size_t i = 0; i < states.size(); ++i) {
      const auto legal = static_cast<size_t>(LegalActions(states[i]).Count());
      results[i].priors.assign(legal, 0);
      for (size_t action = legal < 2 ? 0 : legal - 2; action < legal;
           ++action) {
        results[i].priors[action] = legal < 2 ? 1.0f : 0.5f;
      }
      results[i].win = results[i].loss = 0.5f;
      results[i].draw = results[i].margin = 0;
    }
    return absl::OkStatus();
  }

 private:
  const bool fail_;
};

std::vector<State> StatesOfRandomGame(Variant variant) {
  std::vector<State> states = mcts::RandomGame(variant, 1);
  states.pop_back();  // finished
  return states;
}

// The player's choices; each state has the stream of its index and `seed`.
std::vector<Action> Choose(Player& player, const std::vector<State>& states,
                           uint64_t seed = 1) {
  std::vector<Random> randoms;
  for (size_t i = 0; i < states.size(); ++i) {
    randoms.emplace_back(DeriveSeed(seed, i, StreamPurpose::kTest));
  }
  std::vector<Turn> turns;
  for (size_t i = 0; i < states.size(); ++i) {
    turns.push_back({.state = states[i], .random = &randoms[i], .game = i});
  }
  std::vector<Action> actions(states.size());
  EXPECT_TRUE(player.ChooseActions(turns, absl::MakeSpan(actions)).ok());
  return actions;
}

class PlayersTest : public testing::TestWithParam<VariantInfo> {};

INSTANTIATE_TEST_SUITE_P(AllVariants, PlayersTest, testing::ValuesIn(kVariants),
                         mcts::VariantTestName);

TEST_P(PlayersTest, ChoicesAreLegalReproducibleAndOfEachGameAlone) {
  const std::vector<State> states = StatesOfRandomGame(GetParam().variant);
  std::vector<std::unique_ptr<Player>> players;
  players.push_back(NewRandomPlayer());
  players.push_back(NewGreedyPlayer());
  players.push_back(Factory("mcts:sims=8")().value());
  players.push_back(NewPolicyPlayer(std::make_unique<LastTwoEvaluator>()));
  for (const std::unique_ptr<Player>& player : players) {
    const std::vector<Action> actions = Choose(*player, states);
    for (size_t i = 0; i < states.size(); ++i) {
      EXPECT_TRUE(LegalActions(states[i]).Contains(actions[i]));
    }
    EXPECT_EQ(Choose(*player, states), actions);
    // The first alone has the same stream as in company.
    EXPECT_EQ(Choose(*player, {states[0]})[0], actions[0]);
  }
}

TEST_P(PlayersTest, GreedyTakesTheBestImmediateScoreOfItsSide) {
  const std::unique_ptr<Player> greedy = NewGreedyPlayer();
  const std::vector<State> states = StatesOfRandomGame(GetParam().variant);
  const std::vector<Action> actions = Choose(*greedy, states);
  for (size_t i = 0; i < states.size(); ++i) {
    const auto lead = [&](Action action) {
      State next = states[i];
      ApplyAction(action, next);
      const Outcome outcome = Score(next);
      const Side side = states[i].side();
      return outcome.points[side] - outcome.points[Opponent(side)];
    };
    LegalActions(states[i]).ForEach(
        [&](Action action) { EXPECT_LE(lead(action), lead(actions[i])); });
  }
}

TEST(PlayerTest, TiesAreDrawnFromTheGamesStream) {
  // All 45 hills of an empty board are equal to the random player and to the
  // greedy; the last two to the policy.
  const State start = InitialState(Variant::kFourTreasures);
  const std::vector<State> states(45 * 200, start);
  const auto counts = [&](Player& player) {
    std::map<Action, int> result;
    for (const Action action : Choose(player, states)) ++result[action];
    return result;
  };
  for (const std::unique_ptr<Player>& player :
       {NewRandomPlayer(), NewGreedyPlayer()}) {
    const std::map<Action, int> drawn = counts(*player);
    EXPECT_EQ(drawn.size(), 45u);
    // 200 expected, standard deviation 14.
    for (const auto& [action, count] : drawn) EXPECT_NEAR(count, 200, 65);
  }
  const std::unique_ptr<Player> policy =
      NewPolicyPlayer(std::make_unique<LastTwoEvaluator>());
  const std::map<Action, int> drawn = counts(*policy);
  EXPECT_EQ(drawn.size(), 2u);
  // 4500 expected, standard deviation 47.
  EXPECT_NEAR(drawn.at(HillAction(44)), 4500, 200);
}

TEST(PlayerTest, WhoPlaysForTheMatchTakesThePointsItNeeds) {
  const std::unique_ptr<Player> match_player = NewSearchPlayer(
      std::make_unique<mcts::PlayoutEvaluator>(4, 1),
      {{.search = {.simulations = 1000,
                   .utility = {.kind = mcts::UtilityKind::kMatch}}}});
  Random random(1);
  int problems = 0;
  for (const auto& [state, margins] :
       SolvedPositions(Variant::kFourTreasures, 40)) {
    // Where one may win by more or by less.
    const int most = *std::max_element(margins.begin(), margins.end());
    if (std::none_of(margins.begin(), margins.end(),
                     [&](int margin) { return margin > 0 && margin < most; })) {
      continue;
    }
    ++problems;
    // So far behind that only the most points win the match.
    const double lead = state.side() == kRed ? 1 - most : most - 1;
    const Action action =
        ChooseOne(*match_player,
                  {.state = state, .random = &random, .match = {lead, 0}})
            .value();
    const std::vector<Action> legal = mcts::ListActions(state);
    EXPECT_EQ(
        margins[std::find(legal.begin(), legal.end(), action) - legal.begin()],
        most);
  }
  EXPECT_GE(problems, 5);
}

TEST(PlayerTest, SaysWhatItThinksOfThePositionIfAsked) {
  const State state = InitialState(Variant::kFourTreasures);
  Random random(1);
  SearchReport report;
  const Turn turn = {.state = state, .random = &random, .report = &report};
  const auto policy = NewPolicyPlayer(std::make_unique<LastTwoEvaluator>());
  ASSERT_THAT(ChooseOne(*policy, turn), IsOk());
  EXPECT_EQ(report.value, 0.0f);
  ASSERT_EQ(report.policy.size(), 45u);
  EXPECT_EQ(report.policy[44], 0.5f);
  EXPECT_TRUE(report.action_values.empty());

  const auto search =
      NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                      {{.search = {.simulations = 30}}});
  report = SearchReport();
  ASSERT_THAT(ChooseOne(*search, turn), IsOk());
  EXPECT_TRUE(report.value.has_value());
  ASSERT_EQ(report.policy.size(), 45u);
  ASSERT_EQ(report.action_values.size(), 45u);
  float sum = 0;
  for (size_t i = 0; i < 45; ++i) {
    sum += report.policy[i];
    // What was not tried has no value.
    EXPECT_EQ(report.policy[i] > 0,
              report.action_values[i] == report.action_values[i]);
  }
  EXPECT_NEAR(sum, 1, 1e-5);

  const auto alpha_beta = NewAlphaBetaPlayer({.depth = 1}, {});
  report = SearchReport();
  ASSERT_THAT(ChooseOne(*alpha_beta, turn), IsOk());
  ASSERT_TRUE(report.value.has_value());
  EXPECT_LT(std::abs(*report.value), 1);
  EXPECT_TRUE(report.policy.empty());
}

TEST(PlayerTest, ErrorsOfTheEvaluatorAreReturned) {
  Random random(1);
  const Turn turn = {.state = InitialState(Variant::kSacredHillL1),
                     .random = &random};
  for (const std::unique_ptr<Player>& player :
       {NewPolicyPlayer(std::make_unique<LastTwoEvaluator>(/*fail=*/true)),
        NewSearchPlayer(std::make_unique<LastTwoEvaluator>(/*fail=*/true),
                        SearchPlayerOptions())}) {
    EXPECT_EQ(ChooseOne(*player, turn).status().message(), "told to fail");
  }
}

TEST(AlphaBetaPlayerTest, AClockTakesThePlaceOfItsLimits) {
  // The clock goes on by a millisecond each time it is read, which a search of
  // depth 1 hardly does.
  int reads = 0;
  const std::unique_ptr<Player> player = NewAlphaBetaPlayer(
      {.depth = 1}, {.clock = [&] {
        return absl::UnixEpoch() + absl::Milliseconds(++reads);
      }});
  Random random(1);
  Turn turn = {.state = InitialState(Variant::kSacredHillL2),
               .random = &random};
  ASSERT_THAT(ChooseOne(*player, turn), IsOk());
  EXPECT_LT(reads, 5);
  turn.budget = mcts::MoveBudget{.target = absl::Milliseconds(20),
                                 .limit = absl::Milliseconds(60)};
  reads = 0;
  EXPECT_TRUE(
      LegalActions(turn.state).Contains(ChooseOne(*player, turn).value()));
  EXPECT_GE(reads, 20);
  EXPECT_LT(reads, 30);
}

// --- Make player -------------------------------------------------------------

void WriteFile(const fs::path& path, absl::string_view text) {
  std::ofstream(path) << text;
}

// A run's folder with one tiny checkpoint.
class MakePlayerTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(run_ / "checkpoints");
    const std::unique_ptr<nn::Trainer> trainer =
        nn::NewTrainer({.channels = 8, .blocks = 1}, nn::TrainerOptions(), 1);
    ASSERT_TRUE(trainer->Save(checkpoint_.string(), {}).ok());
    WriteFile(run_ / "checkpoints" / "latest", "step-7.tara\n");
  }

  // Chooses at the start of every variant.
  static std::vector<Action> Choices(const std::string& spec) {
    std::vector<State> starts;
    for (const VariantInfo& info : kVariants) {
      starts.push_back(InitialState(info.variant));
    }
    const std::vector<Action> actions =
        Choose(*Factory(spec)().value(), starts);
    for (size_t i = 0; i < starts.size(); ++i) {
      EXPECT_TRUE(LegalActions(starts[i]).Contains(actions[i]));
    }
    return actions;
  }

  const TemporaryFolder folder_;
  const fs::path run_ = folder_.path();
  const fs::path checkpoint_ = run_ / "checkpoints" / "step-7.tara";
};

TEST_F(MakePlayerTest, EveryKindOfSpecMakesAPlayer) {
  for (const std::string& spec :
       {std::string("random"), std::string("greedy"),
        std::string("alphabeta:nodes=100,depth=3,ms=1000"),
        std::string("mcts:sims=10"),
        absl::StrCat("net:", checkpoint_.string(), ",sims=10"),
        absl::StrCat("net:", checkpoint_.string(), ",sims=0")}) {
    EXPECT_EQ(Choices(spec).size(), kVariants.size()) << spec;
  }
}

TEST_F(MakePlayerTest, ARunMeansItsLatestCheckpoint) {
  const std::string file = absl::StrCat("net:", checkpoint_.string());
  for (const fs::path& path : {run_, run_ / "checkpoints"}) {
    EXPECT_EQ(FindCheckpoint(path.string()).value_or(""), checkpoint_.string());
    EXPECT_EQ(Choices(absl::StrCat("net:", path.string(), ",sims=5")),
              Choices(absl::StrCat(file, ",sims=5")));
  }
}

TEST_F(MakePlayerTest, ErrorsNameTheFile) {
  const auto error = [](const std::string& path) {
    return Factory(absl::StrCat("net:", path))().status();
  };
  EXPECT_EQ(error("missing/run"),
            absl::NotFoundError("missing/run: no such file or folder; expected "
                                "a checkpoint, a bundle or a run"));
  fs::remove(run_ / "checkpoints" / "latest");
  EXPECT_THAT(error(run_.string()), StatusIs(absl::StatusCode::kNotFound,
                                             HasSubstr("no checkpoint yet")));
  for (const absl::string_view name : {"gone.tara", ""}) {
    WriteFile(run_ / "checkpoints" / "latest", name);
    EXPECT_THAT(error(run_.string()),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr(absl::StrCat("latest: names '", name,
                                                "'; expected"))));
  }
  WriteFile(checkpoint_, "no checkpoint");
  EXPECT_THAT(std::string(error(checkpoint_.string()).message()),
              HasSubstr(checkpoint_.string()));
}

// --- Number types of networks ------------------------------------------------

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
