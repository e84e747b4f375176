#include "tara/eval/regret/regret_report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tara/eval/regret/regret_page_template.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/report/report_parts.h"
#include "tara/eval/report/text_table.h"

namespace tara::eval {

using Json = nlohmann::ordered_json;

std::string RegretReportText(absl::Span<const RegretRow> rows) {
  if (rows.empty()) return "no positions\n";
  std::string notes;
  std::vector<std::vector<std::string>> table = {
      {"regret", "player", "positions", "points lost", "95 %", "results lost %",
       "95 %", "best action %", "95 %", "policy on it %", "95 %",
       "value error %", "95 %"}};
  for (const RegretRow& row : rows) {
    auto& cells = table.emplace_back();
    const Regret& regret = row.regret;
    cells = {std::string(Info(row.variant).id),
             absl::StrCat(row.player, NotLearnedMark(row.not_learned)),
             absl::StrCat(regret.positions)};
    notes +=
        NotLearnedLine(absl::StrCat(Info(row.variant).id, " by ", row.player),
                       row.not_learned);
    AddInterval(regret.points, 1, cells);
    AddInterval(regret.results, 100, cells);
    AddInterval(regret.best, 100, cells);
    for (const auto& said : {regret.policy, regret.value_error}) {
      if (said.has_value()) {
        AddInterval(*said, 100, cells);
      } else {
        cells.insert(cells.end(), 2, "-");
      }
    }
  }
  return notes + TextTable(table, 2);
}

std::string RegretReportJson(absl::Span<const RegretRow> rows) {
  Json array = Json::array();
  for (const RegretRow& row : rows) {
    Json& object = array.emplace_back();
    const Regret& regret = row.regret;
    object["variant"] = std::string(Info(row.variant).id);
    object["name"] = std::string(Info(row.variant).name);
    object["player"] = row.player;
    if (row.point.has_value()) {
      object["run"] = row.point->run;
      object["generation"] = row.point->generation;
    }
    if (!row.not_learned.empty()) object["not_learned"] = row.not_learned;
    object["positions"] = regret.positions;
    PutInterval("points", regret.points, object);
    PutInterval("results", regret.results, object);
    PutInterval("best", regret.best, object);
    if (regret.policy.has_value()) {
      PutInterval("policy", *regret.policy, object);
    }
    if (regret.value_error.has_value()) {
      PutInterval("value_error", *regret.value_error, object);
    }
  }
  // Names may hold any bytes: a path that is no UTF-8 must not throw.
  return array.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string RegretPage(absl::Span<const RegretRow> rows) {
  return ReportPage(RegretPageTemplate(),
                    {{"{{report.json}}", JsonInPage(RegretReportJson(rows))}});
}

}  // namespace tara::eval
