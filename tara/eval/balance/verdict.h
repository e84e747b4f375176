#ifndef TARA_EVAL_BALANCE_VERDICT_H_
#define TARA_EVAL_BALANCE_VERDICT_H_

// What a report of balance comes to, in sentences. The terminal, JSON and the
// page have the same.
//
// A score is of the first side, with its 95 % interval [l, h] and the chance p
// of a score so far from even if it were even, corrected for the report's
// studies (p of all). "Even" is meant to within 5 % (kEvenBand).
//
// With fewer than kFewestForVerdict different games there is no verdict of any
// kind. Else
//
//   of a study:
//     p < 0.05                        "the ... side is favoured"; "but by
//                                     little" where 45 <= l and h <= 55
//     else 45 <= l, h <= 55           "even to within 5 %"
//     else                            "nothing is shown", with the advantages
//                                     that [l, h] leaves possible; where p
//                                     would be < 0.05 by itself, that is stated
//   of a remedy (compensation, the pie rule), by its fresh games:
//     45 <= l <= 50 <= h <= 55        "make it even"
//     45 <= l, h <= 55                "make it nearly even"
//     l <= 50 <= h                    "may make it even"
//     else                            "do not make it even"; where the search
//                                     ends at the range's end, "no compensation
//                                     up to ..."
//     games are missing               "broken off": nothing more is stated
//   of players: that the last one's score differs from the first one's, where
//     |difference| >= sqrt(w1^2 + w2^2), w half the width of an interval; else
//     that it is not shown.
//   of changed rules: that they move the score, where p of all of the
//     difference is below 0.05; else that it is not shown.
//
// In these words "not shown" is never "not so".

#include <string>
#include <vector>

#include "tara/core/variant.h"
#include "tara/eval/balance/balance_report.h"

namespace tara::eval {

// What is to be said of a variant, played by one player.
struct Verdict {
  Variant variant = Variant::kSacredHillL1;
  std::string player = {};
  std::vector<std::string> sentences = {};
};

// Returns the verdicts in the order of the report's studies.
std::vector<Verdict> VerdictsOf(const BalanceReport& report);

// Returns an amount of points in words: "half a point", "one point", "two and a
// half points". REQUIRES: 0 < halves <= 24.
std::string PointsInWords(int halves);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_VERDICT_H_
