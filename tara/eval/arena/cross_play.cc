#include "tara/eval/arena/cross_play.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "tara/base/random.h"
#include "tara/eval/arena/arena_report.h"
#include "tara/eval/report/report.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

constexpr int kReplicates = 2000;

// The games of one match with one opening.
struct OpeningSums {
  uint64_t same_games = 0;  // SameGamesKey, or 0
  int games = 0;
  double points = 0;
  double margin = 0;

  double score() const { return points / games; }
};

// Sums per opening.
std::map<int, OpeningSums> SumsOf(const ArenaResult& result) {
  std::map<int, OpeningSums> sums;
  std::map<int, std::vector<ArenaGame>> games;
  for (const ArenaGame& game : result.played) {
    const int opening = game.pair / result.pairs_per_opening;
    games[opening].push_back(game);
    OpeningSums& sum = sums[opening];
    ++sum.games;
    sum.points += game.margin > 0 ? 1 : (game.margin < 0 ? 0 : 0.5);
    sum.margin += game.margin;
  }
  for (auto& [opening, sum] : sums) {
    sum.same_games = SameGamesKey(games[opening]);
  }
  return sums;
}

// By opening of all matches, and by match. Openings with the same games as
// another one are left out, because they add no information.
std::vector<std::vector<OpeningSums>> SharedOpenings(
    const CrossPlayStudy& study) {
  std::map<int, std::vector<OpeningSums>> by_opening;
  for (const CrossPlayMatch& match : study.matches) {
    for (const auto& [opening, sums] : SumsOf(match.result)) {
      by_opening[opening].push_back(sums);
    }
  }
  std::vector<std::vector<OpeningSums>> shared;
  std::set<std::vector<uint64_t>> seen;
  for (const auto& [opening, sums] : by_opening) {
    if (sums.size() != study.matches.size()) continue;
    std::vector<uint64_t> keys;
    for (const OpeningSums& sum : sums) keys.push_back(sum.same_games);
    const bool known = std::find(keys.begin(), keys.end(), 0) == keys.end();
    if (!known || seen.insert(keys).second) shared.push_back(sums);
  }
  return shared;
}

}  // namespace

PartnershipWorth EstimateWorth(const CrossPlayStudy& study, Random& random) {
  const std::vector<std::vector<OpeningSums>> openings = SharedOpenings(study);
  const size_t matches = study.matches.size();
  std::vector<double> scores;
  std::vector<double> margins;
  for (const std::vector<OpeningSums>& opening : openings) {
    double score = -study.even_score;
    double margin = 0;
    for (size_t m = 0; m < matches; ++m) {
      const double weight = study.matches[m].weight;
      score += weight * opening[m].score();
      margin += weight * opening[m].margin / opening[m].games;
    }
    scores.push_back(score);
    margins.push_back(margin);
  }
  PartnershipWorth worth = {.openings = static_cast<int>(openings.size()),
                            .score = MeanInterval(scores),
                            .margin = MeanInterval(margins),
                            .elo = MeanInterval({})};
  if (openings.empty()) return worth;
  const auto elo_of = [&](absl::Span<const int> drawn) {
    double elo = 0;
    for (size_t m = 0; m < matches; ++m) {
      double points = 0.5;
      int games = 1;
      for (const int opening : drawn) {
        points += openings[opening][m].points;
        games += openings[opening][m].games;
      }
      elo += study.matches[m].weight * EloDifference(points / games);
    }
    return elo;
  };
  worth.elo = BootstrapInterval(worth.openings, kReplicates, elo_of, random);
  // If (nearly) all games are won, the strength has no upper bound.
  constexpr double kFewest = 5;
  const auto is_known = [&](size_t m) {
    double won = 0;
    double lost = 0;
    for (const std::vector<OpeningSums>& opening : openings) {
      won += opening[m].points;
      lost += opening[m].games - opening[m].points;
    }
    return won >= kFewest && lost >= kFewest;
  };
  constexpr int kMinOpenings = 6;
  bool all_known = worth.openings >= kMinOpenings;
  for (size_t m = 0; m < matches; ++m) all_known = all_known && is_known(m);
  if (all_known) return worth;
  worth.elo.low = -std::numeric_limits<double>::infinity();
  worth.elo.high = std::numeric_limits<double>::infinity();
  return worth;
}

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kLetters[] = {"A", "B", "C"};

