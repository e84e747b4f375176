#ifndef TARA_EVAL_BALANCE_BALANCE_REPORT_H_
#define TARA_EVAL_BALANCE_BALANCE_REPORT_H_

#include <string>
#include <vector>

#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_game.h"

namespace tara::eval {

// One study as a report has it.
struct BalanceReportRow {
  BalanceGameOptions options;
  std::string player;
  BalanceStatistics statistics;
  // What the player's network has not learned of the rules; empty: nothing.
  std::string not_learned = {};
  // statistics.p_even among those of all rows (HolmAdjusted).
  double p_even_holm = 1;
  // The same by BenjaminiHochbergAdjusted.
  double q_even = 1;
};

// What a change of rules makes of a variant, played by one player.
struct BalanceReportChange {
  BalanceGameOptions from;
  BalanceGameOptions to;
  std::string player;
  BalanceDifference difference;
  // What it has not learned of either's rules.
  std::string not_learned = {};
  // difference.p_score among those of all changes.
  double p_score_holm = 1;
  double q_score = 1;
};

struct BalanceReport {
  std::vector<BalanceReportRow> rows;
  std::vector<BalanceReportChange> changes;
};

// Corrects the p-values for how many there are.
void CorrectForMany(BalanceReport& report);

// Returns the options that differ from the rules as written, "a=1,b=2"; empty
// where none does.
std::string ChangedOptions(const BalanceGameOptions& options);

// Returns everything, an object with the arrays "studies" and "what_if". What
// the player's network has not learned is `not_learned`, and stands in `name`.
std::string BalanceReportJson(const BalanceReport& report);

// Returns the report as tables for a terminal. Ends with a newline.
std::string BalanceReportText(const BalanceReport& report);

// Returns one HTML file with tables, plots and boards of the report. It needs
// nothing else: no network, no other file.
std::string BalancePage(const BalanceReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_REPORT_H_
