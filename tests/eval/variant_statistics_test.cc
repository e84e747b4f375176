#include "tara/eval/playouts/variant_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "tara/core/outcome.h"
#include "tara/core/state.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

// A game as far as the statistics see it.
struct Game {
  int length;
  int legal;
  int margin;
};

// Two wins of Red, a draw, a win of Blue.
constexpr Game kGames[] = {{10, 30, 2}, {12, 36, 2}, {14, 42, 0}, {16, 60, -3}};

PlayoutStatistics SumsOf(absl::Span<const Game> games) {
  PlayoutStatistics sums;
  for (const Game& game : games) {
    Outcome outcome = {};
    outcome.points = {game.margin > 0 ? game.margin : 0,
                      game.margin < 0 ? -game.margin : 0};
    outcome.ended_by = Ending::kOut;
    sums.AddGame(outcome, game.length, game.legal);
  }
  return sums;
}

using Json = nlohmann::json;

Json JsonOf(Variant variant, const PlayoutStatistics& sums) {
  return Json::parse(ReportStatistics({{variant, {}, sums}}, 1).json)
      .at(std::string(Info(variant).id));
}

Json JsonOf(absl::Span<const Game> games) {
  return JsonOf(Variant::kSacredHillL1, SumsOf(games));
}

void ExpectNear(const Json& json, const std::string& name,
                const Interval& expected) {
  EXPECT_NEAR(json.at(name).get<double>(), expected.mean, 1e-12);
  EXPECT_NEAR(json.at(name + "_low").get<double>(), expected.low, 1e-12);
  EXPECT_NEAR(json.at(name + "_high").get<double>(), expected.high, 1e-12);
}

TEST(VariantStatisticsTest, MeansFromSumsAreThoseFromTheGames) {
  const Json json = JsonOf(kGames);
  ExpectNear(json, "mean_length", MeanInterval({10, 12, 14, 16}));
  // Deviations -3, -1, 1, 3: 20 / 3.
  EXPECT_NEAR(json["length_deviation"].get<double>(), std::sqrt(20.0 / 3),
              1e-12);
  ExpectNear(json, "mean_margin", MeanInterval({2, 2, 0, -3}));
  // Deviations 1.75, 1.75, -0.25, -3.25 from 0.25: 16.75 / 3.
  EXPECT_NEAR(json["margin_deviation"].get<double>(), std::sqrt(16.75 / 3),
              1e-12);
  ExpectNear(json, "first_side_score", ScoreInterval({1, 1, 0.5, 0}));
  ExpectNear(json, "first_side_win_rate", WilsonInterval(0.5, 4));
  ExpectNear(json, "draw_rate", WilsonInterval(0.25, 4));
  ExpectNear(json, "second_side_win_rate", WilsonInterval(0.25, 4));
}

TEST(VariantStatisticsTest, BranchingHasTheIntervalOfARatio) {
  const double ratio = 168.0 / 52;
  double squares = 0;
  for (const Game& game : kGames) {
    squares += std::pow(game.legal - ratio * game.length, 2);
  }
  const double half_width =
      kNormalQuantile95 * std::sqrt(squares / (4 * 3)) / 13;
  ExpectNear(JsonOf(kGames), "mean_branching",
             {ratio, ratio - half_width, ratio + half_width});
}

TEST(VariantStatisticsTest, ASingleGameProvesNothing) {
  const Json json = JsonOf({{10, 30, 1}});
  EXPECT_EQ(json["mean_length"], 10);
  EXPECT_TRUE(json["mean_length_high"].is_null());
  EXPECT_EQ(json["length_deviation"], 0);
  EXPECT_EQ(json["first_side_score"], 1);
  EXPECT_LT(json["first_side_score_low"], 0.3);
}

TEST(VariantStatisticsTest, CountsAreAGame) {
  PlayoutStatistics sums = SumsOf({{10, 30, 1}, {12, 30, -1}});
  sums.captures = 5;
  sums.kings_captured = 1;
  sums.phase_plies[static_cast<int>(Phase::kManoeuvres)] = 8;
  sums.phase_plies[static_cast<int>(Phase::kBattle)] = 14;
  const Json json = JsonOf(Variant::kHighKingsL1, sums);
  EXPECT_EQ(json["mean_captures"], 2.5);
  EXPECT_EQ(json["mean_kings_captured"], 0.5);
  EXPECT_EQ(json["phase_lengths"]["manoeuvres"], 4);
  EXPECT_EQ(json["phase_lengths"]["battle"], 7);
}

// --- Mass playouts -----------------------------------------------------------

// Enough for several chunks.
constexpr int64_t kManyGames = 50000;

PlayoutStatistics PlayChunkOfFourTreasures(int64_t first_game, int64_t games) {
  return PlayRandomGamesByPublicRules(Variant::kFourTreasures, {}, /*seed=*/7,
                                      first_game, games);
}

TEST(MassPlayoutsTest, TheNumberOfThreadsMakesNoDifference) {
  const PlayoutStatistics expected = PlayChunkOfFourTreasures(0, kManyGames);
  for (const int threads : {1, 2, 5, 100}) {
    EXPECT_EQ(PlayRandomGames(kManyGames, threads, PlayChunkOfFourTreasures),
              expected);
    EXPECT_EQ(PlayRandomGames(0, threads, PlayChunkOfFourTreasures),
              PlayoutStatistics());
  }
}

