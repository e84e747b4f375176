#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/game.pb.h"
#include "tara/core/symmetry.h"
#include "tara/eval/balance/study.h"
#include "tara/record/game_record.h"
#include "tests/base/temporary_folder.h"
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Games of a player with itself, by place.
std::map<uint64_t, proto::GameRecord> Play(ArenaOptions options,
                                           const std::string& spec,
                                           int threads = 1) {
  std::map<uint64_t, proto::GameRecord> played;
  options.self_play = true;
  options.adjudicate = false;
  if (!options.opening_plies.has_value()) options.opening_plies = 0;
  options.on_game = [&](proto::GameRecord game) {
    played[game.place()] = game;
    return absl::OkStatus();
  };
  Play(options, spec, spec, threads);
  return played;
}

// --- Games of a player with itself -------------------------------------------

TEST(SelfPlayTest, EachGameHasAnOpeningOfItsOwn) {
  const ArenaOptions options = {
      .variant = Variant::kFourTreasures, .games = 6, .drawn_plies = 4};
  const auto one = Play(options, "mcts:sims=8", 1);
  const auto three = Play(options, "mcts:sims=8", 3);
  ASSERT_EQ(one.size(), 6u);
  std::set<std::vector<Action>> different;
  for (const auto& [place, game] : one) {
    EXPECT_EQ(record::ActionsOf(game), record::ActionsOf(three.at(place)));
    different.insert(record::ActionsOf(game));
  }
  EXPECT_EQ(different.size(), 6u);
  // Without drawn actions a player that draws nothing repeats its game.
  different.clear();
  for (const auto& [place, game] :
       Play({.variant = Variant::kFourTreasures, .games = 6},
            "alphabeta:depth=1")) {
    different.insert(record::ActionsOf(game));
  }
  EXPECT_LT(different.size(), 6u);
}

TEST(SelfPlayTest, GivenOpeningsArePlayedInTurn) {
  const Action d4 = ParseAction("D4").value();
  const Action c3 = ParseAction("C3").value();
  const auto games = Play({.variant = Variant::kFourTreasures,
                           .games = 4,
                           .given_openings = {{d4}, {c3}}},
                          "random");
  for (const auto& [place, game] : games) {
    EXPECT_EQ(record::ActionsOf(game)[0], place % 2 == 0 ? d4 : c3);
    EXPECT_EQ(game.opening_plies(), 1u);
  }
}

TEST(SelfPlayTest, GamesThatAreGivenUpAreBegunAgain) {
  ArenaOptions options = {.variant = Variant::kFourTreasures,
                          .games = 4,
                          .opening_plies = 2,
                          .self_play = true};
  int games = 0;
  options.on_game = [&](const proto::GameRecord& game) {
    games += !game.result().has_forfeited_by();
    return absl::OkStatus();
  };
  const auto play = [&](int often) {
    const PlayerFactory quitter = FactoryOf<QuittingPlayer>(often);
    return PlayArena(options, quitter, quitter, 1);
  };
  EXPECT_THAT(play(100), IsOk());
  EXPECT_EQ(games, 4);
  EXPECT_THAT(
      play(1),
      StatusIs(absl::StatusCode::kAborted,
               HasSubstr("was given up 3 times by its player: had enough")));
}

TEST(RestrictedPlayTest, APlayerAvoidsActionsOfAType) {
  ArenaOptions options = {.variant = Variant::kFourTreasures,
                          .games = 8,
                          .a_avoids = ActionType::kCapture};
  int a_captures = 0, b_captures = 0;
  options.on_game = [&](const proto::GameRecord& game) {
    const auto replayed = record::Replay(game).value();
    const bool a_is_red = game.place() % 2 == 0;
    for (int ply = game.opening_plies(); ply < game.steps_size(); ++ply) {
      const State& state = replayed.states[ply];
      const auto action = static_cast<Action>(game.steps(ply).action());
      if (TypeOf(state, action) != ActionType::kCapture) continue;
      bool other = false;
      LegalActions(state).ForEach([&](Action each) {
        other = other || TypeOf(state, each) != ActionType::kCapture;
      });
      const bool is_a = (state.side() == kRed) == a_is_red;
      (is_a && other ? a_captures : b_captures) += 1;
    }
    return absl::OkStatus();
  };
  // Where captures may be left out.
  options.rule_options.free_capture = true;
  Play(options, "random", "random");
  EXPECT_EQ(a_captures, 0);
  EXPECT_GT(b_captures, 0);
}

