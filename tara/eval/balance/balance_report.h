#ifndef TARA_EVAL_BALANCE_BALANCE_REPORT_H_
#define TARA_EVAL_BALANCE_BALANCE_REPORT_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tara/eval/balance/balance.h"
#include "tara/eval/balance/balance_game.h"
#include "tara/eval/balance/fair_search.h"
#include "tara/eval/balance/fair_study.h"
#include "tara/eval/players/player_spec.h"
#include "tara/eval/statistics/statistics.h"

namespace tara::eval {

// One study as a report has it.
struct BalanceReportRow {
  BalanceGameOptions options;
  std::string player;
  PlayerSpec spec = {};  // of the player
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

// A remedy as a report has it: a FairResult, its fresh games summed up.
struct FairReportRow {
  BalanceGameOptions from;
  BalanceGameOptions options;
  std::string player;
  std::string not_learned = {};
  bool searched = false;
  CompensationRange range = {};
  CompensationEstimate estimate = {};
  std::map<int, CompensationGames> tried = {};
  int search_games = 0;
  // Fresh games, and what the first side scores in them.
  int games = 0;
  int wanted_games = 0;
  int distinct_games = 0;
  Interval score = {};
  Interval draws = {};
};

// The openings of a variant's games with remedies, by one player.
struct OpeningReportRow {
  BalanceGameOptions options;
  std::string player;
  std::optional<OpeningChoice> chosen = {};          // by a pilot
  std::optional<std::array<Interval, 2>> cost = {};  // OpeningCost
};

struct BalanceReport {
  std::vector<BalanceReportRow> rows;
  std::vector<BalanceReportChange> changes;
  std::vector<FairReportRow> fair = {};
  std::vector<OpeningReportRow> openings = {};
};

// A smaller share of different games is worth a note.
inline constexpr double kFewestDistinct = 0.9;

// Returns the second side's score, with the pie rule the chooser's.
Interval SecondSideScore(const Interval& first_side_score);

// Sums up what a remedy does. REQUIRES: it has fresh games.
FairReportRow SummarizeFair(const FairResult& result, std::string player,
                            std::string not_learned);

// Corrects the p-values for how many there are.
void CorrectForMany(BalanceReport& report);

// Returns the options that differ from the rules as written, "a=1,b=2"; empty
// where none does.
std::string ChangedOptions(const BalanceGameOptions& options);

// Returns everything, an object with the arrays "verdicts" (verdict.h),
// "studies", "what_if" and, of remedies, "openings" and "fair". What the
// player's network has not learned is `not_learned`, and stands in `name`.
std::string BalanceReportJson(const BalanceReport& report);

// Returns the verdicts, and the report as tables, for a terminal. Ends with a
// newline.
std::string BalanceReportText(const BalanceReport& report);

// Returns one HTML file with tables, plots and boards of the report. It needs
// nothing else: no network, no other file.
std::string BalancePage(const BalanceReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_BALANCE_REPORT_H_
