#include "tara/eval/balance/balance.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/core/action.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/symmetry.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/first_actions.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/different_games.h"
#include "tara/record/game_record.h"
#include "tara/record/game_store.h"
#include "tests/eval/test_players.h"

namespace tara::eval {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

absl::StatusOr<std::unique_ptr<Player>> Searcher() {
  return NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                         {.search = {.simulations = 8}, .reuse = true});
}

absl::StatusOr<std::unique_ptr<Player>> RandomOne() {
  return NewRandomPlayer();
}

std::map<int, proto::GameRecord> Play(const BalanceGameOptions& options,
                                      const PlayerFactory& make, int threads,
                                      int games) {
  const auto driver = BalanceDriver::Create(make, threads, 4);
  EXPECT_TRUE(driver.ok());
  std::vector<BalanceGameId> ids;
  for (int i = 0; i < games; ++i) ids.push_back({.index = i});
  std::map<int, proto::GameRecord> played;
  EXPECT_EQ((*driver)->Play(options, ids,
                            [&](const proto::GameRecord& game) {
                              played[static_cast<int>(game.place())] = game;
                              return true;
                            }),
            absl::OkStatus());
  return played;
}

BalanceStudy StudyOf(const BalanceGameOptions& options,
                     const std::map<int, proto::GameRecord>& games) {
  BalanceStudy study = {.options = options, .player = "test"};
  for (const auto& [id, game] : games) {
    study.games.push_back(FactsOf(game).value());
  }
  return study;
}

TEST(BalanceDriverTest, GamesThatAreGivenUpAreBegunAnew) {
  const BalanceGameOptions options = {.variant = Variant::kFourTreasures,
                                      .opening_plies = 2};
  // Three games side by side of some 42 choices: one of them is given up.
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Player>> {
    return std::make_unique<QuittingPlayer>(100);
  };
  const auto driver = BalanceDriver::Create(make, 1, 4);
  ASSERT_TRUE(driver.ok());
  std::map<int, proto::GameRecord> played;
  ASSERT_EQ((*driver)->Play(options, {{.index = 0}, {.index = 1}, {.index = 2}},
                            [&](const proto::GameRecord& game) {
                              played[static_cast<int>(game.place())] = game;
                              return true;
                            }),
            absl::OkStatus());
  EXPECT_EQ((*driver)->forfeits(), 1);
  EXPECT_EQ((*driver)->first_forfeit(), "had enough");
  // What comes of it are the games of a player that does not give up.
  const auto steady = []() -> absl::StatusOr<std::unique_ptr<Player>> {
    return std::make_unique<FixedPlayer>();
  };
  const auto expected = Play(options, steady, 1, 3);
  ASSERT_EQ(played.size(), 3u);
  for (const auto& [id, game] : expected) {
    EXPECT_EQ(record::ActionsOf(played[id]), record::ActionsOf(game));
  }
}

TEST(BalanceDriverTest, AGameThatIsGivenUpAgainAndAgainIsAnError) {
  const auto driver = BalanceDriver::Create(
      []() -> absl::StatusOr<std::unique_ptr<Player>> {
        return std::make_unique<QuittingPlayer>(1);
      },
      1, 1);
  ASSERT_TRUE(driver.ok());
  const absl::Status status =
      (*driver)->Play({.variant = Variant::kFourTreasures}, {{.index = 5}},
                      [](const proto::GameRecord&) { return true; });
  EXPECT_EQ(status.message(),
            "game 5 of the study was given up 3 times by its player: had "
            "enough");
}

// --- Classes of actions ------------------------------------------------------

TEST(ActionClassesTest, HillsThatSymmetriesExchangeAreOneFirstAction) {
  // The square's 8 symmetries leave of 45 hills: the centre, 2 classes of 4 on
  // the diagonals (C3, B2), 3 of 4 on the axes (D3, D2, D1), and of 8: 24 hills
  // in 3 classes (C1, C2, and B... the rest).
  std::map<int, int> sizes;
  for (const int number : ActionClasses(InitialState(Variant::kSacredHillL1))) {
    ++sizes[number];
  }
  std::multiset<int> found;
  for (const auto& [number, size] : sizes) found.insert(size);
  EXPECT_EQ(found, (std::multiset<int>{1, 4, 4, 4, 4, 4, 8, 8, 8}));
}

