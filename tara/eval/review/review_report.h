#ifndef TARA_EVAL_REVIEW_REVIEW_REPORT_H_
#define TARA_EVAL_REVIEW_REVIEW_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tara/core/state.h"
#include "tara/eval/review/review.h"

namespace tara::eval {

// Data of a report in addition to the review.
struct ReviewSource {
  State last = {};  // of the game, finished or not
  // How the game ended early, "Red won (resigned)"; empty: it did not end
  // early, or is in progress.
  std::string ended_early = {};
  std::string player = {};  // that judges
  // The rules that its network has not learned; empty: none.
  std::string not_learned = {};
  uint64_t seed = 1;
};

// Returns "Red won", "Blue won" or, without a winner, "a draw".
absl::string_view WinnerText(int winner);

struct ReviewTextOptions {
  int worst = 5;     // actions that are shown with the board
  bool all = false;  // a table of all actions, too
  bool unicode = true;
  bool colour = false;
};

// Returns the review for terminals: totals by seat, the course of the game, the
// worst actions. Ends with a newline.
std::string ReviewReportText(const GameReview& review,
                             const ReviewSource& source,
                             const ReviewTextOptions& options);

// Returns one JSON object on a line, documented in docs/how-
// to/review_a_game.md.
std::string ReviewReportJson(const GameReview& review,
                             const ReviewSource& source);

// Returns one self-contained HTML file, with pictures of the `worst` worst
// actions.
std::string ReviewPage(const GameReview& review, const ReviewSource& source,
                       int worst);

// Returns a note by action: for a sure loss, its size and the better action; ""
// for all others.
std::vector<std::string> ReviewNotes(const GameReview& review);

}  // namespace tara::eval

#endif  // TARA_EVAL_REVIEW_REVIEW_REPORT_H_
