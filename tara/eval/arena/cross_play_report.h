#ifndef TARA_EVAL_ARENA_CROSS_PLAY_REPORT_H_
#define TARA_EVAL_ARENA_CROSS_PLAY_REPORT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tara/eval/arena/cross_play.h"

namespace tara::eval {

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

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_CROSS_PLAY_REPORT_H_
