#include "tara/eval/book/book_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tara/core/action.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/book/book_page_template.h"
#include "tara/eval/report/report.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

// Returns the score of games to who played the action, with its 95 % interval.
Interval ScoreOf(const ActionGames& games) {
  const double wins = static_cast<double>(games.wins);
  const double draws = static_cast<double>(games.draws);
  return ScoreIntervalOf({.count = static_cast<double>(games.games()),
                          .sum = wins + draws / 2,
                          .squares = wins + draws / 4});
}

// Digits beyond these say nothing, and pages have thousands of numbers.
double Rounded(double number) { return std::round(number * 1e4) / 1e4; }

Json OrNull(const std::optional<double>& number) {
  return number.has_value() ? Json(Rounded(*number)) : Json();
}

Json GamesJson(const ActionGames& games) {
  Json json = {{"games", games.games()}};
  if (games.games() == 0) return json;
  const Interval score = ScoreOf(games);
  json["score"] = Rounded(score.mean);
  json["score_low"] = Rounded(score.low);
  json["score_high"] = Rounded(score.high);
  json["wins"] = games.wins;
  json["draws"] = games.draws;
  json["chosen"] = games.chosen;
  return json;
}

Json ActionJson(const OpeningAction& action, const State& state) {
  Json names = Json::array();
  for (const Action each : action.actions) {
    names.push_back(ActionToText(each, state));
  }
  Json json = {{"actions", std::move(names)},
               {"known", action.known},
               {"winning", OrNull(action.score)},
               {"margin", OrNull(action.margin)},
               {"winning_lost",
                action.score.has_value() ? Json(Rounded(action.loss)) : Json()},
               {"prior", Rounded(action.prior)},
               {"visits", action.visits},
               {"line", LineToTexts(action.line, state)}};
  json.update(GamesJson(action.games));
  return json;
}

Json PositionJson(const OpeningPosition& position) {
  Json json = {{"position", PositionToText(position.state)},
               {"seat", position.state.seat},
               {"simulations", position.simulations},
               {"winning", OrNull(position.score)},
               {"margin", OrNull(position.margin)}};
  json["actions"] = Json::array();
  for (const OpeningAction& action : position.actions) {
    json["actions"].push_back(ActionJson(action, position.state));
  }
  return json;
}

Json HeadJson(const OpeningTree& tree, const BookSource& source) {
  const State& start = tree.start();
  Json json = {{"book", source.book},
               {"variant", std::string(Info(start.variant).id)},
               {"name", std::string(Info(start.variant).name)},
               {"options", RuleOptionsToJson(start.variant, start.options)},
               {"player", source.player.empty() ? Json() : Json(source.player)},
               {"positions", tree.positions()},
               {"deepest", tree.deepest()},
               {"games_in_book", tree.games()},
               {"distinct_games_in_book", tree.distinct_games()}};
  if (!source.not_learned.empty()) json["not_learned"] = source.not_learned;
  return json;
}

// Returns where the score of an action comes from.
std::string KnownBy(const OpeningAction& action) {
  if (action.known) return action.node >= 0 ? "book" : "end";
  return action.visits > 0 ? absl::StrCat(action.visits) : "";
}

// Returns the actions as rows of cells, the first one the headings. Columns
// that are empty all along are left out.
std::vector<std::vector<std::string>> ActionRows(
    const OpeningPosition& position) {
  std::vector<std::vector<std::string>> rows = {
      {"action", "line", "same", "winning %", "lost %", "points", "by",
       "prior %", "games", "score %", "95 %", "chosen %"}};
  int64_t chosen = 0;
  for (const OpeningAction& action : position.actions) {
    chosen += action.games.chosen;
  }
  for (const OpeningAction& action : position.actions) {
    const ActionGames& games = action.games;
    if (games.games() == 0 && !action.score.has_value()) continue;
    const std::vector<std::string> line =
        LineToTexts(action.line, position.state);
    std::vector<std::string>& cells = rows.emplace_back();
    cells = {
        line.front(),
        absl::StrJoin(line.begin() + 1, line.end(), " "),
        action.actions.size() > 1 ? absl::StrCat(action.actions.size()) : "",
        action.score.has_value() ? Percent(*action.score) : "",
        action.score.has_value() ? Percent(action.loss) : "",
        action.margin.has_value() ? absl::StrFormat("%+.1f", *action.margin)
                                  : "",
        KnownBy(action),
        position.simulations > 0 ? Percent(action.prior) : ""};
    if (games.games() == 0) {
      cells.insert(cells.end(), 4, "");
      continue;
    }
    cells.push_back(absl::StrCat(games.games()));
    const ReportField score = ShareField("", "", ScoreOf(games));
    cells.insert(cells.end(), {score.text, score.range});
    cells.push_back(chosen > 0 ? Percent(static_cast<double>(games.chosen) /
                                         static_cast<double>(chosen))
                               : "");
  }
  for (size_t column = rows[0].size(); column-- > 0;) {
    const bool empty =
        std::all_of(rows.begin() + 1, rows.end(),
                    [&](const auto& row) { return row[column].empty(); });
    if (!empty || rows.size() == 1) continue;
    for (auto& row : rows) {
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    }
  }
  return rows;
}

}  // namespace

