#ifndef TARA_EVAL_REGRET_REGRET_REPORT_H_
#define TARA_EVAL_REGRET_REGRET_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tara/core/variant.h"
#include "tara/eval/regret/regret.h"
#include "tara/eval/report/training_point.h"

namespace tara::eval {

// What a player gave away in the endgames of a variant.
struct RegretRow {
  Variant variant = Variant::kSacredHillL1;
  std::string player;
  std::optional<TrainingPoint> point = {};  // of a run's checkpoints
  Regret regret;
  // What the player's network has not learned of the rules; empty: nothing.
  std::string not_learned = {};
};

// Returns a table for terminals, a line a row. Ends with a newline.
std::string RegretReportText(absl::Span<const RegretRow> rows);

// Returns a JSON array with an object a row: `variant`, `name`, `player`, of
// checkpoints `run` and `generation`, `positions`, and of each measure its
// mean with `_low` and `_high`; `policy` and `value_error` of those who say;
// `not_learned`, the rules that the player's network has not.
std::string RegretReportJson(absl::Span<const RegretRow> rows);

// Returns one HTML file: players by variants as a heat table, curves over the
// generations of runs. It needs no network and no other file.
std::string RegretPage(absl::Span<const RegretRow> rows);

}  // namespace tara::eval

#endif  // TARA_EVAL_REGRET_REGRET_REPORT_H_