TEST(ActionClassesTest, APositionWithoutSymmetryHasOnlySingleActions) {
  State state = InitialState(Variant::kFourTreasures);
  ASSERT_TRUE(PlayAction("C1", state).ok());
  const std::vector<int> classes = ActionClasses(state);
  EXPECT_EQ(std::set<int>(classes.begin(), classes.end()).size(), 44u);
}

TEST(ActionClassesTest, LinesAreTheSameUpToSymmetry) {
  for (const VariantInfo& info : kVariants) {
    const auto games = Play({.variant = info.variant}, RandomOne, 1, 1);
    const std::vector<Action> line = record::ActionsOf(games.begin()->second);
    const std::vector<Action> canonical =
        record::CanonicalLine(info.variant, line);
    for (const Symmetry& symmetry : GameSymmetries(info.variant)) {
      std::vector<Action> turned;
      for (const Action action : line) {
        turned.push_back(TransformAction(symmetry, action));
      }
      EXPECT_EQ(record::CanonicalLine(info.variant, turned), canonical)
          << info.id;
    }
  }
}

TEST(ActionClassesTest, LinesAreTheSameUpToSymmetryAfterASwap) {
  // A swap transposes the board: files are mirrored before it, ranks after.
  RuleOptions options;
  options.pie_rule = true;
  const Variant variant = Variant::kPoisonedChalice;
  const auto flip = [](int board, Action action) {
    return TransformAction({static_cast<uint8_t>(board), 0}, action);
  };
  const State start = InitialState(variant, options);
  LegalActions(start).ForEach([&](Action first) {
    State state = start;
    State image = start;
    std::vector<Action> line, mirrored;
    const auto play = [&](Action action, int board) {
      line.push_back(action);
      mirrored.push_back(flip(board, action));
      ASSERT_TRUE(LegalActions(image).Contains(mirrored.back()));
      ApplyAction(line.back(), state);
      ApplyAction(mirrored.back(), image);
    };
    play(first, 1);
    play(kPass, 1);
    for (int i = 0; i < 3; ++i) {
      const LegalSet legal = LegalActions(state);
      play(legal.Nth(legal.Count() * i / 3), 2);
    }
    EXPECT_EQ(record::CanonicalLine(variant, line),
              record::CanonicalLine(variant, mirrored));
  });
}

// --- Games -------------------------------------------------------------------

TEST(BalanceGameTest, DoesNotDependOnThreadsOrNeighbours) {
  const BalanceGameOptions options = {.variant = Variant::kFourTreasures,
                                      .drawn_plies = 4};
  const auto one = Play(options, Searcher, 1, 6);
  const auto three = Play(options, Searcher, 3, 12);
  ASSERT_EQ(one.size(), 6u);
  ASSERT_EQ(three.size(), 12u);
  for (const auto& [id, game] : one) {
    EXPECT_EQ(record::ActionsOf(game), record::ActionsOf(three.at(id))) << id;
  }
}

TEST(BalanceGameTest, DrawnPliesMakeGamesDifferAndOthersDoNot) {
  const auto distinct = [](int drawn_plies) {
    const BalanceGameOptions options = {.variant = Variant::kFourTreasures,
                                        .drawn_plies = drawn_plies};
    std::set<std::vector<Action>> games;
    for (const auto& [id, game] : Play(options, Searcher, 1, 6)) {
      games.insert(record::ActionsOf(game));
    }
    return games.size();
  };
  EXPECT_EQ(distinct(8), 6u);
  EXPECT_LT(distinct(0), 6u);
}

TEST(BalanceGameTest, ValuesAreRedsAndFollowTheSideToMove) {
  const auto games = Play({.variant = Variant::kSacredHillL1}, Searcher, 1, 4);
  for (const auto& [id, game] : games) {
    const GameFacts facts = FactsOf(game).value();
    const std::vector<State> states = record::Replay(game)->states;
    // Near the end a search sees the result, whoever is to move.
    float last = 0;  // Red's
    for (int ply = 0; ply < game.steps_size(); ++ply) {
      if (!game.steps(ply).has_root_value()) continue;
      const float value = game.steps(ply).root_value();
      last = states[ply].side() == kRed ? value : -value;
    }
    if (facts.red_margin == 0) continue;
    EXPECT_GT(last * static_cast<float>(facts.red_margin), 0) << id;
  }
}