TEST(RestrictedPlayTest, TheBestOfTheOthersIsChosen) {
  const State start = InitialState(Variant::kFourTreasures);
  std::vector<float> policy(LegalActions(start).Count(), 0);
  policy[3] = 0.7f;
  policy[5] = 0.3f;
  const Action third = LegalActions(start).Nth(3);
  // All are builds: then the choice remains.
  EXPECT_EQ(WithoutType(start, policy, third, ActionType::kBuild), third);
  EXPECT_EQ(WithoutType(start, policy, third, ActionType::kPass), third);
}

// --- Classes of actions ------------------------------------------------------

TEST(ActionClassesTest, HillsThatSymmetriesExchangeAreOneFirstAction) {
  // The square's 8 symmetries leave of 45 hills: the centre, 2 classes of 4 on
  // the diagonals (C3, B2), 3 of 4 on the axes (D3, D2, D1), and of 8: 24 hills
  // in 3 classes (C1, C2, and B... the rest).
  std::multiset<int> found;
  for (const auto& members :
       ActionsByClass(InitialState(Variant::kSacredHillL1))) {
    found.insert(static_cast<int>(members.size()));
  }
  EXPECT_EQ(found, (std::multiset<int>{1, 4, 4, 4, 4, 4, 8, 8, 8}));
}

TEST(ActionClassesTest, APositionWithoutSymmetryHasOnlySingleActions) {
  State state = InitialState(Variant::kFourTreasures);
  ASSERT_TRUE(PlayAction("C1", state).ok());
  EXPECT_EQ(ActionsByClass(state).size(), 44u);
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

// --- Facts -------------------------------------------------------------------

TEST(GameFactsTest, CountWhatTheRulesSayOfEveryVariant) {
  for (const VariantInfo& info : kVariants) {
    for (const auto& [id, game] :
         Play({.variant = info.variant, .games = 6}, "random")) {
      const GameFacts facts = FactsOf(game).value();
      EXPECT_EQ(facts.length, game.steps_size());
      int types = 0, actions = 0;
      for (const int count : facts.types) types += count;
      for (const SeatFacts& seat : facts.seats) {
        actions += seat.actions;
      }
      EXPECT_EQ(types, facts.length);
      EXPECT_EQ(actions, facts.length);
      EXPECT_GT(facts.legal, facts.length);
      EXPECT_EQ(facts.seats[2].actions > 0, info.seats == 4) << info.id;
      EXPECT_EQ(facts.first_out >= 0,
                info.seats == 4 && facts.ending == Ending::kOut);
      EXPECT_FALSE(facts.drama.has_value());  // random play says nothing
    }
  }
}

TEST(GameFactsTest, TheSeatThatIsOutFirstHasNoTurnThen) {
  for (const auto& [id, game] :
       Play({.variant = Variant::kFourTreasuresDoubles, .games = 20},
            "random")) {
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
      Play({.variant = Variant::kFourTreasures, .games = 2}, "random")
          .begin()
          ->second;
  proto::GameRecord twice = game;
  twice.mutable_steps(1)->set_action(twice.steps(0).action());
  EXPECT_THAT(FactsOf(twice), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("ply 1: illegal action")));
  const State last = record::Replay(game)->states[3];
  game.mutable_steps()->DeleteSubrange(3, game.steps_size() - 3);
  record::SetResigned(last, game);
  EXPECT_THAT(FactsOf(game), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("was not played to its end")));
}

