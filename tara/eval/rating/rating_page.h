#ifndef TARA_EVAL_RATING_RATING_PAGE_H_
#define TARA_EVAL_RATING_RATING_PAGE_H_

#include <string>

#include "tara/eval/rating/rating_tournament.h"

namespace tara::eval {

// Returns one HTML file: ratings of players by variants, curves over the
// generations of runs, a cross table. It needs no network and no other file.
std::string RatingPage(const RatingTable& table);

}  // namespace tara::eval

#endif  // TARA_EVAL_RATING_RATING_PAGE_H_
