#include "tara/eval/review/review.h"

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tests/eval/test_players.h"
#include "tests/status_matchers.h"

namespace tara::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr int64_t kManyNodes = 100000;

// Cheap searches, and random games as the judge.
ReviewOptions Options(int simulations, int64_t node_limit) {
  return {.search = mcts::ForPlay({.simulations = simulations}),
          .node_limit = node_limit};
}

GameReview Reviewed(const State& initial, absl::Span<const Action> actions,
                    const ReviewOptions& options) {
  mcts::PlayoutEvaluator evaluator(4, 0);
  return ReviewGame(initial, actions, evaluator, options).value();
}

// Returns random actions from a position to the end of the game.
std::vector<Action> RandomGame(State state, uint64_t seed) {
  Random random(seed);
  std::vector<Action> actions;
  while (!state.finished()) {
    actions.push_back(RandomAction(state, random));
    ApplyAction(actions.back(), state);
  }
  return actions;
}

int OwnMargin(const State& before, const State& state) {
  return before.side() == kRed ? Minimax(state) : -Minimax(state);
}

// Returns the actions of best play to the end, by trying everything.
std::vector<Action> BestPlay(State state) {
  std::vector<Action> actions;
  while (!state.finished()) {
    const int best = OwnMargin(state, state);
    const LegalSet legal = LegalActions(state);
    for (int i = 0; i < legal.Count(); ++i) {
      State next = state;
      ApplyAction(legal.Nth(i), next);
      if (OwnMargin(state, next) != best) continue;
      actions.push_back(legal.Nth(i));
      state = next;
      break;
    }
  }
  return actions;
}

// An endgame small enough for Minimax with an action that loses the game, where
// another one wins or draws.
struct Blunder {
  State state;
  Action action;
  double score_loss;
  int margin_loss;
};

Blunder FindBlunder(Variant variant) {
  for (const SolvedPosition& position : SolvedPositions(variant, 40, 3)) {
    const int most =
        *std::max_element(position.margins.begin(), position.margins.end());
    for (size_t i = 0; i < position.margins.size(); ++i) {
      const int results = ResultForMover(position.state, most) -
                          ResultForMover(position.state, position.margins[i]);
      if (results == 0) continue;
      return {position.state,
              LegalActions(position.state).Nth(static_cast<int>(i)),
              results / 2.0, most - position.margins[i]};
    }
  }
  ADD_FAILURE() << "no endgame with a blunder";
  return {};
}

TEST(ReviewTest, WhatIsSolvedIsTheLossByTryingEverything) {
  int lost = 0, solved = 0;
  for (const SolvedPosition& position :
       SolvedPositions(Variant::kFourTreasures, 8)) {
    const std::vector<Action> actions = RandomGame(position.state, 5);
    const GameReview review =
        Reviewed(position.state, actions, Options(8, kManyNodes));
    EXPECT_EQ(review.solved_from, 0);
    for (const ReviewedAction& action : review.actions) {
      State next = action.before;
      ApplyAction(action.played, next);
      const int best = OwnMargin(action.before, action.before);
      const int played = OwnMargin(action.before, next);
      EXPECT_TRUE(action.exact);
      EXPECT_EQ(action.margin_loss, best - played);
      EXPECT_EQ(action.score_loss, (ResultForMover(action.before, best) -
                                    ResultForMover(action.before, played)) /
                                       2.0);
      EXPECT_EQ(action.sure, best > played);
      EXPECT_EQ(action.score_loss_error, 0);
      State better = action.before;
      ApplyAction(action.best, better);
      EXPECT_EQ(OwnMargin(action.before, better), best);
      ++solved;
      lost += best > played;
    }
  }
  EXPECT_GT(solved, 20);
  EXPECT_GT(lost, 0);
}

TEST(ReviewTest, PerfectPlayGivesNothingAway) {
  for (const Variant variant : {Variant::kSacredHillL2, Variant::kFourTreasures,
                                Variant::kPoisonedChalice}) {
    const SolvedPosition position = SolvedPositions(variant, 1).at(0);
    const std::vector<Action> actions = BestPlay(position.state);
    const GameReview review =
        Reviewed(position.state, actions, Options(8, kManyNodes));
    EXPECT_TRUE(review.WorstFirst().empty());
    for (const ReviewedAction& action : review.actions) {
      EXPECT_EQ(action.best, action.played);
      EXPECT_EQ(action.margin_loss, 0);
    }
    for (const SeatReview& seat : review.seats) {
      EXPECT_EQ(seat.best, seat.judged);
      EXPECT_EQ(seat.exact, seat.judged);
      EXPECT_EQ(seat.score_loss, 0);
    }
  }
}

