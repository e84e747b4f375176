#include "tara/eval/balance/fair_study.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/rules.h"
#include "tara/core/state.h"
#include "tara/core/variant.h"
#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_driver.h"
#include "tara/eval/players/player.h"
#include "tara/eval/players/search_player.h"
#include "tara/mcts/evaluators/simple_evaluators.h"
#include "tara/record/game_store.h"

namespace tara::eval {
namespace {

absl::StatusOr<std::unique_ptr<Player>> Searcher() {
  return NewSearchPlayer(std::make_unique<mcts::PlayoutEvaluator>(1, 0),
                         {.search = {.simulations = 4}, .reuse = true});
}

// What the positions of FirstPlayer are worth to Red: the fewer hills of Red's
// and the more of Blue's have high numbers, the better.
float RedValue(const State& state) {
  float value = 0;
  for (int hill = 0; hill < 45; ++hill) {
    const Board board = BoardOf(static_cast<Hill>(hill));
    if ((state.ringforts[kRed] & board) != 0) value -= 0.001f * hill;
    if ((state.ringforts[kBlue] & board) != 0) value += 0.001f * hill;
  }
  return value;
}

// Plays the first legal action; every other has this share of its policy.
class FirstPlayer : public Player {
 public:
  explicit FirstPlayer(float others) : others_(others) {}

  absl::Status ChooseActions(absl::Span<const Turn> turns,
                             absl::Span<Action> actions) override {
    for (size_t i = 0; i < turns.size(); ++i) {
      const LegalSet legal = LegalActions(turns[i].state);
      actions[i] = legal.Nth(0);
      if (turns[i].report == nullptr) continue;
      const int count = legal.Count();
      const float others = std::min(others_, 1.0f / count);
      turns[i].report->policy.assign(count, others);
      turns[i].report->policy[0] = 1 - others * (count - 1);
      const float red = RedValue(turns[i].state);
      turns[i].report->value = turns[i].state.side() == kRed ? red : -red;
    }
    return absl::OkStatus();
  }

