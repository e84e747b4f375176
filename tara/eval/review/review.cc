#include "tara/eval/review/review.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tara/base/status_macros.h"
#include "tara/core/board.h"
#include "tara/core/drawing.h"
#include "tara/core/outcome.h"
#include "tara/core/position_text.h"
#include "tara/core/rules.h"
#include "tara/core/svg_board.h"
#include "tara/core/variant.h"
#include "tara/mcts/evaluators/caching_evaluator.h"
#include "tara/mcts/search/many_games.h"
#include "tara/mcts/solver/endgame_solver.h"
#include "tara/mcts/tree/tree.h"

namespace tara::eval {
namespace {

// Cached evaluations: those of a position and of the next one overlap.
constexpr int64_t kCachePositions = 1 << 16;

// Some memory more than at the leaves of a search: solving takes longer.
constexpr int64_t kSolverBytes = int64_t{32} << 20;

// The evaluation of a position.
struct Judgement {
  Worth red;                 // to Red; exact if the position is solved
  std::vector<Action> line;  // best play, as far as it was looked into
};

Worth ToSide(Side side, const Worth& red) {
  return side == kRed ? red : red.Reversed();
}

// Returns what a margin that is certain is worth to Red.
Worth ExactWorth(const State& state, int red_margin) {
  const int result =
      ResultOfMargin(red_margin, state.options.compensation_halves);
  return {.score = (1 + result) / 2.0,
          .margin = static_cast<double>(red_margin),
          .exact = true};
}

// Returns the standard error of the score of a searched position: that of the
// mean over its simulations, with one more observation at distance 1, as
// mcts::LowerConfidenceBound has it.
double ScoreError(const mcts::Tree& tree) {
  if (tree.settled()) return 0;
  double visits = 0, sum = 0, squares = 0;
  for (const mcts::RootAction& action : tree.root_actions()) {
    const double value = action.mean_value;
    const double deviation = action.value_deviation;
    visits += action.visits;
    sum += action.visits * value;
    squares += action.visits * (value * value + deviation * deviation);
  }
  if (visits == 0) return 0.5;
  const double mean = sum / visits;
  const double variance = std::max(0.0, squares / visits - mean * mean);
  // Values are from -1 to 1, scores from 0 to 1.
  return std::sqrt((visits * variance + 1) / (visits + 1) / visits) / 2;
}

Judgement MakeJudgement(const mcts::Tree& tree, float confidence_z) {
  const mcts::MarginBounds bounds = tree.root_bounds();
  const Worth own = {
      .score = (1 + static_cast<double>(tree.root_value())) / 2,
      .margin = std::clamp<double>(tree.root_margin(), bounds.low, bounds.high),
      .score_error = ScoreError(tree)};
  const Action best = RankActions(tree, confidence_z).front().action;
  Judgement judgement = {.red = ToSide(tree.root().side(), own),
                         .line = LineAfter(tree, best)};
  if (judgement.line.size() > kMaxLineLength) {
    judgement.line.resize(kMaxLineLength);
  }
  return judgement;
}

// A position to be searched.
struct Wanted {
  State state;
  Judgement* judgement;
};

// Sets what was given away, and by what class of fault.
void SetLoss(ReviewedAction& action) {
  const Worth& best = action.after_best;
  const Worth& played = action.after_played;
  action.score_loss = std::max(0.0, best.score - played.score);
  action.score_loss_error = std::hypot(best.score_error, played.score_error);
  const double margin_loss = std::max(0.0, best.margin - played.margin);
  action.sure = action.exact ? action.score_loss > 0 || margin_loss > 0
                             : action.score_loss >= kMinSureLoss &&
                                   action.score_loss >
                                       kSureErrors * action.score_loss_error;
  if (!action.sure) return;
  action.margin_loss = margin_loss;
  action.fault = action.score_loss >= kBlunderLoss      ? Fault::kBlunder
                 : action.score_loss >= kMistakeLoss    ? Fault::kMistake
                 : action.score_loss >= kInaccuracyLoss ? Fault::kInaccuracy
                                                        : Fault::kNone;
}

// Returns an action, then a line, kMaxLineLength actions at most.
std::vector<Action> LineFrom(Action first, const std::vector<Action>& rest) {
  std::vector<Action> line = {first};
  line.insert(line.end(), rest.begin(), rest.end());
  if (line.size() > kMaxLineLength) line.resize(kMaxLineLength);
  return line;
}

std::vector<SeatReview> SumsBySeat(absl::Span<const ReviewedAction> actions,
                                   int seats) {
  std::vector<SeatReview> sums(seats);
  for (int seat = 0; seat < seats; ++seat) sums[seat].seat = seat;
  for (const ReviewedAction& action : actions) {
    SeatReview& sum = sums[action.before.seat];
    ++sum.actions;
    if (!action.judged()) continue;
    ++sum.judged;
    sum.best += !action.sure;
    sum.exact += action.exact;
    if (!action.sure) continue;
    sum.score_loss += action.score_loss;
    sum.margin_loss += action.margin_loss;
    sum.inaccuracies += action.fault == Fault::kInaccuracy;
    sum.mistakes += action.fault == Fault::kMistake;
    sum.blunders += action.fault == Fault::kBlunder;
  }
  return sums;
}

class Reviewer {
 public:
  Reviewer(mcts::Evaluator& evaluator, const ReviewOptions& options)
      : options_(options),
        cache_(&evaluator, kCachePositions),
        solver_({.table_bytes = kSolverBytes,
                 .node_limit = options.node_limit,
                 .keep_going = [this](const mcts::SolverProgress&) {
                   return !Stopped();
                 }}) {}
  Reviewer(const Reviewer&) = delete;
  Reviewer& operator=(const Reviewer&) = delete;

