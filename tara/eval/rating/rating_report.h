#ifndef TARA_EVAL_RATING_RATING_REPORT_H_
#define TARA_EVAL_RATING_RATING_REPORT_H_

#include <string>

#include "tara/eval/rating/rating_tournament.h"

namespace tara::eval {

// Returns a table for terminals: a row per player, best first, with a column
// for the overall rating and one per variant; Elo +- half the 95 % interval.
// Below it, by variant: the games, the advantage of beginning, and the share of
// draws between equal players; then the verdict. Ends with a newline.
std::string RatingReportText(const RatingTable& table);

// Returns a JSON object: `anchors`; `players` in the order of the command line,
// each with `name`, `overall` and `variants` by identifier (`elo`, `low`,
// `high`, `deviation`), checkpoints of a run also with `run` and `generation`;
// `covariance` of the overall ratings [player, player] in Elo^2, for the
// interval of any difference; `not_learned` of players and of their ratings by
// variant, if networks have not learned rules; `variants` with `name`, `games`,
// `first_seat`, `draw_nu`, `covariance` of its own ratings and `results`
// (indices of players; `wins` counts wins of `first`, which began).
std::string RatingReportJson(const RatingTable& table);

// Returns one self-contained HTML file: ratings of players by variant, curves
// over the generations of runs, and all players against each other.
std::string RatingPage(const RatingTable& table);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATING_REPORT_H_
