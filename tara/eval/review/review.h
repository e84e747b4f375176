#ifndef TARA_EVAL_REVIEW_REVIEW_H_
#define TARA_EVAL_REVIEW_REVIEW_H_

// What each action of a game gave away.
//
//   1. From the last position back, positions are solved, until one would take
//      too long. What the solver knows is exact, of every action.
//   2. Every position before these is searched, which names its best action.
//   3. Where another one was played, the position after the best action is
//      searched, too. That after the action played is the game's next position.
//
// So the two are compared by the same measure: a search of the position after
// the action, of as many simulations. The search of the position before is not
// asked, for it has looked at the best action far more closely than at others.
// Where the action played turns out no worse, it counts as best.

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/stop.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::eval {

// What a position is worth to a side.
struct Worth {
  double score = 0.5;  // expected result: 1 won, 1/2 drawn, 0 lost
  double margin = 0;   // expected points ahead, as scored
  // Standard error of the score, by how much the results of the search differ;
  // 0 where the result is proved.
  double score_error = 0;
  // Under best play of both, by the solver; or as the game has ended.
  bool exact = false;

  // The same to the other side.
  Worth Reversed() const { return {1 - score, -margin, score_error, exact}; }
};

// Classes of actions by the score given away.
enum class Fault { kNone, kInaccuracy, kMistake, kBlunder };

// From these losses on. Source: lichess, which has the same shares of winning
// chances (scalachess, Advice: 0.1, 0.2 and 0.3 of chances from -1 to 1).
inline constexpr double kInaccuracyLoss = 0.05;
inline constexpr double kMistakeLoss = 0.10;
inline constexpr double kBlunderLoss = 0.15;

// Returns "", "inaccuracy", "mistake" or "blunder".
absl::string_view FaultName(Fault fault);

// By searches, a loss is sure when it is above so many standard errors of the
// difference, and this large at least: below, every other one was none where
// the truth is known (docs/lab/2026-11-search.md, "Reviews of games").
inline constexpr double kSureErrors = 2;
inline constexpr double kLeastSureLoss = 0.01;

// One action of the game. Values are for the side that played it.
struct ReviewedAction {
  State before = {};
  Action played = {};
  int choices = 0;  // legal actions; one: it was forced, and is not judged
  // The best action known; the one played, where none is better.
  Action best = {};
  // What the search or the solver expects, kMostOfLine actions at most: from
  // the best action on, and from the one played.
  std::vector<Action> best_line = {};
  std::vector<Action> played_line = {};
  Worth after_best = {};
  Worth after_played = {};
  // Whether the solver knows every action of the position.
  bool exact = false;
  // What was given away, at least 0. Where it is not `sure` it lies within the
  // error of the searches, and is no mistake. Of a loss that is exact the
  // points alone may be sure.
  double score_loss = 0;
  double margin_loss = 0;
  double score_loss_error = 0;  // standard error
  bool sure = false;
  Fault fault = Fault::kNone;

  bool judged() const { return choices > 1; }
};
inline constexpr int kMostOfLine = 10;

// All actions of a seat together. Losses are the sure ones: of the others, all
// positive, the sum would grow with the game, whoever plays.
struct SeatReview {
  Seat seat = 0;
  int actions = 0;
  int judged = 0;  // with a choice
  int best = 0;    // of these, such that none is known to be better
  int exact = 0;   // of these, solved
  double score_loss = 0;
  double margin_loss = 0;
  int inaccuracies = 0;
  int mistakes = 0;
  int blunders = 0;
};

struct GameReview {
  // What each position is worth to Red, by ply: before the first action, and
  // after each.
  std::vector<Worth> course;
  std::vector<ReviewedAction> actions;
  std::vector<SeatReview> seats;
  // The ply from which on all positions are solved; more than there are
  // actions: none is.
  int solved_from = 0;

  // Returns the places of the actions with a sure loss: the largest loss of
  // score first, of equals that of points, then the earlier.
  std::vector<int> WorstFirst() const;
};

struct ReviewProgress {
  int searched;
  int to_search;  // as far as is known: more where another action is better
  int64_t simulations;
};

struct ReviewOptions {
  // Of each position. Its solver and margin deviation are set for the variant.
  // REQUIRES: utility.kind is kWinLoss.
  mcts::SearchOptions search = mcts::ForPlay({.simulations = 1000});
  int leaves_per_game = 1;                      // many_games.h
  float confidence_z = mcts::kPlayConfidenceZ;  // of the choice of an action
  // What solving a position may cost, in positions visited; 0: nothing is
  // solved.
  int64_t node_limit = 1000000;
  uint64_t seed = 1;  // of noise, if the search has any
  int threads = 1;
  StopCheck stop = {};
  // Thread-safe; called often while searching.
  std::function<void(const ReviewProgress&)> on_progress = {};
};

// Reviews the game of these actions from a position. The result depends on
// neither threads nor timing.
//
// Returns INVALID_ARGUMENT for a game without actions; CANCELLED when `stop`
// says so; the evaluator's errors.
// REQUIRES: each action is legal where it is played.
absl::StatusOr<GameReview> ReviewGame(const State& initial,
                                      absl::Span<const Action> actions,
                                      mcts::Evaluator& evaluator,
                                      const ReviewOptions& options);

}  // namespace tara::eval

#endif  // TARA_EVAL_REVIEW_REVIEW_H_