  absl::StatusOr<GameReview> Review(const State& initial,
                                    absl::Span<const Action> actions) {
    const int length = static_cast<int>(actions.size());
    std::vector<State> states = {initial};
    for (const Action action : actions) {
      states.push_back(states.back());
      ApplyAction(action, states.back());
    }

    // 1. Solve, from the end.
    std::vector<Judgement> judgements(length + 1);
    GameReview review;
    review.solved_from = length + 1;
    while (review.solved_from > 0 &&
           Solve(states[review.solved_from - 1],
                 judgements[review.solved_from - 1])) {
      --review.solved_from;
    }
    if (Stopped()) return absl::CancelledError("interrupted");

    // 2. Search what comes before.
    std::vector<Wanted> wanted;
    for (int ply = 0; ply < review.solved_from && ply <= length; ++ply) {
      wanted.push_back({states[ply], &judgements[ply]});
    }
    TARA_RETURN_IF_ERROR(SearchAll(wanted));

    // 3. Search what comes after better actions.
    std::vector<Judgement> alternatives(length);
    wanted.clear();
    for (int ply = 0; ply < length && ply < review.solved_from; ++ply) {
      const Action best = judgements[ply].line.front();
      if (best == actions[ply]) continue;
      State next = states[ply];
      ApplyAction(best, next);
      // Its like, the game's next position, was solved or not.
      const bool solvable = next.finished() || ply + 1 >= review.solved_from;
      if (solvable && Solve(next, alternatives[ply])) continue;
      wanted.push_back({next, &alternatives[ply]});
    }
    TARA_RETURN_IF_ERROR(SearchAll(wanted));

    for (int ply = 0; ply < length; ++ply) {
      const State& before = states[ply];
      const Side side = before.side();
      const Judgement& here = judgements[ply];
      const Judgement& next = judgements[ply + 1];
      const Action best = here.line.front();
      ReviewedAction action = {.before = before,
                               .played = actions[ply],
                               .choices = LegalActions(before).Count(),
                               .best = actions[ply],
                               .played_line = LineFrom(actions[ply], next.line),
                               .after_played = ToSide(side, next.red),
                               .exact = here.red.exact};
      action.best_line = action.played_line;
      action.after_best = action.after_played;
      // If several are best in points, `best` is only the first.
      const Worth after_best =
          ToSide(side, action.exact ? here.red : alternatives[ply].red);
      const bool is_better =
          best != actions[ply] &&
          (after_best.score > action.after_played.score ||
           (action.exact && after_best.margin > action.after_played.margin));
      if (is_better) {
        action.best = best;
        action.after_best = after_best;
        action.best_line =
            action.exact ? here.line : LineFrom(best, alternatives[ply].line);
        SetLoss(action);
      }
      review.actions.push_back(std::move(action));
    }
    for (const Judgement& judgement : judgements) {
      review.course.push_back(judgement.red);
    }
    review.seats = SumsBySeat(review.actions, Info(initial.variant).seats);
    return review;
  }

