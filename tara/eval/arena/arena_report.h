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

// A result with what it is the result of.
struct ArenaReportRow {
  Variant variant = Variant::kSacredHillL1;
  std::string player_a;  // specs, or names
  std::string player_b;
  ArenaResult result;
  // As ParseTimeControl reads it; empty: without clocks.
  std::string time_control = {};
  // What a network among the players has not learned of the rules, "SPEC:
  // RULES"; empty: nothing.
  std::string not_learned = {};
};

// Returns a table for terminals: what networks have not learned, a heading, a
// line a row and, of several rows of the same two players, a total over all
// their games. Where matches were played, a table of them comes first; with
// clocks, the mean time of a move and the games lost on time of either player
// follow, where games were lost by faults these, and with sequential tests what
// they decided; under the scores then stands that their intervals are of a
// sequential test, and of which rows games repeat each other. Ends with a
// newline. Where the players are not the same in
// all rows, their columns are called `name_a` and `name_b`.
std::string ArenaReportText(absl::Span<const ArenaReportRow> rows,
                            absl::string_view name_a = "A",
                            absl::string_view name_b = "B");

// Returns the object of one row in what ArenaReportJson returns.
nlohmann::ordered_json ArenaRowJson(const ArenaReportRow& row);

// Returns a JSON list of objects, one a row, with the fields of ArenaResult
// (but the single games) by name; infinite numbers are null. `by_match` has
// the fields of MatchResult where matches were played, `clock` those of the
// ClockResults where there were clocks, `forfeits` how many games either player
// lost by faults and which, where there are any, `sprt` the sequential test
// where there was one: its options, `pairs` by half points, `llr` with its
// bounds, `decision`
// ("H0", "H1" or "undecided"), `not_learned` where a network has not learned
// the rules. With a sequential test `intervals` says that those of score, Elo
// and margin are "naive, of a sequential test".
std::string ArenaReportJson(absl::Span<const ArenaReportRow> rows);

// Returns the tables of the text; without rows none.
std::vector<ReportSection> ArenaSections(absl::Span<const ArenaReportRow> rows,
                                         absl::string_view name_a = "A",
                                         absl::string_view name_b = "B");

// Returns a page in HTML, one file: the tables of the text, and plots.
// REQUIRES: the same players in all rows.
std::string ArenaPage(absl::Span<const ArenaReportRow> rows);

}  // namespace tara::eval

#endif  // TARA_EVAL_ARENA_ARENA_REPORT_H_