// The title of the table of worths and of its plot.
constexpr absl::string_view kWorthTitle =
    "A and B as partners, minus the mean of each with itself (below 0: they "
    "understand\neach other less well)";

ArenaReportRow RowOf(const CrossPlayReport& report, const CrossPlayStudy& study,
                     const CrossPlayMatch& match) {
  return {.variant = study.variant,
          .player_a = match.team,
          .player_b = match.opponents,
          .result = match.result,
          .time_control = report.time_control,
          .not_learned = study.not_learned};
}

std::vector<ArenaReportRow> RowsOf(const CrossPlayReport& report) {
  std::vector<ArenaReportRow> rows;
  for (const CrossPlayStudy& study : report.studies) {
    for (const CrossPlayMatch& match : study.matches) {
      rows.push_back(RowOf(report, study, match));
    }
  }
  return rows;
}

ReportRow WorthFields(const PartnershipWorth& worth) {
  constexpr NumberFormat kSignedPercent = {.scale = 100,
                                           .digits = 1,
                                           .sign = true,
                                           .above = "better",
                                           .below = "worse"};
  return {EstimateField("score", "score %", worth.score, kSignedPercent),
          EstimateField("elo", "Elo", worth.elo, kElo),
          EstimateField("margin", "margin", worth.margin, kMargin)};
}

ReportSection WorthSection(const CrossPlayReport& report) {
  ReportSection section = {.title = std::string(kWorthTitle),
                           .plots = "estimates"};
  for (size_t i = 0; i < report.studies.size(); ++i) {
    const CrossPlayStudy& study = report.studies[i];
    const PartnershipWorth& worth = report.worths[i];
    section.rows.push_back(
        Joined({{VariantField("", "variant", study.variant, study.not_learned),
                 CountField("", "openings", worth.openings)},
                WorthFields(worth)}));
  }
  return section;
}

std::string PlayerLines(const CrossPlayReport& report) {
  std::string text;
  for (size_t i = 0; i < report.players.size(); ++i) {
    absl::StrAppend(&text, kLetters[i], ": ", report.players[i], "\n");
  }
  return text;
}

}  // namespace

std::string CrossPlayText(const CrossPlayReport& report) {
  const std::string players = PlayerLines(report);
  if (report.studies.empty()) return players + "no games\n";
  return absl::StrCat(players,
                      ArenaReportText(RowsOf(report), "team", "opponents"),
                      "\n", SectionsText({WorthSection(report)}));
}

std::string CrossPlayJson(const CrossPlayReport& report) {
  Json players = Json::object();
  for (size_t i = 0; i < report.players.size(); ++i) {
    players[kLetters[i]] = report.players[i];
  }
  Json studies = Json::array();
  for (size_t i = 0; i < report.studies.size(); ++i) {
    const CrossPlayStudy& study = report.studies[i];
    Json matches = Json::array();
    for (const CrossPlayMatch& match : study.matches) {
      matches.push_back(ArenaRowJson(RowOf(report, study, match)));
      matches.back()["weight"] = match.weight;
    }
    studies.push_back({{"variant", std::string(Info(study.variant).id)},
                       {"openings", report.worths[i].openings},
                       {"worth", RowJson(WorthFields(report.worths[i]))},
                       {"matches", std::move(matches)}});
    if (!study.not_learned.empty()) {
      studies.back()["not_learned"] = study.not_learned;
    }
  }
  const Json object = {{"players", std::move(players)},
                       {"studies", std::move(studies)}};
  return JsonText(object, 2);
}

std::string CrossPlayPage(const CrossPlayReport& report) {
  std::vector<ReportSection> sections =
      ArenaSections(RowsOf(report), "team", "opponents");
  sections.insert(sections.begin(), WorthSection(report));
  return SectionsPage(
      "Matches of players", PlayerLines(report), sections,
      {VerdictOn(sections[0].rows, "score",
                 {.above = "A and B are stronger together than each with "
                           "itself: ",
                  .below = "A and B are weaker together than each with "
                           "itself: ",
                  .neither = "A and B are neither shown to be stronger nor "
                             "weaker together: "})});
}

}  // namespace tara::eval