 private:
  bool Stopped() const { return options_.stop && options_.stop(); }

  // Judges a finished game, or solves a position. False: it takes too long.
  bool Solve(const State& state, Judgement& judgement) {
    if (state.finished()) {
      judgement.red = ExactWorth(state, Score(state).margin());
      return true;
    }
    if (options_.node_limit <= 0) return false;
    const auto solved = solver_.SolveActions(state);
    if (!solved.has_value()) return false;
    const int sign = state.side() == kRed ? 1 : -1;
    // The first of the best.
    const auto best = std::max_element(
        solved->begin(), solved->end(), [sign](const auto& a, const auto& b) {
          return sign * a.red_margin < sign * b.red_margin;
        });
    judgement.red = ExactWorth(state, best->red_margin);
    State next = state;
    ApplyAction(best->action, next);
    judgement.line = LineFrom(best->action, SolvedLine(next));
    return true;
  }

  // Returns best play from a position that is solved within the limit.
  std::vector<Action> SolvedLine(State state) {
    std::vector<Action> line;
    while (!state.finished() && line.size() < kMaxLineLength) {
      const auto solution = solver_.Solve(state);
      if (!solution.has_value()) break;
      line.push_back(solution->best_actions.front());
      ApplyAction(line.back(), state);
    }
    return line;
  }

  absl::Status SearchAll(absl::Span<const Wanted> wanted) {
    if (wanted.empty()) return absl::OkStatus();
    to_search_ += static_cast<int>(wanted.size());
    Report();
    std::vector<State> positions;
    for (const Wanted& each : wanted) positions.push_back(each.state);
    return mcts::SearchPositions(
        positions,
        {.search = options_.search,
         .leaves_per_game = options_.leaves_per_game,
         .seed = options_.seed,
         .threads = options_.threads,
         .stop = options_.stop,
         .on_progress = [this] { Report(); }},
        cache_,
        [&](size_t place, const mcts::Tree& tree) {
          *wanted[place].judgement = MakeJudgement(tree, options_.confidence_z);
          ++searched_;
        },
        counters_);
  }

  void Report() const {
    if (!options_.on_progress) return;
    options_.on_progress({searched_, to_search_, counters_.simulations});
  }

  const ReviewOptions& options_;
  mcts::CachingEvaluator cache_;
  mcts::EndgameSolver solver_;
  mcts::SearchCounters counters_;
  std::atomic<int> searched_ = 0;
  int to_search_ = 0;
};

}  // namespace

std::vector<int> GameReview::WorstFirst() const {
  std::vector<int> places;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].sure) places.push_back(static_cast<int>(i));
  }
  std::stable_sort(places.begin(), places.end(), [this](int a, int b) {
    return std::tie(actions[a].score_loss, actions[a].margin_loss) >
           std::tie(actions[b].score_loss, actions[b].margin_loss);
  });
  return places;
}

absl::StatusOr<GameReview> ReviewGame(const State& initial,
                                      absl::Span<const Action> actions,
                                      mcts::Evaluator& evaluator,
                                      const ReviewOptions& options) {
  if (actions.empty()) {
    return absl::InvalidArgumentError(
        "the game has no actions; expected one at least");
  }
  return Reviewer(evaluator, options).Review(initial, actions);
}