TEST(BalanceGameTest, RandomOpeningsAreTheSameForAllPlayers) {
  const BalanceGameOptions options = {.variant = Variant::kHighKingsL1,
                                      .opening_plies = 3};
  const auto one = Play(options, Searcher, 1, 5);
  const auto other = Play(options, RandomOne, 1, 5);
  for (const auto& [id, game] : one) {
    for (int ply = 0; ply < 3; ++ply) {
      EXPECT_EQ(game.steps(ply).action(), other.at(id).steps(ply).action());
      EXPECT_FALSE(game.steps(ply).has_root_value());
    }
  }
}

TEST(BalanceGameTest, BeginsAsItIsMadeTo) {
  const auto driver = BalanceDriver::Create(RandomOne, 1, 4).value();
  const Action d4 = ParseAction("D4").value();
  int games = 0;
  ASSERT_TRUE(driver
                  ->Play({.variant = Variant::kFourTreasures},
                         {{.index = 0, .first = d4}, {.index = 1, .first = d4}},
                         [&](const proto::GameRecord& game) {
                           EXPECT_EQ(record::ActionsOf(game)[0], d4);
                           return ++games > 0;
                         })
                  .ok());
  EXPECT_EQ(games, 2);
}

TEST(BalanceDriverTest, ReturnsTheErrorsOfPlayersAndOfTheCaller) {
  const auto driver = BalanceDriver::Create(
      [] {
        auto player = std::make_unique<FixedPlayer>();
        player->fail = true;
        return absl::StatusOr<std::unique_ptr<Player>>(std::move(player));
      },
      2, 4);
  EXPECT_THAT((*driver)
                  ->Play({}, {{.index = 0}, {.index = 1}},
                         [](const proto::GameRecord&) { return true; })
                  .message(),
              HasSubstr("told to fail"));
  const auto good = BalanceDriver::Create(RandomOne, 2, 4).value();
  std::vector<BalanceGameId> ids;
  for (int i = 0; i < 50; ++i) ids.push_back({.index = i});
  EXPECT_THAT(good->Play({}, ids,
                         [](const proto::GameRecord&) -> absl::StatusOr<bool> {
                           return absl::DataLossError("disk full");
                         })
                  .message(),
              HasSubstr("disk full"));
  int games = 0;
  EXPECT_TRUE(
      good->Play({}, ids, [&](const proto::GameRecord&) { return ++games < 3; })
          .ok());
  EXPECT_EQ(games, 3);
}

TEST(BalanceGameTest, ThePlayerIsAskedForTheStart) {
  auto player = Searcher().value();
  StartReport start;
  ASSERT_TRUE(
      AskForStart({.variant = Variant::kSacredHillL1}, *player, start).ok());
  EXPECT_TRUE(start.value.has_value());
  ASSERT_EQ(start.actions.size(), 45u);
  float sum = 0;
  for (const float share : start.policy) sum += share;
  EXPECT_NEAR(sum, 1, 1e-5);
  auto silent = RandomOne().value();
  ASSERT_TRUE(
      AskForStart({.variant = Variant::kSacredHillL1}, *silent, start).ok());
  EXPECT_FALSE(start.value.has_value());
  EXPECT_TRUE(start.actions.empty());
}

// --- Facts -------------------------------------------------------------------

TEST(GameFactsTest, CountWhatTheRulesSayOfEveryVariant) {
  for (const VariantInfo& info : kVariants) {
    for (const auto& [id, game] :
         Play({.variant = info.variant}, RandomOne, 1, 5)) {
      const GameFacts facts = FactsOf(game).value();
      EXPECT_EQ(facts.length, game.steps_size());
      int types = 0, actions = 0, legal = 0;
      for (const int count : facts.types) types += count;
      for (const SeatFacts& seat : facts.seats) {
        actions += seat.actions;
        legal += seat.legal;
      }
      EXPECT_EQ(types, facts.length);
      EXPECT_EQ(actions, facts.length);
      EXPECT_EQ(legal, facts.legal);
      EXPECT_EQ(facts.seats[2].actions > 0, info.seats == 4) << info.id;
      EXPECT_EQ(facts.first_out >= 0,
                info.seats == 4 && facts.ending == Ending::kOut);
      EXPECT_FALSE(facts.drama.has_value());  // random play says nothing
    }
  }
}

