#ifndef TARA_EVAL_ARENA_ARENA_REPORT_H_
#define TARA_EVAL_ARENA_ARENA_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tara/core/variant.h"
#include "tara/eval/arena/arena_result.h"
#include "tara/eval/report/report.h"

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

// Returns tables for terminals: rules that networks have not learned; the
// verdict if the rows have the same players; a table of matches if matches were
// played; one row per result and, for several results of the same two players,
// a total over all their games. With clocks, the mean time per move and the
// games lost on time of each player follow; then the games lost by faults, if
// any, and the decisions of sequential tests. Notes mark intervals that come
// from a sequential test, and rows with repeated games. Ends with a newline. If
// the rows have different players, their columns are called `name_a` and
// `name_b`.
std::string ArenaReportText(absl::Span<const ArenaReportRow> rows,
                            absl::string_view name_a = "A",
                            absl::string_view name_b = "B");

// Returns the object of one row of ArenaReportJson.
nlohmann::ordered_json ArenaRowJson(const ArenaReportRow& row);

// Returns a JSON list of objects, one per row, with the fields of ArenaResult
// (without the single games) by name; infinite numbers are null. Fields that
// are present only if they apply: `by_match` (the fields of MatchResult),
// `clock` (the fields of ClockResults), `forfeits` (the number and kind of
// faults per player), `sprt` (the sequential test: its options, `pairs` by half
// points, `llr` with its bounds, and `decision`: "H0", "H1" or "undecided"),
// and `not_learned` (rules that a network has not learned). With a sequential
// test `intervals` is "naive, of a sequential test", which describes the
// intervals of score, Elo and margin.
std::string ArenaReportJson(absl::Span<const ArenaReportRow> rows);

// Returns the tables of the text; none without rows.
std::vector<ReportSection> ArenaSections(absl::Span<const ArenaReportRow> rows,
                                         absl::string_view name_a = "A",
                                         absl::string_view name_b = "B");

// Returns a page in HTML, one file: the tables of the text, and plots.
// REQUIRES: the same players in all rows.
std::string ArenaPage(absl::Span<const ArenaReportRow> rows);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_REPORT_H_
