#ifndef TARA_EVAL_REVIEW_REVIEW_REPORT_H_
#define TARA_EVAL_REVIEW_REVIEW_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tara/core/state.h"
#include "tara/eval/review/review.h"

namespace tara::eval {

// What a report says beside the review.
struct ReviewSource {
  State last = {};  // of the game, finished or not
  // How it ended before its end, "Red won (resigned)"; empty: it did not, or
  // goes on.
  std::string ended_early = {};
  std::string player = {};  // that judges
  // The rules that its network has not learned; empty: none.
  std::string not_learned = {};
  uint64_t seed = 1;
};

// Returns "Red won", "Blue won" or, for no side, "a draw".
absl::string_view WinnerText(int winner);

struct ReviewTextOptions {
  int worst = 5;     // actions that are shown with the board
  bool all = false;  // a table of all actions, too
  bool unicode = true;
  bool colour = false;
};

// Returns the review for terminals: sums by seat, the course of the game, the
// worst actions. Ends with a newline.
std::string ReviewReportText(const GameReview& review,
                             const ReviewSource& source,
                             const ReviewTextOptions& options);

// Returns one JSON object on a line, as docs/how-to/review_a_game.md has it.
std::string ReviewReportJson(const GameReview& review,
                             const ReviewSource& source);

// Returns one HTML file that needs no network and no other file, with pictures
// of so many of the worst actions. `made` says by what it was made and when.
std::string ReviewPage(const GameReview& review, const ReviewSource& source,
                       int worst, absl::string_view made);

// Returns a note by action: of those with a sure loss what they gave away and
// what was better; "" for all others.
std::vector<std::string> ReviewNotes(const GameReview& review);

}  // namespace tara::eval

#endif  // TARA_EVAL_REVIEW_REVIEW_REPORT_H_
