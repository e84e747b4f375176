#ifndef TARA_EVAL_ARENA_ARENA_REPORT_H_
#define TARA_EVAL_ARENA_ARENA_REPORT_H_

// Partner cross-play in variants for pairs: the strength of two different
// players as partners, compared with that of each as its own partner. Players
// that have learned only with themselves may share conventions that a stranger
// does not know. Source: Hu, Lerer, Peysakhovich and Foerster 2020, "'Other-
// Play' for zero-shot coordination" (ICML), which compares cross-play with
// self-play.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tara/base/random.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/report/report.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// A result with its variant and players.
struct ArenaReportRow {
  Variant variant = Variant::kSacredHillL1;
  std::string player_a;  // specs, or names
  std::string player_b;
  ArenaResult result;
  // As ParseTimeControl reads it; empty: without clocks.
  std::string time_control = {};
  // The rules that a network among the players has not learned, "SPEC: RULES";
  // empty: none.
  std::string not_learned = {};
};

// Returns who is stronger, in one sentence: by the scores or, with sequential
// tests, by these. REQUIRES: the same players in all rows.
std::string ArenaVerdict(absl::Span<const ArenaReportRow> rows);

// Returns the object of one row in the JSON of ReportArena.
nlohmann::ordered_json ArenaRowJson(const ArenaReportRow& row);

// Returns a report. Its text: rules that networks have not learned; the verdict
// if the rows have the same players; a table of matches if matches were played;
// one row per result and, for several results of the same two players, a total
// over all their games. With clocks, the mean time per move and the games lost
// on time of each player follow; then the games lost by faults, if any, and the
// decisions of sequential tests. Notes mark intervals that come from a
// sequential test, and rows with repeated games. The page has the same tables,
// and plots; it REQUIRES the same players in all rows.
//
// Its JSON is a list of objects, one per row, with the fields of ArenaResult
// (without the single games) by name; infinite numbers are null. Fields that
// are present only if they apply: `by_match` (the fields of MatchResult),
// `clock` (the fields of ClockResults), `forfeits` (the number and kind of
// faults per player), `sprt` (the sequential test: its options, `pairs` by half
// points, `llr` with its bounds, and `decision`: "H0", "H1" or "undecided"),
// and `not_learned` (rules that a network has not learned). With a sequential
// test `intervals` is "naive, of a sequential test", which describes the
// intervals of score, Elo and margin.
Report ReportArena(absl::Span<const ArenaReportRow> rows);

// One match of a study: a team against another, with the openings that all
// matches of the study share.
struct CrossPlayMatch {
  std::string team;       // "A+B"
  std::string opponents;  // "C"
  ArenaResult result;
  // Weight of its score, Elo and margin in the worth of the partnership.
  double weight = 0;
};

struct CrossPlayStudy {
  Variant variant = Variant::kSacredHillDoublesL1;
  std::vector<CrossPlayMatch> matches;
  // The weighted sum of the scores without any conventions (0 for Elo and
  // margins).
  double even_score = 0;
  // See ArenaReportRow.
  std::string not_learned = {};
};

// The strength of A and B as partners minus the mean strength of each with
// itself, with 95 % intervals over openings. Negative values show that
// conventions are missing between A and B.
struct PartnershipWorth {
  int openings = 0;  // that all matches have, different ones
  Interval score;    // share of a game
  Interval margin;   // points per game
  // Strengths are additive on this scale, not on that of scores, where A may be
  // much stronger than B. Scores s = (points + 1/2) / (games + 1) keep it
  // finite. The interval is a bootstrap over openings.
  Interval elo;
};

// The weights of the matches "A+A", "B+B" and "A+B" against C:
//   worth = AB - (AA + BB) / 2.
inline constexpr double kWeightsAgainstOthers[] = {-0.5, -0.5, 1};

// The weights of "A+A" against "B+B", and of "A+B" against "A+A" and against
// "B+B", without C. Even scores are 1/2.
//
// worth = (AB against AA + AB against BB) / 2.
inline constexpr double kWeightsAgainstThemselves[] = {0, 0.5, 0.5};

// Returns the worth over the openings that all matches have completed. The
// intervals are infinite with fewer than two. The bootstrap draws from
// `random`.
PartnershipWorth EstimateWorth(const CrossPlayStudy& study, Random& random);

// The content of a report.
struct CrossPlayReport {
  std::vector<std::string> players;  // the specs of A, B and, if any, C
  std::vector<CrossPlayStudy> studies;
  std::vector<PartnershipWorth> worths;  // by study
  std::string time_control = {};         // empty: without clocks
};

// Returns a report: the players A, B and C, the matches as in ReportArena, and
// a table of the worths. Its JSON is an object: `players` by letter, and
// `studies`, each with `variant`, `openings`, `worth` (`score`, `elo` and
// `margin`, each with `_low` and `_high`; null: unknown) and `matches`, which
// are rows of ReportArena with `weight`.
Report ReportCrossPlay(const CrossPlayReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_REPORT_H_