TEST(MassPlayoutsTest, EveryGameIsPlayedOnce) {
  absl::Mutex mutex;
  std::vector<int> played(kManyGames);
  PlayRandomGames(kManyGames, 3, [&](int64_t first_game, int64_t games) {
    absl::MutexLock lock(&mutex);
    for (int64_t i = 0; i < games; ++i) ++played.at(first_game + i);
    PlayoutStatistics statistics;
    statistics.games = games;
    return statistics;
  });
  EXPECT_EQ(std::count(played.begin(), played.end(), 1), kManyGames);
}

TEST(MassPlayoutsTest, ProgressReachesAllGames) {
  std::atomic<bool> all_done = false;
  PlayRandomGames(kManyGames, 2, PlayChunkOfFourTreasures,
                  [&](int64_t games_done) {
                    if (games_done == kManyGames) all_done = true;
                    return true;
                  });
  EXPECT_TRUE(all_done);
}

TEST(MassPlayoutsTest, AStopKeepsWhatIsFinished) {
  const PlayoutStatistics statistics = PlayRandomGames(
      int64_t{1} << 50, 2, PlayChunkOfFourTreasures,
      [](int64_t games_done) { return games_done < kManyGames; });
  EXPECT_GE(statistics.games, kManyGames);
  EXPECT_LT(statistics.games, 4 * kManyGames);
  EXPECT_EQ(
      statistics.results[0] + statistics.results[1] + statistics.results[2],
      statistics.games);
}

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

VariantStatistics StatisticsOf(Variant variant, int games,
                               const RuleOptions& options = {}) {
  return {variant, options,
          PlayRandomGamesByPublicRules(variant, options, 1, 0, games)};
}

std::vector<VariantStatistics> OfAllVariants(int games) {
  std::vector<VariantStatistics> all;
  for (const VariantInfo& info : kVariants) {
    all.push_back(StatisticsOf(info.variant, games));
  }
  return all;
}

TEST(VariantStatisticsReportTest, TablesHaveAllVariantsIn110Columns) {
  const std::string text = ReportStatistics(OfAllVariants(200), 1).text;
  for (const VariantInfo& info : kVariants) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + std::string(info.id)));
  }
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 110u) << line;
  }
}

TEST(VariantStatisticsReportTest, TablesHaveWhatHappensAndChangedRules) {
  EXPECT_THAT(
      ReportStatistics({StatisticsOf(Variant::kFourTreasures, 9)}, 1).text,
      AllOf(HasSubstr("out %"), Not(HasSubstr("passed")),
            Not(HasSubstr("kings")), Not(HasSubstr("link"))));
  EXPECT_THAT(
      ReportStatistics(
          {StatisticsOf(Variant::kHighKingsL1, 9, {.no_progress_limit = 3})}, 1)
          .text,
      HasSubstr("high_kings_l1 with no_progress_limit=3\n"));
  EXPECT_EQ(ReportStatistics({}, 1).text, "no games\n");
}

TEST(VariantStatisticsReportTest, JsonIsByVariantWithIntervals) {
  const Json report = Json::parse(ReportStatistics(OfAllVariants(300), 1).json);
  ASSERT_EQ(report.size(), kVariants.size());
  for (const VariantInfo& info : kVariants) {
    const Json& row = report.at(std::string(info.id));
    EXPECT_EQ(row.at("games"), 300);
    for (const std::string name :
         {"mean_length", "mean_branching", "first_side_score",
          "first_side_win_rate", "draw_rate", "second_side_win_rate",
          "mean_margin"}) {
      EXPECT_LE(row.at(name + "_low"), row.at(name)) << name;
      EXPECT_GE(row.at(name + "_high"), row.at(name)) << name;
    }
    for (const std::string name :
         {"ended_by", "length_counts", "margin_counts"}) {
      int64_t games = 0;
      for (const auto& [key, count] : row.at(name).items()) {
        games += count.get<int64_t>();
      }
      EXPECT_EQ(games, 300) << name;
    }
    double length = 0;
    for (const auto& [phase, actions] : row.at("phase_lengths").items()) {
      length += actions.get<double>();
    }
    EXPECT_NEAR(length, row.at("mean_length"), 1e-9);
    EXPECT_GE(row.at("max_length"), row.at("mean_length"));
  }
}

int Count(absl::string_view text, absl::string_view part) {
  return static_cast<int>(
             std::vector<absl::string_view>(absl::StrSplit(text, part))
                 .size()) -
         1;
}

TEST(StatisticsPageTest, IsOneFileWithTheDistributionsOfEachVariant) {
  const std::string page =
      ReportStatistics(OfAllVariants(20), /*seed=*/42).page();
  EXPECT_THAT(page, HasSubstr("Seed 42."));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("{{")), Not(HasSubstr("src=\"")),
                          Not(HasSubstr("<link")), Not(HasSubstr("@import"))));
  EXPECT_EQ(Count(page, "<script"), 1);
  EXPECT_EQ(Count(page, "</script>"), 1);
  const int variants = static_cast<int>(kVariants.size());
  EXPECT_EQ(Count(page, "plot of games by length, actions"), variants);
  EXPECT_EQ(Count(page, "plot of games by margin, points"), variants);
}

}  // namespace
}  // namespace tara::eval