std::string BookReportText(const OpeningTree& tree,
                           const OpeningPosition& position,
                           const BookSource& source,
                           const BookTextOptions& options) {
  const State& state = position.state;
  std::string text = absl::StrCat(
      source.book, ": ", VariantText(tree.start()), ", ", tree.positions(),
      " positions searched",
      source.player.empty() ? "" : absl::StrCat(" by ", source.player),
      tree.positions() > 0 ? absl::StrCat(", ", tree.deepest(), " plies deep")
                           : "",
      "; ", tree.games(), " games",
      tree.distinct_games() < tree.games()
          ? absl::StrCat(", ", tree.distinct_games(),
                         " different up to symmetry")
          : "",
      "\n", NotLearnedLine(VariantText(tree.start()), source.not_learned), "\n",
      DrawBoard(state, {.unicode = options.unicode, .colour = options.colour}));
  if (position.score.has_value()) {
    absl::StrAppendFormat(
        &text, "Worth %s %% of winning and %+.1f points to the side to move.\n",
        Percent(*position.score), *position.margin);
  }
  const std::vector<std::vector<std::string>> rows = ActionRows(position);
  if (rows.size() == 1) {
    return absl::StrCat(text, "The book has no action of it.\n");
  }
  const size_t names = rows[0].size() > 1 && rows[0][1] == "line" ? 2 : 1;
  absl::StrAppend(&text, "\n", TextTable(rows, names));
  const int left =
      static_cast<int>(position.actions.size() - (rows.size() - 1));
  if (left > 0) {
    absl::StrAppend(&text, left, " more, which neither searches nor games ",
                    "looked into\n");
  }
  return text;
}

std::string BookReportJson(const OpeningTree& tree,
                           const OpeningPosition& position,
                           const BookSource& source) {
  Json json = HeadJson(tree, source);
  json.update(PositionJson(position));
  return JsonText(json) + "\n";
}

std::string BookPage(const OpeningTree& tree, const BookSource& source) {
  Json json = HeadJson(tree, source);
  json["seats"] = Json::array();
  for (int seat = 0; seat < Info(tree.start().variant).seats; ++seat) {
    json["seats"].push_back(
        SeatName(tree.start().variant, static_cast<Seat>(seat)));
  }
  // By place in the tree, each as its representative: null where no line leads.
  // Without the actions that nothing is known of.
  json["places"] = Json::array();
  for (int node = 0; node < tree.size(); ++node) {
    std::optional<OpeningPosition> position =
        tree.At(tree.representative(node));
    if (!position.has_value()) {
      json["places"].push_back(nullptr);
      continue;
    }
    const size_t left =
        std::erase_if(position->actions, [](const auto& action) {
          return !action.score.has_value() && action.games.games() == 0;
        });
    Json made = PositionJson(*position);
    made["left"] = left;
    for (size_t i = 0; i < position->actions.size(); ++i) {
      const OpeningAction& action = position->actions[i];
      if (action.node < 0) continue;
      Json symmetries = Json::array();
      for (const Symmetry& symmetry : action.from_node) {
        symmetries.push_back({symmetry.board, symmetry.seat_shift});
      }
      made["actions"][i]["next"] = {{"place", action.node},
                                    {"symmetries", std::move(symmetries)}};
    }
    json["places"].push_back(std::move(made));
  }
  return ReportPage(BookPageTemplate(),
                    {{"{{report.json}}", JsonInPage(JsonText(json))}});
}

}  // namespace tara::eval