TEST(ReviewTest, APlantedBlunderIsFoundFirst) {
  const Blunder blunder = FindBlunder(Variant::kSacredHillL1);
  State next = blunder.state;
  ApplyAction(blunder.action, next);
  std::vector<Action> actions = BestPlay(next);
  actions.insert(actions.begin(), blunder.action);
  const GameReview review =
      Reviewed(blunder.state, actions, Options(8, kManyNodes));
  EXPECT_EQ(review.WorstFirst(), std::vector<int>{0});
  const ReviewedAction& found = review.actions[0];
  EXPECT_EQ(found.score_loss, blunder.score_loss);
  EXPECT_EQ(found.margin_loss, blunder.margin_loss);
  EXPECT_EQ(found.fault, Fault::kBlunder);
  EXPECT_EQ(found.best_line.front(), found.best);
  EXPECT_EQ(found.played_line.front(), blunder.action);
  EXPECT_EQ(review.seats[blunder.state.seat].blunders, 1);
  // By search alone.
  const GameReview searched =
      Reviewed(blunder.state, actions, Options(2000, 0));
  ASSERT_FALSE(searched.WorstFirst().empty());
  EXPECT_EQ(searched.WorstFirst()[0], 0);
  EXPECT_FALSE(searched.actions[0].exact);
  EXPECT_EQ(searched.actions[0].fault, Fault::kBlunder);
  // But for the last position, which is finished, nothing is called exact.
  EXPECT_EQ(searched.solved_from, static_cast<int>(actions.size()));
}

TEST(ReviewTest, EveryVariantKeepsItsPromises) {
  for (const VariantInfo& info : kVariants) {
    SCOPED_TRACE(std::string(info.id));
    const State start = InitialState(info.variant);
    const std::vector<Action> actions = RandomGame(start, 11);
    const GameReview review = Reviewed(start, actions, Options(8, 2000));
    ASSERT_EQ(review.actions.size(), actions.size());
    ASSERT_EQ(review.course.size(), actions.size() + 1);
    ASSERT_EQ(static_cast<int>(review.seats.size()), info.seats);
    State state = start;
    std::vector<SeatReview> sums(info.seats);
    for (size_t ply = 0; ply < actions.size(); ++ply) {
      const ReviewedAction& action = review.actions[ply];
      EXPECT_EQ(action.before, state);
      EXPECT_EQ(action.played, actions[ply]);
      EXPECT_EQ(action.choices, LegalActions(state).Count());
      EXPECT_GE(action.score_loss, 0);
      EXPECT_GE(action.margin_loss, 0);
      EXPECT_GE(action.score_loss_error, 0);
      // A forced action is its own best, and gives nothing away.
      if (!action.judged()) {
        EXPECT_EQ(action.best, action.played);
        EXPECT_FALSE(action.sure);
      }
      for (const auto& [first, line] :
           {std::pair(action.best, action.best_line),
            std::pair(action.played, action.played_line)}) {
        ASSERT_FALSE(line.empty());
        EXPECT_EQ(line.front(), first);
        State along = state;  // each action of a line is legal
        for (const Action each : line) {
          ASSERT_EQ(PlayAction(each, along), absl::OkStatus());
        }
      }
      SeatReview& sum = sums[state.seat];
      ++sum.actions;
      sum.judged += action.judged();
      sum.score_loss += action.sure ? action.score_loss : 0;
      sum.margin_loss += action.sure ? action.margin_loss : 0;
      ApplyAction(actions[ply], state);
    }
    for (int seat = 0; seat < info.seats; ++seat) {
      EXPECT_EQ(review.seats[seat].actions, sums[seat].actions);
      EXPECT_EQ(review.seats[seat].judged, sums[seat].judged);
      EXPECT_DOUBLE_EQ(review.seats[seat].score_loss, sums[seat].score_loss);
      EXPECT_DOUBLE_EQ(review.seats[seat].margin_loss, sums[seat].margin_loss);
    }
    const Worth& last = review.course.back();
    EXPECT_TRUE(last.exact);
    EXPECT_EQ(last.score, (1 + Score(state).result()) / 2.0);
    EXPECT_EQ(last.margin, Score(state).margin());
    const std::vector<int> worst = review.WorstFirst();
    for (size_t i = 0; i + 1 < worst.size(); ++i) {
      EXPECT_GE(review.actions[worst[i]].score_loss,
                review.actions[worst[i + 1]].score_loss);
    }
  }
}