TEST(GameFactsTest, TheSeatThatIsOutFirstHasNoTurnThen) {
  for (const auto& [id, game] :
       Play({.variant = Variant::kFourTreasuresDoubles}, RandomOne, 1, 20)) {
    const GameFacts facts = FactsOf(game).value();
    State state = InitialState(Variant::kFourTreasuresDoubles);
    int last_turn = -1;  // of the seat that was out first
    int ply = 0;
    for (const Action action : record::ActionsOf(game)) {
      if (state.seat == facts.first_out) last_turn = ply;
      ApplyAction(action, state);
      ++ply;
    }
    // The other three get at most one more turn each after it was due.
    EXPECT_GE(last_turn, ply - 7);
    EXPECT_LT(last_turn, ply - 3) << "it would have had a turn";
  }
}

TEST(GameFactsTest, RefuseGamesThatBreakTheRulesOrDoNotEnd) {
  proto::GameRecord game =
      Play({.variant = Variant::kFourTreasures}, RandomOne, 1, 1)
          .begin()
          ->second;
  proto::GameRecord twice = game;
  twice.mutable_steps(1)->set_action(twice.steps(0).action());
  EXPECT_THAT(FactsOf(twice).status().message(),
              HasSubstr("ply 1: illegal action"));
  const State last = record::Replay(game)->states[3];
  game.mutable_steps()->DeleteSubrange(3, game.steps_size() - 3);
  record::SetResigned(last, game);
  EXPECT_THAT(FactsOf(game).status().message(),
              HasSubstr("was not played to its end"));
}

// Returns a finished game of Four Treasures with these values of Red's, as a
// share of its winner's: positive where the winner is ahead.
GameDrama DramaWith(const std::vector<float>& winners_values) {
  for (const auto& [id, random] :
       Play({.variant = Variant::kFourTreasures}, RandomOne, 1, 5)) {
    proto::GameRecord game = random;
    const std::vector<State> states = record::Replay(game)->states;
    const int margin = FactsOf(game).value().red_margin;
    for (size_t i = 0; i < winners_values.size(); ++i) {
      if (std::isnan(winners_values[i])) continue;
      const bool winner_moves = (states[i].side() == kRed) == (margin > 0);
      game.mutable_steps(static_cast<int>(i))
          ->set_root_value(winner_moves ? winners_values[i]
                                        : -winners_values[i]);
    }
    return *FactsOf(game).value().drama;
  }
  return {};
}

TEST(GameFactsTest, DramaIsReadFromTheValues) {
  const GameDrama steady = DramaWith({0, 0.05f, 0.2f, kNan, 0.5f, 1});
  EXPECT_EQ(steady.lead_changes, 0);
  EXPECT_EQ(steady.decided_ply, 2);
  EXPECT_DOUBLE_EQ(steady.lowest_score, 0.5);
  // Ahead, even, behind (a change), even, ahead (a change), even, ahead.
  const GameDrama wild =
      DramaWith({0.3f, 0, -0.6f, 0.05f, 0.4f, 0, 0.9f, 0.95f});
  EXPECT_EQ(wild.lead_changes, 2);
  EXPECT_EQ(wild.decided_ply, 6);
  EXPECT_NEAR(wild.lowest_score, 0.2, 1e-6);
  // The loser was thought to be ahead to the last.
  EXPECT_GE(DramaWith({0.5f, -0.5f}).decided_ply, 45);
}

// --- Statistics --------------------------------------------------------------

