#include "tara/eval/book/book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_record.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string NewFile(const std::string& name) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::filesystem::remove(path);
  return path;
}

OpeningBook OpenBook(const std::string& path) {
  return OpeningBook::Open(path, SqliteDatabase::Mode::kReadWrite).value();
}

// Lets the book grow by searches of 30 simulations with random games.
void Grow(const State& start, int positions, OpeningBook& book,
          int threads = 1) {
  mcts::PlayoutEvaluator evaluator(1, 1);
  OpeningTree tree(book, start);
  const absl::Status status =
      GrowBook({.positions = positions,
                .search = {.search = mcts::ForPlay({.simulations = 30}),
                           .threads = threads}},
               evaluator, book, tree);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(tree.positions(), positions);
}

// Returns a record of these actions from the start, then of the first legal
// actions to the end.
proto::GameRecord RecordOf(const State& start,
                           const std::vector<std::string>& actions,
                           int opening_plies, uint64_t index) {
  proto::GameRecord record = record::NewGameRecord(
      start, {.seed = 7, .model_id = "first", .game_index = index});
  record.set_opening_plies(static_cast<uint32_t>(opening_plies));
  State state = start;
  const auto play = [&](Action action) {
    record::AddStep(action, record);
    ApplyAction(action, state);
  };
  for (const std::string& text : actions) {
    play(ParseAction(text, state).value());
  }
  while (!state.finished()) play(LegalActions(state).Nth(0));
  record::SetResult(state, record);
  return record;
}

std::string KeyOf(const State& state) {
  return PositionToText(TransformState(RepresentativeSymmetry(state), state));
}

// The value of a position, backed up the plain way: action by action, without
// classes, and anew at each visit. For games in which no position comes again.
class PlainValues {
 public:
  explicit PlainValues(const OpeningBook& book) {
    for (const SearchedPosition& position : book.positions()) {
      searches_[PositionToText(position.state)] = position.search;
    }
  }

  // To the side to move; nothing for what was not searched.
  std::optional<double> Of(const State& state) const {
    const auto found = searches_.find(KeyOf(state));
    if (found == searches_.end()) return std::nullopt;
    const proto::BookPosition& search = found->second;
    const State representative =
        TransformState(RepresentativeSymmetry(state), state);
    const LegalSet legal = LegalActions(representative);
    // By the position after it, in order of first actions.
    std::vector<std::string> keys;
    std::map<std::string, std::pair<int, double>> visits;  // and priors
    std::map<std::string, std::optional<double>> values;
    for (int i = 0; i < legal.Count(); ++i) {
      State next = representative;
      ApplyAction(legal.Nth(i), next);
      const std::string key =
          next.finished() ? absl::StrCat("end", i) : KeyOf(next);
      if (!visits.contains(key)) keys.push_back(key);
      visits[key].first += static_cast<int>(search.visits(i));
      visits[key].second += search.prior(i);
      values[key] = After(next);
    }
    std::string most_visited = keys[0];
    std::optional<double> best;
    for (const std::string& key : keys) {
      if (visits[key] > visits[most_visited]) most_visited = key;
      if (values[key].has_value()) {
        best = std::max(best.value_or(0), *values[key]);
      }
    }
    return values[most_visited].has_value() ? best : search.score();
  }

 private:
  // Of a position after an action of Red.
  std::optional<double> After(const State& next) const {
    if (next.finished()) return (1 + Score(next).result()) / 2.0;
    const std::optional<double> value = Of(next);
    if (!value.has_value()) return std::nullopt;
    return next.side() == kRed ? *value : 1 - *value;
  }

  std::map<std::string, proto::BookPosition> searches_;
};

TEST(BookTest, ValuesAreThoseBackedUpThePlainWay) {
  for (const Variant variant :
       {Variant::kFourTreasures, Variant::kPoisonedChalice,
        Variant::kSacredHillDoublesL1}) {
    const State start = InitialState(variant);
    OpeningBook book = OpenBook(NewFile("plain.db"));
    Grow(start, 150, book);
    const OpeningTree tree(book, start);
    const PlainValues plain(book);
    for (const SearchedPosition& position : book.positions()) {
      const auto seen = tree.At(position.state);
      ASSERT_TRUE(seen.has_value());
      EXPECT_NEAR(*seen->score, *plain.Of(position.state), 1e-9);
    }
    EXPECT_GE(tree.deepest(), 2);
  }
}