TEST(ReviewTest, CompensationCountsInResultsAndNotInMargins) {
  RuleOptions options;
  options.compensation_halves = 24;  // more than Red ever wins by
  const State start = InitialState(Variant::kFourTreasures, options);
  const GameReview review =
      Reviewed(start, RandomGame(start, 1), Options(8, 2000));
  ASSERT_LT(review.solved_from, static_cast<int>(review.actions.size()));
  for (size_t ply = review.solved_from; ply < review.course.size(); ++ply) {
    const Worth& worth = review.course[ply];
    EXPECT_EQ(worth.score, worth.margin > 12 ? 1 : worth.margin < 12 ? 0 : 0.5);
  }
}

TEST(ReviewTest, TheSwapOfThePieRuleIsAnActionLikeOthers) {
  RuleOptions options;
  options.pie_rule = true;
  const State start = InitialState(Variant::kFourTreasures, options);
  State state = start;
  std::vector<Action> actions;
  for (const char* const text : {"D4", "swap", "E6"}) {
    actions.push_back(ParseAction(text, state).value());
    ApplyAction(actions.back(), state);
  }
  const GameReview review = Reviewed(start, actions, Options(50, 2000));
  EXPECT_EQ(review.actions[1].before.seat, 1);
  EXPECT_GT(review.actions[1].choices, 40);
  EXPECT_GT(review.solved_from, 3);
}

TEST(ReviewTest, DependsNeitherOnThreadsNorOnBatches) {
  const State start = InitialState(Variant::kHighKingsL2);
  const std::vector<Action> actions = RandomGame(start, 2);
  ReviewOptions options = Options(30, 2000);
  const ReviewSource source = {.last = start, .player = "mcts"};
  const std::string alone =
      ReportReview(Reviewed(start, actions, options), source).json;
  options.threads = 3;
  EXPECT_EQ(ReportReview(Reviewed(start, actions, options), source).json,
            alone);
}

TEST(ReviewTest, AnUnfinishedGameIsReviewedAsFarAsItGoes) {
  const State start = InitialState(Variant::kStoneOfDestiny);
  std::vector<Action> actions = RandomGame(start, 2);
  actions.resize(6);
  const GameReview review = Reviewed(start, actions, Options(20, 2000));
  EXPECT_EQ(review.actions.size(), 6u);
  EXPECT_EQ(review.solved_from, 7);
}

TEST(ReviewTest, ReportsItsProgressToTheEnd) {
  const State start = InitialState(Variant::kFourTreasures);
  std::vector<Action> actions = RandomGame(start, 2);
  actions.resize(4);
  ReviewOptions options = Options(20, 0);
  int searched = -1, to_search = -1;
  options.on_progress = [&](const ReviewProgress& progress) {
    EXPECT_GE(progress.searched, searched);
    searched = progress.searched;
    to_search = progress.to_search;
  };
  Reviewed(start, actions, options);
  EXPECT_GE(searched, 5);
  EXPECT_EQ(searched, to_search);
}

class FailingEvaluator : public mcts::Evaluator {
 public:
  absl::Status Evaluate(absl::Span<const State>,
                        absl::Span<mcts::Evaluation>) override {
    return absl::InternalError("told to fail");
  }
};

