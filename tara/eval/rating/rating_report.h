#ifndef TARA_EVAL_RATING_RATING_REPORT_H_
#define TARA_EVAL_RATING_RATING_REPORT_H_

#include <string>

#include "tara/eval/rating/rating_tournament.h"

namespace tara::eval {

// Returns a table for terminals: a row a player, the best first, and a column a
// variant, after that of all; Elo +- half the 95 % interval. Below it, by
// variant, the games, what beginning is worth, and the share of draws between
// equals. Ends with a newline.
std::string RatingReportText(const RatingTable& table);

// Returns a JSON object: `anchors`; `players` in the order they were named,
// each with `name`, `overall` and `variants` by identifier (`elo`, `low`,
// `high`, `deviation`), checkpoints of a run also with `run` and `generation`;
// `covariance` of the overall ratings [player, player] in Elo^2, so that the
// interval of any difference can be had; `not_learned` of players and of their
// ratings by variant, where networks have not learned rules; `variants` with
// `name`, `games`, `first_seat`, `draw_nu`, `covariance` of its own ratings and
// `results` (indices of players; `wins` are those of `first`, who began).
// `compact` leaves out line breaks and spaces.
std::string RatingReportJson(const RatingTable& table, bool compact = false);

// Returns one HTML file: ratings of players by variants, curves over the
// generations of runs, a cross table. It needs no network and no other file.
std::string RatingPage(const RatingTable& table);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATING_REPORT_H_
