#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tara/core/drawing.h"
#include "tara/core/position_text.h"
#include "tara/core/rule_options.h"
#include "tara/core/rules.h"
#include "tara/core/variant.h"
#include "tara/eval/book/book.h"
#include "tara/eval/book/book_page_body.h"
#include "tara/eval/book/book_page_script.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

// Returns the score of games to who played the action, with its 95 % interval.
Interval ScoreOf(const ActionGames& games) {
  return ScoreIntervalOf(SumsOfGames(static_cast<double>(games.games()),
                                     static_cast<double>(games.wins),
                                     static_cast<double>(games.draws)));
}

// Digits beyond these say nothing, and pages have thousands of numbers.
double Rounded(double number) { return std::round(number * 1e4) / 1e4; }

Json OrNull(const std::optional<double>& number) {
  return number.has_value() ? Json(Rounded(*number)) : Json();
}

// A number that not all actions have: null in JSON.
ReportField OptionalField(Name name, Name heading,
                          const std::optional<double>& number,
                          const NumberFormat& format) {
  return number.has_value()
             ? NumberField(name, heading, Rounded(*number), format)
             : JsonField(name, heading, "", nullptr);
}

// Returns where the score of an action comes from.
std::string KnownBy(const OpeningAction& action) {
  if (action.known) return action.node >= 0 ? "book" : "end";
  return action.visits > 0 ? absl::StrCat(action.visits) : "";
}

// The fields of an action's games; without games but their number.
ReportRow GameFields(const ActionGames& games, int64_t chosen_of_all) {
  if (games.games() == 0) {
    return {JsonField("games", "games", "", 0), NoField("", "score %"),
            NoField("", "chosen %")};
  }
  const Interval score = ScoreOf(games);
  const double share = static_cast<double>(games.chosen) /
                       std::max(1.0, static_cast<double>(chosen_of_all));
  ReportField chosen = NumberField("chosen", "chosen %", share, kPercent);
  if (chosen_of_all == 0) chosen.text = "";
  chosen.value = games.chosen;
  return {CountField("games", "games", games.games()),
          ShareField(
              "score", "score %",
              {Rounded(score.mean), Rounded(score.low), Rounded(score.high)}),
          chosen, CountField("wins", "", games.wins),
          CountField("draws", "", games.draws)};
}

// The fields of an action of a position.
ReportRow ActionFields(const OpeningAction& action,
                       const OpeningPosition& position, int64_t chosen_of_all) {
  std::vector<std::string> names;
  for (const Action each : action.actions) {
    names.push_back(ActionToText(each, position.state));
  }
  const std::vector<std::string> line =
      LineToTexts(action.line, position.state);
  const std::optional<double> loss =
      action.score.has_value() ? std::optional(action.loss) : std::nullopt;
  ReportField prior =
      NumberField("prior", "prior %", Rounded(action.prior), kPercent);
  if (position.simulations == 0) prior.text = "";
  return Joined(
      {{JsonField("actions", "action", line.front(), names),
        JsonField("line", "line",
                  absl::StrJoin(line.begin() + 1, line.end(), " "), line),
        TextField("", "same",
                  names.size() > 1 ? absl::StrCat(names.size()) : ""),
        OptionalField("winning", "winning %", action.score, kPercent),
        OptionalField("winning_lost", "lost %", loss, kPercent),
        OptionalField("margin", "points", action.margin,
                      {.digits = 1, .sign = true}),
        JsonField("known", "by", KnownBy(action), action.known), prior,
        CountField("visits", "", action.visits)},
       GameFields(action.games, chosen_of_all)});
}

bool IsKnown(const OpeningAction& action) {
  return action.games.games() > 0 || action.score.has_value();
}

// Returns the actions with entries, or all.
std::vector<ReportRow> ActionRows(const OpeningPosition& position, bool all) {
  int64_t chosen = 0;
  for (const OpeningAction& action : position.actions) {
    chosen += action.games.chosen;
  }
  std::vector<ReportRow> rows;
  for (const OpeningAction& action : position.actions) {
    if (!all && !IsKnown(action)) continue;
    rows.push_back(ActionFields(action, position, chosen));
  }
  return rows;
}

