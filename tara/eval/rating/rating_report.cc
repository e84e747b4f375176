#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "tara/eval/rating/ratings.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr NumberFormat kRating = {.digits = 0, .sign = true, .around = true};

// Up to this many variants, column headings are their names.
constexpr size_t kNamedColumns = 4;

Interval IntervalOf(const RatingEstimate& estimate) {
  const double half_width = kNormalQuantile95 * estimate.deviation;
  return {estimate.elo, estimate.elo - half_width, estimate.elo + half_width};
}

// A rating, with a mark behind its interval.
ReportField RatingField(Name heading, const RatingEstimate& estimate,
                        absl::string_view mark = "") {
  ReportField field = EstimateField("", heading, IntervalOf(estimate), kRating);
  absl::StrAppend(&field.range,
                  field.range.empty() ? absl::StripPrefix(mark, " ") : mark);
  return field;
}

// The variant's rules that the player's network has not learned.
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

// The players, the best first.
std::vector<int> RankedOf(const RatingTable& table) {
  std::vector<int> order(table.players.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return table.overall.Of(x).elo > table.overall.Of(y).elo;
  });
  return order;
}

ReportSection RatingSection(const RatingTable& table,
                            const std::vector<std::string>& headings) {
  ReportSection section = {
      .heading = "Ratings", .plots = "estimates", .unit = "Elo"};
  for (const int player : RankedOf(table)) {
    const auto i = static_cast<size_t>(player);
    ReportRow& row = section.rows.emplace_back();
    row.push_back(TextField("", "player", table.players[i]));
    row.push_back(
        TextField("", "number type",
                  table.precisions.empty() || table.precisions[i].empty()
                      ? "-"
                      : table.precisions[i]));
    if (!table.points.empty() && table.points[i].has_value()) {
      row.push_back(TextField("run", "", table.points[i]->run));
      row.push_back(CountField("generation", "", table.points[i]->generation));
    } else {
      row.insert(row.end(), 2, NoField("", ""));
    }
    if (table.variants.size() > 1) {
      row.push_back(RatingField(
          "all", table.overall.Of(player),
          NotLearnedInAny(table, player).empty() ? "" : " (not all learned)"));
    }
    for (size_t v = 0; v < table.variants.size(); ++v) {
      const VariantRatings& variant = table.variants[v];
      row.push_back(RatingField(headings[v], variant.ratings.Of(player),
                                NotLearnedMark(NotLearnedIn(variant, player))));
    }
  }
  section.rows = WithoutEmptyColumns(std::move(section.rows));
  return section;
}

ReportSection VariantSection(const RatingTable& table, bool named) {
  ReportSection section = {
      .heading = "First-move advantage and draws",
      .notes =
          "The Elo that the first seat is worth, and the share of draws "
          "between equal players,\nby the model of the ratings.\n"};
  for (size_t v = 0; v < table.variants.size(); ++v) {
    const VariantRatings& variant = table.variants[v];
    const double nu = variant.ratings.draw_nu;
    ReportField games = CountField("", "games", variant.games);
    games.text = GamesCell(variant);
    section.rows.push_back(
        {TextField("", named ? "" : "#", absl::StrCat(v + 1)),
         VariantField("", "variant", variant.variant), std::move(games),
         RatingField("first seat", variant.ratings.first_seat),
         NumberField("", "draws of equals %", nu / (2 + nu), kPercent)});
  }
  return section;
}

// A table of all players against each other.
template <typename FieldOf>
ReportSection AgainstEachOther(const RatingTable& table,
                               absl::string_view heading,
                               absl::string_view notes,
                               const FieldOf& field_of) {
  ReportSection section = {.heading = std::string(heading),
                           .notes = std::string(notes)};
  const std::vector<int> ranked = RankedOf(table);
  for (const int player : ranked) {
    ReportRow& row = section.rows.emplace_back();
    row.push_back(TextField("", "player", table.players[player]));
    for (const int other : ranked) {
      row.push_back(player == other
                        ? NoField("", table.players[other])
                        : field_of(player, other, table.players[other]));
    }
  }
  return section;
}

// A player's score against another, in all variants.
ScoreSums ScoresAgainst(const RatingTable& table, int player, int other) {
  double games = 0, won = 0, drawn = 0;
  for (const VariantRatings& variant : table.variants) {
    for (const SeatResults& result : variant.results) {
      const bool first = result.first == player && result.second == other;
      if (!first && !(result.first == other && result.second == player)) {
        continue;
      }
      games += static_cast<double>(result.games());
      won += static_cast<double>(first ? result.wins : result.losses);
      drawn += static_cast<double>(result.draws);
    }
  }
  return SumsOfGames(games, won, drawn);
}

