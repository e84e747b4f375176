#ifndef TARA_EVAL_BALANCE_REPORT_H_
#define TARA_EVAL_BALANCE_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tara/core/variant.h"
#include "tara/eval/balance/study.h"
#include "tara/eval/report/report.h"

namespace tara::eval {

// The conclusions for a variant: a few sentences, each by a rule and with the
// figures that it rests on. docs/explanation/statistics.md states the rules.
struct Verdict {
  Variant variant = Variant::kSacredHillL1;
  std::vector<std::string> sentences = {};
};

// A report of a study: verdicts, and a table for each measure that was taken.
struct BalanceReport {
  std::vector<Verdict> verdicts;
  std::vector<ReportSection> sections;
  nlohmann::ordered_json tables;   // the same and what they leave out, by name
  std::vector<std::string> notes;  // on openings, and on what was left out
};

BalanceReport ReportOf(const Study& study, const StudyResults& results);

std::string BalanceReportJson(const BalanceReport& report);
std::string BalancePage(const BalanceReport& report);

}  // namespace tara::eval

#endif  // TARA_EVAL_BALANCE_REPORT_H_