TEST(ReviewTest, WhatCannotBeReviewedIsTold) {
  const State start = InitialState(Variant::kFourTreasures);
  mcts::UniformEvaluator uniform;
  EXPECT_THAT(
      ReviewGame(start, {}, uniform, Options(8, 0)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no actions")));
  const std::vector<Action> actions = RandomGame(start, 2);
  FailingEvaluator failing;
  EXPECT_EQ(ReviewGame(start, actions, failing, Options(8, 0)).status(),
            absl::InternalError("told to fail"));
  ReviewOptions stopped = Options(8, 0);
  stopped.stop = [] { return true; };
  EXPECT_THAT(ReviewGame(start, actions, uniform, stopped),
              StatusIs(absl::StatusCode::kCancelled));
}

// A review by hand: of a blunder, an exact loss of points, and a loss within
// the error.
GameReview ReviewByHand() {
  const State start = InitialState(Variant::kFourTreasures);
  const auto action = [](const char* text) {
    return ParseAction(text).value();
  };
  State state = start;
  GameReview review;
  review.course.resize(4);
  review.course[1].score = 0.4;
  for (const char* const text : {"D4", "E6", "C2"}) {
    review.actions.push_back({.before = state,
                              .played = action(text),
                              .choices = 40,
                              .best = action("A2"),
                              .best_line = {action("A2"), action("A3")},
                              .played_line = {action(text)}});
    ApplyAction(action(text), state);
  }
  review.actions[0].after_best = {.score = 0.75};
  review.actions[0].after_played = {.score = 0.5};
  review.actions[0].score_loss = 0.25;
  review.actions[0].margin_loss = 1.25;
  review.actions[0].score_loss_error = 0.01;
  review.actions[0].sure = true;
  review.actions[0].fault = Fault::kBlunder;
  review.actions[1].exact = review.actions[1].sure = true;
  review.actions[1].margin_loss = 2;
  review.actions[2].score_loss = 0.02;
  review.actions[2].score_loss_error = 0.02;
  review.seats = {{.seat = 0,
                   .actions = 2,
                   .judged = 2,
                   .best = 1,
                   .score_loss = 0.25,
                   .margin_loss = 1.25,
                   .blunders = 1},
                  {.seat = 1, .actions = 1, .judged = 1, .margin_loss = 2}};
  review.solved_from = 1;
  return review;
}

ReviewSource SourceByHand() {
  return {.last = InitialState(Variant::kFourTreasures),
          .ended_early = "Red won (resigned)",
          .player = "<best>",
          .not_learned = "compensation=2"};
}

TEST(ReviewReportTest, TheTextHasSumsCourseAndWorstActions) {
  const std::string text =
      ReportReview(ReviewByHand(), SourceByHand(), {}).text;
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("four_treasures: 3 actions, Red won (resigned)\n"
                      "Judged by <best>; exact from action 2 on\n"
                      "Not learned, in four_treasures: compensation=2\n"),
            HasSubstr("Red         2        2    50.0            25.0  12.5"),
            HasSubstr("    0  ▅▄▅▅\n        Bp\n"),
            HasSubstr("Worst actions, 2 of 2 that gave something away"),
            HasSubstr("1. Action 1, Red plays D4, blunder\n"
                      "   lost    25.0 % of winning and 1.2 points (from 75.0 "
                      "to 50.0 %, +-1.0)\n"
                      "   better  A2 A3\n"
                      "   played  D4\n"),
            HasSubstr("2. Action 2, Blue plays E6\n"
                      "   lost    2 points, exactly\n"),
            HasSubstr("[·]"), Not(HasSubstr("All actions"))));
  const std::string all =
      ReportReview(ReviewByHand(), SourceByHand(), {.worst = 0, .all = true})
          .text;
  EXPECT_THAT(
      all, AllOf(HasSubstr("All actions"), HasSubstr("Worst actions, 0 of 2"),
                 Not(HasSubstr("better  "))));
}

TEST(ReviewReportTest, JsonHasEveryActionAndThePageHoldsIt) {
  const Json json =
      Json::parse(ReportReview(ReviewByHand(), SourceByHand()).json);
  EXPECT_EQ(json["variant"], "four_treasures");
  EXPECT_EQ(json["exact_from"], 2);
  EXPECT_EQ(json["worst"], Json({1, 2}));
  EXPECT_EQ(json["finished"], false);
  EXPECT_EQ(json["course"].size(), 4u);
  ASSERT_EQ(json["actions"].size(), 3u);
  EXPECT_EQ(json["actions"][0]["fault"], "blunder");
  EXPECT_EQ(json["actions"][0]["best_line"], Json({"A2", "A3"}));
  EXPECT_EQ(json["actions"][1]["lost"], "2 points, exactly");
  EXPECT_EQ(json["actions"][2]["lost"], nullptr);
  EXPECT_EQ(json["actions"][2]["winning_lost"], 0.02);
  EXPECT_EQ(json["seats"][1]["name"], "Blue");
  const std::string page =
      ReportReview(ReviewByHand(), SourceByHand(), {.worst = 1}).page();
  EXPECT_THAT(
      page,
      AllOf(HasSubstr("&lt;best>"), HasSubstr("<figure><svg"),
            HasSubstr("Red gave away 12.5 % of winning a choice, with 1 "
                      "blunder; Blue gave away 0.0 % of winning a choice, with "
                      "0 blunders. Red gave away the most with D4, action 1"),
            HasSubstr("Red played D4, blunder; better A2"),
            HasSubstr("1 more gave something away"), Not(HasSubstr("{{"))));
}

TEST(ReviewReportTest, NotesStandAtWhatGaveSomethingAway) {
  EXPECT_EQ(ReviewNotes(ReviewByHand()),
            (std::vector<std::string>{
                "blunder: gave away 25.0 % of winning and 1.2 points; better: "
                "A2 A3",
                "gave away 2 points, exactly; better: A2 A3", ""}));
}

}  // namespace
}  // namespace tara::eval