 private:
  const float others_;
};

PlayerFactory First(float others) {
  return [others]() -> absl::StatusOr<std::unique_ptr<Player>> {
    return std::make_unique<FirstPlayer>(others);
  };
}

std::unique_ptr<record::GameStore> Open(const std::string& path) {
  return record::OpenGameStore(path, record::StoreMode::kExclusive).value();
}

const BalanceStudyKey kKey = {.options = {.variant = Variant::kPoisonedChalice},
                              .player = "mcts:sims=4",
                              .identity = "mcts:sims=4"};
constexpr FairPlan kPlan = {
    .games = 40, .pie = true, .pie_with_compensation = true};

// Plays a study and what makes it fair; stops after so many games of the
// latter, if it is not negative.
std::vector<FairResult> RunFair(record::GameStore& store, int threads,
                                int stop_after = -1, int* played = nullptr) {
  const auto driver = BalanceDriver::Create(Searcher, threads, 4).value();
  const BalanceStudy study =
      RunBalanceStudy({.games = 20, .first_games = 0}, kKey, *driver, store, {})
          .value();
  const auto count = [&] { return static_cast<int>(*store.Count({})); };
  const int before = count();
  auto results =
      RunFairStudy(kPlan, kKey, study, *driver, store,
                   [&](const BalanceProgress& progress) {
                     EXPECT_LE(progress.games_done, progress.games);
                     return stop_after < 0 || count() - before < stop_after;
                   })
          .value();
  if (played != nullptr) *played = count() - before;
  return results;
}

TEST(FairStudyTest, TriesCompensationPieRuleAndBoth) {
  const auto store = Open(":memory:");
  const std::vector<FairResult> results = RunFair(*store, 2);
  ASSERT_EQ(results.size(), 3u);
  for (const FairResult& result : results) {
    EXPECT_EQ(result.games.size(), 40u);
    EXPECT_EQ(result.from.rule_options, RuleOptions());
    EXPECT_EQ(result.options.rule_options.compensation_halves,
              result.estimate.halves);
    int tried = 0;
    for (const auto& [halves, games] : result.tried) tried += games.games();
    // Those without compensation are among them: the study's, or the fresh
    // ones with the pie rule.
    if (result.searched) {
      EXPECT_EQ(tried, result.search_games +
                           (result.options.rule_options.pie_rule ? 40 : 20));
    }
  }
  EXPECT_TRUE(results[0].searched);
  EXPECT_FALSE(results[0].options.rule_options.pie_rule);
  EXPECT_FALSE(results[1].searched);
  EXPECT_TRUE(results[1].options.rule_options.pie_rule);
  EXPECT_TRUE(results[2].searched);
  EXPECT_TRUE(results[2].options.rule_options.pie_rule);
}

TEST(FairStudyTest, FreshGamesHadNoPartInTheSearch) {
  const auto store = Open(":memory:");
  const std::vector<FairResult> results = RunFair(*store, 2);
  for (const FairResult& result : results) {
    for (const GameFacts& game : result.games) {
      EXPECT_GE(game.id.index, kFreshIndex);
      // With both, the search began with the pie rule's fresh games.
      EXPECT_EQ(game.id.index >= kFreshCompensationIndex, result.searched);
    }
  }
}

TEST(FairStudyTest, GoesOnWhereItWasBrokenOffWithTheSameResult) {
  const auto memory = Open(":memory:");
  const std::vector<FairResult> whole = RunFair(*memory, 1);
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/fair.db");
  std::remove(path.c_str());
  int before = 0;
  // In the first search, in its fresh games, and in the last search.
  for (const int stop_after : {10, 60, 80}) {
    const auto store = Open(path);
    int played = 0;
    RunFair(*store, 2, stop_after, &played);
    EXPECT_GE(played, stop_after);
    before += played;
  }
  const auto store = Open(path);
  int played = 0;
  const std::vector<FairResult> resumed = RunFair(*store, 2, -1, &played);
  ASSERT_EQ(resumed.size(), whole.size());
  int all = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(resumed[i].estimate.halves, whole[i].estimate.halves);
    EXPECT_EQ(resumed[i].estimate.low, whole[i].estimate.low);
    EXPECT_EQ(resumed[i].estimate.high, whole[i].estimate.high);
    EXPECT_EQ(resumed[i].search_games, whole[i].search_games);
    ASSERT_EQ(resumed[i].games.size(), whole[i].games.size());
    for (size_t game = 0; game < whole[i].games.size(); ++game) {
      EXPECT_EQ(resumed[i].games[game].actions, whole[i].games[game].actions);
    }
    all += whole[i].search_games + 40;
  }
  EXPECT_EQ(before + played, all);
  RunFair(*store, 2, -1, &played);
  EXPECT_EQ(played, 0);
}

TEST(OpeningChoiceTest, IsTheLowestTemperatureThatKeepsGamesDifferent) {
  const auto store = Open(":memory:");
  const auto choose = [&](const PlayerFactory& make,
                          const std::string& identity, int games) {
    const auto driver = BalanceDriver::Create(make, 1, 16).value();
    BalanceStudyKey key = kKey;
    key.identity = identity;
    key.options.variant = Variant::kSacredHillL1;
    return **ChooseOpenings(games, key, *driver, *store, {});
  };
  // The same at any temperature: each action as likely as another.
  const OpeningChoice open = choose(First(1), "open", 400);
  EXPECT_EQ(open.temperature, 0.1);
  EXPECT_EQ(open.drawn_plies, 8);
  EXPECT_LE(open.repeated, kMostRepeated);
  // At T = 1 (1 - 44 / 1000)^8 = 70 % of the games are the same one.
  const OpeningChoice sure = choose(First(0.001f), "sure", 400);
  EXPECT_GT(sure.temperature, 1);
  EXPECT_LE(sure.repeated, kMostRepeated);
  // At T = 4 others have 1e-12^(1/4) = 0.001 each, as before at 1: with twice
  // as many drawn actions 50 % of the games are the same, with four times 25 %.
  const OpeningChoice too_sure = choose(First(1e-12f), "too sure", 400);
  EXPECT_EQ(too_sure.drawn_plies, 32);
  EXPECT_EQ(too_sure.temperature, 4);
  EXPECT_GT(too_sure.repeated, kMostRepeated);
  const OpeningChoice longer = choose(First(1e-6f), "longer", 400);
  EXPECT_GE(longer.drawn_plies, 8);
  EXPECT_LE(longer.repeated, kMostRepeated);
}

TEST(OpeningCostTest, IsWhatThePlayerHoldsDrawnActionsToGiveAway) {
  const auto driver = BalanceDriver::Create(First(1), 1, 4).value();
  const auto store = Open(":memory:");
  BalanceStudyKey key = kKey;
  key.options.variant = Variant::kFourTreasures;
  const BalanceStudy study =
      RunBalanceStudy({.games = 20, .first_games = 0}, key, *driver, *store, {})
          .value();
  const auto cost = OpeningCost(study, driver->player(), {}).value();
  ASSERT_TRUE(cost.has_value());
  // The same by replaying each game.
  double red = 0;
  double blue = 0;
  for (const GameFacts& game : study.games) {
    State state = InitialState(Variant::kFourTreasures);
    for (int ply = 0; ply < 8; ++ply) {
      State chosen = state;
      ApplyAction(LegalActions(state).Nth(0), chosen);
      State played = state;
      ApplyAction(game.actions[ply], played);
      const double loss = (RedValue(chosen) - RedValue(played)) / 2;
      (state.side() == kRed ? red : blue) +=
          (state.side() == kRed ? loss : -loss) / 20;
      state = played;
    }
  }
  EXPECT_GT(red, 0);
  EXPECT_NEAR((*cost)[0].mean, red, 1e-5);
  EXPECT_NEAR((*cost)[1].mean, blue, 1e-5);
}

TEST(OpeningCostTest, IsUnknownWithoutDrawnActionsOrValues) {
  const auto store = Open(":memory:");
  const auto driver = BalanceDriver::Create(
                          []() -> absl::StatusOr<std::unique_ptr<Player>> {
                            return NewGreedyPlayer();
                          },
                          1, 4)
                          .value();
  BalanceStudyKey key = kKey;
  key.options.opening_plies = 2;
  const BalanceStudy study =
      RunBalanceStudy({.games = 3, .first_games = 0}, key, *driver, *store, {})
          .value();
  EXPECT_FALSE(OpeningCost(study, driver->player(), {}).value().has_value());
}

}  // namespace
}  // namespace tara::eval
