#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tara/base/status_macros.h"
#include "tara/cli/games.h"
#include "tara/cli/games_store.h"
#include "tara/cli/usage.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/train/store/game_store.h"

namespace tara::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns Red's score with its 95 % interval over games.
eval::Interval RedScore(const train::GameStatistics& statistics) {
  const auto wins = static_cast<double>(statistics.red_wins);
  const auto draws = static_cast<double>(statistics.draws);
  return eval::ScoreIntervalOf({.count = static_cast<double>(statistics.games),
                                .sum = wins + draws / 2,
                                .squares = wins + draws / 4});
}

Json StatisticsToJson(const train::GameStatistics& statistics) {
  const eval::Interval score = RedScore(statistics);
  return {{"variant", statistics.variant},
          {"rule_options", statistics.rule_options},
          {"games", statistics.games},
          {"red_wins", statistics.red_wins},
          {"draws", statistics.draws},
          {"blue_wins", statistics.blue_wins},
          {"red_score", score.mean},
          {"red_score_low", score.low},
          {"red_score_high", score.high},
          {"mean_points",
           {statistics.mean_points_red, statistics.mean_points_blue}},
          {"mean_length", statistics.mean_length},
          {"ended_by", statistics.ended_by},
          {"untrained", statistics.untrained}};
}

void PrintStatistics(const train::GameStatistics& statistics,
                     Console& console) {
  const eval::Interval score = RedScore(statistics);
  console.out << statistics.variant;
  if (statistics.rule_options != "-") {
    console.out << " with " << statistics.rule_options;
  }
  console.out << absl::StrFormat(
      ": %d games\n"
      "  Red wins   %d, draws %d, Blue wins %d\n"
      "  Red scores %.1f %% [%.1f, %.1f]\n"
      "  points     %.2f to %.2f on average\n"
      "  length     %.1f actions on average\n"
      "  ended by  ",
      statistics.games, statistics.red_wins, statistics.draws,
      statistics.blue_wins, 100 * score.mean, 100 * score.low, 100 * score.high,
      statistics.mean_points_red, statistics.mean_points_blue,
      statistics.mean_length);
  std::string separator = " ";
  for (const auto& [ending, games] : statistics.ended_by) {
    console.out << separator << ending << " " << games;
    separator = ", ";
  }
  console.out << "\n";
  if (statistics.untrained == 0) return;
  console.out << "  untrained  " << statistics.untrained
              << ", by networks that have not learned these rules\n";
}

}  // namespace

absl::StatusOr<int> RunGamesStats(const GamesQueryOptions& options,
                                  Console& console) {
  TARA_ASSIGN_OR_RETURN(const train::GameQuery query, QueryOf(options));
  TARA_ASSIGN_OR_RETURN(const std::unique_ptr<train::GameStore> store,
                        OpenStoreForReading(options.store));
  TARA_ASSIGN_OR_RETURN(const std::vector<train::GameStatistics> all,
                        store->Statistics(query));
  if (options.format == "json") {
    Json list = Json::array();
    for (const train::GameStatistics& each : all) {
      list.push_back(StatisticsToJson(each));
    }
    console.out << list.dump(2) << "\n";
    return kExitOk;
  }
  for (const train::GameStatistics& each : all) PrintStatistics(each, console);
  if (all.empty()) console.out << "no games\n";
  return kExitOk;
}

}  // namespace tara::cli
