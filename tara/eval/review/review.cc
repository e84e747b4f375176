#include "tara/eval/review/review.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "tara/base/status_macros.h"
#include "tara/core/outcome.h"
#include "tara/core/rules.h"
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
  Worth red;                 // to Red
  std::vector<Action> line;  // best play, as far as it was looked into
  // By legal action, in the order of LegalSet::ForEach; empty: not solved.
  std::vector<mcts::EndgameSolver::ActionValue> solved;
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
                         .line = LineAfter(tree, best),
                         .solved = {}};
  if (judgement.line.size() > kMaxLineLength)
    judgement.line.resize(kMaxLineLength);
  return judgement;
}

// A position to be searched.
struct Wanted {
  State state;
  Judgement* judgement;
};

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
                                    absl::Span<const Action> actions);

 private:
  bool Stopped() const { return options_.stop && options_.stop(); }

  // Judges a finished game, or solves a position. False: it takes too long.
  bool Solve(const State& state, Judgement& judgement);
  // Returns best play from a position that is solved within the limit.
  std::vector<Action> SolvedLine(State state);
  absl::Status SearchAll(absl::Span<const Wanted> wanted);
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

bool Reviewer::Solve(const State& state, Judgement& judgement) {
  if (state.finished()) {
    judgement.red = ExactWorth(state, Score(state).margin());
    return true;
  }
  if (options_.node_limit <= 0) return false;
  auto solved = solver_.SolveActions(state);
  if (!solved.has_value()) return false;
  const int sign = state.side() == kRed ? 1 : -1;
  // The first of the best.
  const auto best = std::max_element(
      solved->begin(), solved->end(), [sign](const auto& a, const auto& b) {
        return sign * a.red_margin < sign * b.red_margin;
      });
  judgement.red = ExactWorth(state, best->red_margin);
  judgement.line = {best->action};
  State next = state;
  ApplyAction(best->action, next);
  for (const Action action : SolvedLine(next)) {
    if (judgement.line.size() == kMaxLineLength) break;
    judgement.line.push_back(action);
  }
  judgement.solved = *std::move(solved);
  return true;
}

std::vector<Action> Reviewer::SolvedLine(State state) {
  std::vector<Action> line;
  while (!state.finished() && line.size() < kMaxLineLength) {
    const auto solution = solver_.Solve(state);
    if (!solution.has_value()) break;
    line.push_back(solution->best_actions.front());
    ApplyAction(line.back(), state);
  }
  return line;
}

absl::Status Reviewer::SearchAll(absl::Span<const Wanted> wanted) {
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
  if (action.sure) action.margin_loss = margin_loss;
  if (!action.sure) return;
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

absl::StatusOr<GameReview> Reviewer::Review(const State& initial,
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
  while (review.solved_from > 0 && Solve(states[review.solved_from - 1],
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
                             .exact = !here.solved.empty()};
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

}  // namespace

absl::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return "";
    case Fault::kInaccuracy:
      return "inaccuracy";
    case Fault::kMistake:
      return "mistake";
    case Fault::kBlunder:
      return "blunder";
  }
  __builtin_unreachable();
}

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

}  // namespace tara::eval