TEST(BookTest, KeepsItsPromisesInEveryVariant) {
  for (const VariantInfo& info : kVariants) {
    SCOPED_TRACE(std::string(info.id));
    const State start = InitialState(info.variant);
    OpeningBook book = OpenBook(NewFile("promises.db"));
    Grow(start, 70, book);
    const OpeningTree tree(book, start);
    EXPECT_THAT(book.positions(), SizeIs(70));
    EXPECT_EQ(book.positions()[0].state, start);
    // After the start comes what each first action leads to.
    const auto first = tree.At(start);
    ASSERT_TRUE(first.has_value());
    for (const OpeningAction& action : first->actions) {
      EXPECT_TRUE(action.known);
    }
    for (int node = 0; node < tree.size(); ++node) {
      const auto position = tree.At(tree.representative(node));
      ASSERT_TRUE(position.has_value());
      EXPECT_EQ(position->state, tree.representative(node));
      double priors = 0;
      int actions = 0;
      double best = -1;
      for (const OpeningAction& action : position->actions) {
        priors += action.prior;
        actions += static_cast<int>(action.actions.size());
        EXPECT_GE(action.loss, 0);
        if (action.known) best = std::max(best, *action.score);
        State along = position->state;  // each action of the line is legal
        for (const Action each : action.line) {
          ASSERT_TRUE(PlayAction(each, along).ok());
        }
        EXPECT_EQ(action.line.front(), action.actions.front());
        if (action.node < 0) continue;
        ASSERT_EQ(action.from_node.size(), action.actions.size());
        for (size_t i = 0; i < action.actions.size(); ++i) {
          State next = position->state;
          ApplyAction(action.actions[i], next);
          EXPECT_EQ(TransformState(action.from_node[i],
                                   tree.representative(action.node)),
                    next);
        }
      }
      EXPECT_NEAR(priors, 1, 1e-3);
      EXPECT_EQ(actions, LegalActions(position->state).Count());
      if (best >= 0 && position->actions[0].known) {
        EXPECT_GE(best, *position->actions[0].score - 1e-9);
      }
    }
  }
}

TEST(BookTest, SeesAPositionFromEverySide) {
  const State start = InitialState(Variant::kSacredHillL2);
  OpeningBook book = OpenBook(NewFile("sides.db"));
  Grow(start, 40, book);
  const OpeningTree tree(book, start);
  State state = start;
  ApplyAction(ParseAction("B2", state).value(), state);
  const auto position = tree.At(state);
  ASSERT_TRUE(position.has_value());
  for (const Symmetry& symmetry : GameSymmetries(state.variant)) {
    const auto seen = tree.At(TransformState(symmetry, state));
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->score, position->score);
    ASSERT_EQ(seen->actions.size(), position->actions.size());
    for (const OpeningAction& action : position->actions) {
      const Action there = TransformAction(symmetry, action.actions[0]);
      const auto same = std::find_if(
          seen->actions.begin(), seen->actions.end(), [&](const auto& other) {
            return std::find(other.actions.begin(), other.actions.end(),
                             there) != other.actions.end();
          });
      ASSERT_NE(same, seen->actions.end());
      EXPECT_EQ(same->score, action.score);
      EXPECT_EQ(same->visits, action.visits);
      EXPECT_EQ(same->actions.size(), action.actions.size());
    }
  }
}

TEST(BookTest, GrowsTheSameOnAnyNumberOfThreads) {
  const State start = InitialState(Variant::kHighKingsL1);
  OpeningBook alone = OpenBook(NewFile("alone.db"));
  OpeningBook threads = OpenBook(NewFile("threads.db"));
  Grow(start, 90, alone);
  Grow(start, 90, threads, 3);
  ASSERT_EQ(alone.positions().size(), threads.positions().size());
  for (size_t i = 0; i < alone.positions().size(); ++i) {
    EXPECT_EQ(alone.positions()[i].state, threads.positions()[i].state);
    EXPECT_EQ(alone.positions()[i].search.SerializeAsString(),
              threads.positions()[i].search.SerializeAsString());
  }
}

TEST(BookTest, GoesOnWithWhatIsThere) {
  const State start = InitialState(Variant::kStoneOfDestiny);
  const std::string path = NewFile("goes_on.db");
  OpeningBook book = OpenBook(path);
  Grow(start, 30, book);
  OpeningBook again = OpenBook(path);
  ASSERT_THAT(again.positions(), SizeIs(30));
  Grow(start, 50, again);
  for (size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(again.positions()[i].state, book.positions()[i].state);
  }
  // Another variant has positions of its own.
  Grow(InitialState(Variant::kFourTreasures), 20, again);
  EXPECT_THAT(again.positions(), SizeIs(70));
  EXPECT_EQ(OpeningTree(again, start).positions(), 50);
  EXPECT_THAT(again.Starts(),
              ElementsAre(InitialState(Variant::kFourTreasures), start));
}