namespace {

using Json = nlohmann::ordered_json;

// Actions of a line of the curve in a terminal.
constexpr size_t kCurveWidth = 60;

absl::string_view FaultName(Fault fault) {
  constexpr absl::string_view kNames[] = {"", "inaccuracy", "mistake",
                                          "blunder"};
  return kNames[static_cast<size_t>(fault)];
}

std::string SeatOf(const ReviewedAction& action) {
  return SeatName(action.before.variant, action.before.seat);
}

// Returns "Red plays D4, blunder"; `plays` is between spaces.
std::string PlayText(const ReviewedAction& action, absl::string_view plays) {
  return absl::StrCat(
      SeatOf(action), plays, ActionToText(action.played, action.before),
      action.fault == Fault::kNone ? "" : ", ", FaultName(action.fault));
}

std::string LineText(absl::Span<const Action> line, const State& from) {
  return absl::StrJoin(LineToTexts(line, from), " ");
}

// Returns the set of one action, to be marked on a board.
LegalSet MakeSet(Action action) {
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

constexpr NumberFormat kPoints = {.digits = 1};

// Returns the sums by seat.
std::vector<ReportRow> SeatRows(const GameReview& review) {
  std::vector<ReportRow> rows;
  const Variant variant = review.actions.front().before.variant;
  for (const SeatReview& seat : review.seats) {
    const double judged = std::max(1, seat.judged);
    ReportField best =
        NumberField("best", "best %", seat.best / judged, kPercent);
    best.value = seat.best;
    if (seat.judged == 0) best.text = "-";
    rows.push_back(
        {CountField("seat", "", seat.seat),
         TextField("name", "seat", SeatName(variant, seat.seat)),
         CountField("actions", "actions", seat.actions),
         CountField("choices", "choices", seat.judged), std::move(best),
         CountField("exact", "", seat.exact),
         NumberField("winning_lost", "winning lost %", seat.score_loss,
                     kPercent),
         NumberField("", "each", seat.score_loss / judged, kPercent),
         NumberField("points_lost", "points lost", seat.margin_loss, kPoints),
         NumberField("", "each", seat.margin_loss / judged),
         CountField("inaccuracies", "inaccuracies", seat.inaccuracies),
         CountField("mistakes", "mistakes", seat.mistakes),
         CountField("blunders", "blunders", seat.blunders)});
  }
  return rows;
}

// Returns Red's chances as bars, a character a position, and below them the
// first letters of faults.
std::string CurveText(const GameReview& review) {
  std::string text =
      "Red's chances of winning after each action, ▁ 0 % to █ 100 %; below, "
      "faults:\ni inaccuracy, m mistake, B blunder, p points alone, . less\n";
  for (size_t first = 0; first < review.course.size(); first += kCurveWidth) {
    std::string bars, faults;
    const size_t end = std::min(first + kCurveWidth, review.course.size());
    for (size_t ply = first; ply < end; ++ply) {
      absl::StrAppend(&bars, BarOf(review.course[ply].score));
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
                      const ReviewReportOptions& options) {
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
                    PlayText(action, " plays "), "\n   lost    ",
                    LossText(action));
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
                    DrawBoard(before, {.colour = options.colour,
                                       .highlight = MakeSet(action.best)}));
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

Json WorthJson(const Worth& worth) {
  return {{"winning", worth.score},
          {"margin", worth.margin},
          {"error", worth.score_error},
          {"exact", worth.exact}};
}

// Returns the actions in order of the game, each with the chances and points of
// who played it, after it.
std::vector<ReportRow> ActionRows(const GameReview& review) {
  std::vector<ReportRow> rows;
  for (size_t i = 0; i < review.actions.size(); ++i) {
    const ReviewedAction& action = review.actions[i];
    const State& before = action.before;
    const bool better = action.best != action.played;
    const std::string best = ActionToText(action.best, before);
    const std::string fault(FaultName(action.fault));
    ReportField lost =
        NumberField("winning_lost", "lost %", action.score_loss, kPercent);
    if (!better) lost.text = "";
    ReportField points_lost =
        NumberField("points_lost", "lost", action.margin_loss, kPoints);
    if (action.margin_loss <= 0) points_lost.text = "";
    rows.push_back(
        {JsonField("action", "action", absl::StrCat(i + 1), i + 1),
         JsonField("seat", "seat", SeatOf(action), before.seat),
         TextField("position", "", PositionToText(before)),
         TextField("played", "played", ActionToText(action.played, before)),
         CountField("choices", "", action.choices),
         JsonField("best", "best", better ? best : "", best),
         JsonField("best_line", "", "", LineToTexts(action.best_line, before)),
         JsonField("played_line", "", "",
                   LineToTexts(action.played_line, before)),
         JsonField("after_best", "", "", WorthJson(action.after_best)),
         JsonField("after_played", "", "", WorthJson(action.after_played)),
         JsonField("fault", "fault", fault,
                   fault.empty() ? Json() : Json(fault)),
         JsonField("exact", "", "", action.exact),
         JsonField("sure", "", "", action.sure),
         TextField("", "known", KnownBy(action)),
         NumberField("", "winning %", action.after_played.score, kPercent),
         std::move(lost),
         NumberField("winning_lost_error", "", action.score_loss_error),
         NumberField("", "points", action.after_played.margin,
                     {.digits = 1, .sign = true}),
         std::move(points_lost),
         JsonField("lost", "", "",
                   action.sure ? Json(LossText(action)) : Json())});
  }
  return rows;
}

Json ReviewJson(const GameReview& review, const ReviewSource& source) {
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
  json["seats"] = RowsToJson(SeatRows(review));
  json["worst"] = Json::array();
  for (const int place : review.WorstFirst()) {
    json["worst"].push_back(place + 1);
  }
  json["course"] = Json::array();
  for (const Worth& worth : review.course) {
    json["course"].push_back(WorthJson(worth));
  }
  json["actions"] = RowsToJson(ActionRows(review));
  return json;
}

// Returns a picture of the position after an action, and how it goes on.
std::string PictureAfter(const ReviewedAction& action, Action played,
                         absl::string_view name,
                         absl::Span<const Action> line) {
  State state = action.before;
  ApplyAction(played, state);
  return absl::StrCat("<figure>", SvgBoard(state, {.last = played}),
                      "<figcaption>", name, ": ", LineText(line, action.before),
                      "</figcaption></figure>");
}

// Returns the course of a measure for Red, with the actions that gave something
// away as dots in the colour of their side.
std::string CoursePlot(const GameReview& review, absl::string_view title,
                       absl::string_view unit, double even,
                       double (*value_of)(const Worth&)) {
  PlotLine course = {.name = absl::StrCat("Red\u2019s ", unit),
                     .kind = PlotLine::Kind::kLine};
  PlotLine faults = {.name = "gave something away",
                     .kind = PlotLine::Kind::kDots};
  for (size_t ply = 0; ply < review.course.size(); ++ply) {
    const double value = value_of(review.course[ply]);
    const auto x = static_cast<double>(ply);
    course.points.push_back({.x = x,
                             .y = {value, value, value},
                             .text = absl::StrFormat("%.1f", value)});
    if (ply == 0 || !review.actions[ply - 1].sure) continue;
    const ReviewedAction& action = review.actions[ply - 1];
    const State& before = action.before;
    faults.points.push_back(
        {.x = x,
         .y = {value, value, value},
         .text = absl::StrCat(PlayText(action, " played "), "; better ",
                              ActionToText(action.best, before)),
         .colour = before.seat % 2 == kRed ? "red" : "blue"});
  }
  return CurvesPlot(title, "action", course.name, {course, faults}, even);
}

std::string WorstHtml(const GameReview& review, int worst) {
  const std::vector<int> places = review.WorstFirst();
  const size_t shown =
      std::min(places.size(), static_cast<size_t>(std::max(0, worst)));
  std::string html;
  for (size_t i = 0; i < shown; ++i) {
    const ReviewedAction& action = review.actions[places[i]];
    absl::StrAppend(
        &html, "<div class=\"card\" id=\"action-", places[i] + 1,
        "\"><h3>Action ", places[i] + 1, ": ", PlayText(action, " played "),
        "</h3><p class=\"faint\">It gave away ", LossText(action), " (",
        ChangeText(action), ").</p><div class=\"pictures\">",
        PictureAfter(action, action.played, "Played", action.played_line),
        PictureAfter(action, action.best, "Better", action.best_line),
        "</div></div>\n");
  }
  const size_t left = places.size() - shown;
  if (left == 0) return html;
  return absl::StrCat(html, "<p class=\"faint\">", left,
                      " more gave something away: see below.</p>\n");
}

// Returns what each seat gave away, and the worst action.
std::string VerdictOf(const GameReview& review) {
  std::vector<std::string> seats;
  for (const SeatReview& seat : review.seats) {
    seats.push_back(absl::StrCat(
        SeatName(review.actions.front().before.variant, seat.seat),
        " gave away ", Percent(seat.score_loss / std::max(1, seat.judged)),
        " % of winning a choice, with ", seat.blunders,
        seat.blunders == 1 ? " blunder" : " blunders"));
  }
  const std::vector<int> worst = review.WorstFirst();
  if (worst.empty()) {
    return absl::StrCat(absl::StrJoin(seats, "; "),
                        ". No action is known to have given anything away.");
  }
  const ReviewedAction& action = review.actions[worst[0]];
  return absl::StrCat(absl::StrJoin(seats, "; "), ". ", SeatOf(action),
                      " gave away the most with ",
                      ActionToText(action.played, action.before), ", action ",
                      worst[0] + 1, ": ", LossText(action), ". Better was ",
                      ActionToText(action.best, action.before), ".");
}

// Returns what was reviewed, and by whom.
std::string AboutText(const GameReview& review, const ReviewSource& source) {
  const std::string variant = VariantText(review.actions.front().before);
  return absl::StrCat(variant, ": ", review.actions.size(), " actions, ",
                      EndText(source), "\nJudged by ", source.player, "; ",
                      ExactText(review), "\n",
                      NotLearnedLine(variant, source.not_learned));
}

std::string ReviewText(const GameReview& review, const ReviewSource& source,
                       const ReviewReportOptions& options) {
  std::string text =
      absl::StrCat(AboutText(review, source), "\n", TableText(SeatRows(review)),
                   "\n", CurveText(review), "\n");
  if (options.all) {
    absl::StrAppend(
        &text, "All actions: chances and points of who played it, after it\n",
        TableText(ActionRows(review)), "\n");
  }
  absl::StrAppend(&text, WorstText(review, options));
  return text;
}

std::string ReviewPage(const GameReview& review, const ReviewSource& source,
                       int worst) {
  const std::string plots = absl::StrCat(
      "<div class=\"grid\">",
      CoursePlot(review, "Chances of winning", "chances, %", 50,
                 [](const Worth& worth) { return 100 * worth.score; }),
      CoursePlot(review, "Expected points", "margin, points", 0,
                 [](const Worth& worth) { return worth.margin; }),
      "</div>\n<p class=\"faint\">Dots are actions that gave something away, "
      "in the colour of their side.</p>\n");
  std::vector<ReportSection> sections = {
      {.heading = "By seat",
       .rows = SeatRows(review),
       .notes =
           "Of the actions that were a choice: how many were best, as far as "
           "is known; the chances of winning (a draw is half a win) and the "
           "points given away, in all and each.\nInaccuracies, mistakes and "
           "blunders gave away 5, 10 and 15 % of winning. What lies within two "
           "standard errors, or below 1 %, counts for nothing.\n"},
      {.heading = "Course of the game", .html = plots},
      {.heading = "Worst actions", .html = WorstHtml(review, worst)},
      {.heading = "All actions",
       .rows = ActionRows(review),
       .notes = "Chances and expected points (as scored, without "
                "compensation) of the side that played, after its action. "
                "Exact: by the solver, under best play of both.\n"}};
  return SectionsPage("Review of a game", AboutText(review, source), sections,
                      {VerdictOf(review)});
}

}  // namespace

absl::string_view WinnerText(int winner) {
  if (winner < 0) return "a draw";
  return winner == kRed ? "Red won" : "Blue won";
}

Report ReportReview(const GameReview& review, const ReviewSource& source,
                    const ReviewReportOptions& options) {
  return {.text = ReviewText(review, source, options),
          .json = JsonText(ReviewJson(review, source)),
          .page = [&review, &source, worst = options.worst] {
            return ReviewPage(review, source, worst);
          }};
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
