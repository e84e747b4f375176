#include "tara/cli/train_report.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "tara/base/json.h"
#include "tara/base/status_macros.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"
#include "tara/train/progress/metrics.h"
#include "tara/train/strength.h"

namespace tara::cli {
namespace {

using Json = nlohmann::json;

// Scores by generation.
using Curve = std::map<int, double>;

// Returns one of eight bars for a score from 0 to 1.
absl::string_view BarFor(double score) {
  static constexpr std::array<absl::string_view, 8> kBars = {
      "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int level = static_cast<int>(score * 8);
  return kBars[std::clamp(level, 0, 7)];
}

}  // namespace

std::string StrengthReport(const train::TrainSummary& summary,
                           const proto::TrainConfig& config) {
  std::string text = "\n";
  if (summary.time_is_up) {
    const std::string minutes = absl::StrFormat("%g minutes", config.minutes());
    const std::string cpu_minutes =
        absl::StrFormat("%g minutes of processor time", config.cpu_minutes());
    absl::StrAppendFormat(
        &text, "The %s of the run were up after generation %d of %d.\n",
        config.minutes() <= 0       ? cpu_minutes
        : config.cpu_minutes() <= 0 ? minutes
                                    : minutes + " or " + cpu_minutes,
        summary.generation, config.generations());
  }
  if (config.gate().games() > 0) {
    absl::StrAppendFormat(&text,
                          "The gate let %d checkpoints through, and %d not.\n",
                          summary.promoted, summary.rejected);
  }
  absl::StrAppendFormat(
      &text, "%s at %d simulations per action:\n\n",
      std::filesystem::path(summary.checkpoint_path).stem().string(),
      config.evaluation().simulations());
  std::vector<eval::ReportRow> rows;
  for (const train::StrengthResult& result : summary.strength) {
    const eval::Interval score = {result.score, result.score_low,
                                  result.score_high};
    rows.push_back(
        {eval::TextField("", "variant", result.variant),
         eval::TextField("", "opponent", result.opponent),
         eval::CountField("", "games", result.games),
         eval::CountField("", "wins", result.wins),
         eval::CountField("", "draws", result.draws),
         eval::CountField("", "losses", result.losses),
         eval::EstimateField("", "score %", score, eval::kScore),
         eval::NumberField("", "Elo", eval::EloDifference(result.score),
                           eval::kElo)});
  }
  if (!rows.empty()) text += eval::TableText(rows);
  for (const train::StrengthResult& result : summary.strength) {
    if (result.forfeits == 0) continue;
    absl::StrAppendFormat(
        &text, "Of the wins in %s, %d are games that %s forfeited.\n",
        result.variant, result.forfeits, result.opponent);
  }
  return text;
}

absl::StatusOr<std::string> StrengthCurves(const std::string& metrics_path) {
  TARA_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                        train::ReadMetricsLines(metrics_path));
  std::map<std::pair<std::string, std::string>, Curve> curves;
  std::vector<size_t> damaged;  // numbers of lines
  for (size_t i = 0; i < lines.size(); ++i) {
    try {
      // Malformed JSON becomes null, which has no fields.
      const Json line = ParseJson<Json>(lines[i]).value_or(Json());
      if (line.at("event") != "strength") continue;
      const double score = line.at("score");
      curves[{line.at("variant"), line.at("opponent")}][line.at("generation")] =
          score;
    } catch (const Json::exception&) {
      damaged.push_back(i + 1);
    }
  }
  std::string text;
  for (const auto& [key, curve] : curves) {
    if (curve.size() < 2) continue;
    std::string bars;
    for (const auto& [generation, score] : curve) {
      absl::StrAppend(&bars, BarFor(score));
    }
    absl::StrAppendFormat(
        &text, "%-22s  %-14s  %s  %.0f to %.0f %%\n", key.first, key.second,
        bars, 100 * curve.begin()->second, 100 * curve.rbegin()->second);
  }
  if (!text.empty()) {
    text = absl::StrCat("\nScore over the generations:\n\n", text);
  }
  if (!damaged.empty()) {
    absl::StrAppend(&text, "\nLeft out: ", damaged.size(),
                    damaged.size() == 1 ? " line" : " lines", " of ",
                    metrics_path, " that cannot be read, such as line ",
                    damaged.front(), ".\n");
  }
  return text;
}

}  // namespace tara::cli