TEST(BookTest, OtherRuleOptionsAreOtherGames) {
  RuleOptions options;
  options.compensation_halves = 3;
  const State start = InitialState(Variant::kFourTreasures);
  const State other = InitialState(Variant::kFourTreasures, options);
  OpeningBook book = OpenBook(NewFile("options.db"));
  Grow(start, 20, book);
  Grow(other, 25, book);
  EXPECT_EQ(OpeningTree(book, start).positions(), 20);
  EXPECT_EQ(OpeningTree(book, other).positions(), 25);
  EXPECT_FALSE(OpeningTree(book, start).At(other).has_value());
  EXPECT_THAT(book.Starts(), SizeIs(2));
}

TEST(BookTest, CountsGamesByActionForWhoPlayedIt) {
  const State start = InitialState(Variant::kFourTreasures);
  const std::string path = NewFile("games.db");
  OpeningBook book = OpenBook(path);
  // The same but for a symmetry; of the first, two actions were drawn.
  const std::vector<proto::GameRecord> games = {
      RecordOf(start, {"B2", "C3"}, 2, 0), RecordOf(start, {"F2", "E3"}, 0, 1),
      RecordOf(start, {"D4"}, 0, 2)};
  EXPECT_EQ(book.AddGames(games).value(), 3);
  EXPECT_EQ(book.AddGames(games).value(), 0);
  const OpeningTree tree(OpenBook(path), start);
  EXPECT_EQ(tree.games(), 3);
  const auto position = tree.At(start);
  ASSERT_TRUE(position.has_value());
  EXPECT_FALSE(position->score.has_value());
  ActionGames corner, centre;
  for (const OpeningAction& action : position->actions) {
    if (action.actions[0] == ParseAction("B2", start).value()) {
      corner = action.games;
    } else if (action.actions[0] == ParseAction("D4", start).value()) {
      centre = action.games;
    } else {
      EXPECT_EQ(action.games.games(), 0);
    }
  }
  EXPECT_EQ(corner.games(), 2);
  EXPECT_EQ(corner.chosen, 1);
  EXPECT_EQ(centre.games(), 1);
  ActionGames expected;  // to Red, who plays the first action
  for (int i = 0; i < 2; ++i) {
    const auto replayed = record::Replay(games[static_cast<size_t>(i)]).value();
    const int winner = replayed.outcome.winner();
    expected.wins += winner == kRed;
    expected.draws += winner < 0;
    expected.losses += winner == kBlue;
  }
  EXPECT_EQ(corner.wins, expected.wins);
  EXPECT_EQ(corner.draws, expected.draws);
  EXPECT_EQ(corner.losses, expected.losses);

  // Of a position that was not searched, too, and there for Blue.
  State state = start;
  ApplyAction(ParseAction("B2", state).value(), state);
  EXPECT_FALSE(tree.At(state).has_value());
  const OpeningTree with(book, start, state);
  const auto second = with.At(state);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(second->empty());
  for (const OpeningAction& action : second->actions) {
    if (action.actions[0] != ParseAction("C3", state).value()) continue;
    EXPECT_EQ(action.games.games(), 2);
    EXPECT_EQ(action.games.wins, expected.losses);
    EXPECT_EQ(action.games.chosen, 1);
  }
}

TEST(BookTest, CountsAGameOverAgainOnce) {
  const State start = InitialState(Variant::kFourTreasures);
  const proto::GameRecord game = RecordOf(start, {"B2", "C3"}, 0, 0);
  proto::GameRecord mirrored = game;
  mirrored.set_game_index(1);
  for (proto::Step& step : *mirrored.mutable_steps()) {
    step.set_action(static_cast<uint32_t>(Index(TransformAction(
        {.board = 1, .seat_shift = 0}, static_cast<Action>(step.action())))));
  }
  const proto::GameRecord other = RecordOf(start, {"B2", "C4"}, 0, 2);
  OpeningBook book = OpenBook(NewFile("again.db"));
  EXPECT_EQ(book.AddGames({game, mirrored, other}).value(), 3);
  const OpeningTree tree(book, start);
  EXPECT_EQ(tree.games(), 3);
  EXPECT_EQ(tree.distinct_games(), 2);
  int64_t counted = 0;
  const std::optional<OpeningPosition> position = tree.At(start);
  for (const OpeningAction& action : position->actions) {
    counted += action.games.games();
  }
  EXPECT_EQ(counted, 2);
}

