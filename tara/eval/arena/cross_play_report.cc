#include "tara/eval/arena/cross_play_report.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "tara/eval/arena/arena_report.h"
#include "tara/eval/report/report_parts.h"
#include "tara/eval/report/text_table.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;
using Cells = std::vector<std::string>;

constexpr const char* kLetters[] = {"A", "B", "C"};

ArenaReportRow RowOf(const CrossPlayReport& report, const CrossPlayStudy& study,
                     const CrossPlayMatch& match) {
  return {.variant = study.variant,
          .player_a = match.team,
          .player_b = match.opponents,
          .result = match.result,
          .time_control = report.time_control,
          .not_learned = study.not_learned};
}

using Format = absl::ParsedFormat<'f'>;

// "-2.1" and "[-4.0, -0.2]"; an interval that is not known is left out.
void AddSigned(const Interval& interval, double scale, const Format& format,
               Cells& cells) {
  const auto text = [&](double number) {
    return absl::StrFormat(format, scale * number);
  };
  cells.push_back(text(interval.mean));
  cells.push_back(std::isfinite(interval.low)
                      ? absl::StrCat("[", text(interval.low), ", ",
                                     text(interval.high), "]")
                      : "-");
}

std::string WorthTable(const CrossPlayReport& report) {
  std::vector<Cells> table = {{"variant", "openings", "score %", "95 %", "Elo",
                               "95 %", "margin", "95 %"}};
  for (size_t i = 0; i < report.studies.size(); ++i) {
    const PartnershipWorth& worth = report.worths[i];
    const CrossPlayStudy& study = report.studies[i];
    Cells cells = {
        absl::StrCat(Info(study.variant).id, NotLearnedMark(study.not_learned)),
        absl::StrCat(worth.openings)};
    AddSigned(worth.score, 100, Format("%+.1f"), cells);
    AddSigned(worth.elo, 1, Format("%+.0f"), cells);
    AddSigned(worth.margin, 1, Format("%+.2f"), cells);
    table.push_back(cells);
  }
  return TextTable(table, 1);
}

}  // namespace

std::string CrossPlayText(const CrossPlayReport& report) {
  std::string text;
  for (size_t i = 0; i < report.players.size(); ++i) {
    absl::StrAppend(&text, kLetters[i], ": ", report.players[i], "\n");
  }
  if (report.studies.empty()) return text + "no games\n";
  std::vector<ArenaReportRow> rows;
  for (const CrossPlayStudy& study : report.studies) {
    for (const CrossPlayMatch& match : study.matches) {
      rows.push_back(RowOf(report, study, match));
    }
  }
  return absl::StrCat(
      text, ArenaReportText(rows, "team", "opponents"),
      "\nA and B as partners, less what each is worth with itself (below 0: "
      "they understand\neach other less well):\n",
      WorthTable(report));
}

std::string CrossPlayJson(const CrossPlayReport& report) {
  Json players = Json::object();
  for (size_t i = 0; i < report.players.size(); ++i) {
    players[kLetters[i]] = report.players[i];
  }
  Json studies = Json::array();
  for (size_t i = 0; i < report.studies.size(); ++i) {
    const CrossPlayStudy& study = report.studies[i];
    Json worth = Json::object();
    PutInterval("score", report.worths[i].score, worth);
    PutInterval("elo", report.worths[i].elo, worth);
    PutInterval("margin", report.worths[i].margin, worth);
    Json matches = Json::array();
    for (const CrossPlayMatch& match : study.matches) {
      matches.push_back(ArenaRowJson(RowOf(report, study, match)));
      matches.back()["weight"] = match.weight;
    }
    studies.push_back({{"variant", std::string(Info(study.variant).id)},
                       {"openings", report.worths[i].openings},
                       {"worth", std::move(worth)},
                       {"matches", std::move(matches)}});
    if (!study.not_learned.empty()) {
      studies.back()["not_learned"] = study.not_learned;
    }
  }
  const Json object = {{"players", std::move(players)},
                       {"studies", std::move(studies)}};
  // Specs may hold any bytes: a path that is no UTF-8 must not throw.
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tara::eval
