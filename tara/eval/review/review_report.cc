#include "tara/eval/review/review_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "tara/core/action.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/eval/report/report_page.h"
#include "tara/eval/review/review_page_template.h"

namespace tara::eval {
namespace {

using Json = nlohmann::ordered_json;

// Actions of a line of the curve in a terminal.
constexpr size_t kCurveWidth = 60;

std::string SeatOf(const ReviewedAction& action) {
  return SeatName(action.before.variant, action.before.seat);
}

std::string LineText(absl::Span<const Action> line, const State& from) {
  return absl::StrJoin(LineToTexts(line, from), " ");
}

// Returns the set of one action, to be marked on a board.
LegalSet SetOf(Action action) {
  LegalSet set;
  const auto [kind, from, to] = Parts(action);
  switch (kind) {
    case ActionKind::kHill:
      set.hills = BoardOf(to);
      break;
    case ActionKind::kKingMove:
      set.kings[0] = {.origin = from, .moves = BoardOf(to)};
      break;
    case ActionKind::kSacrifice:
      set.kings[0] = {.origin = from, .sacrifices = BoardOf(to)};
      break;
    case ActionKind::kLink:
      (North(BoardOf(from)) == BoardOf(to) ? set.links_north : set.links_east) =
          BoardOf(from);
      break;
    case ActionKind::kPass:
      set.pass = true;
      break;
  }
  return set;
}

absl::string_view ResultName(double score) {
  return score > 0.75 ? "a win" : score > 0.25 ? "a draw" : "a loss";
}

// Returns what an action gave away, in words: "22.3 % of winning and 3.2
// points", "a win for a draw and 2 points, exactly". REQUIRES: a sure loss.
std::string LossText(const ReviewedAction& action) {
  const bool proved =
      action.after_best.score_error + action.after_played.score_error == 0;
  std::string text;
  if (action.score_loss > 0) {
    text = proved && action.exact
               ? absl::StrCat(ResultName(action.after_best.score), " for ",
                              ResultName(action.after_played.score))
               : absl::StrCat(Percent(action.score_loss), " % of winning");
  }
  if (action.exact) {
    if (action.margin_loss > 0) {
      absl::StrAppend(&text, text.empty() ? "" : " and ", action.margin_loss,
                      action.margin_loss == 1 ? " point" : " points");
    }
    return absl::StrCat(text, ", exactly");
  }
  if (action.margin_loss >= 0.05) {
    absl::StrAppendFormat(&text, " and %.1f points", action.margin_loss);
  }
  return text;
}

// Returns how the chances of who played it changed, "from 61.0 to 38.7 %".
std::string ChangeText(const ReviewedAction& action) {
  return absl::StrCat("from ", Percent(action.after_best.score), " to ",
                      Percent(action.after_played.score), " %");
}

// Returns how the game ended, in words.
std::string EndText(const ReviewSource& source) {
  const State& last = source.last;
  if (!last.finished()) {
    return source.ended_early.empty() ? "not finished" : source.ended_early;
  }
  const Outcome outcome = Score(last);
  return absl::StrCat(WinnerText(outcome.winner()), ", ", outcome.points[kRed],
                      " to ", outcome.points[kBlue], " points",
                      CompensationText(outcome.compensation_halves), " (",
                      EndingName(outcome.ended_by), ")");
}

// Returns which actions are judged exactly, in words.
std::string ExactText(const GameReview& review) {
  const int length = static_cast<int>(review.actions.size());
  return review.solved_from >= length
             ? "no action is solved exactly"
             : absl::StrCat("exact from action ", review.solved_from + 1,
                            " on");
}

// Returns the sums by seat as rows of cells, the first one the headings.
std::vector<std::vector<std::string>> SeatRows(const GameReview& review) {
  std::vector<std::vector<std::string>> rows = {
      {"seat", "actions", "choices", "best %", "winning lost %", "each",
       "points lost", "each", "inaccuracies", "mistakes", "blunders"}};
  const Variant variant = review.actions.front().before.variant;
  for (const SeatReview& seat : review.seats) {
    const double judged = std::max(1, seat.judged);
    rows.push_back({SeatName(variant, seat.seat), absl::StrCat(seat.actions),
                    absl::StrCat(seat.judged),
                    seat.judged > 0 ? Percent(seat.best / judged) : "-",
                    Percent(seat.score_loss), Percent(seat.score_loss / judged),
                    absl::StrFormat("%.1f", seat.margin_loss),
                    absl::StrFormat("%.2f", seat.margin_loss / judged),
                    absl::StrCat(seat.inaccuracies),
                    absl::StrCat(seat.mistakes), absl::StrCat(seat.blunders)});
  }
  return rows;
}

// Returns Red's chances as bars, a character a position, and below them the
// first letters of faults.
std::string CurveText(const GameReview& review, bool unicode) {
  constexpr std::array<absl::string_view, 8> kBars = {"▁", "▂", "▃", "▄",
                                                      "▅", "▆", "▇", "█"};
  std::string text = absl::StrCat(
      "Red's chances of winning after each action, ",
      unicode ? "▁ 0 % to █ 100 %" : "0: below 10 % to 9: from 90 %",
      "; below, faults:\ni inaccuracy, m mistake, B blunder, p points alone, . "
      "less\n");
  for (size_t first = 0; first < review.course.size(); first += kCurveWidth) {
    std::string bars, faults;
    const size_t end = std::min(first + kCurveWidth, review.course.size());
    for (size_t ply = first; ply < end; ++ply) {
      const double score = review.course[ply].score;
      if (unicode) {
        absl::StrAppend(&bars,
                        kBars[std::clamp(static_cast<int>(score * 8), 0, 7)]);
      } else {
        absl::StrAppend(&bars, std::clamp(static_cast<int>(score * 10), 0, 9));
      }
      char mark = ' ';
      if (ply > 0 && review.actions[ply - 1].sure) {
        const Fault fault = review.actions[ply - 1].fault;
        mark = fault == Fault::kBlunder                 ? 'B'
               : fault == Fault::kMistake               ? 'm'
               : fault == Fault::kInaccuracy            ? 'i'
               : review.actions[ply - 1].score_loss > 0 ? '.'
                                                        : 'p';
      }
      faults += mark;
    }
    while (!faults.empty() && faults.back() == ' ') faults.pop_back();
    absl::StrAppendFormat(&text, "%5d  %s\n", first, bars);
    if (!faults.empty()) absl::StrAppend(&text, "       ", faults, "\n");
  }
  return text;
}

std::string WorstText(const GameReview& review,
                      const ReviewTextOptions& options) {
  const std::vector<int> worst = review.WorstFirst();
  if (worst.empty()) return "No action is known to have given anything away.\n";
  const int shown = std::min(options.worst, static_cast<int>(worst.size()));
  std::string text = absl::StrCat(
      "Worst actions, ", shown, " of ", worst.size(),
      " that gave something away",
      shown == 0 ? "\n" : "; the better one is marked on the board\n");
  for (int i = 0; i < shown; ++i) {
    const ReviewedAction& action = review.actions[worst[i]];
    const State& before = action.before;
    absl::StrAppend(&text, "\n", i + 1, ". Action ", worst[i] + 1, ", ",
                    SeatOf(action), " plays ",
                    ActionToText(action.played, before),
                    action.fault == Fault::kNone ? "" : ", ",
                    FaultName(action.fault), "\n   lost    ", LossText(action));
    if (action.score_loss > 0 && !action.exact) {
      absl::StrAppend(
          &text, " (", ChangeText(action),
          action.score_loss_error > 0
              ? absl::StrFormat(", +-%.1f", 100 * action.score_loss_error)
              : "",
          ")");
    }
    absl::StrAppend(&text, "\n   better  ", LineText(action.best_line, before),
                    "\n   played  ", LineText(action.played_line, before),
                    "\n\n",
                    DrawBoard(before, {.unicode = options.unicode,
                                       .colour = options.colour,
                                       .highlight = SetOf(action.best)}));
  }
  return text;
}

// Returns "exact", "forced", or what the loss is known by.
absl::string_view KnownBy(const ReviewedAction& action) {
  return !action.judged() ? "forced"
         : action.exact   ? "exact"
         : action.sure    ? "sure"
                          : "";
}

std::string AllText(const GameReview& review) {
  std::vector<std::vector<std::string>> rows = {
      {"action", "seat", "played", "best", "fault", "known", "winning %",
       "lost %", "points", "lost"}};
  for (size_t i = 0; i < review.actions.size(); ++i) {
    const ReviewedAction& action = review.actions[i];
    const bool better = action.best != action.played;
    rows.push_back(
        {absl::StrCat(i + 1), SeatOf(action),
         ActionToText(action.played, action.before),
         better ? ActionToText(action.best, action.before) : "",
         std::string(FaultName(action.fault)), std::string(KnownBy(action)),
         Percent(action.after_played.score),
         better ? Percent(action.score_loss) : "",
         absl::StrFormat("%+.1f", action.after_played.margin),
         action.margin_loss > 0 ? absl::StrFormat("%.1f", action.margin_loss)
                                : ""});
  }
  return absl::StrCat(
      "All actions: chances and points of who played it, after it\n",
      TextTable(rows, 6));
}

Json WorthJson(const Worth& worth) {
  return {{"winning", worth.score},
          {"margin", worth.margin},
          {"error", worth.score_error},
          {"exact", worth.exact}};
}

Json ActionJson(const ReviewedAction& action, int number) {
  const State& before = action.before;
  Json json = {{"action", number},
               {"seat", before.seat},
               {"position", PositionToText(before)},
               {"played", ActionToText(action.played, before)},
               {"choices", action.choices},
               {"best", ActionToText(action.best, before)},
               {"best_line", LineToTexts(action.best_line, before)},
               {"played_line", LineToTexts(action.played_line, before)},
               {"after_best", WorthJson(action.after_best)},
               {"after_played", WorthJson(action.after_played)},
               {"winning_lost", action.score_loss},
               {"winning_lost_error", action.score_loss_error},
               {"points_lost", action.margin_loss},
               {"lost", action.sure ? Json(LossText(action)) : Json()},
               {"exact", action.exact},
               {"sure", action.sure},
               {"fault", action.fault == Fault::kNone
                             ? Json()
                             : Json(std::string(FaultName(action.fault)))}};
  return json;
}

Json ReportJson(const GameReview& review, const ReviewSource& source) {
  const State& start = review.actions.front().before;
  const Variant variant = start.variant;
  const bool finished = source.last.finished();
  Json json = {{"variant", std::string(Info(variant).id)},
               {"name", std::string(Info(variant).name)},
               {"options", RuleOptionsToJson(variant, start.options)},
               {"end", EndText(source)},
               {"finished", finished},
               {"points", finished ? Json(Score(source.last).points) : Json()},
               {"player", source.player},
               {"seed", source.seed}};
  if (!source.not_learned.empty()) json["not_learned"] = source.not_learned;
  json["exact_from"] =
      review.solved_from < static_cast<int>(review.actions.size())
          ? Json(review.solved_from + 1)
          : Json();
  json["seats"] = Json::array();
  for (const SeatReview& seat : review.seats) {
    json["seats"].push_back({{"seat", seat.seat},
                             {"name", SeatName(variant, seat.seat)},
                             {"actions", seat.actions},
                             {"choices", seat.judged},
                             {"best", seat.best},
                             {"exact", seat.exact},
                             {"winning_lost", seat.score_loss},
                             {"points_lost", seat.margin_loss},
                             {"inaccuracies", seat.inaccuracies},
                             {"mistakes", seat.mistakes},
                             {"blunders", seat.blunders}});
  }
  json["worst"] = Json::array();
  for (const int place : review.WorstFirst())
    json["worst"].push_back(place + 1);
  json["course"] = Json::array();
  for (const Worth& worth : review.course) {
    json["course"].push_back(WorthJson(worth));
  }
  json["actions"] = Json::array();
  for (size_t i = 0; i < review.actions.size(); ++i) {
    json["actions"].push_back(
        ActionJson(review.actions[i], static_cast<int>(i) + 1));
  }
  return json;
}

// Returns a picture of the position after an action.
std::string PictureAfter(const ReviewedAction& action, Action played) {
  State state = action.before;
  ApplyAction(played, state);
  return SvgBoard(state, {.last = played});
}

}  // namespace

absl::string_view WinnerText(int winner) {
  if (winner < 0) return "a draw";
  return winner == kRed ? "Red won" : "Blue won";
}

std::string ReviewReportText(const GameReview& review,
                             const ReviewSource& source,
                             const ReviewTextOptions& options) {
  std::string text =
      absl::StrCat(VariantText(review.actions.front().before), ": ",
                   review.actions.size(), " actions, ", EndText(source),
                   "\nJudged by ", source.player, "; ", ExactText(review), "\n",
                   NotLearnedLine(VariantText(review.actions.front().before),
                                  source.not_learned),
                   "\n", TextTable(SeatRows(review), 1), "\n",
                   CurveText(review, options.unicode), "\n");
  if (options.all) absl::StrAppend(&text, AllText(review), "\n");
  absl::StrAppend(&text, WorstText(review, options));
  return text;
}

std::string ReviewReportJson(const GameReview& review,
                             const ReviewSource& source) {
  return JsonText(ReportJson(review, source)) + "\n";
}

std::string ReviewPage(const GameReview& review, const ReviewSource& source,
                       int worst, absl::string_view made) {
  Json json = ReportJson(review, source);
  json["made"] = std::string(made);
  json["pictures"] = Json::array();
  for (const int place : review.WorstFirst()) {
    if (static_cast<int>(json["pictures"].size()) == worst) break;
    const ReviewedAction& action = review.actions[place];
    json["pictures"].push_back({{"lost", LossText(action)},
                                {"played", PictureAfter(action, action.played)},
                                {"better", PictureAfter(action, action.best)}});
  }
  return ReportPage(ReviewPageTemplate(),
                    {{"{{report.json}}", JsonInPage(JsonText(json))}});
}

std::vector<std::string> ReviewNotes(const GameReview& review) {
  std::vector<std::string> notes;
  for (const ReviewedAction& action : review.actions) {
    std::string& note = notes.emplace_back();
    if (!action.sure) continue;
    note = absl::StrCat(
        FaultName(action.fault), action.fault == Fault::kNone ? "" : ": ",
        "gave away ", LossText(action),
        "; better: ", LineText(action.best_line, action.before));
  }
  return notes;
}

}  // namespace tara::eval