TEST(BookTest, LosesNothingOfAnInterruptedGrowth) {
  const State start = InitialState(Variant::kFourTreasures);
  const std::string path = NewFile("interrupted.db");
  OpeningBook book = OpenBook(path);
  OpeningTree tree(book, start);
  mcts::PlayoutEvaluator evaluator(1, 1);
  const absl::Status status =
      GrowBook({.positions = 1000,
                .search = {.search = mcts::ForPlay({.simulations = 8}),
                           .stop = [&] { return tree.positions() >= 60; }}},
               evaluator, book, tree);
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_GE(tree.positions(), 60);
  EXPECT_EQ(OpeningTree(OpenBook(path), start).positions(), tree.positions());
}

TEST(BookTest, KeepsItsPlayer) {
  const std::string path = NewFile("player.db");
  OpeningBook book = OpenBook(path);
  EXPECT_FALSE(book.player().has_value());
  ASSERT_TRUE(book.SetPlayer({"mcts:sims=9", "mcts"}).ok());
  const OpeningBook again = OpenBook(path);
  ASSERT_TRUE(again.player().has_value());
  EXPECT_EQ(again.player()->spec, "mcts:sims=9");
  EXPECT_EQ(again.player()->identity, "mcts");
}

TEST(BookTest, NamesAFileThatIsNoBook) {
  EXPECT_THAT(
      OpeningBook::Open(NewFile("missing.db"), SqliteDatabase::Mode::kReadOnly),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing.db")));
}

// Runs SQL on a book of three positions and a game, and returns what opening
// it says then.
absl::Status AfterDamage(const std::string& sql) {
  const State start = InitialState(Variant::kFourTreasures);
  const std::string path = NewFile("damaged.db");
  {
    OpeningBook book = OpenBook(path);
    Grow(start, 3, book);
    EXPECT_EQ(book.AddGames({RecordOf(start, {"B2"}, 0, 0)}).value(), 1);
  }
  EXPECT_TRUE(SqliteDatabase::Open(path, SqliteDatabase::Mode::kReadWrite)
                  ->Execute(sql, "damage")
                  .ok());
  return OpeningBook::Open(path, SqliteDatabase::Mode::kReadOnly).status();
}

TEST(BookTest, RefusesDamagedPositionsAndGames) {
  EXPECT_TRUE(AfterDamage("SELECT 1").ok());
  for (const auto& [sql, message] :
       std::vector<std::pair<std::string, std::string>>{
           {"UPDATE positions SET search = x'ffff' WHERE place = 2",
            "damaged position: not a BookPosition"},
           {"UPDATE positions SET search = x'' WHERE place = 1",
            "damaged position: 0 actions; expected the legal ones, 45"},
           {"UPDATE positions SET position = 'nothing' WHERE place = 1",
            "damaged position: "},
           {"UPDATE positions SET position = 'four_treasures "
            "5/7/7/2rb3/7/7/5 1 battle - 0,0 0 - -' WHERE place = 1",
            "is not the one that stands for its like"},
           {"UPDATE games SET game = x'ffff'", "damaged game: not a BookGame"},
           {"UPDATE games SET game = x'0a01781a0100'", "damaged game: "},
           {"PRAGMA user_version = 9", "version"}}) {
    EXPECT_THAT(std::string(AfterDamage(sql).message()),
                AllOf(HasSubstr(message), HasSubstr("damaged.db")))
        << sql;
  }
}

TEST(BookTest, APageHasThePlacesThatItsActionsLeadTo) {
  const State start = InitialState(Variant::kPoisonedChalice);
  OpeningBook book = OpenBook(NewFile("page.db"));
  Grow(start, 60, book);
  const OpeningTree tree(book, start);
  const BookSource source = {.book = "page.db", .player = "mcts"};
  const std::string page = ReportBook(tree, *tree.At(start), source).page();
  const std::string mark = "id=\"report\">";
  const size_t begin = page.find(mark) + mark.size();
  const auto json = nlohmann::json::parse(
      page.substr(begin, page.find("</script>", begin) - begin));
  ASSERT_EQ(json["places"].size(), 60u);
  int steps = 0;
  for (const auto& place : json["places"]) {
    for (const auto& action : place["actions"]) {
      if (!action.contains("next")) continue;
      ++steps;
      EXPECT_LT(action["next"]["place"].get<int>(), 60);
      EXPECT_EQ(action["next"]["symmetries"].size(), action["actions"].size());
    }
  }
  EXPECT_GE(steps, 59);
}

}  // namespace
}  // namespace tara::eval
