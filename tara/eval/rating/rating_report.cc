#include "tara/eval/rating/rating_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tara/core/variant.h"
#include "tara/eval/rating/rating_page_template.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

// Up to this many variants, column headings are their names.
constexpr size_t kNamedColumns = 4;

std::string EloCell(const RatingEstimate& estimate) {
  if (estimate.deviation == 0) return absl::StrFormat("%+.0f", estimate.elo);
  return absl::StrFormat("%+.0f +-%.0f", estimate.elo,
                         kNormalQuantile95 * estimate.deviation);
}

// The share of games drawn between equals without a first seat's effect.
double DrawShare(double nu) { return nu / (2 + nu); }

// What the player's network has not learned of the variant's rules.
std::string NotLearnedIn(const VariantRatings& variant, int player) {
  const auto i = static_cast<size_t>(player);
  return i < variant.not_learned.size() ? variant.not_learned[i] : "";
}

// The same of all variants, "high_kings_l1: no_progress_limit=20; ...".
std::string NotLearnedInAny(const RatingTable& table, int player) {
  std::string text;
  for (const VariantRatings& variant : table.variants) {
    const std::string rules = NotLearnedIn(variant, player);
    if (rules.empty()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", Info(variant.variant).id,
                    ": ", rules);
  }
  return text;
}

std::string AnchorsText(const RatingTable& table) {
  if (table.anchors.empty()) return "the mean of all players 0";
  std::string text;
  for (const RatingAnchor& anchor : table.anchors) {
    absl::StrAppend(&text, text.empty() ? "" : ", ",
                    table.players[anchor.player], " ", anchor.elo);
  }
  return text;
}

// "400", or "400 (398 different)": the others count for nothing.
std::string GamesCell(const VariantRatings& variant) {
  return variant.repeated_games == 0
             ? absl::StrCat(variant.games)
             : absl::StrCat(variant.games, " (",
                            variant.games - variant.repeated_games,
                            " different)");
}

std::string VariantTable(const RatingTable& table) {
  std::vector<Cells> rows = {
      {"", "variant", "games", "first seat", "draws of equals %"}};
  for (size_t v = 0; v < table.variants.size(); ++v) {
    const VariantRatings& variant = table.variants[v];
    rows.push_back(
        {absl::StrCat(v + 1), std::string(Info(variant.variant).id),
         GamesCell(variant), EloCell(variant.ratings.first_seat),
         absl::StrFormat("%.1f", 100 * DrawShare(variant.ratings.draw_nu))});
  }
  return TextTable(rows, 2);
}

Json EstimateToJson(const RatingEstimate& estimate) {
  const double half_width = kNormalQuantile95 * estimate.deviation;
  return {{"elo", estimate.elo},
          {"low", estimate.elo - half_width},
          {"high", estimate.elo + half_width},
          {"deviation", estimate.deviation}};
}

// [player, player], in Elo^2, to two decimals: there are many, and a hundredth
// of an Elo is nothing.
Json CovarianceToJson(const Ratings& ratings) {
  Json covariance = Json::array();
  for (int i = 0; i < ratings.size(); ++i) {
    Json& row = covariance.emplace_back(Json::array());
    for (int j = 0; j < ratings.size(); ++j) {
      row.push_back(std::round(100 * ratings.Covariance(i, j)) / 100);
    }
  }
  return covariance;
}

Json VariantToJson(const VariantRatings& variant) {
  Json results = Json::array();
  for (const SeatResults& result : variant.results) {
    results.push_back({{"first", result.first},
                       {"second", result.second},
                       {"wins", result.wins},
                       {"draws", result.draws},
                       {"losses", result.losses}});
  }
  return {{"variant", std::string(Info(variant.variant).id)},
          {"name", std::string(Info(variant.variant).name)},
          {"games", variant.games},
          {"distinct_games", variant.games - variant.repeated_games},
          {"first_seat", EstimateToJson(variant.ratings.first_seat)},
          {"draw_nu", variant.ratings.draw_nu},
          {"covariance", CovarianceToJson(variant.ratings)},
          {"results", std::move(results)}};
}

}  // namespace