TEST(BalanceTest, SumsUpTheGames) {
  const BalanceGameOptions options = {.variant = Variant::kSacredHillL1};
  const BalanceStudy study = StudyOf(options, Play(options, RandomOne, 2, 300));
  const BalanceStatistics statistics = Summarize(study);
  EXPECT_EQ(statistics.games, 300);
  EXPECT_NEAR(
      statistics.wins.mean + statistics.draws.mean + statistics.losses.mean, 1,
      1e-12);
  EXPECT_NEAR(statistics.score.mean,
              statistics.wins.mean + statistics.draws.mean / 2, 1e-12);
  int64_t counted = 0;
  double sum = 0;
  for (const auto& [margin, games] : statistics.margins) {
    counted += games;
    sum += static_cast<double>(margin * games);
  }
  EXPECT_EQ(counted, 300);
  EXPECT_NEAR(statistics.margin.mean, sum / 300, 1e-9);
  EXPECT_EQ(statistics.distinct_games, 300);
  // Nine classes of first actions; a random player chooses classes by their
  // size: ln 45 - (5 * 4 ln 4 + 24 ln 8) / 45 = 2.082, 8.02 choices.
  EXPECT_LT(statistics.lines.at(1).low, 8.02);
  EXPECT_GT(statistics.lines.at(1).high, 8.02);
  EXPECT_FALSE(statistics.drama.has_value());
  EXPECT_FALSE(statistics.pie.has_value());
  EXPECT_TRUE(statistics.seats.empty());
  EXPECT_FALSE(statistics.choices[0].has_value());
}

TEST(BalanceTest, ASearchSaysHowTheGameRan) {
  const BalanceGameOptions options = {.variant =
                                          Variant::kFourTreasuresDoubles};
  const BalanceStatistics statistics =
      Summarize(StudyOf(options, Play(options, Searcher, 2, 10)));
  ASSERT_TRUE(statistics.drama.has_value());
  EXPECT_LE(statistics.drama->decided_share.mean, 1);
  ASSERT_EQ(statistics.seats.size(), 4u);
  EXPECT_GT(statistics.seats[3].branching.mean, 1);
  double first_out = 0;
  for (const SeatStatistics& seat : statistics.seats) {
    first_out += seat.first_out.mean;
  }
  EXPECT_NEAR(first_out, 1, 1e-9);
  ASSERT_TRUE(statistics.choices[0].has_value());
  // South's 26 hills, no symmetry.
  EXPECT_GE(statistics.choices[0]->mean, 1);
  EXPECT_LE(statistics.choices[0]->mean, 26);
}

TEST(BalanceTest, ComparesGameByGame) {
  const BalanceGameOptions options = {.variant = Variant::kSacredHillL1};
  const BalanceStudy study = StudyOf(options, Play(options, RandomOne, 1, 40));
  const BalanceDifference none = Compare(study, study);
  EXPECT_EQ(none.games, 40);
  EXPECT_EQ(none.score.high, 0);
  EXPECT_EQ(none.p_score, 1);
  BalanceStudy longer = study;
  for (GameFacts& game : longer.games) game.length += 2;
  longer.games.resize(30);
  const BalanceDifference two = Compare(study, longer);
  EXPECT_EQ(two.games, 30);
  EXPECT_EQ(two.length.low, 2);
  EXPECT_EQ(two.length.high, 2);
}

TEST(FirstActionsTest, AreJoinedByClassWhetherChosenOrNot) {
  const BalanceGameOptions options = {.variant = Variant::kFourTreasures};
  BalanceStudy study = StudyOf(options, Play(options, RandomOne, 1, 60));
  study.num_first_games = 2;
  const auto classes = FirstActionClasses(options);
  ASSERT_EQ(classes.size(), 9u);
  EXPECT_FALSE(FairestFirstAction({.options = options}).has_value());
  const auto driver = BalanceDriver::Create(RandomOne, 1, 4).value();
  for (const std::vector<Action>& members : classes) {
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(driver
                      ->Play(options, {{.index = i, .first = members[0]}},
                             [&](const proto::GameRecord& game) {
                               study.first_games[members[0]].push_back(
                                   FactsOf(game).value());
                               return true;
                             })
                      .ok());
    }
  }
  int games = 0;
  for (const FirstActionStatistics& first : FirstActionsOf(study)) {
    games += first.games;
  }
  EXPECT_EQ(games, 60 + 9 * 2);
  const std::optional<PieRule> pie = PieRuleOf(study);
  ASSERT_TRUE(pie.has_value());
  EXPECT_EQ(pie->games, 3);  // those that had no part in the choice
  EXPECT_GE(pie->chooser_score.mean, 0.5);
}

// --- Balance study -----------------------------------------------------------

// Studies of balance, and the stores that keep their games.

std::string PathOf(const std::string& name) {
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name);
  std::remove(path.c_str());
  return path;
}

std::unique_ptr<record::GameStore> Open(const std::string& path) {
  return record::OpenGameStore(path, record::StoreMode::kExclusive).value();
}

