#ifndef TARA_EVAL_REVIEW_REVIEW_H_
#define TARA_EVAL_REVIEW_REVIEW_H_

// The loss by each action of a game.
//
//   1. From the last position back, positions are solved, until one would take
//   too long. The solver's results are exact, for every action.
//   2. Every position before these is searched, which names its best action.
//   3. Where another one was played, the position after the best action is
//      searched, too. That after the action played is the game's next position.
//
// So both actions have the same measure: a search of the position after it.
// That of the position before examines the best action far more closely than
// others. If the action played turns out to be no worse, it counts as best.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/base/threads.h"
#include "tara/core/action.h"
#include "tara/core/state.h"
#include "tara/eval/report/report.h"
#include "tara/mcts/evaluator.h"
#include "tara/mcts/options/search_options.h"

namespace tara::eval {

// The value of a position for a side.
struct Worth {
  double score = 0.5;  // expected result: 1 won, 1/2 drawn, 0 lost
  double margin = 0;   // expected points ahead, as scored
  // Standard error of the score, by the variation in the search; proved: 0.
  double score_error = 0;
  // Whether it is that of best play by both sides, or of a finished game.
  bool exact = false;

  // The value for the other side.
  Worth Reversed() const { return {1 - score, -margin, score_error, exact}; }
};

// Classes of actions by the score given away.
enum class Fault { kNone, kInaccuracy, kMistake, kBlunder };

// Minimum losses of these classes. Source: lichess (scalachess, Advice: 0.1,
// 0.2 and 0.3 of winning chances from -1 to 1).
inline constexpr double kInaccuracyLoss = 0.05;
inline constexpr double kMistakeLoss = 0.10;
inline constexpr double kBlunderLoss = 0.15;

// A loss from searches is sure if it exceeds this many standard errors of the
// difference and this minimum (docs/lab/2026-11-search.md, "Reviews of games").
inline constexpr double kSureErrors = 2;
inline constexpr double kMinSureLoss = 0.01;

// One action of the game. Values are for the side that played it.
struct ReviewedAction {
  State before = {};
  Action played = {};
  int choices = 0;  // legal actions; one: it was forced, and is not judged
  // The best known action; the one played, if none is better.
  Action best = {};
  // The expected continuations by the search or the solver, at most
  // kMaxLineLength actions, which start with `best` and with `played`.
  std::vector<Action> best_line = {};
  std::vector<Action> played_line = {};
  Worth after_best = {};
  Worth after_played = {};
  // Whether the solver has solved every action of the position.
  bool exact = false;
  // The loss, at least 0. If not `sure`, it is within the error of the
  // searches. Of an exact loss, only the points may be sure.
  double score_loss = 0;
  double margin_loss = 0;
  double score_loss_error = 0;  // standard error
  bool sure = false;
  Fault fault = Fault::kNone;

  bool judged() const { return choices > 1; }
};
inline constexpr int kMaxLineLength = 10;

// Totals over the actions of a seat, of sure losses only: the sum of the
// others, all positive, would grow with the length of the game.
struct SeatReview {
  Seat seat = 0;
  int actions = 0;
  int judged = 0;  // with a choice
  int best = 0;    // of these, without a known better one
  int exact = 0;   // of these, solved
  double score_loss = 0;
  double margin_loss = 0;
  int inaccuracies = 0;
  int mistakes = 0;
  int blunders = 0;
};

struct GameReview {
  // The value for Red before the first action, and after each.
  std::vector<Worth> course;
  std::vector<ReviewedAction> actions;
  std::vector<SeatReview> seats;
  // The ply from which all is solved; above the number of actions: none.
  int solved_from = 0;

  // Returns the actions with a sure loss, the largest loss of score first, then
  // of points, then the earlier ones.
  std::vector<int> WorstFirst() const;
};

struct ReviewProgress {
  int searched;
  int to_search;  // as far as is known: more where another action is better
  int64_t simulations;
};

struct ReviewOptions {
  // Options of the search of each position. Its solver and margin deviation are
  // set for the variant. REQUIRES: utility.kind is kWinLoss.
  mcts::SearchOptions search = mcts::ForPlay({.simulations = 1000});
  int leaves_per_game = 1;                      // many_games.h
  float confidence_z = mcts::kPlayConfidenceZ;  // of the choice of an action
  // Limit of visited positions per solved position; 0: nothing is solved.
  int64_t node_limit = 1000000;
  uint64_t seed = 1;  // of noise, if the search has any
  int threads = 1;
  StopCheck stop = {};
  // Thread-safe; called often while searching.
  std::function<void(const ReviewProgress&)> on_progress = {};
};

// Reviews the game of these actions from a position, the same on any number of
// threads. Returns INVALID_ARGUMENT for a game without actions, CANCELLED when
// `stop` returns true, and the evaluator's errors. REQUIRES: legal actions.
absl::StatusOr<GameReview> ReviewGame(const State& initial,
                                      absl::Span<const Action> actions,
                                      mcts::Evaluator& evaluator,
                                      const ReviewOptions& options);

// Data of a report in addition to the review.
struct ReviewSource {
  State last = {};               // of the game, finished or not
  std::string ended_early = {};  // how, "Red won (resigned)"; empty: it did not
  std::string player = {};       // that judges
  // The rules that its network has not learned; empty: none.
  std::string not_learned = {};
  uint64_t seed = 1;
};

// Returns "Red won", "Blue won" or, without a winner, "a draw".
absl::string_view WinnerText(int winner);

struct ReviewReportOptions {
  int worst = 5;  // actions that are shown with the board
  // Of the text:
  bool all = false;  // a table of all actions, too
  bool colour = false;
};

// Returns a report: totals by seat, the course of the game, the worst actions.
// docs/how-to/review_a_game.md documents its JSON, an object on a line.
Report ReportReview(const GameReview& review, const ReviewSource& source,
                    const ReviewReportOptions& options = {});

// Returns a note by action: of a sure loss its size and the better one; else
// "".
std::vector<std::string> ReviewNotes(const GameReview& review);

}  // namespace tara::eval

#endif  // TARA_EVAL_REVIEW_REVIEW_H_