std::string RatingReportText(const RatingTable& table) {
  std::vector<int> order(table.players.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return table.overall.Of(x).elo > table.overall.Of(y).elo;
  });
  const bool named = table.variants.size() <= kNamedColumns;
  const bool networks = std::any_of(
      table.precisions.begin(), table.precisions.end(),
      [](const std::string& precision) { return !precision.empty(); });
  Cells headings = {"player"};
  if (networks) headings.push_back("number type");
  const size_t names = headings.size();
  if (table.variants.size() > 1) headings.push_back("all");
  for (size_t v = 0; v < table.variants.size(); ++v) {
    headings.push_back(named ? std::string(Info(table.variants[v].variant).id)
                             : absl::StrCat(v + 1));
  }
  std::vector<Cells> rows = {headings};
  std::string notes;
  for (const int player : order) {
    const std::string not_learned = NotLearnedInAny(table, player);
    notes += NotLearnedLine(table.players[player], not_learned);
    Cells cells = {table.players[player]};
    if (networks) {
      const std::string& precision = table.precisions[player];
      cells.push_back(precision.empty() ? "-" : precision);
    }
    if (table.variants.size() > 1) {
      cells.push_back(EloCell(table.overall.Of(player)) +
                      (not_learned.empty() ? "" : " (not all learned)"));
    }
    for (const VariantRatings& variant : table.variants) {
      cells.push_back(EloCell(variant.ratings.Of(player)) +
                      NotLearnedMark(NotLearnedIn(variant, player)));
    }
    rows.push_back(cells);
  }
  return absl::StrCat("Elo with 95 % intervals; ", AnchorsText(table), "\n",
                      notes, TextTable(rows, names), "\n", VariantTable(table));
}

std::string RatingReportJson(const RatingTable& table, bool compact) {
  Json players = Json::array();
  const int count = static_cast<int>(table.players.size());
  for (int i = 0; i < count; ++i) {
    Json variants = Json::object();
    for (const VariantRatings& variant : table.variants) {
      Json& estimate = variants[std::string(Info(variant.variant).id)];
      estimate = EstimateToJson(variant.ratings.Of(i));
      const std::string rules = NotLearnedIn(variant, i);
      if (!rules.empty()) estimate["not_learned"] = rules;
    }
    Json player = {{"name", table.players[i]}};
    if (!table.precisions.empty() && !table.precisions[i].empty()) {
      player["precision"] = table.precisions[i];
    }
    player.update({{"overall", EstimateToJson(table.overall.Of(i))},
                   {"variants", std::move(variants)}});
    const std::string not_learned = NotLearnedInAny(table, i);
    if (!not_learned.empty()) player["not_learned"] = not_learned;
    if (!table.points.empty() && table.points[i].has_value()) {
      player["run"] = table.points[i]->run;
      player["generation"] = table.points[i]->generation;
    }
    players.push_back(std::move(player));
  }
  Json anchors = Json::array();
  for (const RatingAnchor& anchor : table.anchors) {
    anchors.push_back(
        {{"player", table.players[anchor.player]}, {"elo", anchor.elo}});
  }
  Json variants = Json::array();
  for (const VariantRatings& variant : table.variants) {
    variants.push_back(VariantToJson(variant));
  }
  const Json report = {{"anchors", std::move(anchors)},
                       {"players", std::move(players)},
                       {"covariance", CovarianceToJson(table.overall)},
                       {"variants", std::move(variants)}};
  return JsonText(report, compact ? -1 : 2);
}

std::string RatingPage(const RatingTable& table) {
  return ReportPage(RatingPageTemplate(),
                    {{"{{report.json}}",
                      JsonInPage(RatingReportJson(table, /*compact=*/true))}});
}

}  // namespace tara::eval