const BalanceStudyKey kKey = {.options = {.variant = Variant::kFourTreasures},
                              .player = "mcts:sims=8",
                              .identity = "mcts:sims=8"};

// Runs a study; stops after `stop_after` games if it is not negative.
absl::StatusOr<BalanceStudy> RunStudy(record::GameStore& store,
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

TEST(BalanceStudyTest, AStudyGoesOnWhereItWasBrokenOff) {
  const BalancePlan plan = {.games = 12, .first_games = 1, .pie_games = 3};
  const auto memory = Open(":memory:");
  const BalanceStudy whole = RunStudy(*memory, plan).value();
  ASSERT_EQ(whole.games.size(), 12u);
  const std::string path = PathOf("resumed.db");
  int played = 0;
  {
    const auto store = Open(path);
    const BalanceStudy part = RunStudy(*store, plan, 7, &played).value();
    // Those that were finished when it stopped are kept, but no more begin.
    EXPECT_GE(played, 7);
    EXPECT_LE(played, 12);
    EXPECT_LE(part.games.size(), static_cast<size_t>(played));
  }
  const int played_before = played;
  const auto store = Open(path);
  const BalanceStudy resumed = RunStudy(*store, plan, -1, &played).value();
  EXPECT_EQ(GamesOf(resumed), GamesOf(whole));
  EXPECT_EQ(played, 12 + 9 + 3 - played_before);
  const BalanceStatistics one = Summarize(whole);
  const BalanceStatistics other = Summarize(resumed);
  EXPECT_EQ(one.drama->deficit.mean, other.drama->deficit.mean);
  EXPECT_EQ(one.choices[1]->mean, other.choices[1]->mean);
  EXPECT_EQ(one.pie->chooser_score.mean, other.pie->chooser_score.mean);
  // All there: nothing is played.
  RunStudy(*store, plan, -1, &played).value();
  EXPECT_EQ(played, 0);
}

TEST(BalanceStudyTest, OtherStudiesAreKeptApart) {
  std::set<std::string> studies;
  BalanceStudyKey other = kKey;
  const auto add = [&] {
    studies.insert(ContestOf(other).SerializeAsString());
    return studies.size();
  };
  EXPECT_EQ(add(), 1u);
  EXPECT_EQ(add(), 1u);
  other.identity = "net:12345678-9,sims=4";
  EXPECT_EQ(add(), 2u);
  other.options.seed = 2;
  EXPECT_EQ(add(), 3u);
  other.options.variant = Variant::kHighKingsL1;
  other.options.rule_options.no_progress_limit = 30;
  EXPECT_EQ(add(), 4u);
  other.options.temperature = 0.5;
  EXPECT_EQ(add(), 5u);
}

TEST(BalanceStudyTest, APlaceNamesAGameOfAStudy) {
  for (const BalanceGameId& id :
       {BalanceGameId{.index = 7},
        BalanceGameId{.index = 0, .first = ParseAction("D4").value()}}) {
    EXPECT_EQ(BalanceGameId::AtPlace(id.place()), id);
  }
  EXPECT_EQ(BalanceGameId{.index = 7}.place(), 7u);
}

TEST(BalanceStudyTest, OneProcessHasItsStoreAtATime) {
  const std::string path = PathOf("busy.db");
  const auto first = Open(path);
  EXPECT_THAT(
      std::string(record::OpenGameStore(path, record::StoreMode::kExclusive)
                      .status()
                      .message()),
      HasSubstr("in use by another process"));
  EXPECT_TRUE(record::OpenGameStore(path, record::StoreMode::kReadOnly).ok());
}

TEST(BalanceStudyTest, APrecisionEndsTheGames) {
  const BalancePlan plan = {
      .games = 4 * kBalanceBlock, .precision = 0.09, .first_games = 0};
  const auto store = Open(":memory:");
  const BalanceStudy study = RunStudy(*store, plan).value();
  // Scores of 0 and 1 want some 1.96^2 / 4 / 0.09^2 = 119 games.
  EXPECT_EQ(study.games.size() % kBalanceBlock, 0u);
  EXPECT_LT(study.games.size(), 4u * kBalanceBlock);
  const Interval score = FirstSideScore(study.games);
  EXPECT_LE((score.high - score.low) / 2, 0.09);
}

}  // namespace
}  // namespace tara::eval
