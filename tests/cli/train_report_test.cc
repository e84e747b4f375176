#include "tara/cli/train_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/config.pb.h"
#include "tara/train/run/pipeline.h"

namespace tara::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string StrengthLine(int generation, const std::string& opponent,
                         double score) {
  return absl::StrCat("{\"event\":\"strength\",\"generation\":", generation,
                      ",\"variant\":\"high_kings_l1\",\"opponent\":\"",
                      opponent, "\",\"score\":", score, "}\n");
}

std::string WriteMetrics(const std::string& lines) {
  const std::string path = testing::TempDir() + "/metrics.jsonl";
  std::ofstream(path) << lines;
  return path;
}

TEST(StrengthReportTest, HasScoreIntervalAndEloOfEachOpponent) {
  proto::TrainConfig config;
  config.mutable_evaluation()->set_simulations(100);
  train::TrainSummary summary;
  summary.checkpoint_path = "run/checkpoints/ckpt-000012.pt";
  summary.strength = {{.variant = "high_kings_l1",
                       .opponent = "greedy",
                       .games = 200,
                       .wins = 150,
                       .draws = 20,
                       .losses = 30,
                       .score = 0.8,
                       .score_low = 0.7504,
                       .score_high = 0.8496},
                      {.variant = "high_kings_l1",
                       .opponent = "random",
                       .games = 200,
                       .wins = 200,
                       .draws = 0,
                       .losses = 0,
                       .score = 1,
                       .score_low = 0.981,
                       .score_high = 1}};
  const std::string report = StrengthReport(summary, config);
  EXPECT_THAT(report, HasSubstr("ckpt-000012 at 100 simulations"));
  // 400 log10(0.8 / 0.2) = 240.8
  EXPECT_THAT(report,
              HasSubstr("high_kings_l1  greedy      200   150     20      30  "
                        "   80.0   [75.0, 85.0]  +241\n"));
  EXPECT_THAT(report, HasSubstr("100.0  [98.1, 100.0]  +inf\n"));
  EXPECT_THAT(report, Not(HasSubstr("forfeited")));
  summary.strength[1].forfeits = 3;
  EXPECT_THAT(StrengthReport(summary, config),
              HasSubstr("Of the wins in high_kings_l1, 3 are games that random "
                        "forfeited.\n"));
}

TEST(StrengthCurvesTest, DrawTheScoresOverTheGenerations) {
  const absl::StatusOr<std::string> curves =
      StrengthCurves(WriteMetrics(absl::StrCat(
          "{\"event\":\"learning\",\"generation\":1}\n",
          StrengthLine(2, "greedy", 0.0), StrengthLine(2, "random", 0.4),
          StrengthLine(4, "greedy", 0.51),
          // Evaluated again after a kill: the last word counts.
          StrengthLine(6, "greedy", 0.3), StrengthLine(6, "greedy", 1.0))));
  ASSERT_TRUE(curves.ok()) << curves.status();
  EXPECT_THAT(*curves, HasSubstr("greedy          ▁▅█  0 to 100 %\n"));
  // One generation is no curve.
  EXPECT_THAT(*curves, testing::Not(HasSubstr("random")));
}

TEST(StrengthCurvesTest, DamagedLinesAreLeftOutWithOneNote) {
  const std::string path = WriteMetrics(absl::StrCat(
      StrengthLine(2, "greedy", 0.0), "{\"event\":\"stren\n", "7\n",
      "{\"event\":\"strength\",\"generation\":3,"
      "\"variant\":\"high_kings_l1\",\"opponent\":\"greedy\"}\n",
      StrengthLine(4, "greedy", 1.0)));
  const absl::StatusOr<std::string> curves = StrengthCurves(path);
  ASSERT_TRUE(curves.ok()) << curves.status();
  EXPECT_THAT(*curves, HasSubstr("greedy          ▁█  0 to 100 %\n"));
  EXPECT_THAT(*curves, HasSubstr("Left out: 3 lines of " + path +
                                 " that cannot be read, such as line 2."));
}

}  // namespace
}  // namespace tara::cli