// The strongest player, by the difference of the first two.
std::string VerdictOf(const RatingTable& table) {
  const std::vector<int> ranked = RankedOf(table);
  const auto games_of = [&](int player) {
    double games = 0;
    for (const int other : ranked) {
      games += ScoresAgainst(table, player, other).count;
    }
    return static_cast<int64_t>(games);
  };
  const ReportRow row = {
      TextField("", "player",
                absl::StrCat(table.players[ranked[0]], " over ",
                             table.players[ranked[1]])),
      CountField("distinct_games", "",
                 std::min(games_of(ranked[0]), games_of(ranked[1]))),
      EstimateField("ahead", "Elo",
                    IntervalOf(table.overall.Difference(ranked[0], ranked[1])),
                    {.digits = 0})};
  return VerdictOn(
      {row}, "ahead",
      {.above = "the strongest, in Elo: ",
       .below = "",
       .neither = "it is not shown who is the strongest, in Elo: "});
}

// The meaning of the ratings, and the rules that networks have not learned.
std::string AboutText(const RatingTable& table) {
  std::string text =
      absl::StrCat("Elo with 95 % intervals; ", AnchorsText(table), "\n");
  for (const int player : RankedOf(table)) {
    text +=
        NotLearnedLine(table.players[player], NotLearnedInAny(table, player));
  }
  return text;
}

Json EstimateToJson(const RatingEstimate& estimate) {
  const Interval interval = IntervalOf(estimate);
  return {{"elo", interval.mean},
          {"low", interval.low},
          {"high", interval.high},
          {"deviation", estimate.deviation}};
}

// [player, player], in Elo^2, to two decimals: there are many, and a hundredth
// of an Elo is negligible.
Json CovarianceToJson(const Ratings& ratings) {
  Json covariance = Json::array();
  for (int i = 0; i < ratings.size(); ++i) {
    Json& row = covariance.emplace_back(Json::array());
    for (int j = 0; j < ratings.size(); ++j) {
      row.push_back(std::round(100 * ratings.covariance(i, j)) / 100);
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

std::string RatingText(const RatingTable& table) {
  const bool named = table.variants.size() <= kNamedColumns;
  std::vector<std::string> headings;
  for (const VariantRatings& variant : table.variants) {
    headings.push_back(named ? std::string(Info(variant.variant).id)
                             : absl::StrCat(headings.size() + 1));
  }
  return absl::StrCat(AboutText(table),
                      SectionsText({RatingSection(table, headings),
                                    VariantSection(table, named)}),
                      "\n", VerdictOf(table), "\n");
}

Json RatingJson(const RatingTable& table) {
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
  return {{"anchors", std::move(anchors)},
          {"players", std::move(players)},
          {"covariance", CovarianceToJson(table.overall)},
          {"variants", std::move(variants)}};
}

std::string RatingPage(const RatingTable& table) {
  int64_t games = 0;
  std::vector<std::string> names;
  for (const VariantRatings& variant : table.variants) {
    games += variant.games;
    names.emplace_back(Info(variant.variant).name);
  }
  const auto difference = [&](int player, int other, const std::string& name) {
    return EstimateField("", name,
                         IntervalOf(table.overall.Difference(player, other)),
                         {.digits = 0,
                          .sign = true,
                          .around = true,
                          .above = "better",
                          .below = "worse"});
  };
  const auto score = [&](int player, int other, const std::string& name) {
    const ScoreSums sums = ScoresAgainst(table, player, other);
    if (sums.count == 0) return NoField("", name);
    ReportField field = EstimateField("", name, ScoreIntervalOf(sums), kScore);
    absl::StrAppend(&field.range, ", ", sums.count, " games");
    return field;
  };
  return SectionsPage(
      "Ratings of players", absl::StrCat(games, " games. ", AboutText(table)),
      {RatingSection(table, names),
       AgainstEachOther(table, "Differences",
                        "Elo of the player of the row minus that of the "
                        "column, the mean over the variants.\n",
                        difference),
       AgainstEachOther(table, "Scores against each other",
                        "Score of the player of the row against that of the "
                        "column, in per cent, in all variants.\n",
                        score),
       VariantSection(table, /*named=*/true)},
      {VerdictOf(table)});
}

}  // namespace

Report ReportRatings(const RatingTable& table) {
  return {.text = RatingText(table),
          .json = JsonText(RatingJson(table), 2),
          .page = [&table] { return RatingPage(table); }};
}

}  // namespace tara::eval