// Returns the drama of a finished game of Four Treasures with these values of
// its winner.
GameDrama DramaWith(const std::vector<float>& winners_values) {
  proto::GameRecord game =
      Play({.variant = Variant::kFourTreasures, .games = 2}, "random").at(0);
  const std::vector<State> states = record::Replay(game)->states;
  const bool red_wins = FactsOf(game).value().red_margin > 0;
  for (size_t i = 0; i < winners_values.size(); ++i) {
    if (std::isnan(winners_values[i])) continue;
    const bool winner_moves = (states[i].side() == kRed) == red_wins;
    game.mutable_steps(static_cast<int>(i))
        ->set_root_value(winner_moves ? winners_values[i] : -winners_values[i]);
  }
  return *FactsOf(game).value().drama;
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

// --- Studies -----------------------------------------------------------------

std::unique_ptr<record::GameStore> Open(const std::string& path) {
  return record::OpenGameStore(path, record::StoreMode::kExclusive).value();
}

// A study with every part.
Study SmallStudy(Variant variant) {
  Study study = {.rules = {{.variant = variant}},
                 .players = {ParsePlayerSpec("mcts").value()},
                 .size = {},
                 .drawn_plies = 6,
                 .ladder_points = 1};
  for (const int simulations : {4, 8}) {
    proto::StudyBudget& budget = *study.size.add_budget();
    budget.set_simulations(simulations);
    budget.set_games(24);
    budget.set_first_games(2);
    budget.set_ladder_games(12);
    budget.set_fresh_games(22);
    budget.set_pie_games(22);
    budget.set_option_games(22);
    budget.set_restricted_games(8);
  }
  study.size.set_depth_games(20);
  study.size.set_depth_simulations(16);
  RuleChange change = {.text = "last_turns=false", .options = {}};
  change.options.last_turns = false;
  study.rules[0].changes.push_back(change);
  return study;
}

absl::StatusOr<StudyResults> Results(const Study& study,
                                     record::GameStore& store,
                                     int threads = 2) {
  return RunStudy(study, {.store = &store, .threads = threads});
}

std::vector<std::vector<Action>> GamesOf(const StudyResults& results) {
  std::vector<std::vector<Action>> games;
  for (const Sample& sample : results.samples) {
    for (const GameFacts& game : sample.games) games.push_back(game.actions);
  }
  return games;
}

TEST(StudyTest, PlaysEachPartAndReportsIt) {
  const Study study = SmallStudy(Variant::kFourTreasures);
  ASSERT_EQ(CheckStudy(study), absl::OkStatus());
  const auto store = Open(":memory:");
  const StudyResults results = Results(study, *store).value();
  std::map<std::string, int> games;
  for (const Sample& sample : results.samples) {
    EXPECT_EQ(sample.games.size(), static_cast<size_t>(sample.wanted));
    games[std::string(sample.part)] += sample.wanted;
  }
  EXPECT_EQ(games["games"], 48);
  EXPECT_EQ(games["first_actions"], 2 * 9 * 2);
  EXPECT_EQ(games["ladder"], 2 * 2 * 12);
  EXPECT_EQ(games["fresh"], 44);
  EXPECT_EQ(games["pie_rule"], 44);
  EXPECT_EQ(games["option"], 44);
  EXPECT_GE(games["doubling"], 20);
  const BalanceReport report = ReportOf(study, results);
  ASSERT_EQ(report.verdicts.size(), 1u);
  const std::string text = SectionsText(report.sections);
  for (const char* part :
       {"score of the first side", "trend with simulations",
        "fair compensation", "pie rule", "changed rules", "depth of skill",
        "effective number of openings", "first actions", "restricted play",
        "what a game is like", "endings"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const auto json = nlohmann::json::parse(BalanceReportJson(report));
  EXPECT_EQ(json["studies"].size(), 2u);
  EXPECT_EQ(json["studies"][1]["simulations"], 8);
  EXPECT_EQ(json["compensations"].size(), 2u);
  EXPECT_EQ(json["what_if"][0]["change"], "last_turns=false");
  EXPECT_THAT(BalancePage(report), HasSubstr("Four Treasures"));
  // Seats are of doubles alone.
  EXPECT_FALSE(json.contains("seats"));
}

TEST(StudyTest, ResumesWithoutPlayingAGameTwice) {
  const Study study = SmallStudy(Variant::kHighKingsL1);
  const auto memory = Open(":memory:");
  const StudyResults whole = Results(study, *memory).value();
  const TemporaryFolder folder;
  const std::string path = folder.At("resumed.db");
  for (const int games : {1, 30, 100}) {
    const auto store = Open(path);
    int asked = 0;
    const absl::StatusOr<StudyResults> part = RunStudy(
        study, {.store = store.get(),
                .threads = 1,
                .stop = [&] { return asked > games; },
                .on_progress = [&](const StudyProgress&) { ++asked; }});
    ASSERT_TRUE(part.ok()) << part.status();
    EXPECT_LT(GamesOf(*part).size(), GamesOf(whole).size());
  }
  const auto store = Open(path);
  const StudyResults resumed = Results(study, *store).value();
  EXPECT_EQ(GamesOf(resumed), GamesOf(whole));
  EXPECT_EQ(BalanceReportJson(ReportOf(study, resumed)),
            BalanceReportJson(ReportOf(study, whole)));
  // All there: nothing is played.
  const int64_t before = store->Count({}).value();
  EXPECT_EQ(GamesOf(Results(study, *store).value()), GamesOf(whole));
  EXPECT_EQ(store->Count({}).value(), before);
}

TEST(StudyTest, OtherStudiesInTheStoreAreKeptApart) {
  const auto store = Open(":memory:");
  Study study = SmallStudy(Variant::kFourTreasures);
  study.size.clear_depth_games();
  const StudyResults first = Results(study, *store).value();
  Study other = study;
  other.seed = 2;
  EXPECT_NE(GamesOf(Results(other, *store).value()), GamesOf(first));
  other = study;
  other.drawn_plies = 3;
  EXPECT_NE(GamesOf(Results(other, *store).value()), GamesOf(first));
  EXPECT_EQ(GamesOf(Results(study, *store).value()), GamesOf(first));
}

TEST(StudyTest, WhatAPlayerHasNotLearnedIsLeftOutAndSaid) {
  const Study study = SmallStudy(Variant::kFourTreasures);
  const auto store = Open(":memory:");
  const StudyResults results =
      RunStudy(study, {.store = store.get(),
                       .threads = 2,
                       .not_learned =
                           [](const PlayerSpec&, const State& state) {
                             return state.options == RuleOptions() ? "" : "it";
                           }})
          .value();
  for (const Sample& sample : results.samples) {
    EXPECT_EQ(sample.rules, RuleOptions()) << sample.part;
  }
  const BalanceReport report = ReportOf(study, results);
  // One note on openings, and one of the player.
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_THAT(
      report.notes[1],
      AllOf(HasSubstr("Not learned by mcts, so left out: compensation="),
            HasSubstr("; last_turns=false; the pie rule.")));
  EXPECT_THAT(SectionsText(report.sections),
              Not(HasSubstr("fair compensation")));
}

TEST(StudyTest, TheCostCountsAllGames) {
  Study study = SmallStudy(Variant::kFourTreasures);
  // 24 games, 18 first, 24 ladder, 22 fresh, 22 pie, 22 changed and 4 times 8
  // restricted, at two budgets; and 2 doublings.
  EXPECT_THAT(MostGamesOf(study, {.threads = 1}),
              IsOkAndHolds(2 * (24 + 18 + 24 + 22 + 22 + 22 + 32) + 2 * 20));
}

TEST(StudyTest, WrongNumbersAreRefused) {
  using Change = void (*)(Study&);
  for (const auto& [message, change] : std::map<std::string, Change>{
           {"games is 1; expected 2 or more",
            [](Study& s) { s.size.mutable_budget(0)->set_games(1); }},
           {"pie_games is -3",
            [](Study& s) { s.size.mutable_budget(0)->set_pie_games(-3); }},
           {"player 'greedy' has no simulations",
            [](Study& s) { s.players[0] = ParsePlayerSpec("greedy").value(); }},
           {"given twice",
            [](Study& s) { s.size.mutable_budget(1)->set_simulations(4); }},
           {"temperature above 0", [](Study& s) { s.temperature = 0; }}}) {
    Study study = SmallStudy(Variant::kFourTreasures);
    change(study);
    EXPECT_THAT(CheckStudy(study), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr(message)));
  }
}

// --- Verdicts ----------------------------------------------------------------

// A sample of made-up games: `wins` of the first side, then losses, all
// different or all the same.
Sample MadeUp(int wins, int losses, int simulations, bool different = true,
              absl::string_view part = part::kGames) {
  Sample sample = {.part = part,
                   .variant = Variant::kFourTreasures,
                   .player = "mcts",
                   .spec = "mcts",
                   .simulations = simulations,
                   .wanted = wins + losses};
  for (int i = 0; i < wins + losses; ++i) {
    const int result = i < wins ? 1 : -1;
    sample.games.push_back(
        {.place = static_cast<uint64_t>(i),
         .red_margin = 3 * result,
         .result = result,
         .length = 30,
         .legal = 300,
         .actions = {Action{0}},
         .same_game = different ? 1000u * simulations + i + 1 : 7u});
  }
  return sample;
}

std::string VerdictOf(std::vector<Sample> samples) {
  return absl::StrJoin(ReportOf(Study(), {.samples = std::move(samples)})
                           .verdicts.at(0)
                           .sentences,
                       "\n");
}

TEST(VerdictTest, AFavouredSideIsNamedWithItsFigures) {
  EXPECT_THAT(VerdictOf({MadeUp(180, 20, 100)}),
              HasSubstr("The first side is favoured: it scores 90.0 % [85.0, "
                        "93.8] with 100 simulations."));
  EXPECT_THAT(
      VerdictOf({MadeUp(20, 180, 100)}),
      HasSubstr("The second side is favoured: the first scores 10.0 %"));
  EXPECT_THAT(VerdictOf({MadeUp(105, 95, 100)}),
              HasSubstr("No side is shown to be favoured"));
  EXPECT_THAT(VerdictOf({MadeUp(5000, 5010, 100)}),
              HasSubstr("Even to within 5 %"));
}

TEST(VerdictTest, FewDifferentGamesAreNoGroundForAVerdict) {
  EXPECT_THAT(VerdictOf({MadeUp(200, 0, 100, false)}),
              AllOf(HasSubstr("Fewer than 20 different games are no ground for "
                              "a verdict: games, 200 games that count as 1 "
                              "with 100 simulations."),
                    Not(HasSubstr("favoured"))));
  // Many are different, but one is most of them.
  Sample repeated = MadeUp(199, 1, 100);
  for (int i = 0; i < 150; ++i) repeated.games[i].same_game = 7;
  EXPECT_THAT(VerdictOf({repeated}), AllOf(HasSubstr("that count as 2 with"),
                                           Not(HasSubstr("favoured"))));
}

TEST(VerdictTest, EachBudgetIsToldWhereItBelongs) {
  EXPECT_THAT(
      VerdictOf({MadeUp(180, 20, 25), MadeUp(100, 100, 100)}),
      AllOf(HasSubstr("The first side is favoured: it scores 90.0 % [85.0, "
                      "93.8] with 25 simulations."),
            HasSubstr("No side is shown to be favoured: the first scores 50.0 "
                      "% [42.9, 57.1] with 100 simulations."),
            HasSubstr("Each doubling of simulations moves the score by -20.0 "
                      "% ["),
            HasSubstr("The last step still moves the score; expect other "
                      "figures from stronger play: -40.0 % [")));
}

TEST(VerdictTest, ThePieRuleIsJudgedByTheChooser) {
  EXPECT_THAT(
      VerdictOf({MadeUp(100, 100, 100), MadeUp(5, 195, 100, true, part::kPie)}),
      HasSubstr("The pie rule does not make it even: the chooser scores 97.5 "
                "% ["));
}

TEST(VerdictTest, ARuleIsToldWithEachNumberOfSimulations) {
  const auto option = [](int wins, int simulations) {
    Sample sample = MadeUp(wins, 200 - wins, simulations, true, part::kOption);
    sample.detail = "free_pass=true";
    return sample;
  };
  const auto verdict = [&](int few, int many) {
    return VerdictOf({MadeUp(100, 100, 25), MadeUp(100, 100, 100),
                      option(few, 25), option(many, 100)});
  };
  EXPECT_THAT(
      verdict(180, 20),
      testing::ContainsRegex(
          "Rules that move the first side's score: free_pass=true by "
          "\\+40.0 % \\[[^;]*\\] with 25 simulations; free_pass=true by "
          "-40.0 % \\[[^;]*\\] with 100 simulations\\."));
  EXPECT_THAT(verdict(100, 100),
              HasSubstr("Rules that are not shown to move the score: "
                        "free_pass=true by +0.0 % ["));
}

TEST(VerdictTest, TwoPlayersAreNoSampleOfAll) {
  Sample other = MadeUp(60, 140, 100);
  other.player = "net";
  EXPECT_THAT(VerdictOf({MadeUp(140, 60, 100), other}),
              HasSubstr("The players disagree on the score, and a third can "
                        "differ by more: net against mcts by -40.0 % ["));
}

// --- Compensation ------------------------------------------------------------

// The samples of a ladder up to 4 points with `openings` common openings, of
// which the first is without compensation.
std::vector<Sample> LadderOf(const std::function<double(double)>& curve,
                             int openings, Random& random) {
  std::vector<Sample> samples;
  for (int halves = 0; halves <= 8; ++halves) {
    samples.push_back(MadeUp(openings, 0, 100, true,
                             halves == 0 ? part::kGames : part::kLadder));
    samples.back().rules.compensation_halves = static_cast<int8_t>(halves);
    for (GameFacts& game : samples.back().games) {
      game.result = random.Uniform() < curve(halves / 2.0) ? 1 : -1;
      game.same_game = random();
      game.actions.clear();
      for (uint64_t i = 0; i < 3; ++i) {
        game.actions.push_back(
            static_cast<Action>(MixBits(3 * game.place + i) % 45));
      }
    }
  }
  return samples;
}

std::optional<Compensation> CompensationOf(const std::vector<Sample>& samples) {
  std::vector<const Sample*> steps;
  for (const Sample& sample : samples) steps.push_back(&sample);
  return FindCompensation(steps, samples[0].wanted, 3);
}

TEST(CompensationTest, GamesThatDidNotChooseTheStepConfirmIt) {
  using Curve = std::function<double(double)>;
  const auto logistic = [](double a, double b) {
    return [=](double points) { return 1 / (1 + std::exp(b * points - a)); };
  };
  const auto step = [](double high, double low, double from) {
    return [=](double points) { return points < from ? high : low; };
  };
  constexpr int kRuns = 200;
  for (const Curve& curve :
       {Curve(logistic(2, 1)), Curve(logistic(4, 1.5)), Curve(logistic(0.4, 0)),
        Curve(step(0.67, 0.46, 3)), Curve(step(0.9, 0.4, 1)),
        Curve(step(0.98, 0.03, 2.5))}) {
    double best = 1;
    for (double points = 0; points <= 4; points += 0.5) {
      best = std::min(best, std::abs(curve(points) - 0.5));
    }
    Random random(21);
    int other_missed = 0, fresh_missed = 0, far = 0;
    for (int run = 0; run < kRuns; ++run) {
      const std::vector<Sample> samples = LadderOf(curve, 80, random);
      const Compensation found = CompensationOf(samples).value();
      const double truth = curve(found.halves / 2.0);
      const auto misses = [&](const std::vector<GameFacts>& games) {
        const Interval score = ScoresOf(games).score;
        return score.low > truth || score.high < truth;
      };
      other_missed += misses(HalfOf(samples[found.halves].games, 1));
      fresh_missed +=
          misses(LadderOf([&](double) { return truth; }, 100, random)[0].games);
      far += std::abs(truth - 0.5) > best + 0.15;
    }
    const double most = kRuns * 0.05 + 3 * std::sqrt(kRuns * 0.05 * 0.95);
    EXPECT_LE(other_missed, most) << curve(0) << " " << curve(4);
    EXPECT_LE(fresh_missed, most) << curve(0) << " " << curve(4);
    EXPECT_LE(far, kRuns * 0.05) << curve(0) << " " << curve(4);
  }
}

TEST(CompensationTest, AStepWithoutGamesLeavesItOpen) {
  Random random(1);
  std::vector<Sample> samples = LadderOf([](double) { return 0.5; }, 4, random);
  samples[3].games.clear();
  EXPECT_FALSE(CompensationOf(samples).has_value());
}

TEST(VerdictTest, ACompensationIsJudgedByFreshGames) {
  const auto verdict = [](int fresh_wins) {
    Sample base = MadeUp(180, 20, 100);
    base.compensation = {
        .fit = {.steps = {{2.5, 40, {}, 0.67}, {3, 40, {}, 0.313}}},
        .halves = 6};
    Sample fresh =
        MadeUp(fresh_wins, 200 - fresh_wins, 100, true, part::kFresh);
    fresh.rules.compensation_halves = 6;
    return VerdictOf({base, fresh});
  };
  EXPECT_THAT(verdict(60),
              HasSubstr("No compensation that was tried makes it even; nearest "
                        "to it are +3.0 points, with which the first side "
                        "scores 30.0 % [23.7, 36.9] in 200 fresh games with "
                        "100 simulations."));
  EXPECT_THAT(verdict(100),
              HasSubstr("Points for the second side may make it even, which "
                        "these games do not show: +3.0 points, with which the "
                        "first side scores 50.0 % [42.9, 57.1] in 200 fresh "
                        "games"));
}

TEST(VerdictTest, TheLadderOfTheMostSimulationsIsShown) {
  const auto base = [](int simulations, double points) {
    Sample sample = MadeUp(180, 20, simulations);
    sample.compensation = {
        .fit = {.steps = {{points, 40, {}, 0.5}},
                .even_points = {points, points - 0.1, points + 0.1}},
        .halves = 0};
    return sample;
  };
  const std::vector<Sample> samples = {base(100, 3), base(25, 1)};
  const BalanceReport report = ReportOf(Study(), {.samples = samples});
  EXPECT_EQ(report.tables["ladder"].size(), 2u);
  const auto steps = std::find_if(
      report.sections.begin(), report.sections.end(), [](const auto& section) {
        return section.heading == "Steps of the compensation";
      });
  ASSERT_EQ(steps->rows.size(), 1u);
  EXPECT_EQ(RowJson(steps->rows[0])["simulations"], 100);
}

}  // namespace
}  // namespace tara::eval