Json PositionJson(const OpeningPosition& position) {
  Json json = {{"position", PositionToText(position.state)},
               {"seat", position.state.seat},
               {"simulations", position.simulations},
               {"winning", OrNull(position.score)},
               {"margin", OrNull(position.margin)}};
  json["actions"] = Json::array();
  for (const ReportRow& action : ActionRows(position, /*all=*/true)) {
    json["actions"].push_back(RowJson(action));
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

// Returns what the book has, in a line.
std::string HeadText(const OpeningTree& tree, const BookSource& source) {
  return absl::StrCat(
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
      "\n");
}

std::string BookText(const OpeningTree& tree, const OpeningPosition& position,
                     const BookSource& source, const BookTextOptions& options) {
  const State& state = position.state;
  std::string text = absl::StrCat(
      HeadText(tree, source),
      NotLearnedLine(VariantText(tree.start()), source.not_learned), "\n",
      DrawBoard(state, {.unicode = options.unicode, .colour = options.colour}));
  if (position.score.has_value()) {
    absl::StrAppendFormat(
        &text, "Worth %s %% of winning and %+.1f points to the side to move.\n",
        Percent(*position.score), *position.margin);
  }
  const std::vector<ReportRow> rows = ActionRows(position, /*all=*/false);
  if (rows.empty()) {
    return absl::StrCat(text, "The book has no action of it.\n");
  }
  absl::StrAppend(&text, "\n", TableText(WithoutEmptyColumns(rows)));
  const size_t left = position.actions.size() - rows.size();
  if (left > 0) {
    absl::StrAppend(&text, left, " more, which neither searches nor games ",
                    "looked into\n");
  }
  return text;
}

// Returns the cells of an action that are the same however the board is turned,
// with their headings: all but the action and its line.
std::pair<Json, Json> CellsOf(const ReportRow& row, bool with_games) {
  Json headings = Json::array(), cells = Json::array();
  for (const ReportField& field : row) {
    if (field.heading.empty() || field.name == "actions" ||
        field.name == "line" || field.heading == "same") {
      continue;
    }
    if (!with_games && field.heading == "games") break;  // what follows, too
    headings.push_back(field.heading);
    cells.push_back(Typeset(field.range.empty() || field.range == "-"
                                ? field.text
                                : absl::StrCat(field.text, " ", field.range)));
  }
  return {headings, cells};
}

// Returns what the best first action is worth, and what the worst one loses.
std::string VerdictOf(const OpeningTree& tree) {
  const std::optional<OpeningPosition> start = tree.At(tree.start());
  const OpeningAction* best = nullptr;
  const OpeningAction* worst = nullptr;
  for (const OpeningAction& action : start->actions) {
    if (!action.score.has_value()) continue;
    if (best == nullptr || *action.score > *best->score) best = &action;
    if (worst == nullptr || *action.score < *worst->score) worst = &action;
  }
  if (best == nullptr) return "The book has no searched action of the start.";
  std::string text = absl::StrCat(
      "The best first action is ", ActionToText(best->actions[0], start->state),
      best->actions.size() > 1 ? " (or one like it)" : "", ", with ",
      Percent(*best->score), " % of winning for ",
      SeatName(tree.start().variant, tree.start().seat));
  if (worst != best) {
    absl::StrAppend(&text, "; ", ActionToText(worst->actions[0], start->state),
                    " gives away the most, ", Percent(worst->loss), " %");
  }
  return text + ".";
}

std::string BookPage(const OpeningTree& tree, const BookSource& source) {
  Json json = HeadJson(tree, source);
  json["seats"] = Json::array();
  for (int seat = 0; seat < Info(tree.start().variant).seats; ++seat) {
    json["seats"].push_back(
        SeatName(tree.start().variant, static_cast<Seat>(seat)));
  }
  // By place in the tree, each as its representative; null if no line leads
  // there. Omits actions without any data.
  json["places"] = Json::array();
  for (int node = 0; node < tree.size(); ++node) {
    std::optional<OpeningPosition> position =
        tree.At(tree.representative(node));
    if (!position.has_value()) {
      json["places"].push_back(nullptr);
      continue;
    }
    const size_t left = std::erase_if(
        position->actions,
        [](const OpeningAction& action) { return !IsKnown(action); });
    Json made = PositionJson(*position);
    made["left"] = left;
    if (position->score.has_value()) {
      const ReportField margin =
          NumberField("", "", *position->margin, {.digits = 1, .sign = true});
      made["shown"] = {Percent(*position->score), Typeset(margin.text)};
    }
    const std::vector<ReportRow> rows = ActionRows(*position, /*all=*/true);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::tie(json["headings"], made["actions"][i]["cells"]) =
          CellsOf(rows[i], tree.games() > 0);
    }
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
  // In JSON "<" occurs only in strings, where "</" could end the element.
  const std::string data =
      absl::StrReplaceAll(JsonText(json), {{"<", "\\u003c"}});
  return ReportPage(
      "Opening book",
      absl::StrCat("<div class=\"verdict\"><p>", VerdictOf(tree),
                   "</p></div>\n<p id=\"about\">",
                   Escaped(HeadText(tree, source)),
                   Escaped(NotLearnedLine(VariantText(tree.start()),
                                          source.not_learned)),
                   "</p>\n", BookPageBody(),
                   "<script type=\"application/json\" id=\"report\">", data,
                   "</script>\n"),
      BookPageScript());
}

}  // namespace

Report ReportBook(const OpeningTree& tree, const OpeningPosition& position,
                  const BookSource& source, const BookTextOptions& options) {
  Json json = HeadJson(tree, source);
  json.update(PositionJson(position));
  return {.text = BookText(tree, position, source, options),
          .json = JsonText(json),
          .page = [&] { return BookPage(tree, source); }};
}

}  // namespace tara::eval
