#ifndef TARA_EVAL_ARENA_CROSS_PLAY_H_
#define TARA_EVAL_ARENA_CROSS_PLAY_H_

// Partner cross-play in variants in pairs: what players are worth as partners
// of each other, beside what they are worth as partners of themselves. Players
// that have only ever learned with themselves may share habits that a stranger
// does not know (conventions); skill they take along.
// Source of the comparison: Hu, Lerer, Peysakhovich and Foerster 2020,
// "'Other-Play' for zero-shot coordination" (ICML): cross-play beside
// self-play.

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// One of the matches of a study: a team against another, over the openings
// that all matches of the study share.
struct CrossPlayMatch {
  std::string team;       // "A+B"
  std::string opponents;  // "C"
  ArenaResult result;
  // How its score, Elo and margin enter into what partnership is worth.
  double weight = 0;
};

struct CrossPlayStudy {
  Variant variant = Variant::kSacredHillDoublesL1;
  std::vector<CrossPlayMatch> matches;
  // What the weighted sum of the scores is without any convention (Elo and
  // margins: 0).
  double even_score = 0;
  // As that of ArenaReportRow.
  std::string not_learned = {};
};

// The worth of A with B as partners, less what A and B are worth by themselves,
// with 95 % intervals over openings: below 0, they understand each other less
// well than themselves.
struct PartnershipWorth {
  int openings = 0;  // that all matches have, different ones
  Interval score;    // share of a game
  Interval margin;   // points a game
  // Strength adds up on this scale and not on that of scores: A may be much
  // stronger than B. Scores s = (points + 1/2) / (games + 1), which keeps it
  // finite; the interval is a bootstrap over openings.
  Interval elo;
};

// The weights of the matches "A+A", "B+B" and "A+B" against C:
//   worth = AB - (AA + BB) / 2.
inline constexpr double kWeightsAgainstOthers[] = {-0.5, -0.5, 1};

// Those of "A+A" against "B+B", and "A+B" against "A+A" and against "B+B",
// where there is no C; scores are even at 1/2:
//   worth = (AB against AA + AB against BB) / 2.
inline constexpr double kWeightsAgainstThemselves[] = {0, 0.5, 0.5};

// Returns the worth, by the openings of which all matches have all games: with
// fewer than two the intervals are infinite. The bootstrap draws from `random`.
PartnershipWorth WorthOf(const CrossPlayStudy& study, Random& random);

// What a report is of.
struct CrossPlayReport {
  std::vector<std::string> players;  // the specs of A, B and, if any, C
  std::vector<CrossPlayStudy> studies;
  std::vector<PartnershipWorth> worths;  // by study
  std::string time_control = {};         // empty: without clocks
};

// Returns who A, B and C are, the matches as ArenaReportText has them, and a
// table of the worths. Ends with a newline.
std::string CrossPlayText(const CrossPlayReport& report);

// Returns a JSON object: `players` by letter; `studies`, each with `variant`,
// `openings`, `worth` (`score`, `elo` and `margin`, each with `_low` and
// `_high`; null: not known) and `matches`, which are those of ArenaReportJson
// with `weight`.
std::string CrossPlayJson(const CrossPlayReport& report);

// Returns the same as a page (arena_report.h).
std::string CrossPlayPage(const CrossPlayReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_CROSS_PLAY_H_
